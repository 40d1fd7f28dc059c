/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nullmap: GUP-fast accepts small folios whose ->mapping is NULL.
 *
 * These are pages that a driver got from alloc_page() and mapped by
 * vm_insert_page(). Since 6.10, where SECRETMEM is built in, GUP-fast leaves them
 * to the slow path and its mmap_lock: a NULL may also mean that the page of a file
 * was truncated a moment ago, and that file might be secret memory.
 *
 * Why a NULL need not be feared
 * -----------------------------
 * A page of secret memory is told apart by the order of three steps:
 *
 *   1. our reference is on the folio; then its entry and the PMD entry above were
 *      found unchanged;
 *   2. ->mapping is read, and is NULL;
 *   3. the two entries are read again and have not changed.
 *
 * There is a read barrier between each.
 *
 *  - Secret memory that is being mapped: ->mapping is set when the page enters the
 *    file, then the atomic operation on _mapcount in __folio_add_rmap(), a full
 *    barrier, then the entry is set. Who sees that entry in step 1 sees ->mapping in
 *    step 2. This is what keeps out a page that was freed and came back as secret
 *    memory, in the same place, between the first look at the entry and our
 *    reference.
 *  - Secret memory that leaves its file by eviction of the inode: first the entry is
 *    cleared, then _mapcount drops, by an atomic operation that is a full barrier, and
 *    only who has seen that, or the end of the last mapping of the file, clears
 *    ->mapping. Who sees that NULL in step 2 sees the entry cleared in step 3. The
 *    entry cannot have come back: nobody else has a reference to map such a page by.
 *  - Secret memory that leaves its file otherwise (drop_caches, memory failure): that
 *    freezes the refcount. It fails because of our reference, or our reference came
 *    later, and then step 1 saw the entry cleared.
 *
 * Step 1 alone would not do. Secret memory is cleared, and gets its place in the
 * direct map back, after ->mapping was cleared; and on machines where a TLB flush
 * does not wait for CPUs that have interrupts off (arm64, guests that flush by
 * hypercall), nothing keeps the walk from seeing the NULL before that.
 *
 * Other pages without ->mapping may come from a file that was truncated (TCP's
 * zerocopy receive maps such). The slow path takes them as well.
 *
 * Anonymous memory that has just been mapped may, where stores may be seen in
 * another order, still look as if it had no ->mapping. That does no harm unless it
 * would have to be unshared, so there a pin for reading through a read-only entry is
 * left to the base, which asks again.
 *
 * What differs from a kernel without
 * ----------------------------------
 * The fast path cannot see the VMA, and the slow path refuses VM_IO and VM_PFNMAP.
 * Where a driver maps such pages by ordinary entries into such a VMA, they can be
 * pinned now, as they could before 6.10 and can where SECRETMEM is not built in.
 *
 * A long-term pin for writing is refused as before: whose page it is cannot be told.
 */
#ifndef _MM_PAGERUN_NULLMAP_H
#define _MM_PAGERUN_NULLMAP_H

#ifdef CONFIG_PAGERUN_NULLMAP

#include <linux/mm.h>
#include <linux/pgtable.h>

#include "../internal.h"
#include "compat.h"
#include "switch.h"

/**
 * pagerun_nullmap_wanted() - may such pages be taken in a call at all?
 * @flags: FOLL_* flags of the call
 *
 * Context: any.
 * Return: true if so. False while the switch is off, and for a long-term pin for
 * writing.
 */
static __always_inline bool pagerun_nullmap_wanted(unsigned int flags)
{
	const unsigned int owner_matters = FOLL_PIN | FOLL_LONGTERM | FOLL_WRITE;

	return pagerun_on(PAGERUN_NULLMAP) &&
	       (flags & owner_matters) != owner_matters;
}

/*
 * Is it for the slow path to say whether a page with a read-only entry has to be
 * unshared? Always for a long-term pin: then what is counted as taken is taken.
 */
static __always_inline bool pagerun_nullmap_readonly(unsigned int flags)
{
	return flags & (PAGERUN_STORES_IN_ORDER ? FOLL_LONGTERM : FOLL_PIN);
}

/**
 * pagerun_nullmap_page() - is this a page without ->mapping that may be taken?
 * @folio: its folio, small; the caller holds a reference
 * @pmd: the PMD entry above it
 * @pmdp: where that was read
 * @pte: the entry that maps it
 * @ptep: where that was read
 * @flags: FOLL_* flags, for which pagerun_nullmap_wanted()
 *
 * Both entries were found unchanged after the reference was taken.
 *
 * Context: GUP-fast: interrupts off, no locks, NMI too.
 * Return: true if the check of ->mapping is passed. False leaves it to
 * gup_fast_folio_allowed().
 */
static __always_inline bool
pagerun_nullmap_page(const struct folio *folio, pmd_t pmd, pmd_t *pmdp,
		     pte_t pte, pte_t *ptep, unsigned int flags)
{
	VM_WARN_ON_ONCE_FOLIO(folio_test_large(folio), folio);

	/* Pairs with the atomic operation in __folio_add_rmap(). */
	smp_rmb();
	if (READ_ONCE(folio->mapping))
		return false;

	/* Pairs with the atomic operation in __folio_remove_rmap(). */
	smp_rmb();
	if (unlikely(pmd_val(pmd) != pmd_val(*pmdp)) ||
	    unlikely(pte_val(pte) != pte_val(ptep_get(ptep))))
		return false;

	if (!pte_write(pte) && pagerun_nullmap_readonly(flags))
		return false;

	/* Slab pages are left to the base, which warns of them. */
	return !folio_test_slab(folio);
}

/**
 * pagerun_nullmap() - the whole question, for the loop of gup_fast_pte_range()
 * @folio: the page's folio; the caller holds a reference
 * @pmd: the PMD entry above it
 * @pmdp: where that was read
 * @pte: the entry that maps it
 * @ptep: where that was read
 * @flags: FOLL_* flags
 * @nr: incremented if the answer is true
 *
 * Both entries were found unchanged after the reference was taken.
 *
 * Context: GUP-fast: interrupts off, no locks, NMI too.
 * Return: true if the page may be taken, false if gup_fast_folio_allowed() decides.
 */
static __always_inline bool
pagerun_nullmap(const struct folio *folio, pmd_t pmd, pmd_t *pmdp, pte_t pte,
		pte_t *ptep, unsigned int flags, unsigned int *nr)
{
	if (!pagerun_nullmap_wanted(flags) || folio_test_large(folio) ||
	    !pagerun_nullmap_page(folio, pmd, pmdp, pte, ptep, flags))
		return false;

	(*nr)++;
	return true;
}

/**
 * pagerun_nullmap_account() - add to the statistics, once a page table
 * @nr: pages without ->mapping that were taken from it
 *
 * Context: GUP-fast.
 */
static __always_inline void pagerun_nullmap_account(unsigned int nr)
{
	pagerun_account(PAGERUN_NULLMAP, nr, nr, false);
}

#else /* CONFIG_PAGERUN_NULLMAP */

#include <linux/mm_types.h>

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

static __always_inline bool
pagerun_nullmap(const struct folio *folio, pmd_t pmd, pmd_t *pmdp, pte_t pte,
		pte_t *ptep, unsigned int flags, unsigned int *nr)
{
	return false;
}

static __always_inline void pagerun_nullmap_account(unsigned int nr)
{
}

#endif /* CONFIG_PAGERUN_NULLMAP */
#endif /* _MM_PAGERUN_NULLMAP_H */
