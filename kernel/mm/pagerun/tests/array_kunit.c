// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs in page arrays against the slow reference, over generated arrays. No page is
 * touched.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/prandom.h>

#include "../array.h"

#define CASES		4000
#define FOLIO_ORDER	min(PMD_ORDER, MAX_PAGE_ORDER)
#define FOLIO_PAGES	BIT(FOLIO_ORDER)

struct array_context {
	struct rnd_state rnd;
	struct folio *folio;
	struct page **pages;		/* FOLIO_PAGES */
};

static u32 rnd_below(struct array_context *ctx, u32 bound)
{
	return prandom_u32_state(&ctx->rnd) % bound;
}

static void fill(struct array_context *ctx, unsigned int index, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		ctx->pages[i] = folio_page(ctx->folio, index + i);
}

/* What arrays can hold where a run would go on. */
static struct page *other_page(struct array_context *ctx, unsigned int at)
{
	switch (rnd_below(ctx, 4)) {
	case 0:
		return NULL;
	case 1:
		return ctx->pages[at - 1];
	case 2:
		return folio_page(ctx->folio, rnd_below(ctx, FOLIO_PAGES));
	default:
		return ctx->pages[0];
	}
}

static unsigned int compare_run(struct kunit *test, unsigned int max)
{
	struct array_context *ctx = test->priv;
	unsigned int fast, nth, slow;

	slow = pagerun_array_run_slow(ctx->pages, max);
	fast = pagerun_array_run(ctx->pages, max);
	nth = pagerun_array_run_nth(ctx->pages, max);
	KUNIT_EXPECT_EQ_MSG(test, fast, slow, "at most %u", max);
	KUNIT_EXPECT_EQ_MSG(test, nth, slow, "nth, at most %u", max);
	if (max > 1 && !pagerun_array_may_run(ctx->pages))
		KUNIT_EXPECT_EQ(test, slow, 1);
	return fast;
}

/* Each length that ends near a block's edge, with something else behind it or nothing. */
static void array_length_test(struct kunit *test)
{
	struct array_context *ctx = test->priv;
	unsigned int nr, max;

	for (max = 1; max <= 4 * PAGERUN_ARRAY_BLOCK + 2 && max <= FOLIO_PAGES; max++) {
		for (nr = 1; nr <= max; nr++) {
			fill(ctx, 0, max);
			if (nr < max)
				ctx->pages[nr] = NULL;
			KUNIT_EXPECT_EQ(test, nr, compare_run(test, max));
			if (nr < max)
				ctx->pages[nr] = ctx->pages[nr - 1];
			KUNIT_EXPECT_EQ(test, nr, compare_run(test, max));
		}
	}
	fill(ctx, 0, FOLIO_PAGES);
	KUNIT_EXPECT_EQ(test, FOLIO_PAGES, compare_run(test, FOLIO_PAGES));
}

static void array_generated_test(struct kunit *test)
{
	struct array_context *ctx = test->priv;
	unsigned int i, j, at;

	for (i = 0; i < CASES; i++) {
		unsigned int index = rnd_below(ctx, FOLIO_PAGES);
		unsigned int nr = FOLIO_PAGES - index, edits = rnd_below(ctx, 4);

		fill(ctx, index, nr);
		for (j = 0; j < edits && nr > 1; j++) {
			at = 1 + rnd_below(ctx, nr - 1);
			ctx->pages[at] = other_page(ctx, at);
		}
		compare_run(test, 1 + rnd_below(ctx, nr));
	}
}

static int array_init(struct kunit *test)
{
	struct array_context *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	ctx->pages = kunit_kcalloc(test, FOLIO_PAGES, sizeof(*ctx->pages), GFP_KERNEL);
	if (!ctx->pages)
		return -ENOMEM;

	ctx->folio = folio_alloc(GFP_KERNEL, FOLIO_ORDER);
	if (!ctx->folio)
		return -ENOMEM;

	prandom_seed_state(&ctx->rnd, 612);
	test->priv = ctx;
	return 0;
}

static void array_exit(struct kunit *test)
{
	struct array_context *ctx = test->priv;

	if (ctx)
		folio_put(ctx->folio);
}

static struct kunit_case array_cases[] = {
	KUNIT_CASE(array_length_test),
	KUNIT_CASE(array_generated_test),
	{ }
};

static struct kunit_suite array_suite = {
	.name = "pagerun_array",
	.init = array_init,
	.exit = array_exit,
	.test_cases = array_cases,
};

kunit_test_suite(array_suite);
