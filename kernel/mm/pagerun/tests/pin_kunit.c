// SPDX-License-Identifier: GPL-2.0-only
/*
 * GUP-fast with the switch off and on, over generated mappings: the base is the
 * reference. The mapping is a shared one into which folios of all orders are
 * put page by page, whole and in parts, so that nothing depends on how the
 * kernel was told to use large folios.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/prandom.h>
#include <linux/swap.h>

#include "../../internal.h"
#include "../run.h"
#include "tests.h"

#define WINDOW_PAGES	(2 * PTRS_PER_PTE + 64)
#define LAYOUTS		12
#define RANGES		40

struct pin_context {
	struct rnd_state rnd;
	unsigned long addr;
	struct page **off, **on;	/* WINDOW_PAGES each */
};

/* One call of GUP-fast. */
struct pin_call {
	unsigned int first, nr;		/* in pages, of the window */
	unsigned int flags;
	bool pin;
};

static const struct {
	unsigned int flags;
	bool pin;
} kinds[] = {
	{ 0, false },
	{ FOLL_WRITE, false },
	{ 0, true },
	{ FOLL_WRITE, true },
	{ FOLL_LONGTERM, true },
	{ FOLL_WRITE | FOLL_LONGTERM, true },
};

static u32 rnd_below(struct pin_context *ctx, u32 bound)
{
	return prandom_u32_state(&ctx->rnd) % bound;
}

static int take(struct pin_context *ctx, const struct pin_call *call, bool on,
		struct page **pages)
{
	unsigned long start = ctx->addr + ((unsigned long)call->first << PAGE_SHIFT);

	set_switch(PAGERUN_PIN, on);
	if (call->pin)
		return pin_user_pages_fast(start, call->nr, call->flags, pages);
	return get_user_pages_fast(start, call->nr, call->flags, pages);
}

static void release(const struct pin_call *call, struct page **pages, int nr)
{
	int i;

	if (nr <= 0)
		return;
	if (call->pin) {
		unpin_user_pages(pages, nr);
		return;
	}
	for (i = 0; i < nr; i++)
		put_page(pages[i]);
}

static int folio_pins(struct folio *folio)
{
	return folio_test_large(folio) ? atomic_read(&folio->_pincount) : -1;
}

/* What the counts of each page's folio are, those of LRU batches apart. */
static void note_counts(struct page **pages, int nr, int (*counts)[2])
{
	int i;

	lru_add_drain_all();
	for (i = 0; i < nr; i++) {
		struct folio *folio = page_folio(pages[i]);

		counts[i][0] = folio_ref_count(folio);
		counts[i][1] = folio_pins(folio);
	}
}

static void compare_call(struct kunit *test, const struct pin_call *call)
{
	struct pin_context *ctx = test->priv;
	int (*counts)[2], (*others)[2];
	int off, on;

	counts = kvcalloc(WINDOW_PAGES, sizeof(*counts), GFP_KERNEL);
	others = kvcalloc(WINDOW_PAGES, sizeof(*others), GFP_KERNEL);
	if (!counts || !others) {
		KUNIT_FAIL(test, "no memory for the counts");
		goto out;
	}

	/* Faults in what is not there, so that the next two find the same. */
	off = take(ctx, call, false, ctx->off);
	release(call, ctx->off, off);

	off = take(ctx, call, false, ctx->off);
	if (off > 0)
		note_counts(ctx->off, off, counts);
	release(call, ctx->off, off);

	on = take(ctx, call, true, ctx->on);
	if (on > 0)
		note_counts(ctx->on, on, others);
	release(call, ctx->on, on);

	KUNIT_EXPECT_EQ_MSG(test, off, on, "pages %u+%u flags %#x pin %d",
			    call->first, call->nr, call->flags, call->pin);
	if (off != on || off <= 0)
		goto out;

	KUNIT_EXPECT_MEMEQ_MSG(test, ctx->off, ctx->on, off * sizeof(*ctx->off),
			       "pages %u+%u flags %#x pin %d",
			       call->first, call->nr, call->flags, call->pin);
	KUNIT_EXPECT_MEMEQ_MSG(test, counts, others, off * sizeof(*counts),
			       "counts of %u+%u flags %#x pin %d",
			       call->first, call->nr, call->flags, call->pin);

	/* All given back: each count is what it was. */
	note_counts(ctx->on, on, counts);
	on = take(ctx, call, true, ctx->on);
	release(call, ctx->on, on);
	note_counts(ctx->on, off, others);
	KUNIT_EXPECT_MEMEQ(test, counts, others, off * sizeof(*counts));
out:
	kvfree(counts);
	kvfree(others);
}

