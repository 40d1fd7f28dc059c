/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map: remap_pfn_range() maps 2 MiB entries (what a PMD entry maps, to be exact)
 * where it can, and what splits them loses nothing.
 *
 * What mm/ calls. map.c makes, changes and copies entries, map_split.c splits them,
 * map_area.c chooses addresses; each says what it rests on.
 */
#ifndef _MM_PAGERUN_MAP_H
#define _MM_PAGERUN_MAP_H

#include <linux/mm.h>
#include <linux/pgtable.h>

#include "compat.h"
#include "switch.h"

struct mm_walk;

/* In mm/memory.c: maps a range in one page table by PTEs. */
int remap_pte_range(struct mm_struct *mm, pmd_t *pmd, unsigned long addr,
		    unsigned long end, unsigned long pfn, pgprot_t prot);

#ifdef CONFIG_PAGERUN_MAP

#include "map_arch.h"

/**
 * pagerun_map_wanted() - can any part of a range be mapped by a large entry?
 * @vma: the VMA, as remap_pfn_range() gets it
 * @addr: start of the range, page aligned
 * @end: its end, page aligned
 * @pfn: what @addr is to map
 *
 * Never in a copy-on-write mapping, whose pages are replaced one by one. Nor in one
 * without a file or without vm_ops, which many paths take for one of anonymous folios.
 *
 * Context: mmap_lock for writing, or a VMA that nobody else can see.
 * Return: true if pagerun_map() is to be called. False while the switch is off.
 */
static inline bool pagerun_map_wanted(struct vm_area_struct *vma,
				      unsigned long addr, unsigned long end,
				      unsigned long pfn)
{
	unsigned long first = ALIGN(addr, PMD_SIZE);

	if (!pagerun_on(PAGERUN_MAP))
		return false;
	return first >= addr && first < end && end - first >= PMD_SIZE &&
		!(((addr >> PAGE_SHIFT) ^ pfn) & (PTRS_PER_PTE - 1)) &&
		vma->vm_file && !vma_is_anonymous(vma) &&
		!is_cow_mapping(vma->vm_flags) &&
		has_transparent_hugepage() && !arch_needs_pgtable_deposit();
}

int pagerun_map(struct vm_area_struct *vma, unsigned long addr,
		unsigned long end, unsigned long pfn, pgprot_t prot);

bool pagerun_map_upgrade(struct vm_fault *vmf);

bool __pagerun_map_split(struct vm_area_struct *vma, pmd_t *pmd,
			 unsigned long addr);
int pagerun_map_split_early(struct vm_area_struct *vma, unsigned long addr);

int pagerun_map_prot_none(pmd_t *pmd, unsigned long addr, unsigned long next,
			  struct mm_walk *walk);

/**
 * pagerun_map_split() - split a PMD entry that maps PFNs
 * @vma: the VMA, in which all that the entry maps is
 * @pmd: the entry
 * @addr: an address that it maps
 *
 * For entries that are made here and for those of a ->huge_fault: nothing that they
 * mapped is lost, nothing has to be filled in by a fault. Cannot fail.
 *
 * Context: process context, may sleep. What holds the VMA and its page tables for
 * the caller: mmap_lock, the VMA's lock, or the i_mmap_rwsem of its file, which may
 * be held for writing, and a notifier bracket may be open.
 * Return: true if it is split now; false if it is none of those.
 */
static inline bool pagerun_map_split(struct vm_area_struct *vma, pmd_t *pmd,
				     unsigned long addr)
{
	if (likely(!pagerun_pmd_pfnmap(pmdp_get_lockless(pmd))))
		return false;
	return __pagerun_map_split(vma, pmd, addr);
}

/**
 * pagerun_map_split_vma() - split what lies across an address at which a VMA is to
 *	be split
 * @vma: the VMA
 * @addr: inside of it, page aligned
 *
 * Context: process context, may sleep; mmap_lock for writing, and nothing that
 * reclaim may want.
 * Return: 0, or -ENOMEM with all as it was.
 */
static inline int pagerun_map_split_vma(struct vm_area_struct *vma,
					unsigned long addr)
{
	if (likely(!(vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP))) ||
	    IS_ALIGNED(addr, PMD_SIZE))
		return 0;
	return pagerun_map_split_early(vma, addr);
}

/**
 * pagerun_map_copy_raced() - has an entry that fork copies gone meanwhile?
 * @src_pmd: the entry in the parent
 * @pmd: what it was, without the lock; filled with what it is now
 *
 * mmap_lock of the parent is held for writing, but unmap_mapping_range() does with
 * i_mmap_rwsem: it may have split or cleared the entry since it was read. Copying
 * what was read would leave in the child, for good, what was taken from both.
 *
 * Context: page table locks of both entries held.
 * Return: true if it is not to be copied as it is in @pmd.
 */
