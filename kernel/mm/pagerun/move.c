// SPDX-License-Identifier: GPL-2.0-only
/*
 * move: UFFDIO_MOVE moves a run under one round of locks and one TLB flush.
 *
 * What holds what
 * ---------------
 * Locks are taken in the order of mm/rmap.c: VMAs (by the caller), the mmu notifier's
 * bracket, the source's anon_vma, both page table locks; folio locks below those, so
 * they are only tried.
 *
 *  - The VMAs, locked for reading, keep fork, mremap, munmap, mprotect and the
 *    collapse of anonymous memory away, and src_vma->anon_vma in place.
 *  - The anon_vma of the source, locked for writing. folio_referenced(), page idle
 *    tracking and DAMON walk the reverse mapping of an anonymous folio without its
 *    lock; they must not meet a folio whose mapping and index change. All anon_vmas of
 *    one VMA have one root, and the lock is the root's, so one lock does for all folios
 *    of the source. That a folio's root is that one is looked at.
 *  - The page table locks: entries change under them alone. With both held nobody
 *    maps, unmaps, splits or zaps what is moved, and a page that is mapped stays
 *    allocated by the reference of its mapping: no reference is taken. Slow GUP takes
 *    its pins under the source's.
 *  - The folio's lock: mapping and index change under it; try_to_unmap(), migration,
 *    KSM and swap-in hold it too.
 *  - fast GUP holds none of these. The entry is cleared first, then, behind a full
 *    barrier, the folio is asked for pins. The barrier pairs with the one that GUP-fast
 *    has between its pin and its second look at the entry (try_grab_folio_fast(),
 *    pagerun_pin_run(), pagerun_pin_small()): either it sees the entry gone and gives
 *    its pin back, or the pin is seen here and the entry is put back as it was. No TLB
 *    flush is needed to put it back, as what a TLB holds is what is put there.
 *  - The TLBs are flushed once, for all that was moved, before either page table lock
 *    is dropped: behind the source's lock somebody may rely on nobody writing there any
 *    more, behind the destination's the page may be unmapped and freed. Folios may be
 *    unlocked before the flush. Until then, both addresses reach the page.
 *
 * Within a run, source and destination do not overlap: else an entry that was cleared
 * and not flushed yet would be set again.
 */
#include <linux/hugetlb.h>	/* for flush_tlb_range() of x86 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/rmap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/userfaultfd_k.h>
#include <trace/events/pagerun.h>

#include <asm/tlbflush.h>

#include "../internal.h"
#include "compat.h"
#include "move.h"

/**
 * struct pagerun_move - one run
 * @dst_vma: to where
 * @src_vma: from where
 * @dst_addr: its first address there, in bytes
 * @src_addr: and here
 * @nr: entries to look at, in one page table each
 * @dst_pte: the entry of @dst_addr, once mapped
 * @src_pte: the entry of @src_addr
 * @clean: what the destination's entry of a page is, but for the PFN, which is 0
 * @dirty: the same, of a page that was written to
 * @index: the place of @dst_addr, as a folio's index tells it
 * @saved: room for the entries of a large folio while it is moved, or NULL
 * @room: so many
 * @large: pages moved that are of large folios
 * @swapped: swap entries moved, which no TLB knows
 */
struct pagerun_move {
	struct vm_area_struct *dst_vma, *src_vma;
	unsigned long dst_addr, src_addr;
	unsigned int nr;
	pte_t *dst_pte, *src_pte;
	pte_t clean, dirty;
	pgoff_t index;
	pte_t *saved;
	unsigned int room;
	unsigned int large;
	unsigned int swapped;
};

/* Is this a folio of the anon_vma that is locked? Its page is mapped and exclusive. */
static __always_inline bool pagerun_move_root(const struct pagerun_move *move,
					      struct folio *folio)
{
	const struct anon_vma *anon_vma = move->src_vma->anon_vma;

	/* Most were faulted in where they are. */
	if (likely((unsigned long)folio->mapping ==
		   (unsigned long)anon_vma + PAGE_MAPPING_ANON))
		return true;

	return folio_anon_vma(folio)->root == anon_vma->root;
}