/* Map @nr pages of a new folio, from its page @index on, at page @at. */
static int map_folio(struct pin_context *ctx, struct vm_area_struct *vma,
		     unsigned int order, unsigned int index, unsigned int at,
		     unsigned int nr)
{
	struct folio *folio = folio_alloc(GFP_HIGHUSER | __GFP_ZERO, order);
	unsigned int i;
	int err = 0;

	if (!folio)
		return -ENOMEM;

	for (i = 0; i < nr && !err; i++)
		err = vm_insert_page(vma,
				     ctx->addr + ((at + i) * PAGE_SIZE),
				     folio_page(folio, index + i));
	/* From here on, the mapping keeps it. */
	folio_put(folio);
	return err;
}

/* A new window with folios of all orders, parts of them, and holes. */
static void make_layout(struct kunit *test)
{
	struct pin_context *ctx = test->priv;
	struct vm_area_struct *vma;
	unsigned int at = 0;
	int err = 0;

	ctx->addr = kunit_vm_mmap(test, NULL, 0, WINDOW_PAGES * PAGE_SIZE,
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_NE(test, ctx->addr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(ctx->addr));

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, ctx->addr);
	while (vma && at < WINDOW_PAGES && !err) {
		unsigned int order = rnd_below(ctx, 8);
		unsigned int index = 0, nr = 1U << order;

		if (!rnd_below(ctx, 8)) {
			at += 1 + rnd_below(ctx, 4);
			continue;
		}
		if (!rnd_below(ctx, 3)) {
			index = rnd_below(ctx, nr);
			nr = 1 + rnd_below(ctx, nr - index);
		}
		nr = min_t(unsigned int, nr, WINDOW_PAGES - at);
		err = map_folio(ctx, vma, order, index, at, nr);
		at += nr;
	}
	mmap_write_unlock(current->mm);

	KUNIT_ASSERT_NOT_NULL(test, vma);
	KUNIT_ASSERT_EQ(test, err, 0);
}

static void pin_same_answers_test(struct kunit *test)
{
	struct pin_context *ctx = test->priv;
	unsigned int i, j;

	for (i = 0; i < LAYOUTS; i++) {
		make_layout(test);
		for (j = 0; j < RANGES; j++) {
			unsigned int kind = rnd_below(ctx, ARRAY_SIZE(kinds));
			struct pin_call call = {
				.first = rnd_below(ctx, WINDOW_PAGES),
				.flags = kinds[kind].flags,
				.pin = kinds[kind].pin,
			};

			call.nr = 1 + rnd_below(ctx, WINDOW_PAGES - call.first);
			compare_call(test, &call);
		}
	}
}

/*
 * For each entry of the window, 0 where there is no table: note it, or make it old,
 * clean or not soft-dirty, as it comes. Nobody else uses this mm.
 */
static void each_entry(struct pin_context *ctx, pte_t *ptes, bool change)
{
	unsigned int i;

	for (i = 0; i < WINDOW_PAGES; i++) {
		unsigned long addr = ctx->addr + i * PAGE_SIZE;
		pmd_t *pmd = mm_find_pmd(current->mm, addr);
		pte_t *ptep, pte;

		ptes[i] = __pte(0);
		if (!pmd)
			continue;
		ptep = pte_offset_map(pmd, addr);
		if (!ptep)
			continue;
		/* Mapping does not tell sparse what unmapping undoes. */
		__acquire(RCU);
		pte = ptep_get(ptep);
		if (change && pte_present(pte)) {
			if (rnd_below(ctx, 2))
				pte = pte_mkold(pte);
			if (rnd_below(ctx, 2))
				pte = pte_mkclean(pte);
			if (rnd_below(ctx, 2))
				pte = pte_clear_soft_dirty(pte);
			set_pte_at(current->mm, addr, ptep, pte);
		}
		ptes[i] = pte;
		pte_unmap(ptep);
	}
}

/* Accessed, dirty, soft-dirty: GUP-fast leaves each entry as it is. */
static void pin_entries_test(struct kunit *test)
{
	struct pin_context *ctx = test->priv;
	pte_t *before, *after;
	unsigned int i, j;
	int nr;

	before = kunit_kcalloc(test, WINDOW_PAGES, sizeof(*before), GFP_KERNEL);
	after = kunit_kcalloc(test, WINDOW_PAGES, sizeof(*after), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, before);
	KUNIT_ASSERT_NOT_NULL(test, after);

	make_layout(test);
	each_entry(ctx, before, true);
	set_switch(PAGERUN_PIN, true);
	for (i = 0; i < WINDOW_PAGES; i += 37) {
		nr = get_user_pages_fast_only(ctx->addr + i * PAGE_SIZE, WINDOW_PAGES - i,
					      i & 1 ? FOLL_WRITE : 0, ctx->on);
		for (j = 0; nr > 0 && j < nr; j++)
			put_page(ctx->on[j]);
	}
	each_entry(ctx, after, false);
	KUNIT_EXPECT_MEMEQ(test, before, after, WINDOW_PAGES * sizeof(*before));
}

