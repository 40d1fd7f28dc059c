/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pin: GUP-fast takes a PTE-mapped large folio by the run.
 *
 * Included by mm/gup.c alone, in front of gup_fast_pte_range(), whose helpers it
 * calls. It walks a page table ahead of the base's loop and takes what it can.
 * It decides nothing that the base decides otherwise: an entry of a kind that it
 * does not know is left to the base's loop, untouched, with the rest of the
 * table, and what the base would refuse it refuses by the base's own helpers. (What
 * nullmap accepts, nullmap.h accounts for.)
 *
 * (Where arch_make_folio_accessible() fails, on s390, it stops for good. The base
 * stops at that page table too, but takes the error for success one level up and
 * goes on behind the hole.)
 *
 * Why a run may be taken on the strength of its head
 * --------------------------------------------------
 * The head is taken exactly as the base takes any page:
 *
 *   1. the head's entry is read;
 *   2. a reference, and with FOLL_PIN a pin, is put on its folio. Both are
 *      atomic and followed by a full barrier;
 *   3. the PMD entry and the head's entry are read again and must not have
 *      changed.
 *
 * The run's further entries are read after that, then the PMD entry once more.
 * That is enough, because whoever changes such a mapping and depends on nobody
 * using the page does it in the order "clear the entry, full barrier, look at the
 * folio's counts", and the counts are the folio's, not the page's:
 *
 *  - Split, migration, reclaim and lazy free freeze the folio's refcount or
 *    compare it with its mappings, and fail while our reference is there. If they
 *    cleared an entry before we read it, we see it cleared (or a migration entry)
 *    and the run ends there. If we saw it in place, then our reference came first
 *    and they see that. For the same reason folio_nr_pages() and the folio's head
 *    are stable here.
 *  - KSM, swap-out and migration of anonymous memory clear PageAnonExclusive
 *    through folio_try_share_anon_rmap_*(), which after its barrier looks for
 *    pins of the folio: our one pin of the head stops them for every page. Its
 *    barrier pairs with that of step 2.
 *  - UFFDIO_MOVE clears the entries that it moves, all of a large folio's, and looks
 *    for pins behind a full barrier.
 *  - Collapse of anonymous memory clears the PMD entry and then compares the
 *    refcount of each folio with its mappings. Either step 3 sees the PMD entry
 *    changed, or collapse sees our reference, which counts for the whole folio,
 *    and puts the entry back.
 *  - Collapse of file memory takes away a page table that maps the folio which
 *    the PMD will map, or nothing. It does not look at the counts, nor need it.
 *  - munmap() and the like may clear an entry right after we read it. The base
 *    has the same window behind its second look: the page is ours by its
 *    reference, and the caller raced with munmap().
 *  - mremap() can move the whole page table to another address, where its entries
 *    get new contents. The PMD entry is read again after the run's last entry, so
 *    all of them were read while the table was in its place.
 *  - fork() is caught by mm->write_protect_seq in gup_fast(), which gives back
 *    all that *nr counts.
 *  - The page table is freed no earlier than interrupts are on.
 *
 * Checks that look at the folio (long-term, secretmem, file-backed, accessible)
 * hold for the run, since it lies in one folio. Checks that look at the entry
 * (permission, protection key, PROT_NONE, special, devmap, uffd-wp) hold for the
 * run, since all its entries have the same bits. PageAnonExclusive is a page's
 * own and is looked at page by page where it matters.
 */
#ifndef _MM_PAGERUN_PIN_H
#define _MM_PAGERUN_PIN_H

#ifdef CONFIG_PAGERUN_PIN

#include <trace/events/pagerun.h>

#include "run.h"
#include "switch.h"

/* mm/gup.c includes nullmap.h before, if the patch of that feature is applied. */
#ifndef _MM_PAGERUN_NULLMAP_H
static __always_inline bool pagerun_nullmap_wanted(unsigned int flags)
{
	return false;
}

static __always_inline bool
pagerun_nullmap_page(const struct folio *folio, pmd_t pmd, pmd_t *pmdp,
		     pte_t pte, pte_t *ptep, unsigned int flags)
{
	return false;
}

static __always_inline void pagerun_nullmap_account(unsigned int nr)
{
}
#endif

/* No entry of this table may be taken any more, by the base neither. */
#define PAGERUN_PIN_STOP	ULONG_MAX

/* One walk of one page table. */
struct pagerun_pin_walk {
	pmd_t pmd;		/* as read before the walk */
	pmd_t *pmdp;		/* where from */
	pte_t *end;		/* behind the last entry */
	unsigned int flags;	/* FOLL_* */
	unsigned int acquired;	/* pins on node @pgdat, not in its statistics yet */
	struct pglist_data *pgdat;
	bool nullmap;		/* pages without ->mapping may be taken */
	unsigned int nr_nullmap; /* so many were */
};

