// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"
#include "driver_memory.h"
#include "pagerun.h"

static int map_piece(int fd, size_t size, struct memory *m)
{
	void *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (addr == MAP_FAILED) {
		warn("cannot map %zu KiB of " DRIVER_PATH, size >> 10);
		return PR_FAIL;
	}
	*m = (struct memory) {
		.addr = addr, .size = size, .area = addr, .area_size = size,
	};
	return PR_OK;
}

int driver_memory_get(struct memory *pieces, unsigned int nr, size_t size,
		      struct why *why)
{
	unsigned int i;
	int fd, ret;

	if (memory_room(nr, size, why))
		return PR_SKIP;
	ret = driver_open(&fd);
	if (ret)
		return ret;
	memset(pieces, 0, nr * sizeof(*pieces));
	for (i = 0; i < nr && !ret; i++)
		ret = map_piece(fd, size, &pieces[i]);
	/* A mapping keeps what it needs of the file. */
	close(fd);
	if (ret)
		memory_put(pieces, nr);
	return ret;
}
