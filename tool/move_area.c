// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "move_area.h"
#include "pagemap.h"
#include "pagerun.h"
#include "uffd.h"

#define PAGE_BYTES 4096UL
#define PAGE_WORDS (PAGE_BYTES / sizeof(uint64_t))

/* A word for each page, which it has at both ends. */
static uint64_t stamp_of(size_t page)
{
	return 0x70616765ULL << 32 | page;
}

static void write_stamps(const struct memory *m)
{
	uint64_t *word = (uint64_t *)m->addr;
	size_t page;

	for (page = 0; page < m->size / PAGE_BYTES; page++, word += PAGE_WORDS)
		word[0] = word[PAGE_WORDS - 1] = stamp_of(page);
}

static size_t wrong_stamps(const struct memory *m)
{
	const uint64_t *word = (const uint64_t *)m->addr;
	size_t page, wrong = 0;

	for (page = 0; page < m->size / PAGE_BYTES; page++, word += PAGE_WORDS)
		wrong += word[0] != stamp_of(page) ||
			 word[PAGE_WORDS - 1] != stamp_of(page);
	return wrong;
}

/*
 * A page in each page table, and away again, one at a time: newer kernels free the
 * table itself where a whole one is emptied at once.
 */
static int make_tables(const struct memory *m)
{
	size_t off;

	/* EINVAL: without huge pages in the kernel all memory is small. */
	if (madvise(m->addr, m->size, MADV_NOHUGEPAGE) && errno != EINVAL)
		return -1;
	for (off = 0; off < m->size; off += MEMORY_STEP) {
		*(volatile unsigned char *)(m->addr + off) = 1;
		if (madvise(m->addr + off, PAGE_BYTES, MADV_DONTNEED))
			return -1;
	}
	return 0;
}

static int make_dst(struct move_area *area, size_t size)
{
	int err;

	if (memory_map(&area->dst, size) || make_tables(&area->dst)) {
		warn("cannot get %zu MiB to move memory to", size >> 20);
		return PR_FAIL;
	}
	err = area->uffd < 0 ? 0 :
	      uffd_register(area->uffd, area->dst.addr, size);
	if (!err)
		return PR_OK;
	warnx("cannot register memory with userfaultfd: %s", strerror(err));
	return PR_FAIL;
}

int move_area_get(struct move_area *area, const struct memory_kind *kind,
		  size_t size, int uffd, struct why *why)
{
	int ret;

	memset(area, 0, sizeof(*area));
	area->uffd = uffd;
	ret = memory_get(kind, &area->src, 1, size, why);
	if (ret)
		return ret;
	write_stamps(&area->src);
	ret = make_dst(area, size);
	if (ret)
		move_area_put(area);
	return ret;
}

/* What arrived is counted first: touching a page that did not could wait for ever. */
int move_area_check(const struct move_area *area)
{
	size_t pages = area->src.size / PAGE_BYTES, arrived, left, wrong;
	struct why why;

	if (pagemap_count(area->dst.addr, pages, &arrived, &why) ||
	    pagemap_count(area->src.addr, pages, &left, &why)) {
		warnx("%s", why.text);
		return PR_FAIL;
	}
	if (arrived != pages || left) {
		warnx("of %zu pages %zu arrived and %zu are still at the source: do not trust this kernel with memory; report this",
		      pages, arrived, left);
		return PR_FAIL;
	}
	wrong = wrong_stamps(&area->dst);
	if (!wrong)
		return PR_OK;
	warnx("%zu of %zu pages arrived with other contents than they had: do not trust this kernel with memory; report this",
	      wrong, pages);
	return PR_FAIL;
}

void move_area_put(struct move_area *area)
{
	memory_put(&area->src, 1);
	memory_put(&area->dst, 1);
}