/* One folio across the edge of a page table: two runs, one before, one behind. */
static void pin_run_count_test(struct kunit *test)
{
	struct pin_context *ctx = test->priv;
	struct pagerun_count before, after;
	struct vm_area_struct *vma;
	struct pin_call call = { .nr = 32, .flags = FOLL_WRITE };
	unsigned int edge;
	int err, got;

	ctx->addr = kunit_vm_mmap(test, NULL, 0, WINDOW_PAGES * PAGE_SIZE,
				  PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_NE(test, ctx->addr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(ctx->addr));

	edge = (ALIGN(ctx->addr + 16 * PAGE_SIZE, PMD_SIZE) - ctx->addr) >> PAGE_SHIFT;
	call.first = edge - 16;

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, ctx->addr);
	err = vma ? map_folio(ctx, vma, 5, 0, call.first, 32) : -EFAULT;
	mmap_write_unlock(current->mm);
	KUNIT_ASSERT_EQ(test, err, 0);

	/* A tick on this CPU takes no pages: the counts are this call's. */
	before = count_now(PAGERUN_PIN);
	got = take(ctx, &call, true, ctx->on);
	after = count_now(PAGERUN_PIN);
	KUNIT_EXPECT_EQ(test, got, 32);
	KUNIT_EXPECT_EQ(test, after.runs - before.runs, 2);
	KUNIT_EXPECT_EQ(test, after.pages - before.pages, 32);
	KUNIT_EXPECT_EQ(test, after.fallbacks - before.fallbacks, 0);

	/* Taken while it was on, released when it is off. */
	set_switch(PAGERUN_PIN, false);
	release(&call, ctx->on, got);

	before = count_now(PAGERUN_PIN);
	got = take(ctx, &call, false, ctx->off);
	after = count_now(PAGERUN_PIN);
	release(&call, ctx->off, got);
	KUNIT_EXPECT_EQ(test, got, 32);
	KUNIT_EXPECT_EQ(test, after.runs, before.runs);
	KUNIT_EXPECT_EQ(test, after.fallbacks, before.fallbacks);
}

#ifdef CONFIG_X86_64
/*
 * A shadow-stack entry has the write bit clear and the dirty bit set; stripped,
 * it looks like a write-protected one. So the run may hold pages that are shared,
 * and must be one of those that are looked at page by page.
 */
static void pin_shadow_stack_test(struct kunit *test)
{
	pte_t plain = pfn_pte(page_to_pfn(ZERO_PAGE(0)), PAGE_READONLY);
	pte_t shstk = pte_set_flags(plain, _PAGE_DIRTY);
	pte_t protect = pte_wrprotect(pte_mkdirty(pte_mkwrite_novma(plain)));

	KUNIT_EXPECT_FALSE(test, pte_same(shstk, protect));
	KUNIT_EXPECT_TRUE(test, pagerun_key_fits(pagerun_key(shstk), protect));
	KUNIT_EXPECT_TRUE(test, pagerun_maybe_shared(shstk));
	KUNIT_EXPECT_TRUE(test, pagerun_maybe_shared(protect));
	KUNIT_EXPECT_FALSE(test, pagerun_maybe_shared(pte_mkwrite_novma(plain)));
	/* And no write may be asked of it. */
	KUNIT_EXPECT_FALSE(test, pte_access_permitted(shstk, true));
}
#endif

static int pin_init(struct kunit *test)
{
	struct pin_context *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	ctx->off = kunit_kcalloc(test, WINDOW_PAGES, sizeof(*ctx->off), GFP_KERNEL);
	ctx->on = kunit_kcalloc(test, WINDOW_PAGES, sizeof(*ctx->on), GFP_KERNEL);
	if (!ctx->off || !ctx->on)
		return -ENOMEM;

	prandom_seed_state(&ctx->rnd, 612);
	test->priv = ctx;
	return 0;
}

static bool switch_was_on;

static int pin_suite_init(struct kunit_suite *suite)
{
	switch_was_on = switch_is_on(PAGERUN_PIN);
	return 0;
}

static void pin_suite_exit(struct kunit_suite *suite)
{
	set_switch(PAGERUN_PIN, switch_was_on);
}

static struct kunit_case pin_cases[] = {
	KUNIT_CASE(pin_same_answers_test),
	KUNIT_CASE(pin_run_count_test),
	KUNIT_CASE(pin_entries_test),
#ifdef CONFIG_X86_64
	KUNIT_CASE(pin_shadow_stack_test),
#endif
	{ }
};

static struct kunit_suite pin_suite = {
	.name = "pagerun_pin",
	.suite_init = pin_suite_init,
	.suite_exit = pin_suite_exit,
	.init = pin_init,
	.test_cases = pin_cases,
};

kunit_test_suite(pin_suite);
