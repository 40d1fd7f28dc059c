// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making, upgrading and checking PMD entries that map PFNs.
 *
 * Such an entry is special: there is no struct page to it, no reference, no rmap and
 * no counter, and no page table is held in reserve for it. So what makes, copies,
 * moves and clears it has nothing to account for but the table that holds it. What
 * splits it needs a table: map_split.c.
 *
 * What can happen to an entry at the same time, and what keeps it apart:
 *
 *  - Made: by remap_pfn_range(), with mmap_lock for writing or in a VMA that is not
 *    yet in the tree; by a driver's ->huge_fault, where there is one. Both find it
 *    empty under its page table lock.
 *  - Split or cleared by the owner: unmap_mapping_range() holds i_mmap_rwsem alone,
 *    zap_vma_ptes() what its caller has. So the entry can go from under everybody
 *    who holds mmap_lock, for writing too. All look at it under its page table lock,
 *    or again under it.
 *  - Upgraded by a write fault, or marked young by a read fault, under the lock of
 *    the VMA or mmap_lock for reading: by pmd_same() under the page table lock.
 *  - Changed by mprotect(), copied by fork: mmap_lock for writing and the page table
 *    lock. Moved: i_mmap_rwsem for writing as well, see
 *    pagerun_map_wants_rmap_locks().
 *  - Marked young and dirty by the processor at any time while it is present.
 *
 * The table that an entry is in is freed when the VMA was taken out of the tree and of
 * its file's i_mmap, so that none of the above can come to it; until then it stays.
 */
#include <linux/mm.h>
#include <linux/pagewalk.h>
#include <linux/pgtable.h>

#include <trace/events/pagerun.h>

#include "../internal.h"
#include "map.h"

static pmd_t *alloc_pmd(struct mm_struct *mm, unsigned long addr)
{
	p4d_t *p4d = p4d_alloc(mm, pgd_offset(mm, addr), addr);
	pud_t *pud = p4d ? pud_alloc(mm, p4d, addr) : NULL;

	return pud ? pmd_alloc(mm, pud, addr) : NULL;
}

/* Would the base map each of these PFNs with this protection? */
static bool pfns_allowed(unsigned long pfn, unsigned long nr, pgprot_t prot)
{
	unsigned long i;

	if (pagerun_prot_modify_allowed(prot))
		return true;
	for (i = 0; i < nr; i++) {
		if (!pfn_modify_allowed(pfn + i, prot))
			return false;
	}
	return true;
}

static bool arch_allows(unsigned long pfn, pgprot_t prot)
{
	return pagerun_phys_uniform(PFN_PHYS(pfn), PFN_PHYS(pfn) + PMD_SIZE) &&
		pfns_allowed(pfn, PTRS_PER_PTE, prot);
}

/*
 * Makes up to @nr entries from @pmd on, which are in one table, and stops at the first
 * that is not empty: a page table may be left there from what was mapped before.
 * The lock is the one of that table; no TLB can have what was not present.
 */
static unsigned int make_entries(struct vm_area_struct *vma, pmd_t *pmd,
				 unsigned long addr, unsigned long pfn,
				 unsigned int nr, pgprot_t prot)
{
	const pgprot_t pmd_prot = pagerun_pgprot_to_pmd(prot);
	struct mm_struct *mm = vma->vm_mm;
	spinlock_t *ptl = pmd_lock(mm, pmd);
	unsigned int i;

	for (i = 0; i < nr; i++, addr += PMD_SIZE, pfn += PTRS_PER_PTE) {
		if (!pmd_none(pmdp_get(pmd + i)) || !arch_allows(pfn, prot))
			break;
		set_pmd_at(mm, addr, pmd + i,
			   pmd_mkspecial(pmd_mkhuge(pfn_pmd(pfn, pmd_prot))));
	}
	spin_unlock(ptl);
	return i;
}

/**
 * pagerun_map() - map a range of PFNs, by large entries where they fit
 * @vma: the VMA, of VM_PFNMAP
 * @addr: start of the range, page aligned
 * @end: its end, page aligned; in the VMA
 * @pfn: what @addr is to map
 * @prot: attributes of a PTE, as remap_pfn_range() has settled them
 *
 * pagerun_map_wanted() was true. An entry that cannot be large becomes a table of
 * PTEs, with every error and every check that it gets there.
 *
 * Context: process context, may sleep; mmap_lock for writing, or a VMA that nobody
 * else can see.
 * Return: 0; -ENOMEM, or what remap_pte_range() says, with a part of the range mapped,
 * for the caller to undo.
 */