static inline bool pagerun_map_copy_raced(pmd_t *src_pmd, pmd_t *pmd)
{
	*pmd = pmdp_get(src_pmd);
	return !pagerun_pmd_pfnmap(*pmd);
}

/**
 * pagerun_map_owns() - is a large entry one without folios, whatever its VMA says?
 * @pmd: the entry
 *
 * The VMA of an entry may have lost its file by now, where a ->mmap failed after it had
 * mapped something, or its vm_ops.
 *
 * Return: true if it has no folio, no rmap, and no table in reserve.
 */
static inline bool pagerun_map_owns(pmd_t pmd)
{
	return pagerun_pmd_pfnmap(pmd) && !arch_needs_pgtable_deposit();
}

/**
 * pagerun_map_wants_rmap_locks() - must mremap() keep rmap walks out?
 * @pmd: the entry to be moved
 *
 * unmap_mapping_range() passes over an empty entry without its lock. While one is
 * moved it is at neither of its places for a moment; i_mmap_rwsem, for writing, keeps
 * who takes things out of a file from looking then. PTEs need no such thing: they are
 * looked at under the lock of their table.
 *
 * Context: mmap_lock for writing.
 * Return: true if so.
 */
static inline bool pagerun_map_wants_rmap_locks(pmd_t *pmd)
{
	return pagerun_pmd_pfnmap(pmdp_get_lockless(pmd));
}

/**
 * pagerun_map_notifies() - must the file be asked before an entry is made writable?
 * @vma: the VMA
 * @pmd: the entry, not writable
 *
 * mprotect() makes writable at once what is dirty: then the file was asked before. A
 * large entry is dirty by one of its pages, and the file may not know of the others.
 *
 * Return: true if a write to the entry has to fault.
 */
static inline bool pagerun_map_notifies(struct vm_area_struct *vma, pmd_t pmd)
{
	return pagerun_pmd_pfnmap(pmd) && vma->vm_ops && vma->vm_ops->pfn_mkwrite;
}

/**
 * pagerun_map_is_table() - was an entry split since a fault found it?
 * @pmd: the entry, not empty
 *
 * Where the owner zapped a part of it, vmf_insert_pfn_pmd() finds a table: the fault
 * is to try again, by the PTE.
 *
 * Return: true for a table.
 */
static inline bool pagerun_map_is_table(pmd_t pmd)
{
	return pmd_present(pmd) && !pmd_leaf(pmd);
}

/**
 * pagerun_map_pgprot() - the attributes of a PMD leaf, for who uses PTEs
 * @pmd: a leaf
 *
 * follow_pfnmap_start() says how an address is mapped, and its callers reserve memory
 * types and make PTEs from that.
 *
 * Return: the attributes as a PTE has them.
 */
static inline pgprot_t pagerun_map_pgprot(pmd_t pmd)
{
	return pagerun_pgprot_to_pte(pmd_pgprot(pmd));
}

#else /* CONFIG_PAGERUN_MAP */

static inline bool pagerun_map_wanted(struct vm_area_struct *vma,
				      unsigned long addr, unsigned long end,
				      unsigned long pfn)
{
	return false;
}

static inline int pagerun_map(struct vm_area_struct *vma, unsigned long addr,
			      unsigned long end, unsigned long pfn,
			      pgprot_t prot)
{
	return 0;
}

static inline bool pagerun_map_upgrade(struct vm_fault *vmf)
{
	return false;
}

static inline bool pagerun_map_split(struct vm_area_struct *vma, pmd_t *pmd,
				     unsigned long addr)
{
	return false;
}

static inline int pagerun_map_split_early(struct vm_area_struct *vma,
					  unsigned long addr)
{
	return 0;
}

static inline int pagerun_map_split_vma(struct vm_area_struct *vma,
					unsigned long addr)
{
	return 0;
}

static inline bool pagerun_map_copy_raced(pmd_t *src_pmd, pmd_t *pmd)
{
	return false;
}

static inline bool pagerun_map_owns(pmd_t pmd)
{
	return false;
}

static inline bool pagerun_map_wants_rmap_locks(pmd_t *pmd)
{
	return false;
}

static inline bool pagerun_map_notifies(struct vm_area_struct *vma, pmd_t pmd)
{
	return false;
}

static inline bool pagerun_map_is_table(pmd_t pmd)
{
	return false;
}

#define pagerun_map_pgprot(pmd)	pmd_pgprot(pmd)

/* As ->pmd_entry of a walk: there is none. */
#define pagerun_map_prot_none	NULL

#endif /* CONFIG_PAGERUN_MAP */
#endif /* _MM_PAGERUN_MAP_H */
