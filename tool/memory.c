// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "folio_check.h"
#include "memory.h"
#include "pagerun.h"
#include "sysfile.h"
#include "thp.h"

#define PAGE_BYTES 4096UL

/* How often memory that came in the wrong shape is asked for, in all. */
#define TRIES 3

const struct memory_kind memory_kinds[] = {
	{ "4k",     1,   false },
	{ "64k",    16,  false },
	{ "1m",     256, false },
	{ "2m-pte", 512, false },
	{ "2m-pmd", 512, true },
};

const size_t nr_memory_kinds = ARRAY_SIZE(memory_kinds);

/* MemAvailable in bytes, or UINT64_MAX if the kernel does not tell. */
static uint64_t available(void)
{
	uint64_t kb, bytes = UINT64_MAX;
	char line[256];
	FILE *f;

	f = fopen("/proc/meminfo", "re");
	if (!f)
		return bytes;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %" SCNu64, &kb) == 1) {
			bytes = kb * 1024;
			break;
		}
	}
	fclose(f);
	return bytes;
}

/*
 * The area has room for alignment and for a piece with no access on each side,
 * so that the kernel cannot merge our VMA with a neighbour.
 */
int memory_map(struct memory *m, size_t size)
{
	uintptr_t start;

	m->size = size;
	m->area_size = size + 2 * MEMORY_STEP;
	m->area = mmap(NULL, m->area_size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->area == MAP_FAILED) {
		m->area = NULL;
		return -1;
	}
	start = ((uintptr_t)m->area + MEMORY_STEP) & ~(MEMORY_STEP - 1);
	m->addr = (unsigned char *)start;
	return mprotect(m->addr, size, PROT_READ | PROT_WRITE);
}

/*
 * Split the PMDs and leave the folios whole: a VMA that ends inside a PMD
 * cannot be mapped by it. The second call lets the kernel merge the VMAs
 * again; the PMD stays split.
 */
static int split_pmds(const struct memory *m)
{
	size_t off;

	for (off = 0; off < m->size; off += MEMORY_STEP)
		if (madvise(m->addr + off, PAGE_BYTES, MADV_DONTFORK) ||
		    madvise(m->addr + off, PAGE_BYTES, MADV_DOFORK))
			return -1;
	return 0;
}

/* Fault everything in by writing. */
static int fill_piece(const struct memory_kind *kind, struct memory *m)
{
	volatile unsigned char *p = m->addr;
	size_t off;
	int advice = kind->pages > 1 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;

	/* EINVAL: without huge pages in the kernel all memory is 4k. */
	if (madvise(m->addr, m->size, advice) &&
	    (kind->pages > 1 || errno != EINVAL))
		return -1;
	for (off = 0; off < m->size; off += PAGE_BYTES)
		p[off] = 1;
	if (kind->pages == 1)
		return 0;
	/* From here on khugepaged must not join what is to stay apart. */
	if (madvise(m->addr, m->size, MADV_NOHUGEPAGE))
		return -1;
	return kind->pages * PAGE_BYTES == MEMORY_STEP && !kind->pmd ?
	       split_pmds(m) : 0;
}

static int map_and_fill(const struct memory_kind *kind, struct memory *pieces,
			unsigned int nr, size_t size)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (memory_map(&pieces[i], size) || fill_piece(kind, &pieces[i])) {
			warn("cannot get %zu MiB of memory", size >> 20);
			return PR_FAIL;
		}
	}
	return PR_OK;
}

/* One try; what came is not checked yet. */
static int make(const struct memory_kind *kind, struct memory *pieces,
		unsigned int nr, size_t size, struct why *why)
{
	struct thp_settings settings;
	int ret, back;

	if (kind->pages == 1)
		return map_and_fill(kind, pieces, nr, size);
	if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0) {
		why_set(why, "huge pages are off for this process (prctl PR_SET_THP_DISABLE): start it from a shell that did not turn them off");
		return PR_SKIP;
	}
	if (thp_borrow(&settings, kind->pages * (unsigned int)(PAGE_BYTES / 1024),
		       why))
		return PR_SKIP;
	ret = map_and_fill(kind, pieces, nr, size);
	back = thp_give_back(&settings);
	return ret ? ret : back;
}

int memory_check(const struct memory_kind *kind, const struct memory *memory,
		 struct why *why)
{
	if (folio_check(memory->addr, memory->size, kind->pages, why))
		return -1;
	/* A smaller folio cannot be mapped by a PMD, so there is no need to ask. */
	if (kind->pages * PAGE_BYTES < MEMORY_STEP)
		return 0;
	return folio_check_mapping(memory->addr, memory->size, kind->pmd, why);
}

static int check_pieces(const struct memory_kind *kind,
			const struct memory *pieces, unsigned int nr,
			struct why *why)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (memory_check(kind, &pieces[i], why))
			return PR_SKIP;
	return PR_OK;
}

int memory_room(unsigned int nr, size_t size, struct why *why)
{
	uint64_t free_bytes = available();

	/* A sixteenth more for page tables and page arrays. */
	if (free_bytes / nr >= size + size / 16)
		return PR_OK;
	why_set(why, "needs %zu MiB of memory, %" PRIu64 " MiB are available: use a smaller --size or fewer --threads",
		(size_t)nr * (size >> 20), free_bytes >> 20);
	return PR_SKIP;
}

int memory_get(const struct memory_kind *kind, struct memory *pieces,
	       unsigned int nr, size_t size, struct why *why)
{
	int try, ret = PR_SKIP;

	if (memory_room(nr, size, why))
		return PR_SKIP;
	for (try = 0; try < TRIES; try++) {
		/* A failure to compact shows in what comes next. */
		if (try)
			sysfile_write("/proc/sys/vm/compact_memory", "1");
		memset(pieces, 0, nr * sizeof(*pieces));
		ret = make(kind, pieces, nr, size, why);
		if (ret) {
			memory_put(pieces, nr);
			return ret;
		}
		ret = check_pieces(kind, pieces, nr, why);
		if (!ret)
			return PR_OK;
		memory_put(pieces, nr);
	}
	return ret;
}

void memory_put(struct memory *pieces, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (pieces[i].area)
			munmap(pieces[i].area, pieces[i].area_size);
		memset(&pieces[i], 0, sizeof(pieces[i]));
	}
}
