// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of physical memory: filled by remap_pfn_range(), taken out of by
 * zap_vma_ptes() and unmap_mapping_range(), by who has them mapped.
 *
 * None of it takes test_file.lock but the memory blocks, which are of the file: the
 * rest is to be called from many threads at once.
 */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "internal.h"
#include "pagerun_test.h"

#define OFFSET_BITS	(PAGERUN_TEST_PHYS_FAULT | PAGERUN_TEST_PHYS_MKWRITE | \
			 PAGERUN_TEST_PHYS_NOTIFY)
#define OPS_SHIFT	41	/* of the lowest of these bits */

static atomic_t mkwrites;

static vm_fault_t phys_fault(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}

static vm_fault_t phys_pfn_mkwrite(struct vm_fault *vmf)
{
	atomic_inc(&mkwrites);
	return 0;
}

/* There are no pages for which it would be called; that it is there is what counts. */
static vm_fault_t phys_page_mkwrite(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}

#define PHYS_ACCESS	.access = COMPAT_ACCESS_PHYS

/* By the bits of the offset: FAULT 4, MKWRITE 2, NOTIFY 1. */
static const struct vm_operations_struct phys_ops[8] = {
	{ PHYS_ACCESS },
	{ PHYS_ACCESS, .page_mkwrite = phys_page_mkwrite },
	{ PHYS_ACCESS, .pfn_mkwrite = phys_pfn_mkwrite },
	{ PHYS_ACCESS, .pfn_mkwrite = phys_pfn_mkwrite,
	  .page_mkwrite = phys_page_mkwrite },
	{ PHYS_ACCESS, .fault = phys_fault },
	{ PHYS_ACCESS, .fault = phys_fault, .page_mkwrite = phys_page_mkwrite },
	{ PHYS_ACCESS, .fault = phys_fault, .pfn_mkwrite = phys_pfn_mkwrite },
	{ PHYS_ACCESS, .fault = phys_fault, .pfn_mkwrite = phys_pfn_mkwrite,
	  .page_mkwrite = phys_page_mkwrite },
};

/* Not the kernel's own word for it, which has another name by 7.3. */
static bool copies_on_write(const struct vm_area_struct *vma)
{
	return !(vma->vm_flags & VM_SHARED) && (vma->vm_flags & VM_MAYWRITE);
}

/**
 * test_phys_mmap() - make a mapping for physical memory, with nothing in it
 * @vma: where to; its offset is PAGERUN_TEST_PHYS_OFFSET or more
 *
 * Context: mmap lock held for writing.
 * Return: 0, -EINVAL for an offset with bits above that, or -EOPNOTSUPP.
 */
int test_phys_mmap(struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;

	if (offset >= PAGERUN_TEST_PHYS_OFFSET * 2)
		return -EINVAL;
	if (copies_on_write(vma) && !compat_private_phys())
		return -EOPNOTSUPP;
	compat_vm_flags_set(vma, VM_DONTEXPAND);
	vma->vm_ops = &phys_ops[(offset & OFFSET_BITS) >> OPS_SHIFT];
	return 0;
}

/* How often a ->pfn_mkwrite was called, by any process. */
unsigned int test_mkwrites(void)
{
	return atomic_read(&mkwrites);
}

/**
 * find_range() - the mapping that a range of addresses is in
 * @file: the open file that it must be of
 * @start: address
 * @size: in bytes; both passed bad_range()
 *
 * Context: mmap lock held.
 * Return: the mapping, one of test_phys_mmap(), or NULL.
 */
static struct vm_area_struct *find_range(struct file *file, u64 start, u64 size)
{
	struct vm_area_struct *vma = find_vma(current->mm, start);

	if (!vma || vma->vm_file != file || vma->vm_ops < phys_ops ||
	    vma->vm_ops >= phys_ops + ARRAY_SIZE(phys_ops))
		return NULL;
	/* By the 64 bits of both: find_vma() may have had fewer. */
	return start >= vma->vm_start && start + size <= vma->vm_end ? vma : NULL;
}