/*
 * Statistics of the node are written once a walk, or when the node changes: all
 * of it lies on the stack till then, so an NMI that walks a page table in the
 * middle of this finds nothing half done, and gup_fast() finds them written when
 * it has to undo.
 */
static void pagerun_pin_flush(struct pagerun_pin_walk *walk)
{
	if (walk->acquired)
		mod_node_page_state(walk->pgdat, NR_FOLL_PIN_ACQUIRED,
				    walk->acquired);
	walk->acquired = 0;
}

static __always_inline void pagerun_pin_acquired(struct pagerun_pin_walk *walk,
						 struct folio *folio,
						 unsigned int nr)
{
	struct pglist_data *pgdat = folio_pgdat(folio);

	if (unlikely(walk->pgdat != pgdat)) {
		pagerun_pin_flush(walk);
		walk->pgdat = pgdat;
	}
	walk->acquired += nr;
}

/*
 * Add to the refcount of the folio of @page, which was seen to be large or not.
 * By the time that is done it may have been split, or freed and be another's. Then
 * exactly that is given back.
 *
 * A folio that got GUP_PIN_COUNTING_BIAS by such a mistake looks pinned for a
 * moment, as any small folio does that has many references.
 *
 * What is found the same here is stable if the page is mapped, as the look at its
 * entry will tell. If it is not, it may be one that the allocator is making into a
 * folio just now.
 *
 * Return: false if nothing is left added; the base may find out why.
 */
static __always_inline bool pagerun_pin_get(struct page *page,
					    struct folio *folio, bool large,
					    int refs)
{
	if (unlikely(folio_ref_count(folio) <= 0) ||
	    unlikely(!folio_ref_try_add(folio, refs)))
		return false;

	if (likely(page_folio(page) == folio && folio_test_large(folio) == large))
		return true;

	gup_put_folio(folio, refs, FOLL_GET);
	return false;
}

/* May a folio that is not anonymous be kept? Its ->mapping was read as @mapping. */
static __always_inline bool
pagerun_pin_folio_allowed(struct pagerun_pin_walk *walk, struct folio *folio,
			  unsigned long mapping, bool large, pte_t *ptep, pte_t pte)
{
	if (!large && !mapping && walk->nullmap &&
	    pagerun_nullmap_page(folio, walk->pmd, walk->pmdp, pte, ptep,
				 walk->flags)) {
		walk->nr_nullmap++;
		return true;
	}
	return gup_fast_folio_allowed(folio, walk->flags);
}

/*
 * May the page be kept? To be asked when the folio's counts have been raised:
 * the looks at the PMD entry and the PTE pair with the barrier between clearing
 * them and looking at the counts, on the side of those who unmap.
 */
static __always_inline bool
pagerun_pin_allowed(struct pagerun_pin_walk *walk, struct folio *folio,
		    bool large, pte_t *ptep, pte_t pte)
{
	const unsigned int flags = walk->flags;
	unsigned long mapping;

	if (unlikely(pmd_val(walk->pmd) != pmd_val(*walk->pmdp)) ||
	    unlikely(pte_val(pte) != pte_val(ptep_get(ptep))))
		return false;

	/* All anonymous folios are allowed, most are anonymous. */
	mapping = (unsigned long)READ_ONCE(folio->mapping);
	if (!(mapping & PAGE_MAPPING_ANON) &&
	    !pagerun_pin_folio_allowed(walk, folio, mapping, large, ptep, pte))
		return false;

	/*
	 * To be asked after ->mapping: one that was seen to be anonymous is seen so
	 * again.
	 */
	if (!pte_write(pte) && gup_must_unshare(NULL, flags, pte_page(pte)))
		return false;

	return !(flags & FOLL_PIN) || !arch_make_folio_accessible(folio);
}

/*
 * Cut a run down to the pages in front of the first that has to be unshared.
 *
 * A read-only pin of anonymous memory must be of an exclusive page.
 *
 * PageAnonExclusive is read after the entry was, and the smp_rmb() in
 * gup_must_unshare() keeps it so.
 */
static unsigned int pagerun_pin_exclusive(struct page **pages, unsigned int nr,
					  unsigned int flags)
{
	unsigned int i;

	for (i = 1; i < nr; i++) {
		if (gup_must_unshare(NULL, flags, pages[i]))
			break;
	}
	return i;
}

/**
 * pagerun_pin_run() - take a run
 * @walk: the walk
 * @folio: the folio, large; the caller holds one reference to it
 * @ptep: the head
 * @pte: its value, read before the reference was taken
 * @pages: where the pages are noted, room up to @walk->end
 *
 * Out of line on purpose: inlined, it costs the loop over order-0 pages its
 * registers.
 *
 * Context: interrupts off.
 * Return: pages taken, the head included: the folio has got as many references
 * (and pins), the caller's one included. 0 if the head cannot be taken; then the
 * caller's reference is given back.
 */
