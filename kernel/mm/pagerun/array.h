/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding runs in arrays of pages.
 *
 * Whoever pinned memory has an array of its pages, in which a run is a row of entries
 * that hold consecutive pages of one folio. Nobody promises that there is one: an array
 * can hold pages twice, in any order, or none.
 */
#ifndef _MM_PAGERUN_ARRAY_H
#define _MM_PAGERUN_ARRAY_H

#include <linux/mm.h>
#include <linux/mmdebug.h>

#include "compat.h"

/*
 * Entries compared between two looks at the limit: see pagerun_array_block(). A compare
 * is three instructions; with 8, the look and the advances are a half of one.
 */
#define PAGERUN_ARRAY_BLOCK	8

/*
 * Entries that are worked on at once: statistics of a node take an int, and so do the
 * references of a folio, of which a pin of a small one is GUP_PIN_COUNTING_BIAS.
 */
#define PAGERUN_ARRAY_PART	1000000UL

/* Where a scan stands: the next entry, and the page that goes on with the run. */
struct pagerun_array_cursor {
	struct page **slot;
	struct page *page;
};

/* Does the entry @nr further on go on with the run? */
static __always_inline bool pagerun_array_fits(const struct pagerun_array_cursor *at,
					       unsigned int nr)
{
	return at->slot[nr] == at->page + nr;
}

/*
 * How many of up to @max entries go on with the run, one block at most. Written out, so
 * that each entry's place is a constant; where @max is one too, all looks at it vanish.
 */
static __always_inline unsigned int
pagerun_array_block(const struct pagerun_array_cursor *at, unsigned int max)
{
	if (max == 0 || !pagerun_array_fits(at, 0))
		return 0;
	if (max == 1 || !pagerun_array_fits(at, 1))
		return 1;
	if (max == 2 || !pagerun_array_fits(at, 2))
		return 2;
	if (max == 3 || !pagerun_array_fits(at, 3))
		return 3;
	if (max == 4 || !pagerun_array_fits(at, 4))
		return 4;
	if (max == 5 || !pagerun_array_fits(at, 5))
		return 5;
	if (max == 6 || !pagerun_array_fits(at, 6))
		return 6;
	if (max == 7 || !pagerun_array_fits(at, 7))
		return 7;
	return PAGERUN_ARRAY_BLOCK;
}

/*
 * pagerun_array_run() where the struct pages of a folio need not be neighbours. The page
 * behind the last one is not asked for. A run ends where they are none: callers go on by
 * adding to a pointer; and neighbours in memory need not be consecutive pages.
 */
static inline unsigned int pagerun_array_run_nth(struct page **pages,
						 unsigned int max)
{
	unsigned int nr;

	for (nr = 1; nr < max; nr++) {
		if (pages[nr] != pages[nr - 1] + 1 || pages[nr] != nth_page(pages[0], nr))
			break;
	}
	return nr;
}

/**
 * pagerun_array_may_run() - can there be a run of more than one page?
 * @pages: an array of at least two entries, whose first holds a page
 *
 * Cheaper than what pagerun_array_run() has to be told.
 *
 * Return: false if there is none for sure.
 */
static __always_inline bool pagerun_array_may_run(struct page **pages)
{
	return pages[1] == pages[0] + 1;
}

/**
 * pagerun_array_run() - how long is the run at the start of an array?
 * @pages: the array, whose first entry holds a page
 * @max: how many entries to look at, at least 1; neither the array nor the first
 *	page's folio may end before
 *
 * Compares entries; looks into no struct page, but for the first one's where the struct
 * pages of a folio need not be neighbours. They are in what it finds.
 *
 * Context: any in which the first page's folio is kept from being split or freed.
 * Return: the length of the run, 1 to @max.
 */
static __always_inline unsigned int pagerun_array_run(struct page **pages,
						      unsigned int max)
{
	struct page **const end = pages + max;
	struct pagerun_array_cursor at = { .slot = pages + 1 };
	unsigned int fit;

	VM_WARN_ON_ONCE(!pages[0] || !max);

	if (PAGERUN_PAGES_APART)
		return pagerun_array_run_nth(pages, max);

	at.page = pages[0] + 1;
	while (end - at.slot >= PAGERUN_ARRAY_BLOCK) {
		fit = pagerun_array_block(&at, PAGERUN_ARRAY_BLOCK);
		if (fit < PAGERUN_ARRAY_BLOCK)
			return at.slot + fit - pages;
		at.slot += PAGERUN_ARRAY_BLOCK;
		at.page += PAGERUN_ARRAY_BLOCK;
	}
	fit = pagerun_array_block(&at, end - at.slot);
	return at.slot + fit - pages;
}

#if IS_ENABLED(CONFIG_PAGERUN_KUNIT_TEST)
/* pagerun_array_run() by the letter of its definition, for tests. */
static inline unsigned int pagerun_array_run_slow(struct page **pages,
						  unsigned int max)
{
	unsigned int nr;

	for (nr = 1; nr < max; nr++) {
		if (!pages[nr] || pages[nr] != pages[nr - 1] + 1 ||
		    page_to_pfn(pages[nr]) != page_to_pfn(pages[nr - 1]) + 1)
			break;
	}
	return nr;
}
#endif

#endif /* _MM_PAGERUN_ARRAY_H */