/* As the base makes it of each page. */
static pte_t pagerun_move_template(struct vm_area_struct *vma, bool dirty)
{
	pte_t pte = pfn_pte(0, vma->vm_page_prot);

	/* User space that looks for changes is to see the move. */
	pte = pte_mksoft_dirty(pte);
	if (dirty)
		pte = pte_mkdirty(pte);
	return pte_mkwrite(pte, vma);
}

/* The destination's entry of a page, of which the source's was @pte. */
static __always_inline pte_t pagerun_move_pte(const struct pagerun_move *move,
					      pte_t pte)
{
	return pte_advance_pfn(pte_dirty(pte) ? move->dirty : move->clean,
			       pte_pfn(pte));
}

/* The folio, locked and free of pins, belongs to the destination from here on. */
static __always_inline void pagerun_move_folio(const struct pagerun_move *move,
					       struct folio *folio,
					       unsigned int i)
{
	folio_move_anon_rmap(folio, move->dst_vma);
	folio->index = move->index + i;
}

/* Move the @i-th page, of a small folio. Return: pages moved. */
static __always_inline unsigned int
pagerun_move_small(const struct pagerun_move *move, struct folio *folio,
		   struct page *page, unsigned int i)
{
	struct mm_struct *mm = move->src_vma->vm_mm;
	unsigned long addr = move->src_addr + i * PAGE_SIZE;
	pte_t pte;

	if (!PageAnonExclusive(page) || !folio_trylock(folio))
		return 0;

	if (unlikely(!pagerun_move_root(move, folio))) {
		folio_unlock(folio);
		return 0;
	}

	pte = ptep_get_and_clear(mm, addr, move->src_pte + i);
	/* Clear first, look for pins later. See the head of this file. */
	pagerun_mb_after_clear();
	if (unlikely(folio_maybe_dma_pinned(folio))) {
		set_pte_at(mm, addr, move->src_pte + i, pte);
		folio_unlock(folio);
		return 0;
	}

	pagerun_move_folio(move, folio, i);
	set_pte_at(mm, move->dst_addr + i * PAGE_SIZE, move->dst_pte + i,
		   pagerun_move_pte(move, pte));
	folio_unlock(folio);
	return 1;
}

/*
 * Do the entries from the @i-th on map the whole of a folio, in order and to this
 * process alone, with free entries at the destination?
 */
static bool pagerun_move_whole(const struct pagerun_move *move,
			       struct folio *folio, unsigned int i,
			       unsigned int nr)
{
	unsigned long pfn = folio_pfn(folio);
	unsigned int j;

	for (j = 0; j < nr; j++) {
		pte_t pte = ptep_get(move->src_pte + i + j);

		if (!pte_present(pte) || pte_pfn(pte) != pfn + j ||
		    !pte_none(ptep_get(move->dst_pte + i + j)) ||
		    !PageAnonExclusive(folio_page(folio, j)))
			return false;
	}
	return true;
}

/* Clear the entries of a folio, from the @i-th on, and keep what they were. */
static void pagerun_move_clear(const struct pagerun_move *move, unsigned int i,
			       unsigned int nr)
{
	struct mm_struct *mm = move->src_vma->vm_mm;
	unsigned long addr = move->src_addr + i * PAGE_SIZE;
	unsigned int j;

	for (j = 0; j < nr; j++)
		move->saved[j] = ptep_get_and_clear(mm, addr + j * PAGE_SIZE,
						    move->src_pte + i + j);
}

/* Put them back. */
static void pagerun_move_restore(const struct pagerun_move *move,
				 unsigned int i, unsigned int nr)
{
	struct mm_struct *mm = move->src_vma->vm_mm;
	unsigned long addr = move->src_addr + i * PAGE_SIZE;
	unsigned int j;

	for (j = 0; j < nr; j++)
		set_pte_at(mm, addr + j * PAGE_SIZE, move->src_pte + i + j,
			   move->saved[j]);
}

/* Set the destination's; each page's dirty bit is its own. */
static void pagerun_move_set(const struct pagerun_move *move, unsigned int i,
			     unsigned int nr)
{
	struct mm_struct *mm = move->src_vma->vm_mm;
	unsigned long addr = move->dst_addr + i * PAGE_SIZE;
	unsigned long pfn = pte_pfn(move->saved[0]);
	pte_t clean = pte_advance_pfn(move->clean, pfn);
	pte_t dirty = pte_advance_pfn(move->dirty, pfn);
	unsigned int j;

	for (j = 0; j < nr; j++)
		set_pte_at(mm, addr + j * PAGE_SIZE, move->dst_pte + i + j,
			   pte_advance_pfn(pte_dirty(move->saved[j]) ? dirty : clean, j));
}