int pagerun_map(struct vm_area_struct *vma, unsigned long addr,
		unsigned long end, unsigned long pfn, pgprot_t prot)
{
	struct mm_struct *mm = vma->vm_mm;
	unsigned long left, next;
	unsigned int made;
	pmd_t *pmd;
	int err;

	VM_WARN_ON_ONCE(!(vma->vm_flags & VM_PFNMAP));
	VM_WARN_ON_ONCE(is_cow_mapping(vma->vm_flags));
	VM_WARN_ON_ONCE(!PAGE_ALIGNED(addr) || !PAGE_ALIGNED(end));

	while (addr < end) {
		pmd = alloc_pmd(mm, addr);
		if (!pmd)
			return -ENOMEM;

		made = 0;
		left = IS_ALIGNED(addr, PMD_SIZE) ?
			(pud_addr_end(addr, end) - addr) >> PMD_SHIFT : 0;
		/* Where each PFN is looked at, not a table of them under one lock. */
		if (!pagerun_prot_modify_allowed(prot))
			left = min(left, 1UL);
		if (left) {
			made = make_entries(vma, pmd, addr, pfn, left, prot);
			pagerun_account(PAGERUN_MAP, made, made * PTRS_PER_PTE, made < left);
			trace_pagerun_map(addr, pfn, left * PTRS_PER_PTE,
					  made * PTRS_PER_PTE);
			next = addr + made * PMD_SIZE;
		}
		if (!made) {
			next = pmd_addr_end(addr, end);
			err = remap_pte_range(mm, pmd, addr, next, pfn, prot);
			if (err)
				return err;
		}
		pfn += (next - addr) >> PAGE_SHIFT;
		addr = next;
	}
	return 0;
}

/* Else than what was seen, it was split, cleared or upgraded: the access tries again. */
static void make_writable(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	spinlock_t *ptl = pmd_lock(vma->vm_mm, vmf->pmd);
	pmd_t entry;

	if (likely(pmd_same(pmdp_get(vmf->pmd), vmf->orig_pmd))) {
		entry = pmd_mkyoung(vmf->orig_pmd);
		entry = maybe_pmd_mkwrite(pmd_mkdirty(entry), vma);
		if (pmdp_set_access_flags(vma, vmf->address & PMD_MASK, vmf->pmd,
					  entry, true))
			update_mmu_cache_pmd(vma, vmf->address, vmf->pmd);
	}
	spin_unlock(ptl);
}

/**
 * pagerun_map_upgrade() - let a write fault make an entry writable as it is
 * @vmf: a write fault at a PMD entry that is not writable
 *
 * That is the answer for a shared mapping whose file does not want to know; the PTEs
 * of such a mapping get it too, each by its own fault. Where the file has a
 * ->pfn_mkwrite it has to be asked about the page, so the entry is split: with
 * memory that the fault may wait for, if there is any. A ->huge_fault is asked by the
 * caller. The first thing to be asked about a write fault, since the VMA may not be one
 * of a file by its vm_ops.
 *
 * Context: mmap_lock or the VMA's lock for reading.
 * Return: true if the fault is dealt with; else the caller splits the entry.
 */
bool pagerun_map_upgrade(struct vm_fault *vmf)
{
	const struct vm_operations_struct *ops = vmf->vma->vm_ops;

	if (!pagerun_pmd_pfnmap(vmf->orig_pmd) || (ops && ops->huge_fault))
		return false;

	if (!(vmf->vma->vm_flags & VM_SHARED) || !(vmf->flags & FAULT_FLAG_WRITE) ||
	    (ops && ops->pfn_mkwrite)) {
		/* If there is none, the caller's split finds some all the same. */
		pagerun_map_split_early(vmf->vma, vmf->address);
		return false;
	}
	make_writable(vmf);
	return true;
}

/**
 * pagerun_map_prot_none() - may the PFNs of an entry be mapped with PROT_NONE?
 * @pmd: the entry
 * @addr: start of the range to look at
 * @next: its end, in the same entry
 * @walk: the walk, whose ->private points to the pgprot_t that is wanted
 *
 * Without it, the walk that asks this of each PTE would split the entry.
 *
 * Context: mmap_lock for writing. The owner may split or clear the entry at the same
 * time, to no harm: what it mapped is looked at.
 * Return: 0, -EACCES if not.
 */
int pagerun_map_prot_none(pmd_t *pmd, unsigned long addr, unsigned long next,
			  struct mm_walk *walk)
{
	pmd_t entry = pmdp_get_lockless(pmd);
	unsigned long pfn;

	if (!pagerun_pmd_pfnmap(entry))
		return 0;

	walk->action = ACTION_CONTINUE;
	pfn = pmd_pfn(entry) + ((addr & ~PMD_MASK) >> PAGE_SHIFT);
	return pfns_allowed(pfn, (next - addr) >> PAGE_SHIFT,
			    *(pgprot_t *)walk->private) ? 0 : -EACCES;
}
