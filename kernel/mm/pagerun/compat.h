/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernel versions and architectures. No other file of
 * pagerun knows a version.
 */
#ifndef _MM_PAGERUN_COMPAT_H
#define _MM_PAGERUN_COMPAT_H

#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>

/*
 * Can the struct pages of a folio be no neighbours? A pointer to the one behind the last
 * must not even be computed there.
 */
#if defined(CONFIG_SPARSEMEM) && !defined(CONFIG_SPARSEMEM_VMEMMAP)
#define PAGERUN_PAGES_APART	1
#else
#define PAGERUN_PAGES_APART	0
#endif

/*
 * Is a table better scanned by blocks (see pagerun_scan_blocks())? So where
 * pte_batch_hint() answers more than 1, and where the struct pages of a folio
 * need not be neighbours.
 */
#if defined(pte_batch_hint) || PAGERUN_PAGES_APART
#define PAGERUN_SCAN_BLOCKS	1
#else
#define PAGERUN_SCAN_BLOCKS	0
#endif

/*
 * Does every CPU see one CPU's stores in the order in which they were made? Then who
 * sees an entry sees all that was stored before it, with or without a barrier.
 */
#if defined(CONFIG_X86) || defined(CONFIG_S390)
#define PAGERUN_STORES_IN_ORDER	1
#else
#define PAGERUN_STORES_IN_ORDER	0
#endif

/*
 * The key of an entry is what all entries of its run have in common. The
 * accessed, dirty and soft-dirty bits may differ within a run: nobody who scans
 * writes entries back. The writable bit, uffd-wp, the protection key and all
 * else may not. The key of an entry that is not present equals no present one's.
 */
static __always_inline pte_t __pagerun_strip(pte_t pte)
{
	return pte_mkold(pte_mkclean(pte_clear_soft_dirty(pte)));
}

#ifdef CONFIG_X86
/*
 * pte_advance_pfn() looks for entries whose PFN is stored inverted. Those are not
 * valid to the hardware, and no head is one, so the look is left out. Under
 * PARAVIRT_XXL pte_val() is patched code that the compiler cannot hoist: one use
 * an entry, no more.
 */
struct pagerun_key {
	pteval_t val;
};

static __always_inline struct pagerun_key pagerun_key(pte_t pte)
{
	return (struct pagerun_key){ pte_val(__pagerun_strip(pte)) };
}

static __always_inline struct pagerun_key
pagerun_key_add(struct pagerun_key key, unsigned int nr)
{
	return (struct pagerun_key){ key.val + ((pteval_t)nr << PFN_PTE_SHIFT) };
}

static __always_inline bool pagerun_key_fits(struct pagerun_key key, pte_t pte)
{
	return pagerun_key(pte).val == key.val;
}
#else
struct pagerun_key {
	pte_t pte;
};

/**
 * pagerun_key() - the key of a present entry
 * @pte: the entry
 *
 * Return: the key, to be used with the two functions below alone.
 */
static __always_inline struct pagerun_key pagerun_key(pte_t pte)
{
	return (struct pagerun_key){ __pagerun_strip(pte) };
}

/**
 * pagerun_key_add() - the key of an entry further on in the run
 * @key: the key of a present entry
 * @nr: how many entries further on
 *
 * Return: @key with its PFN advanced by @nr.
 */
static __always_inline struct pagerun_key
pagerun_key_add(struct pagerun_key key, unsigned int nr)
{
	return (struct pagerun_key){ pte_advance_pfn(key.pte, nr) };
}

/**
 * pagerun_key_fits() - does an entry have this key?
 * @key: the key of a present entry
 * @pte: the entry, present or not
 *
 * Return: true if @pte maps the page of @key in the same way.
 */
static __always_inline bool pagerun_key_fits(struct pagerun_key key, pte_t pte)
{
	return pte_same(__pagerun_strip(pte), key.pte);
}
#endif

/**
 * pagerun_pte_special() - does a present entry need more than struct page?
 * @pte: a present entry
 *
 * Return: true for entries of device memory and special ones.
 */
static __always_inline bool pagerun_pte_special(pte_t pte)
{
	return pte_devmap(pte) || pte_special(pte);
}

/**
 * pagerun_mb_after_clear() - a full barrier behind ptep_get_and_clear()
 *
 * x86's is a locked instruction, and so a full barrier itself. (A kernel for one
 * CPU has a plain one, and nobody else who could see it.) That of others may be
 * relaxed, or no atomic operation at all.
 */
static __always_inline void pagerun_mb_after_clear(void)
{
	if (IS_ENABLED(CONFIG_X86)) {
		barrier();
		return;
	}
	/* What it pairs with is the caller's to say. */
	smp_mb();
}

/**
 * pagerun_pmd_pfnmap() - does a PMD entry map PFNs?
 * @pmd: any PMD entry
 *
 * Present to software is enough: so is an entry that is being split.
 *
 * Return: true for a leaf without struct pages, made by remap_pfn_range() or by a
 * driver's ->huge_fault.
 */
static __always_inline bool pagerun_pmd_pfnmap(pmd_t pmd)
{
	return pmd_present(pmd) && pmd_trans_huge(pmd) && pmd_special(pmd);
}

/**
 * pagerun_default_area() - the address of a mapping of a file that has no say in it
 * @file: the file
 * @addr: the address that the caller would like, 0: any
 * @len: length in bytes, page aligned
 * @pgoff: offset in the file, in pages
 * @flags: MAP_*
 *
 * Context: mmap_lock for writing.
 * Return: an address, or a negative errno: what get_unmapped_area() comes to for a file
 * without ->get_unmapped_area.
 */
static inline unsigned long
pagerun_default_area(struct file *file, unsigned long addr, unsigned long len,
		     unsigned long pgoff, unsigned long flags)
{
	if (!addr && IS_ALIGNED(len, PMD_SIZE))
		return thp_get_unmapped_area(file, addr, len, pgoff, flags);
	return mm_get_unmapped_area(current->mm, file, addr, len, pgoff, flags);
}

#endif /* _MM_PAGERUN_COMPAT_H */