static noinline unsigned int
pagerun_pin_run(struct pagerun_pin_walk *walk, struct folio *folio,
		pte_t *ptep, pte_t pte, struct page **pages)
{
	const unsigned int flags = walk->flags;
	struct page *page = pte_page(pte);
	unsigned long nr;

	VM_WARN_ON_ONCE(!irqs_disabled());
	VM_WARN_ON_ONCE_FOLIO(!folio_test_large(folio), folio);
	VM_WARN_ON_ONCE_FOLIO(page_folio(page) != folio, folio);

	if (flags & FOLL_PIN) {
		if (unlikely((flags & FOLL_LONGTERM) &&
			     !folio_is_longterm_pinnable(folio))) {
			gup_put_folio(folio, 1, FOLL_GET);
			return 0;
		}
		atomic_inc(&folio->_pincount);
		/*
		 * Pin first, look at the entries later. Pairs with the barrier
		 * in folio_try_share_anon_rmap_*().
		 */
		smp_mb__after_atomic();
	}

	if (unlikely(!pagerun_pin_allowed(walk, folio, true, ptep, pte))) {
		/* The base has counted what it gives back. */
		if (flags & FOLL_PIN)
			pagerun_pin_acquired(walk, folio, 1);
		gup_put_folio(folio, 1, flags);
		return 0;
	}

	/*
	 * The folio's size is looked at after its mapping. Pairs with the
	 * barrier between making a folio and mapping it (a page table lock).
	 */
	smp_rmb();
	nr = folio_nr_pages(folio) - folio_page_idx(folio, page);
	nr = min_t(unsigned long, nr, walk->end - ptep);
	nr = pagerun_scan(ptep, pte, page, nr, pages);

	/* And the PMD entry after all PTEs. Pairs with move_normal_pmd(). */
	smp_rmb();
	if (unlikely(pmd_val(walk->pmd) != pmd_val(*walk->pmdp)))
		nr = 1;

	if ((flags & (FOLL_PIN | FOLL_WRITE)) == FOLL_PIN &&
	    folio_test_anon(folio) && pagerun_maybe_shared(pte))
		nr = pagerun_pin_exclusive(pages, nr, flags);

	/*
	 * At most PTRS_PER_PTE - 1 on top of a count that was found positive: as
	 * for a PMD leaf, that cannot overflow.
	 */
	if (nr > 1) {
		folio_ref_add(folio, nr - 1);
		if (flags & FOLL_PIN)
			atomic_add(nr - 1, &folio->_pincount);
	}
	if (flags & FOLL_PIN)
		pagerun_pin_acquired(walk, folio, nr);
	folio_set_referenced(folio);
	return nr;
}

/*
 * Take one page of a small folio, to which the caller has added what @flags ask
 * for: one locked operation, where the base needs two for a pin. An atomic
 * operation that succeeded on a condition and returns so is a full barrier: pin
 * first, look at the entry later, as in pagerun_pin_run(). If the page cannot be
 * taken, what was added is given back.
 */
static __always_inline bool
pagerun_pin_small(struct pagerun_pin_walk *walk, struct folio *folio,
		  pte_t *ptep, pte_t pte)
{
	const unsigned int flags = walk->flags;

	if (flags & FOLL_PIN) {
		if (unlikely((flags & FOLL_LONGTERM) &&
			     !folio_is_longterm_pinnable(folio))) {
			gup_put_folio(folio, GUP_PIN_COUNTING_BIAS, FOLL_GET);
			return false;
		}
		pagerun_pin_acquired(walk, folio, 1);
	}

	if (unlikely(!pagerun_pin_allowed(walk, folio, false, ptep, pte))) {
		/*
		 * Not gup_put_folio(.., 1, flags): it would look at the size
		 * again, and if the entry has changed that may have, too.
		 */
		if (flags & FOLL_PIN)
			node_stat_mod_folio(folio, NR_FOLL_PIN_RELEASED, 1);
		gup_put_folio(folio, flags & FOLL_PIN ? GUP_PIN_COUNTING_BIAS : 1,
			      FOLL_GET);
		return false;
	}

	folio_set_referenced(folio);
	return true;
}

/* Has the base's loop to judge this entry, before any count is taken? */
static __always_inline bool pagerun_pin_unknown(pte_t pte, unsigned int flags)
{
	return pte_protnone(pte) ||
	       !pte_access_permitted(pte, flags & FOLL_WRITE) ||
	       pagerun_pte_special(pte);
}

