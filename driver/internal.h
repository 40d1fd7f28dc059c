/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the driver share. */
#ifndef PAGERUN_TEST_INTERNAL_H
#define PAGERUN_TEST_INTERNAL_H

#include <linux/fs.h>
#include <linux/mm.h>

struct device;
struct test_uio;

/* In loops outside of measurements: how many pages go by between two rests. */
#define TEST_REST_PAGES		1024

/* Most blocks that PAGERUN_TEST_MEMORY gives a file. */
#define TEST_MAX_BLOCKS		16

/**
 * struct test_memory - the blocks of system memory of a file; see phys.c
 * @blocks:	their first pages
 * @orders:	log2 of their lengths in pages
 * @nr:		how many there are
 */
struct test_memory {
	struct page *blocks[TEST_MAX_BLOCKS];
	unsigned int orders[TEST_MAX_BLOCKS];
	unsigned int nr;
};

int test_phys_mmap(struct vm_area_struct *vma);
unsigned int test_mkwrites(void);
bool test_phys_fits(u64 phys, u64 size);
long test_remap(struct file *file, void __user *uarg);
long test_zap(struct file *file, void __user *uarg);
long test_unmap(struct file *file, void __user *uarg);
long test_memory(struct test_memory *memory, void __user *uarg);
void test_memory_free(struct test_memory *memory);

unsigned long test_entry_next(struct mm_struct *mm, unsigned long addr,
			      bool *none);
long test_entry(void __user *uarg);

long test_uio(struct test_uio **uio, struct device *parent, void __user *uarg);
void test_uio_free(struct test_uio *uio);

#endif /* PAGERUN_TEST_INTERNAL_H */
