// SPDX-License-Identifier: GPL-2.0-only
/*
 * Splitting a PMD entry that maps PFNs into a table of PTEs that map the same.
 *
 * The entry has no table in reserve, so one is allocated before the page table lock
 * is taken, and freed again if under the lock there is nothing to split any more.
 *
 * Who can undo what it began does that early, by pagerun_map_split_early(): the
 * memory is waited for, and having none is an error with everything still mapped.
 * These are __split_vma(), and so partial munmap(), mprotect(), madvise(), mbind(),
 * mseal() and mremap(); and mremap() to another place.
 *
 * All else cannot fail: zap_vma_ptes(), unmap_mapping_range(), a write fault. There
 * the table must come in any case, and i_mmap_rwsem may be held, which reclaim takes
 * to unmap the pages of a file. So alloc_table() does not reclaim:
 *
 *  - It takes no lock that can wait for us. Under memalloc_noreclaim_save() the page
 *    allocator, and the slab allocator for the lock of a table, take what is free and
 *    then what is kept for emergencies; they reclaim nothing, and the charge to the
 *    cgroup succeeds.
 *  - If not even that is left, it sleeps for a tick and tries again. Somebody gives
 *    memory back: kswapd, who was woken; those who reclaim for themselves; the
 *    victim of the OOM killer, whose memory is zapped without i_mmap_rwsem, by itself
 *    or by the OOM reaper. What is held here keeps none of them from it: i_mmap_rwsem
 *    of a device's file is in the way of nobody who unmaps pages of other files, and
 *    the page table lock is not held yet.
 *  - It takes one table for a mapping that is zapped in part, or two: at the start and
 *    at the end of the part. So the emergency memory is not drawn upon at length.
 *
 * A reader at the same time sees the entry, then waits, then sees the PTE: while the
 * table is filled, the entry is present to software and not to the processor
 * (pmdp_invalidate()), so that a fault finds an entry of this kind, waits for the
 * page table lock and tries again. Were it cleared, the fault would ask the file, and
 * that would answer SIGBUS.
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/vmstat.h>

/* linux/pgalloc.h, which goes before it, is not in every 6.12. */
#include <asm/pgalloc.h>

#include <trace/events/pagerun.h>

#include "map.h"

/* Context: may sleep. Return: a table, always. */
static pgtable_t alloc_table(struct mm_struct *mm)
{
	pgtable_t table;

	might_sleep();
	for (;;) {
		unsigned int flags = memalloc_noreclaim_save();

		table = pte_alloc_one(mm);
		memalloc_noreclaim_restore(flags);
		if (likely(table))
			return table;
		schedule_timeout_uninterruptible(1);
	}
}

/*
 * Replaces an entry by a table that maps the same: PFNs, protection, memory type, and
 * the bits that the processor and the kernel set, which each PTE gets as the entry
 * had them. But for the dirty bit where the file is to be asked before a page is made
 * writable: mprotect() would take it for a page about which it was asked. Page table
 * lock held.
 */
static void fill_table(struct vm_area_struct *vma, pmd_t *pmd,
		       unsigned long haddr, pgtable_t table)
{
	const bool notifies = vma->vm_ops && vma->vm_ops->pfn_mkwrite;
	struct mm_struct *mm = vma->vm_mm;
	unsigned long addr = haddr, pfn;
	pgprot_t prot;
	pmd_t old, _pmd;
	pte_t *pte;
	int i;

	/* Atomic, so no bit that the processor sets is lost; flushes the TLBs. */
	old = pmdp_invalidate(vma, haddr, pmd);
	prot = pagerun_map_pgprot(old);
	pfn = pmd_pfn(old);

	pmd_populate(mm, &_pmd, table);
	pte = pte_offset_map(&_pmd, haddr);
	/* What the map takes and the unmap gives back, for sparse. */
	__acquire(RCU);
	VM_WARN_ON_ONCE(!pte);
	for (i = 0; i < PTRS_PER_PTE; i++, addr += PAGE_SIZE) {
		pte_t entry = pte_mkspecial(pfn_pte(pfn + i, prot));

		set_pte_at(mm, addr, pte + i, notifies ? pte_mkclean(entry) : entry);
	}
	pte_unmap(pte);
	mm_inc_nr_ptes(mm);

	/*
	 * Who sees the table sees what is in it: pairs with the address dependency of
	 * who walks to it, in hardware and in pte_offset_map().
	 */
	smp_wmb();
	pmd_populate(mm, pmd, table);
	trace_pagerun_map_split(haddr, pfn);
}