/*
 * Move a large folio whole, whose first page the @i-th entry may map. Pins of any of
 * its pages are counted by the folio, so all its entries are cleared before they are
 * asked for.
 *
 * One under writeback is left to the base, which would not split it either. Its
 * place relative to its size stays, so that the destination can be mapped by a PMD or
 * by contiguous entries just as well.
 *
 * Return: pages moved.
 */
static noinline unsigned int pagerun_move_large(struct pagerun_move *move,
						struct folio *folio,
						struct page *page,
						unsigned int i)
{
	const unsigned int nr = folio_nr_pages(folio);

	if (page != &folio->page || nr > move->nr - i || nr > move->room ||
	    ((move->dst_addr ^ move->src_addr) & (folio_size(folio) - 1)) ||
	    !pagerun_move_whole(move, folio, i, nr) || !folio_trylock(folio))
		return 0;

	if (folio_test_writeback(folio) || folio_maybe_dma_pinned(folio) ||
	    !pagerun_move_root(move, folio)) {
		folio_unlock(folio);
		return 0;
	}

	pagerun_move_clear(move, i, nr);
	/* Clear first, look for pins later. See the head of this file. */
	pagerun_mb_after_clear();
	if (unlikely(folio_maybe_dma_pinned(folio))) {
		pagerun_move_restore(move, i, nr);
		folio_unlock(folio);
		return 0;
	}

	pagerun_move_folio(move, folio, i);
	pagerun_move_set(move, i, nr);
	folio_unlock(folio);
	move->large += nr;
	return nr;
}

/* Move the @i-th entry, of a zero page. Return: pages moved, 1. */
static unsigned int pagerun_move_zero(const struct pagerun_move *move,
				      unsigned int i)
{
	struct mm_struct *mm = move->src_vma->vm_mm;
	unsigned long addr = move->dst_addr + i * PAGE_SIZE;
	pte_t pte = pte_mkspecial(pfn_pte(my_zero_pfn(addr),
					  move->dst_vma->vm_page_prot));

	ptep_get_and_clear(mm, move->src_addr + i * PAGE_SIZE, move->src_pte + i);
	set_pte_at(mm, addr, move->dst_pte + i, pte);
	return 1;
}

/*
 * Is this a swap entry of this process alone, whose page is in no swap cache? A folio
 * that is in there would have to be locked first.
 *
 * If so under the page table's lock, no folio in the swap cache has this address for
 * its index: one that was mapped here was unmapped under that lock, with SWAP_HAS_CACHE
 * set before. One that is read ahead from now on has neither mapping nor index until it
 * is mapped, which is at the destination.
 */
static bool pagerun_move_swappable(pte_t pte)
{
	struct swap_info_struct *si;
	swp_entry_t entry;
	bool cached;

	if (!is_swap_pte(pte))
		return false;
	entry = pte_to_swp_entry(pte);
	if (non_swap_entry(entry) || !pte_swp_exclusive(pte))
		return false;
	si = get_swap_device(entry);
	if (!si)
		return false;
	cached = READ_ONCE(si->swap_map[swp_offset(entry)]) & SWAP_HAS_CACHE;
	put_swap_device(si);
	return !cached;
}

/* Move the @i-th entry, which is not present. Return: pages moved. */
static noinline unsigned int pagerun_move_swap(struct pagerun_move *move, pte_t pte,
					       unsigned int i)
{
	struct mm_struct *mm = move->src_vma->vm_mm;

	if (!pagerun_move_swappable(pte))
		return 0;

	pte = ptep_get_and_clear(mm, move->src_addr + i * PAGE_SIZE, move->src_pte + i);
	set_pte_at(mm, move->dst_addr + i * PAGE_SIZE, move->dst_pte + i,
		   pte_swp_mksoft_dirty(pte));
	move->swapped++;
	return 1;
}

