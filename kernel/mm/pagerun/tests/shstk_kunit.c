// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow stacks and large folios. The mapping is marked as a shadow stack and
 * faulted in by hand, since making one takes hardware that has them; what is on
 * the way from the fault to the folio does not ask the hardware.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/huge_mm.h>
#include <linux/khugepaged.h>

#define SIZE	(2 * PMD_SIZE)

struct shstk_context {
	unsigned long addr;		/* a multiple of PMD_SIZE */
	unsigned long orders;		/* the setting before the test */
};

/* Mark the mapping, if asked, and advise it to have huge pages. */
static int prepare(struct shstk_context *ctx, unsigned long vm_flags)
{
	struct vm_area_struct *vma;
	unsigned long flags;
	int err = -EFAULT;

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, ctx->addr);
	if (vma) {
		/* As mmap() would have counted it: munmap() will. */
		vm_stat_account(current->mm, vma->vm_flags, -vma_pages(vma));
		vm_flags_set(vma, vm_flags);
		vm_stat_account(current->mm, vma->vm_flags, vma_pages(vma));
		flags = vma->vm_flags;
		err = hugepage_madvise(vma, &flags, MADV_HUGEPAGE);
		if (!err)
			vm_flags_reset(vma, flags);
	}
	mmap_write_unlock(current->mm);
	return err;
}

/* Fault in the page at ctx->addr; return the order of its folio. */
static int fault_order(struct shstk_context *ctx)
{
	struct vm_area_struct *vma;
	struct page *page;
	vm_fault_t fault = VM_FAULT_SIGSEGV;
	int order;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, ctx->addr);
	if (vma)
		fault = handle_mm_fault(vma, ctx->addr, FAULT_FLAG_WRITE, NULL);
	mmap_read_unlock(current->mm);
	if (fault & VM_FAULT_ERROR)
		return -EFAULT;

	if (get_user_pages_fast_only(ctx->addr, 1, 0, &page) != 1)
		return -EFAULT;
	order = folio_order(page_folio(page));
	put_page(page);
	return order;
}

static unsigned long allowed_orders(struct shstk_context *ctx, unsigned long tva_flags)
{
	struct vm_area_struct *vma;
	unsigned long orders = 0;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, ctx->addr);
	if (vma)
		orders = thp_vma_allowable_orders(vma, vma->vm_flags, tva_flags,
						  THP_ORDERS_ALL_ANON);
	mmap_read_unlock(current->mm);
	return orders;
}

static void shstk_ordinary_test(struct kunit *test)
{
	struct shstk_context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, prepare(ctx, 0), 0);
	KUNIT_EXPECT_NE(test, allowed_orders(ctx, TVA_IN_PF), 0);
	KUNIT_EXPECT_GT(test, fault_order(ctx), 0);
	/* khugepaged and MADV_COLLAPSE, which look at what has had a fault. */
	KUNIT_EXPECT_NE(test, allowed_orders(ctx, TVA_ENFORCE_SYSFS), 0);
	KUNIT_EXPECT_NE(test, allowed_orders(ctx, 0), 0);
}

static void shstk_shadow_stack_test(struct kunit *test)
{
	struct shstk_context *ctx = test->priv;

	/* MADV_HUGEPAGE returns 0 and has no effect. */
	KUNIT_ASSERT_EQ(test, prepare(ctx, VM_SHADOW_STACK), 0);
	KUNIT_EXPECT_EQ(test, allowed_orders(ctx, TVA_IN_PF), 0);
	KUNIT_EXPECT_EQ(test, fault_order(ctx), 0);
	KUNIT_EXPECT_EQ(test, allowed_orders(ctx, TVA_ENFORCE_SYSFS), 0);
	KUNIT_EXPECT_EQ(test, allowed_orders(ctx, 0), 0);
}

static int shstk_init(struct kunit *test)
{
	struct shstk_context *ctx;
	unsigned long addr;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	addr = kunit_vm_mmap(test, NULL, 0, SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (!addr || IS_ERR_VALUE(addr))
		return -ENOMEM;
	ctx->addr = ALIGN(addr, PMD_SIZE);

	/* THP=always for all sizes, as the worst case, until the test ends. */
	ctx->orders = huge_anon_orders_always;
	huge_anon_orders_always = THP_ORDERS_ALL_ANON;
	test->priv = ctx;
	return 0;
}

static void shstk_exit(struct kunit *test)
{
	struct shstk_context *ctx = test->priv;

	if (ctx)
		huge_anon_orders_always = ctx->orders;
}

static struct kunit_case shstk_cases[] = {
	KUNIT_CASE(shstk_ordinary_test),
	KUNIT_CASE(shstk_shadow_stack_test),
	{ }
};

static struct kunit_suite shstk_suite = {
	.name = "pagerun_shstk",
	.init = shstk_init,
	.exit = shstk_exit,
	.test_cases = shstk_cases,
};

kunit_test_suite(shstk_suite);
