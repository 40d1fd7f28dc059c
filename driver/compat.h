/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for. No other file
 * tests for a version or a feature.
 */
#ifndef PAGERUN_TEST_COMPAT_H
#define PAGERUN_TEST_COMPAT_H

#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/version.h>

/**
 * compat_folio_pincount() - exact number of pins of a folio
 * @folio: a folio to which the caller holds a reference
 *
 * Context: any.
 * Return: the number of pins, or -1 for a folio that has no such counter.
 */
static inline int compat_folio_pincount(struct folio *folio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	/* Since then order 1 has no room for the counter on 32 bit. */
	return folio_has_pincount(folio) ? atomic_read(&folio->_pincount) : -1;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return folio_test_large(folio) ? atomic_read(&folio->_pincount) : -1;
#else
	return folio_test_large(folio) ?
	       atomic_read(folio_pincount_ptr(folio)) : -1;
#endif
}

/**
 * compat_vm_flags_set() - add flags to a mapping
 * @vma: the mapping
 * @flags: VM_* bits to add; with 0, it takes the mapping's own lock, if there is such a
 *	thing, and nothing else
 *
 * Context: mmap lock held for writing.
 */
static inline void compat_vm_flags_set(struct vm_area_struct *vma,
				       unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/**
 * compat_unpin_takes_null() - does unpin_user_pages() pass over NULLs?
 *
 * It does so from 6.13 on, and in the stable series from 6.12.5 on. A kernel
 * that got this by another way is taken for one that does not; the other
 * mistake would cost an oops.
 *
 * Return: whether NULLs before the first page are allowed.
 */
static inline bool compat_unpin_takes_null(void)
{
	return LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 5);
}

/**
 * compat_zap_vma() - take pages out of a mapping of physical memory
 * @vma: the mapping, of VM_PFNMAP
 * @addr: first address
 * @size: in bytes; all of it in @vma
 *
 * It has another name by 7.3, and that is the first that is known to.
 *
 * Context: mmap lock held.
 */
static inline void compat_zap_vma(struct vm_area_struct *vma,
				  unsigned long addr, unsigned long size)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
	zap_special_vma_range(vma, addr, size);
#else
	zap_vma_ptes(vma, addr, size);
#endif
}

/* What vm_operations_struct.access is for physical memory. */
#ifdef CONFIG_HAVE_IOREMAP_PROT
#define COMPAT_ACCESS_PHYS	generic_access_phys
#else
#define COMPAT_ACCESS_PHYS	NULL
#endif

/**
 * compat_private_phys() - are private mappings of physical memory possible?
 *
 * Where entries have no bit that says special, remap_pfn_range() needs the file offset of
 * such a mapping for itself.
 *
 * Return: whether they are.
 */
static inline bool compat_private_phys(void)
{
	return IS_ENABLED(CONFIG_ARCH_HAS_PTE_SPECIAL);
}

/**
 * compat_writethrough() - make a protection that of write-through
 * @prot: the protection
 *
 * Return: whether the architecture has that.
 */
static inline bool compat_writethrough(pgprot_t *prot)
{
#ifdef pgprot_writethrough
	*prot = pgprot_writethrough(*prot);
	return true;
#else
	return false;
#endif
}

/**
 * compat_tables_mapped() - can the kernel read all page tables where they are?
 *
 * Return: false where the last level may be in high memory.
 */
static inline bool compat_tables_mapped(void)
{
	return !IS_ENABLED(CONFIG_HIGHPTE);
}

/**
 * compat_pmdp_get() - read a PMD entry once
 * @pmdp: the entry
 *
 * Return: the entry.
 */
static inline pmd_t compat_pmdp_get(pmd_t *pmdp)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return pmdp_get(pmdp);
#else
	return READ_ONCE(*pmdp);
#endif
}

/**
 * compat_flags_known() - do the helpers of PTEs read larger entries too?
 *
 * So where the bits that PAGERUN_TEST_ENTRY_* tell are in the same place in both.
 *
 * Return: whether they do.
 */
static inline bool compat_flags_known(void)
{
	return IS_ENABLED(CONFIG_X86) || IS_ENABLED(CONFIG_ARM64);
}

/**
 * compat_cache_index() - the index into the PAT of an entry
 * @value: the entry, present
 * @large: it is a leaf of a level above that of PTEs
 *
 * Return: the index, 0 on other architectures than x86.
 */
static inline unsigned int compat_cache_index(u64 value, bool large)
{
#ifdef CONFIG_X86
	return (value & _PAGE_PWT ? 1 : 0) | (value & _PAGE_PCD ? 2 : 0) |
		(value & (large ? _PAGE_PAT_LARGE : _PAGE_PAT) ? 4 : 0);
#else
	return 0;
#endif
}

#endif /* PAGERUN_TEST_COMPAT_H */
