// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages with a NULL ->mapping in GUP-fast: taken while the switch is on, left to
 * the slow path while it is off, and long-term pins for writing always. The order of
 * looks, which the feature rests on, cannot be tested this way.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>

#include "../nullmap.h"
#include "tests.h"

#define NR_PAGES	512

struct nullmap_context {
	unsigned long addr;
	pte_t *table;		/* for entries that are built by hand */
	struct page *pages[NR_PAGES];
};

static int fast_only(struct nullmap_context *ctx)
{
	int nr = get_user_pages_fast_only(ctx->addr, NR_PAGES, FOLL_WRITE, ctx->pages);
	int i;

	for (i = 0; i < nr; i++)
		put_page(ctx->pages[i]);
	return nr;
}

/* Of all CPUs; nobody else in a kernel that runs KUnit has such pages. */
static unsigned long accepted(void)
{
	return count_now(PAGERUN_NULLMAP).pages;
}

/* By the walk of pin and, with that off, by the base's loop. */
static const bool pin_on[] = { true, false };

static void nullmap_fast_only_test(struct kunit *test)
{
	struct nullmap_context *ctx = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(pin_on); i++) {
		set_switch(PAGERUN_PIN, pin_on[i]);
		set_switch(PAGERUN_NULLMAP, true);
		KUNIT_EXPECT_EQ(test, fast_only(ctx), NR_PAGES);
		set_switch(PAGERUN_NULLMAP, false);
		KUNIT_EXPECT_EQ(test, fast_only(ctx), 0);
	}
}

/* Pins come out the same; who was asked is told by the statistics. */
static void compare_pins(struct kunit *test)
{
	static const struct {
		unsigned int flags;
		bool accepts;
	} kinds[] = {
		{ 0, true },
		{ FOLL_WRITE, true },
		{ FOLL_LONGTERM, true },
		{ FOLL_WRITE | FOLL_LONGTERM, false },
	};
	struct nullmap_context *ctx = test->priv;
	unsigned long before;
	int i, nr, want;

	set_switch(PAGERUN_NULLMAP, true);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		before = accepted();
		nr = pin_user_pages_fast(ctx->addr, NR_PAGES, kinds[i].flags, ctx->pages);
		want = kinds[i].accepts ? NR_PAGES : 0;
		KUNIT_EXPECT_EQ_MSG(test, nr, NR_PAGES, "flags %#x", kinds[i].flags);
		KUNIT_EXPECT_EQ_MSG(test, accepted() - before, want, "flags %#x",
				    kinds[i].flags);
		if (nr > 0)
			unpin_user_pages(ctx->pages, nr);
	}
}

static void nullmap_pin_test(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(pin_on); i++) {
		set_switch(PAGERUN_PIN, pin_on[i]);
		compare_pins(test);
	}
}

/*
 * What a walk finds that lost a race with munmap() and truncation: the entry read
 * before is gone, or the table above it.
 */
static void nullmap_entry_changed_test(struct kunit *test)
{
	struct nullmap_context *ctx = test->priv;
	struct page *page;
	pmd_t pmd = __pmd(0), other = __pmd(1);
	pte_t *ptep = ctx->table;
	pte_t pte;

	KUNIT_ASSERT_EQ(test, get_user_pages_fast(ctx->addr, 1, 0, &page), 1);
	pte = mk_pte(page, PAGE_SHARED);

	*ptep = pte;
	KUNIT_EXPECT_TRUE(test, pagerun_nullmap_page(page_folio(page), pmd, &pmd, pte, ptep, 0));
	KUNIT_EXPECT_FALSE(test, pagerun_nullmap_page(page_folio(page), pmd, &other, pte, ptep, 0));
	*ptep = __pte(0);
	KUNIT_EXPECT_FALSE(test, pagerun_nullmap_page(page_folio(page), pmd, &pmd, pte, ptep, 0));
	*ptep = pte_wrprotect(pte);
	KUNIT_EXPECT_FALSE(test, pagerun_nullmap_page(page_folio(page), pmd, &pmd, pte, ptep, 0));
	put_page(page);
}

/* What is to be unshared, or has a mapping, is not for this feature to accept. */
static void nullmap_others_test(struct kunit *test)
{
	struct nullmap_context *ctx = test->priv;
	struct page *page;
	struct folio *folio;
	pmd_t pmd = __pmd(0);
	pte_t pte;

	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	folio = page_folio(page);
	pte = mk_pte(page, PAGE_READONLY);
	*ctx->table = pte;

	KUNIT_EXPECT_TRUE(test, pagerun_nullmap_page(folio, pmd, &pmd, pte, ctx->table, FOLL_GET));
	KUNIT_EXPECT_EQ(test, pagerun_nullmap_page(folio, pmd, &pmd, pte, ctx->table, FOLL_PIN),
			PAGERUN_STORES_IN_ORDER);
	KUNIT_EXPECT_FALSE(test, pagerun_nullmap_page(folio, pmd, &pmd, pte, ctx->table,
						      FOLL_PIN | FOLL_LONGTERM));

	folio->mapping = (void *)PAGE_MAPPING_ANON;
	KUNIT_EXPECT_FALSE(test, pagerun_nullmap_page(folio, pmd, &pmd, pte, ctx->table,
						      FOLL_GET));
	folio->mapping = NULL;
	__free_page(page);
}

static int nullmap_init(struct kunit *test)
{
	struct nullmap_context *ctx;
	struct vm_area_struct *vma;
	int i, err;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	ctx->table = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	if (!ctx->table)
		return -ENOMEM;

	ctx->addr = kunit_vm_mmap(test, NULL, 0, NR_PAGES * PAGE_SIZE,
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, 0);
	if (!ctx->addr || IS_ERR_VALUE(ctx->addr))
		return -ENOMEM;

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, ctx->addr);
	err = vma ? 0 : -EFAULT;
	for (i = 0; i < NR_PAGES && !err; i++) {
		struct page *page = alloc_page(GFP_HIGHUSER | __GFP_ZERO);

		err = page ? vm_insert_page(vma, ctx->addr + i * PAGE_SIZE, page) : -ENOMEM;
		/* From here on, the mapping keeps it. */
		if (page)
			put_page(page);
	}
	mmap_write_unlock(current->mm);
	test->priv = ctx;
	return err;
}

static bool pin_was_on, nullmap_was_on;

static int nullmap_suite_init(struct kunit_suite *suite)
{
	pin_was_on = switch_is_on(PAGERUN_PIN);
	nullmap_was_on = switch_is_on(PAGERUN_NULLMAP);
	return 0;
}

static void nullmap_suite_exit(struct kunit_suite *suite)
{
	set_switch(PAGERUN_PIN, pin_was_on);
	set_switch(PAGERUN_NULLMAP, nullmap_was_on);
}

static struct kunit_case nullmap_cases[] = {
	KUNIT_CASE(nullmap_fast_only_test),
	KUNIT_CASE(nullmap_pin_test),
	KUNIT_CASE(nullmap_entry_changed_test),
	KUNIT_CASE(nullmap_others_test),
	{ }
};

static struct kunit_suite nullmap_suite = {
	.name = "pagerun_nullmap",
	.suite_init = nullmap_suite_init,
	.suite_exit = nullmap_suite_exit,
	.init = nullmap_init,
	.test_cases = nullmap_cases,
};

kunit_test_suite(nullmap_suite);
