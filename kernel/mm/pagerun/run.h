/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding runs.
 *
 * A run is a row of consecutive page-table entries that map consecutive pages of
 * one folio with the same protection. Its first entry is the head. Lengths are
 * in pages.
 */
#ifndef _MM_PAGERUN_RUN_H
#define _MM_PAGERUN_RUN_H

#include <linux/mm.h>
#include <linux/mmdebug.h>
#include <linux/pgtable.h>

#include "compat.h"

/*
 * Entries read between two looks at the limit: see pagerun_note_block(). With 8,
 * the look and the four advances cost less than one instruction an entry; 16 gain
 * little more.
 */
#define PAGERUN_BLOCK	8

/**
 * pagerun_maybe_shared() - can pages of a run be shared with another process?
 * @pte: the head, present, of a run of anonymous memory
 *
 * Pages with a writable entry are exclusive. This looks at the hardware's right
 * to write rather than at pte_write(), which is true for x86 shadow-stack entries
 * too: these look like write-protected ones once the dirty bit, which may differ
 * within a run, is stripped.
 *
 * Return: true if PageAnonExclusive has to be looked at page by page.
 */
static __always_inline bool pagerun_maybe_shared(pte_t pte)
{
	return !pte_access_permitted(pte, true);
}

/* Where a scan stands: the next entry, its key, its page and where to note it. */
struct pagerun_cursor {
	pte_t *ptep;
	struct pagerun_key key;
	struct page *page;
	struct page **slot;
};

static __always_inline void pagerun_advance(struct pagerun_cursor *at,
					    unsigned int nr)
{
	at->ptep += nr;
	at->key = pagerun_key_add(at->key, nr);
	at->page = nth_page(at->page, nr);
	at->slot += nr;
}

/* Does the entry @nr further on go on with the run? If so, note its page. */
static __always_inline bool pagerun_note(const struct pagerun_cursor *at,
					 unsigned int nr)
{
	pte_t pte = ptep_get_lockless(at->ptep + nr);

	if (!pagerun_key_fits(pagerun_key_add(at->key, nr), pte))
		return false;

	at->slot[nr] = nth_page(at->page, nr);
	return true;
}

/*
 * Note up to @max entries, but one block at most; return how many fit. Written
 * out, so that each entry's place is a constant; where @max is one too, all looks
 * at it vanish.
 */
static __always_inline unsigned int
pagerun_note_block(const struct pagerun_cursor *at, unsigned int max)
{
	if (max == 0 || !pagerun_note(at, 0))
		return 0;
	if (max == 1 || !pagerun_note(at, 1))
		return 1;
	if (max == 2 || !pagerun_note(at, 2))
		return 2;
	if (max == 3 || !pagerun_note(at, 3))
		return 3;
	if (max == 4 || !pagerun_note(at, 4))
		return 4;
	if (max == 5 || !pagerun_note(at, 5))
		return 5;
	if (max == 6 || !pagerun_note(at, 6))
		return 6;
	if (max == 7 || !pagerun_note(at, 7))
		return 7;
	return PAGERUN_BLOCK;
}

/*
 * pagerun_scan() where PAGERUN_SCAN_BLOCKS says so. The architecture may tell how
 * many entries are alike from one to the end of its block: one entry a block is
 * read.
 *
 * arm64 validated the whole block when it read that entry, which for the head was
 * before the caller's barrier. The head stands for its block all the same:
 * whoever changes one entry of a block unfolds it first, which clears them all,
 * and whoever clears a block whole clears the head.
 */
static inline unsigned int pagerun_scan_blocks(pte_t *ptep, pte_t pte,
					       struct page *page,
					       unsigned int max,
					       struct page **pages)
{
	const struct pagerun_key key = pagerun_key(pte);
	unsigned int nr = 0, end;

	for (;;) {
		end = nr + min(pte_batch_hint(ptep + nr, pte), max - nr);
		for (; nr < end; nr++)
			pages[nr] = nth_page(page, nr);
		if (nr == max)
			return nr;

		pte = ptep_get_lockless(ptep + nr);
		if (!pagerun_key_fits(pagerun_key_add(key, nr), pte))
			return nr;
	}
}

/**
 * pagerun_scan() - find how long a run is, and note its pages
 * @ptep: the head
 * @pte: the head's value, which permits user space to read
 * @page: the page that the head maps
 * @max: how many entries to look at, at least 1; neither the page table nor the
 *	folio may end before
 * @pages: where the pages are noted; has room for @max
 *
 * The entries are read without the page table's lock, each of them once. What
 * was read can be relied upon only as far as the caller's references and
 * barriers reach: see the callers. Entries of @pages behind the run's end are
 * left alone.
 *
 * Context: any in which the page table stays allocated.
 * Return: the length of the run, 1 to @max.
 */
static __always_inline unsigned int pagerun_scan(pte_t *ptep, pte_t pte,
						 struct page *page,
						 unsigned int max,
						 struct page **pages)
{
	struct page **const end = pages + max;
	struct pagerun_cursor at = {
		.ptep = ptep,
		.key = pagerun_key(pte),
		.page = page,
		.slot = pages,
	};
	unsigned int fit;

	VM_WARN_ON_ONCE(!pte_access_permitted(pte, false));
	VM_WARN_ON_ONCE(!max || max > PTRS_PER_PTE);
	VM_WARN_ON_ONCE(pte_page(pte) != page);

	if (PAGERUN_SCAN_BLOCKS)
		return pagerun_scan_blocks(ptep, pte, page, max, pages);

	/* The head has been read. */
	*at.slot = page;
	pagerun_advance(&at, 1);

	while (end - at.slot >= PAGERUN_BLOCK) {
		fit = pagerun_note_block(&at, PAGERUN_BLOCK);
		if (fit < PAGERUN_BLOCK)
			return at.slot + fit - pages;
		pagerun_advance(&at, PAGERUN_BLOCK);
	}
	fit = pagerun_note_block(&at, end - at.slot);
	return at.slot + fit - pages;
}

#if IS_ENABLED(CONFIG_PAGERUN_KUNIT_TEST)
/*
 * pagerun_scan() by the letter of its definition, for tests: each entry is
 * compared with the one before it, property by property.
 */
static inline unsigned int pagerun_scan_slow(pte_t *ptep, struct page *page,
					     unsigned int max,
					     struct page **pages)
{
	unsigned int nr = 0;

	for (;;) {
		pte_t pte, prev;

		pages[nr] = nth_page(page, nr);
		if (++nr == max)
			return nr;

		prev = ptep_get(ptep + nr - 1);
		pte = ptep_get(ptep + nr);
		if (!pte_present(pte) ||
		    pte_pfn(pte) != pte_pfn(prev) + 1 ||
		    pte_protnone(pte) != pte_protnone(prev) ||
		    pte_write(pte) != pte_write(prev) ||
		    pte_special(pte) != pte_special(prev) ||
		    pte_devmap(pte) != pte_devmap(prev) ||
		    pte_uffd_wp(pte) != pte_uffd_wp(prev))
			return nr;

		/* What has no accessor, without what may differ. */
		pte = pte_clear_soft_dirty(pte_mkold(pte_mkclean(pte)));
		prev = pte_clear_soft_dirty(pte_mkold(pte_mkclean(prev)));
		if (pgprot_val(pte_pgprot(pte)) != pgprot_val(pte_pgprot(prev)))
			return nr;
	}
}
#endif

#endif /* _MM_PAGERUN_RUN_H */
