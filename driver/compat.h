/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for. No other file
 * tests for a version or a feature.
 */
#ifndef PAGERUN_TEST_COMPAT_H
#define PAGERUN_TEST_COMPAT_H

#include <linux/mm.h>
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
 * compat_vm_flags_set() - add flags to a mapping that is being made
 * @vma: the mapping
 * @flags: VM_* bits to add
 *
 * Context: ->mmap(), which has the mmap lock for writing.
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

#endif /* PAGERUN_TEST_COMPAT_H */
