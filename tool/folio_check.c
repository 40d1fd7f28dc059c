// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folio_check.h"

#define PAGE_BYTES 4096

/* Documentation/admin-guide/mm/pagemap.rst: a stable interface. */
#define PM_PRESENT	(1ULL << 63)
#define PM_PFN(entry)	((entry) & ((1ULL << 55) - 1))
#define KPF_ANON	(1ULL << 12)
#define KPF_HEAD	(1ULL << 15)
#define KPF_TAIL	(1ULL << 16)

#define MAX_FOLIO_PAGES 512

/* @nr 64-bit entries from index @first; fewer at the end of the file. */
static ssize_t read_entries(int fd, uint64_t first, uint64_t *entries,
			    size_t nr)
{
	size_t want = nr * sizeof(*entries), used = 0;
	ssize_t n;

	while (used < want) {
		n = pread(fd, (char *)entries + used, want - used,
			  (off_t)(first * sizeof(*entries) + used));
		if (n < 0)
			return -1;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)(used / sizeof(*entries));
}

/* The PFNs of @nr pages from page @first of the address space. */
static int load_pfns(int pagemap, uint64_t first, uint64_t *entries, size_t nr,
		     struct why *why)
{
	size_t i;

	if (read_entries(pagemap, first, entries, nr) != (ssize_t)nr)
		return why_set(why, "cannot read /proc/self/pagemap (%s): run as root",
			       strerror(errno));
	for (i = 0; i < nr; i++) {
		if (!(entries[i] & PM_PRESENT))
			return why_set(why, "memory was swapped out: free some, or use a smaller --size");
		entries[i] = PM_PFN(entries[i]);
		if (!entries[i])
			return why_set(why, "/proc/self/pagemap hides page frames (it needs CAP_SYS_ADMIN): run as root");
	}
	return 0;
}

/*
 * Whether @pfns are one whole folio. @flags has room for one more page than a
 * folio, which shows that the folio ends there.
 * Return: 1, 0, or -1 if it cannot be told.
 */
static int is_folio(int kpageflags, const uint64_t *pfns, uint64_t *flags,
		    unsigned int nr, struct why *why)
{
	ssize_t got;
	unsigned int i;

	for (i = 1; i < nr; i++)
		if (pfns[i] != pfns[0] + i)
			return 0;
	got = read_entries(kpageflags, pfns[0], flags, nr + 1);
	if (got < (ssize_t)nr)
		return why_set(why, "cannot read /proc/kpageflags (%s): run as root",
			       got < 0 ? strerror(errno) : "it is too short");
	if (!(flags[0] & KPF_ANON))
		return 0;
	if (nr == 1)
		return !(flags[0] & (KPF_HEAD | KPF_TAIL));
	if (!(flags[0] & KPF_HEAD) || pfns[0] % nr)
		return 0;
	for (i = 1; i < nr; i++)
		if (!(flags[i] & KPF_TAIL))
			return 0;
	return got == (ssize_t)nr || !(flags[nr] & KPF_TAIL);
}

static int check_all(int pagemap, int kpageflags, const void *addr, size_t size,
		     unsigned int pages, struct why *why)
{
	uint64_t pfns[MAX_FOLIO_PAGES], flags[MAX_FOLIO_PAGES + 1];
	uint64_t first = (uintptr_t)addr / PAGE_BYTES;
	size_t nr = size / PAGE_BYTES / pages, good = 0, i;
	size_t batch = MAX_FOLIO_PAGES / pages, in_batch;
	int ret;

	for (i = 0; i < nr; i++) {
		in_batch = i % batch * pages;
		/* As many folios at once as fit: small ones are many. */
		if (!in_batch &&
		    load_pfns(pagemap, first + i * pages, pfns,
			      (nr - i < batch ? nr - i : batch) * pages, why))
			return -1;
		ret = is_folio(kpageflags, pfns + in_batch, flags, pages, why);
		if (ret < 0)
			return -1;
		good += (size_t)ret;
	}
	if (good == nr)
		return 0;
	return why_set(why, "only %zu of %zu folios of %u KiB could be had: memory is short or fragmented; run: echo 1 > /proc/sys/vm/drop_caches; echo 1 > /proc/sys/vm/compact_memory, or use a smaller --size",
		       good, nr, pages * (PAGE_BYTES / 1024));
}

int folio_check(const void *addr, size_t size, unsigned int pages,
		struct why *why)
{
	int pagemap, kpageflags, ret = -1;

	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		return why_set(why, "cannot open /proc/self/pagemap (%s): boot a kernel with CONFIG_PROC_PAGE_MONITOR",
			       strerror(errno));
	kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (kpageflags < 0) {
		why_set(why, "cannot open /proc/kpageflags (%s): run as root",
			strerror(errno));
	} else {
		ret = check_all(pagemap, kpageflags, addr, size, pages, why);
		close(kpageflags);
	}
	close(pagemap);
	return ret;
}

/* Add up AnonHugePages and size, in KiB, of the VMAs within a range. */
static int sum_smaps(FILE *smaps, uint64_t start, uint64_t end, uint64_t *huge,
		     uint64_t *all)
{
	uint64_t from, to, kb;
	bool inside = false;
	char *line = NULL;
	size_t room = 0;
	int ret;

	*huge = 0;
	*all = 0;
	while (getline(&line, &room, smaps) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) {
			inside = from >= start && to <= end;
			if (inside)
				*all += (to - from) / 1024;
		} else if (inside &&
			   sscanf(line, "AnonHugePages: %" SCNu64, &kb) == 1) {
			*huge += kb;
		}
	}
	ret = ferror(smaps) ? -1 : 0;
	free(line);
	return ret;
}

int folio_check_mapping(const void *addr, size_t size, bool pmd,
			struct why *why)
{
	uint64_t start = (uintptr_t)addr, huge, all;
	FILE *smaps;
	int ret;

	smaps = fopen("/proc/self/smaps", "re");
	if (!smaps)
		return why_set(why, "cannot open /proc/self/smaps (%s): boot a kernel with CONFIG_PROC_PAGE_MONITOR",
			       strerror(errno));
	ret = sum_smaps(smaps, start, start + size, &huge, &all);
	fclose(smaps);
	if (ret || all != size / 1024)
		return why_set(why, "/proc/self/smaps does not show the memory that was mapped: report this");
	if (huge == (pmd ? all : 0))
		return 0;
	return why_set(why, "%" PRIu64 " of %" PRIu64 " KiB are mapped by 2 MiB entries, not %s: memory is short or fragmented; run: echo 1 > /proc/sys/vm/compact_memory, or use a smaller --size",
		       huge, all, pmd ? "all" : "0");
}