/* Move what the @i-th entry maps. Return: pages moved, 0 to end the run here. */
static __always_inline unsigned int pagerun_move_one(struct pagerun_move *move,
						     unsigned int i)
{
	pte_t pte = ptep_get(move->src_pte + i);
	struct folio *folio;
	struct page *page;

	if (unlikely(!pte_none(ptep_get(move->dst_pte + i))))
		return 0;
	if (unlikely(!pte_present(pte)))
		return pagerun_move_swap(move, pte, i);
	if (unlikely(is_zero_pfn(pte_pfn(pte))))
		return pagerun_move_zero(move, i);
	/* In anonymous memory, any other present entry is of a page. */
	if (unlikely(pagerun_pte_special(pte)))
		return 0;

	page = pte_page(pte);
	folio = page_folio(page);
	if (unlikely(!folio_test_anon(folio)))
		return 0;
	if (folio_test_large(folio))
		return pagerun_move_large(move, folio, page, i);
	return pagerun_move_small(move, folio, page, i);
}

/* Move the run, all locks held. Return: pages moved. */
static unsigned int pagerun_move_entries(struct pagerun_move *move)
{
	unsigned int i = 0, moved;

	while (i < move->nr) {
		moved = pagerun_move_one(move, i);
		if (!moved)
			break;
		i += moved;
	}
	if (i > move->swapped)
		flush_tlb_range(move->src_vma, move->src_addr,
				move->src_addr + i * PAGE_SIZE);
	return i;
}

/*
 * Map and lock both page tables, and move. They are in place if the PMD entries are
 * what they were, as a page table is taken out under its lock.
 *
 * Return: pages moved.
 */
static unsigned int pagerun_move_tables(struct pagerun_move *move,
					pmd_t *dst_pmd, pmd_t *src_pmd)
{
	struct mm_struct *mm = move->src_vma->vm_mm;
	pmd_t dst_pmdval = pmdp_get_lockless(dst_pmd);
	pmd_t src_pmdval = pmdp_get_lockless(src_pmd);
	spinlock_t *dst_ptl, *src_ptl;
	unsigned int moved = 0;
	pte_t *dst_pte, *src_pte;

	dst_pte = pte_offset_map_nolock(mm, dst_pmd, move->dst_addr, &dst_ptl);
	if (!dst_pte)
		return 0;
	/* Mapping does not tell sparse what unmapping undoes. */
	__acquire(RCU);
	src_pte = pte_offset_map_nolock(mm, src_pmd, move->src_addr, &src_ptl);
	if (!src_pte)
		goto out;
	__acquire(RCU);

	move->dst_pte = dst_pte;
	move->src_pte = src_pte;
	move->clean = pagerun_move_template(move->dst_vma, false);
	move->dirty = pagerun_move_template(move->dst_vma, true);
	move->index = linear_page_index(move->dst_vma, move->dst_addr);
	double_pt_lock(dst_ptl, src_ptl);
	if (likely(pmd_same(dst_pmdval, pmdp_get_lockless(dst_pmd)) &&
		   pmd_same(src_pmdval, pmdp_get_lockless(src_pmd))))
		moved = pagerun_move_entries(move);
	double_pt_unlock(dst_ptl, src_ptl);
	/* The last that was mapped is the first to go, for HIGHPTE. */
	pte_unmap(src_pte);
out:
	pte_unmap(dst_pte);
	return moved;
}

/* Does it look as if an entry could be moved? */
static bool pagerun_move_likely(pte_t pte)
{
	return pte_present(pte) || (!pte_none(pte) && pte_swp_exclusive(pte));
}

/*
 * And the first of all? *@large is set if it is of a large folio. Nothing holds that
 * in place, so what is read of it is a guess: the functions used assert nothing.
 */
static bool pagerun_move_likely_first(const struct pagerun_move *move, pte_t pte,
				      bool *large)
{
	struct page *page;

	if (!pte_present(pte))
		return pagerun_move_swappable(pte);
	if (pagerun_pte_special(pte))
		return true;
	page = compound_head(pte_page(pte));
	*large = PageCompound(page);
	/* The base splits a folio that is to lie otherwise than now. */
	return !((move->dst_addr ^ move->src_addr) &
		 ((PAGE_SIZE << compound_order(page)) - 1));
}

