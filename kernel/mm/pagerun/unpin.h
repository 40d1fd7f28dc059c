/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unpin: releasing a page array steps by the run.
 *
 * Included by mm/gup.c alone, in front of unpin_user_pages_dirty_lock(), whose helpers it
 * calls.
 *
 * The base asks each entry of an array for its folio, which is a load from a cold line, 64
 * bytes a page. Here the first page of a run is asked, and those that follow are told by
 * their addresses: consecutive struct pages up to the folio's end are consecutive pages of
 * it. So a run costs three struct pages: its first page's, for the folio; the folio's
 * head, for the refcount; and the one behind that, for size and pincount.
 *
 * Why the folio may be asked for its size
 * ---------------------------------------
 * The array holds a pin for each of its entries. A folio is neither split nor freed while
 * somebody else holds a reference, so its head and its size are stable from the first to
 * the last of its entries; and the pins of a row of entries are given back after all of
 * them were looked at.
 */
#ifndef _MM_PAGERUN_UNPIN_H
#define _MM_PAGERUN_UNPIN_H

#ifdef CONFIG_PAGERUN_UNPIN

#include <trace/events/pagerun.h>

#include "array.h"
#include "switch.h"

/*
 * What is still to be given back of the folio of the last entries. These need not lie
 * in one run: an array in reverse is a run a page, and one folio.
 */
struct pagerun_unpin_walk {
	struct folio *folio;		/* NULL: nothing */
	bool large;
	unsigned int refs;		/* pins of @folio */
	unsigned long released;		/* pins on node @pgdat, not in its statistics yet */
	struct pglist_data *pgdat;
	unsigned int nr_runs, nr_run_pages;
};

/*
 * Statistics of the node are written once an array, or when the node changes.
 */
static void pagerun_unpin_flush(struct pagerun_unpin_walk *walk)
{
	if (walk->released)
		mod_node_page_state(walk->pgdat, NR_FOLL_PIN_RELEASED,
				    walk->released);
	walk->released = 0;
}

static __always_inline void pagerun_unpin_released(struct pagerun_unpin_walk *walk)
{
	struct pglist_data *pgdat = folio_pgdat(walk->folio);

	if (unlikely(walk->pgdat != pgdat)) {
		pagerun_unpin_flush(walk);
		walk->pgdat = pgdat;
	}
	walk->released += walk->refs;
}

/* Give back what the walk has of a folio. */
static __always_inline void pagerun_unpin_put(struct pagerun_unpin_walk *walk,
					      bool make_dirty)
{
	struct folio *folio = walk->folio;
	int refs = walk->refs;

	/*
	 * As the base does, which says why a folio that was seen dirty needs no more:
	 * the lock is for the owner of its mapping, who may be taking it away.
	 */
	if (make_dirty && !folio_test_dirty(folio)) {
		folio_lock(folio);
		folio_mark_dirty(folio);
		folio_unlock(folio);
	}

	if (walk->large) {
		atomic_sub(refs, &folio->_pincount);
	} else {
		/* The zero page takes no pins. */
		if (unlikely(is_zero_folio(folio)))
			return;
		refs *= GUP_PIN_COUNTING_BIAS;
	}
	pagerun_unpin_released(walk);
	gup_put_folio(folio, refs, FOLL_GET);
}

/* The pages of a large folio from an array's entry on, up to @end. */
static __always_inline unsigned int
pagerun_unpin_run(struct pagerun_unpin_walk *walk, struct folio *folio,
		  struct page **slot, struct page **end)
{
	unsigned long max = folio_nr_pages(folio) - folio_page_idx(folio, *slot);
	unsigned int nr;

	VM_WARN_ON_ONCE_FOLIO(atomic_read(&folio->_pincount) < 1, folio);

	nr = pagerun_array_run(slot, min_t(unsigned long, max, end - slot));
	/* The folio can end where another one begins. */
	if (nr > 1) {
		walk->nr_runs++;
		walk->nr_run_pages += nr;
		trace_pagerun_unpin(page_to_pfn(*slot), folio_order(folio), nr);
	}
	return nr;
}

/* Part of an array, short enough for the counts of the walk. */
static noinline void pagerun_unpin_part(struct page **slot, unsigned long npages,
					bool make_dirty)
{
	struct pagerun_unpin_walk walk = { };
	struct page **const end = slot + npages;

	while (slot != end) {
		struct folio *folio;
		unsigned int nr = 1;
		bool large;

		if (unlikely(!*slot)) {
			slot++;
			continue;
		}
		folio = page_folio(*slot);
		large = folio_test_large(folio);
		/* What is in no order shall cost about what it costs the base. */
		if (large && end - slot > 1 && pagerun_array_may_run(slot))
			nr = pagerun_unpin_run(&walk, folio, slot, end);

		if (walk.folio != folio) {
			if (walk.folio)
				pagerun_unpin_put(&walk, make_dirty);
			walk.folio = folio;
			walk.large = large;
			walk.refs = 0;
		}
		walk.refs += nr;
		slot += nr;
	}
	if (walk.folio)
		pagerun_unpin_put(&walk, make_dirty);

	pagerun_unpin_flush(&walk);
	pagerun_account(PAGERUN_UNPIN, walk.nr_runs, walk.nr_run_pages, false);
}

/**
 * pagerun_unpin() - release the pages of an array by the run
 * @pages: the array; entries may be NULL, hold a page more than once, be in any order
 * @npages: its length
 * @make_dirty: mark the folios dirty before
 *
 * Context: process context where @make_dirty may sleep; else any that unpin_user_pages()
 * may be called in.
 * Return: false if nothing was done, as the feature is off.
 */
static __always_inline bool pagerun_unpin(struct page **pages, unsigned long npages,
					  bool make_dirty)
{
	if (!pagerun_on(PAGERUN_UNPIN))
		return false;

	while (npages) {
		unsigned long nr = min(npages, PAGERUN_ARRAY_PART);

		pagerun_unpin_part(pages, nr, make_dirty);
		pages += nr;
		npages -= nr;
	}
	return true;
}

#else

static __always_inline bool pagerun_unpin(struct page **pages, unsigned long npages,
					  bool make_dirty)
{
	return false;
}

#endif /* CONFIG_PAGERUN_UNPIN */
#endif /* _MM_PAGERUN_UNPIN_H */