/* And this page? */
static __always_inline bool pagerun_pin_unknown_page(struct page *page,
						     unsigned int flags)
{
	/* The zero page takes no pins. */
	if ((flags & FOLL_PIN) && is_zero_page(page))
		return true;

	return !(flags & FOLL_PCI_P2PDMA) && is_pci_p2pdma_page(page);
}

/* The body of pagerun_pin_ptes(), while the switch is on. */
static noinline unsigned long
__pagerun_pin_ptes(pmd_t pmd, pmd_t *pmdp, unsigned long addr,
		   unsigned long end, unsigned int flags, struct page **pages,
		   int *nr)
{
	const int small_refs = flags & FOLL_PIN ? GUP_PIN_COUNTING_BIAS : 1;
	struct pagerun_pin_walk walk = {
		.pmd = pmd, .pmdp = pmdp, .flags = flags,
		.nullmap = pagerun_nullmap_wanted(flags),
	};
	unsigned int nr_runs = 0, nr_run_pages = 0, run;
	struct page **slot = pages + *nr;
	unsigned long ret = end;
	pte_t *first, *ptep;

	VM_WARN_ON_ONCE(!irqs_disabled());
	VM_WARN_ON_ONCE(addr >= end || end - addr > PMD_SIZE);

	first = pte_offset_map(&pmd, addr);
	if (!first)
		return PAGERUN_PIN_STOP;

	/* pte_offset_map() does not tell sparse what pte_unmap() undoes. */
	__acquire(RCU);

	ptep = first;
	walk.end = first + ((end - addr) >> PAGE_SHIFT);
	do {
		pte_t pte = ptep_get_lockless(ptep);
		struct folio *folio;
		struct page *page;

		if (pagerun_pin_unknown(pte, flags))
			goto fallback;
		page = pte_page(pte);
		if (pagerun_pin_unknown_page(page, flags))
			goto fallback;

		folio = page_folio(page);
		if (folio_test_large(folio)) {
			if (!pagerun_pin_get(page, folio, true, 1))
				goto fallback;
			run = pagerun_pin_run(&walk, folio, ptep, pte, slot);
			if (!run)
				goto abort;
			trace_pagerun_pin(addr + ((ptep - first) << PAGE_SHIFT),
					  pte_pfn(pte), folio_order(folio), run,
					  flags);
			nr_run_pages += run;
			nr_runs++;
		} else {
			if (!pagerun_pin_get(page, folio, false, small_refs))
				goto fallback;
			if (!pagerun_pin_small(&walk, folio, ptep, pte))
				goto abort;
			*slot = page;
			run = 1;
		}
		slot += run;
		ptep += run;
	} while (ptep != walk.end);
out:
	*nr += ptep - first;
	pte_unmap(first);
	pagerun_pin_flush(&walk);
	pagerun_account(PAGERUN_PIN, nr_runs, nr_run_pages, ret != end);
	pagerun_nullmap_account(walk.nr_nullmap);
	return ret;
fallback:
	ret = addr + ((ptep - first) << PAGE_SHIFT);
	goto out;
abort:
	ret = PAGERUN_PIN_STOP;
	goto out;
}

/**
 * pagerun_pin_ptes() - take what can be taken by the run from a page table
 * @pmd: the PMD entry that points to the table, as read by the caller
 * @pmdp: where it was read
 * @addr: user address of the first entry
 * @end: address behind the last entry; both in one page table, @addr < @end
 * @flags: FOLL_* flags as in gup_fast_pte_range()
 * @pages: the caller's array; filled from *@nr on
 * @nr: counts the pages taken so far; what is taken here is added
 *
 * A caller that may have to undo what it took in this table, as for device
 * memory, notes *@nr before it calls this.
 *
 * Context: GUP-fast: interrupts off, no locks, NMI too.
 * Return: the address at which the base's loop is to go on: @addr if nothing was
 * done (the switch is off), @end if all was taken, one in between at an entry
 * that is the base's to judge. An address above @end where the base would
 * have stopped, after a failed attempt that must not be made twice: each attempt
 * shows in nr_foll_pin_acquired.
 */
static __always_inline unsigned long
pagerun_pin_ptes(pmd_t pmd, pmd_t *pmdp, unsigned long addr, unsigned long end,
		 unsigned int flags, struct page **pages, int *nr)
{
	if (!pagerun_on(PAGERUN_PIN))
		return addr;

	return __pagerun_pin_ptes(pmd, pmdp, addr, end, flags, pages, nr);
}

#else /* CONFIG_PAGERUN_PIN */

static __always_inline unsigned long
pagerun_pin_ptes(pmd_t pmd, pmd_t *pmdp, unsigned long addr, unsigned long end,
		 unsigned int flags, struct page **pages, int *nr)
{
	return addr;
}

#endif /* CONFIG_PAGERUN_PIN */
#endif /* _MM_PAGERUN_PIN_H */