/*
 * Look ahead, without a lock, whether there is a run at all, so that ranges full of
 * what cannot be moved here do not pay for locks in vain. Two entries tell.
 *
 * If somebody listens to the mmu notifier, look further, and cut the range down to
 * what will probably be moved: to invalidate all that is left of the page table for
 * each short run would cost such a listener the square of it.
 *
 * Return: entries that may be moved, 0 if there are not two; *@large is set if room
 * for the entries of a large folio will be needed. All of it is a guess.
 */
static unsigned int pagerun_move_look(const struct pagerun_move *move,
				      pmd_t *src_pmd, bool *large)
{
	unsigned int nr = mm_has_notifiers(move->src_vma->vm_mm) ? move->nr : 2;
	pte_t *ptep = pte_offset_map(src_pmd, move->src_addr);
	unsigned int i = 0;

	if (!ptep)
		return 0;
	__acquire(RCU);

	if (pagerun_move_likely_first(move, ptep_get_lockless(ptep), large))
		for (i = 1; i < nr; i++)
			if (!pagerun_move_likely(ptep_get_lockless(ptep + i)))
				break;
	pte_unmap(ptep);
	if (i < 2)
		return 0;
	return i < nr ? i : move->nr;
}

/* How many entries can be moved without leaving a table, or overlapping. */
static unsigned int pagerun_move_limit(unsigned long dst_addr,
				       unsigned long src_addr,
				       unsigned long len)
{
	unsigned long apart = dst_addr > src_addr ? dst_addr - src_addr :
						    src_addr - dst_addr;

	len = min(len, apart);
	len = min(len, pmd_addr_end(dst_addr, dst_addr + len) - dst_addr);
	len = min(len, pmd_addr_end(src_addr, src_addr + len) - src_addr);
	return len >> PAGE_SHIFT;
}

unsigned long pagerun_move(pmd_t *dst_pmd, pmd_t *src_pmd,
			   struct vm_area_struct *dst_vma,
			   struct vm_area_struct *src_vma,
			   unsigned long dst_addr, unsigned long src_addr,
			   unsigned long len)
{
	struct anon_vma *anon_vma = READ_ONCE(src_vma->anon_vma);
	struct pagerun_move move = {
		.dst_vma = dst_vma, .src_vma = src_vma,
		.dst_addr = dst_addr, .src_addr = src_addr,
		.nr = pagerun_move_limit(dst_addr, src_addr, len),
	};
	struct mmu_notifier_range range;
	unsigned int moved;
	bool large = false;

	VM_WARN_ON_ONCE((dst_addr | src_addr | len) & ~PAGE_MASK);
	VM_WARN_ON_ONCE(dst_addr < dst_vma->vm_start || dst_addr + len > dst_vma->vm_end);
	VM_WARN_ON_ONCE(src_addr < src_vma->vm_start || src_addr + len > src_vma->vm_end);
	VM_WARN_ON_ONCE(dst_vma->vm_mm != src_vma->vm_mm || !dst_vma->anon_vma);

	/*
	 * Without an anon_vma there are no anonymous pages. A killed process gets out
	 * behind the next page that is moved alone.
	 */
	if (move.nr < 2 || !anon_vma || fatal_signal_pending(current))
		return 0;

	move.nr = pagerun_move_look(&move, src_pmd, &large);
	if (!move.nr)
		return 0;
	if (large) {
		/* Without it, the base splits the folio. */
		move.saved = kmalloc_array(move.nr, sizeof(*move.saved),
					   GFP_KERNEL | __GFP_NOWARN);
		move.room = move.saved ? move.nr : 0;
	}

	flush_cache_range(src_vma, src_addr, src_addr + move.nr * PAGE_SIZE);
	mmu_notifier_range_init(&range, MMU_NOTIFY_CLEAR, 0, src_vma->vm_mm,
				src_addr, src_addr + move.nr * PAGE_SIZE);
	mmu_notifier_invalidate_range_start(&range);
	anon_vma_lock_write(anon_vma);
	moved = pagerun_move_tables(&move, dst_pmd, src_pmd);
	anon_vma_unlock_write(anon_vma);
	mmu_notifier_invalidate_range_end(&range);
	kfree(move.saved);

	trace_pagerun_move(src_addr, dst_addr, moved, move.large);
	pagerun_account(PAGERUN_MOVE, moved ? 1 : 0, moved, moved < move.nr);
	cond_resched();
	return moved * PAGE_SIZE;
}