static bool bad_range(u64 start, u64 size)
{
	return !size || ((start | size) & ~PAGE_MASK) || start + size < start;
}

/**
 * test_phys_fits() - is there such physical memory, as far as entries can say?
 * @phys: address, of a page
 * @size: in bytes, not 0
 *
 * Bits that an entry has no room for are dropped: it would map something else.
 *
 * Return: whether the entries of all its pages say what they should.
 */
bool test_phys_fits(u64 phys, u64 size)
{
	u64 last = phys + size - 1, pfn = last >> PAGE_SHIFT;

	return last > phys && pte_pfn(pfn_pte(pfn, PAGE_KERNEL)) == pfn;
}

/**
 * check_unmapped() - is there nothing at all in a range?
 * @mm: whose
 * @start: first address
 * @end: the one behind the last
 *
 * Not even a page that is swapped out, as the copies of a private mapping may be. Steps
 * over what no table is there for.
 *
 * Context: mmap lock held; may sleep.
 * Return: 0, -EBUSY, or -EINTR for a fatal signal.
 */
static int check_unmapped(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	unsigned long addr = start, n = 0;
	bool none;

	/* The end of an entry may be the end of all addresses. */
	while (addr < end && addr >= start) {
		addr = test_entry_next(mm, addr, &none);
		if (!none)
			return -EBUSY;
		if (++n % TEST_REST_PAGES == 0) {
			if (fatal_signal_pending(current))
				return -EINTR;
			cond_resched();
		}
	}
	return 0;
}

/* Return: 0, or -EOPNOTSUPP where the architecture has no such memory type. */
static int choose_cache(u32 cache, pgprot_t *prot)
{
	switch (cache) {
	case PAGERUN_TEST_CACHED:
		return 0;
	case PAGERUN_TEST_UNCACHED:
		*prot = pgprot_noncached(*prot);
		return 0;
	case PAGERUN_TEST_WRITE_COMBINE:
		*prot = pgprot_writecombine(*prot);
		return 0;
	case PAGERUN_TEST_WRITE_THROUGH:
		return compat_writethrough(prot) ? 0 : -EOPNOTSUPP;
	}
	return -EINVAL;
}

/**
 * remap_private() - remap_pfn_range() for a private mapping
 * @vma: the mapping
 * @remap: what to map where
 * @prot: how
 *
 * remap_pfn_range() expects to be called from ->mmap(), when no one knows of the mapping
 * yet, and writes the page frame to vm_pgoff. By now that is the mapping's place in the
 * tree of the file. So nobody may look at the tree until the place is put back, which
 * takes nothing from where entries have a bit that says special; see
 * compat_private_phys().
 *
 * Locks: the mapping's own, then that of the tree. File pages in reclaim need the latter;
 * there are none of this file, but so that lockdep need not know, NOFS.
 *
 * Context: mmap lock held for writing.
 * Return: what remap_pfn_range() returned.
 */
static int remap_private(struct vm_area_struct *vma, const struct pagerun_test_remap *remap,
			 pgprot_t prot)
{
	struct address_space *mapping = vma->vm_file->f_mapping;
	unsigned long pgoff = vma->vm_pgoff;
	unsigned int nofs;
	int ret;

	compat_vm_flags_set(vma, 0);
	nofs = memalloc_nofs_save();
	i_mmap_lock_write(mapping);
	ret = remap_pfn_range(vma, remap->addr, PHYS_PFN(remap->phys), remap->size, prot);
	vma->vm_pgoff = pgoff;
	i_mmap_unlock_write(mapping);
	memalloc_nofs_restore(nofs);
	return ret;
}

static long remap_locked(struct file *file, struct pagerun_test_remap *remap)
{
	struct vm_area_struct *vma = find_range(file, remap->addr, remap->size);
	pgprot_t prot;
	int err;

	if (!vma)
		return -EINVAL;
	prot = vma->vm_page_prot;
	err = choose_cache(remap->cache, &prot);
	if (err)
		return err;
	err = check_unmapped(current->mm, remap->addr, remap->addr + remap->size);
	if (err)
		return err;
	if (copies_on_write(vma))
		remap->ret = remap_private(vma, remap, prot);
	else
		remap->ret = remap_pfn_range(vma, remap->addr, PHYS_PFN(remap->phys),
					     remap->size, prot);
	return 0;
}

