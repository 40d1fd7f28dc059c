// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "pagemap.h"

#define PAGE_BYTES 4096

/* Documentation/admin-guide/mm/pagemap.rst: a stable interface. */
#define PM_PRESENT	(1ULL << 63)
#define PM_SWAPPED	(1ULL << 62)

#define BATCH 512

int pagemap_count(const void *addr, size_t pages, size_t *count, struct why *why)
{
	uint64_t first = (uintptr_t)addr / PAGE_BYTES, entries[BATCH];
	size_t done, nr, i;
	ssize_t n = 0;
	int fd;

	fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return why_set(why, "cannot open /proc/self/pagemap (%s): boot a kernel with CONFIG_PROC_PAGE_MONITOR",
			       strerror(errno));
	*count = 0;
	for (done = 0; done < pages; done += nr) {
		nr = pages - done < BATCH ? pages - done : BATCH;
		n = pread(fd, entries, nr * sizeof(*entries),
			  (off_t)((first + done) * sizeof(*entries)));
		if (n != (ssize_t)(nr * sizeof(*entries)))
			break;
		for (i = 0; i < nr; i++)
			*count += !!(entries[i] & (PM_PRESENT | PM_SWAPPED));
	}
	if (done < pages)
		why_set(why, "cannot read /proc/self/pagemap (%s): run as root",
			n < 0 ? strerror(errno) : "it is too short");
	close(fd);
	return done < pages ? -1 : 0;
}
