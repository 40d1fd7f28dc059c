/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * move: UFFDIO_MOVE moves a run under one round of locks and one TLB flush.
 *
 * What mm/userfaultfd.c calls; move.c does the work and says what it rests on.
 */
#ifndef _MM_PAGERUN_MOVE_H
#define _MM_PAGERUN_MOVE_H

#include <linux/mm.h>

#include "switch.h"

#ifdef CONFIG_PAGERUN_MOVE

/**
 * pagerun_move_wanted() - is there anything to gain in a call?
 * @len: its length, in bytes
 *
 * To be asked once a call: for one page the answer is no, and the path for one page
 * is as it was.
 *
 * Context: any.
 * Return: true if pagerun_move() is to be called. False while the switch is off.
 */
static inline bool pagerun_move_wanted(unsigned long len)
{
	return len > PAGE_SIZE && pagerun_on(PAGERUN_MOVE);
}

/**
 * pagerun_move() - move pages from one address to another, as far as it goes
 * @dst_pmd: the PMD entry of @dst_addr, in which there is a page table
 * @src_pmd: the PMD entry of @src_addr, the same
 * @dst_vma: the VMA to which all of [@dst_addr, @dst_addr + @len) belongs; has an
 *	anon_vma
 * @src_vma: the same for @src_addr, of the same mm; validate_move_areas() accepts the
 *	two
 * @dst_addr: user address, page aligned
 * @src_addr: user address, page aligned
 * @len: in bytes; how much is left to move
 *
 * Moves one run of pages that need nothing else, in one source and one
 * destination page table. Whatever needs more is left where it is, to the path for
 * one page: holes, an occupied destination, folios that are shared, pinned, locked
 * by somebody, or to be split, entries that are not of a page.
 *
 * Context: process context, may sleep; both VMAs are locked for reading, or mmap_lock
 * is.
 * Return: bytes moved, a multiple of PAGE_SIZE; 0 if nothing was, and then all is as
 * it was. Never an error.
 */
unsigned long pagerun_move(pmd_t *dst_pmd, pmd_t *src_pmd,
			   struct vm_area_struct *dst_vma,
			   struct vm_area_struct *src_vma,
			   unsigned long dst_addr, unsigned long src_addr,
			   unsigned long len);

#else /* CONFIG_PAGERUN_MOVE */

static inline bool pagerun_move_wanted(unsigned long len)
{
	return false;
}

static inline unsigned long
pagerun_move(pmd_t *dst_pmd, pmd_t *src_pmd, struct vm_area_struct *dst_vma,
	     struct vm_area_struct *src_vma, unsigned long dst_addr,
	     unsigned long src_addr, unsigned long len)
{
	return 0;
}

#endif /* CONFIG_PAGERUN_MOVE */
#endif /* _MM_PAGERUN_MOVE_H */