/**
 * test_remap() - PAGERUN_TEST_REMAP
 * @file: the device
 * @uarg: struct pagerun_test_remap of the caller
 *
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
long test_remap(struct file *file, void __user *uarg)
{
	struct pagerun_test_remap remap;
	long ret;

	if (copy_from_user(&remap, uarg, sizeof(remap)))
		return -EFAULT;
	if (bad_range(remap.addr, remap.size) || (remap.phys & ~PAGE_MASK) ||
	    !test_phys_fits(remap.phys, remap.size) ||
	    remap.cache > PAGERUN_TEST_WRITE_THROUGH)
		return -EINVAL;

	if (mmap_write_lock_killable(current->mm))
		return -EINTR;
	ret = remap_locked(file, &remap);
	mmap_write_unlock(current->mm);
	if (ret)
		return ret;
	return copy_to_user(uarg, &remap, sizeof(remap)) ? -EFAULT : 0;
}

/**
 * test_zap() - PAGERUN_TEST_ZAP
 * @file: the device
 * @uarg: struct pagerun_test_range of the caller
 *
 * The mmap lock for reading, as the least that a driver may have: several can zap at
 * once, and beside faults.
 *
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
long test_zap(struct file *file, void __user *uarg)
{
	struct pagerun_test_range range;
	struct vm_area_struct *vma;

	if (copy_from_user(&range, uarg, sizeof(range)))
		return -EFAULT;
	if (bad_range(range.start, range.size))
		return -EINVAL;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	vma = find_range(file, range.start, range.size);
	/* One that was never filled is not of VM_PFNMAP, and zapping it does nothing. */
	if (vma && (vma->vm_flags & VM_PFNMAP))
		compat_zap_vma(vma, range.start, range.size);
	mmap_read_unlock(current->mm);
	return vma ? 0 : -EINVAL;
}

/**
 * test_unmap() - PAGERUN_TEST_UNMAP
 * @file: the device
 * @uarg: struct pagerun_test_range of the caller
 *
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
long test_unmap(struct file *file, void __user *uarg)
{
	struct pagerun_test_range range;

	if (copy_from_user(&range, uarg, sizeof(range)))
		return -EFAULT;
	if (bad_range(range.start, range.size) ||
	    range.start < PAGERUN_TEST_PHYS_OFFSET ||
	    range.start + range.size > PAGERUN_TEST_PHYS_OFFSET * 2)
		return -EINVAL;
	unmap_mapping_range(file->f_mapping, range.start, range.size, 1);
	return 0;
}

/**
 * test_memory() - PAGERUN_TEST_MEMORY
 * @memory: the blocks of the file, whose lock is held
 * @uarg: struct pagerun_test_memory of the caller
 *
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
long test_memory(struct test_memory *memory, void __user *uarg)
{
	struct pagerun_test_memory want;
	struct page *page;

	if (copy_from_user(&want, uarg, sizeof(want)))
		return -EFAULT;
	if (!is_power_of_2(want.size) || want.size < PAGE_SIZE ||
	    want.size > PAGERUN_TEST_MAX_MEMORY)
		return -EINVAL;
	if (memory->nr == TEST_MAX_BLOCKS)
		return -ENOSPC;
	page = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN,
			   get_order(want.size));
	if (!page)
		return -ENOMEM;

	want.phys = page_to_phys(page);
	if (copy_to_user(uarg, &want, sizeof(want))) {
		__free_pages(page, get_order(want.size));
		return -EFAULT;
	}
	memory->blocks[memory->nr] = page;
	memory->orders[memory->nr++] = get_order(want.size);
	return 0;
}

/**
 * test_memory_free() - free the blocks of a file
 * @memory: the blocks; no mapping of the file is left
 */
void test_memory_free(struct test_memory *memory)
{
	while (memory->nr--)
		__free_pages(memory->blocks[memory->nr], memory->orders[memory->nr]);
}