/* Under the lock it shows whether there still is an entry to split. */
static bool split_locked(struct vm_area_struct *vma, pmd_t *pmd,
			 unsigned long haddr, pgtable_t table)
{
	spinlock_t *ptl = pmd_lock(vma->vm_mm, pmd);
	bool split = pagerun_pmd_pfnmap(pmdp_get(pmd));

	if (split) {
		count_vm_event(THP_SPLIT_PMD);
		fill_table(vma, pmd, haddr, table);
	}
	spin_unlock(ptl);
	return split;
}

/*
 * Splits an entry into @table, inside of a notifier bracket as for any PMD entry that
 * is split. Without an entry to split, @table is freed. Return: was it split?
 */
static bool split_into(struct vm_area_struct *vma, pmd_t *pmd,
		       unsigned long addr, pgtable_t table)
{
	unsigned long haddr = addr & PMD_MASK;
	struct mm_struct *mm = vma->vm_mm;
	struct mmu_notifier_range range;
	bool split;

	VM_WARN_ON_ONCE(vma->vm_start > haddr || vma->vm_end < haddr + PMD_SIZE);

	mmu_notifier_range_init(&range, MMU_NOTIFY_CLEAR, 0, mm, haddr,
				haddr + PMD_SIZE);
	mmu_notifier_invalidate_range_start(&range);
	split = split_locked(vma, pmd, haddr, table);
	mmu_notifier_invalidate_range_end(&range);
	if (!split)
		pte_free(mm, table);
	return split;
}

/* For pagerun_map_split(): the entry looked like one to split. */
bool __pagerun_map_split(struct vm_area_struct *vma, pmd_t *pmd,
			 unsigned long addr)
{
	/* There the entry of a ->huge_fault has a table in reserve. */
	if (arch_needs_pgtable_deposit())
		return false;
	return split_into(vma, pmd, addr, alloc_table(vma->vm_mm));
}

/*
 * NULL if there is none. A PUD entry that is a leaf, as a ->huge_fault may make, has
 * none below it.
 */
static pmd_t *find_pmd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud, entry;

	if (pgd_none_or_clear_bad(pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none_or_clear_bad(p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	entry = pudp_get(pud);
	if (!pud_present(entry) || pud_leaf(entry))
		return NULL;
	return pmd_offset(pud, addr);
}

/**
 * pagerun_map_split_early() - split the entry that maps an address, if memory allows
 * @vma: the VMA, in which all that the entry maps is
 * @addr: the address
 *
 * Context: process context, may sleep and reclaim; mmap_lock, or the VMA's lock. Not
 * with i_mmap_rwsem.
 * Return: 0, also if no entry of this kind is there; -ENOMEM with all as it was.
 */
int pagerun_map_split_early(struct vm_area_struct *vma, unsigned long addr)
{
	pmd_t *pmd = find_pmd(vma->vm_mm, addr);
	pgtable_t table;

	if (!pmd || !pagerun_pmd_pfnmap(pmdp_get_lockless(pmd)) ||
	    arch_needs_pgtable_deposit())
		return 0;

	table = pte_alloc_one(vma->vm_mm);
	if (!table)
		return -ENOMEM;
	/* It does not matter who split it: the owner, or a write fault, may have. */
	split_into(vma, pmd, addr, table);
	return 0;
}
