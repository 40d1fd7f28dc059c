// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scan for runs against its slow reference, over generated page tables. No
 * page table is in use here and no page is touched: a table is a row of entries.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/prandom.h>

#include "../run.h"

#define CASES		4000
#define FOLIO_ORDER	min(PMD_ORDER, MAX_PAGE_ORDER)
#define FOLIO_PAGES	BIT(FOLIO_ORDER)

/* A pointer that no scan may leave where it noted a page, or touch elsewhere. */
#define UNTOUCHED	((struct page *)0x1UL)

struct run_context {
	struct rnd_state rnd;
	struct folio *folio;
	pte_t *table;			/* PTRS_PER_PTE entries */
	struct page **fast, **slow;	/* PTRS_PER_PTE each */
};

static u32 rnd_below(struct run_context *ctx, u32 bound)
{
	return prandom_u32_state(&ctx->rnd) % bound;
}

typedef pte_t (*pte_change)(pte_t pte);

static pte_t change_none(pte_t pte)
{
	return __pte(0);
}

static pte_t change_next_pfn(pte_t pte)
{
	return pfn_pte(pte_pfn(pte) + 1, pte_pgprot(pte));
}

static pte_t change_far_pfn(pte_t pte)
{
	return pfn_pte(pte_pfn(pte) + FOLIO_PAGES, pte_pgprot(pte));
}

static pte_t change_readonly(pte_t pte)
{
	return pte_wrprotect(pte);
}

static pte_t change_writable(pte_t pte)
{
	return pte_mkwrite_novma(pte);
}

static pte_t change_old(pte_t pte)
{
	return pte_mkold(pte);
}

static pte_t change_young(pte_t pte)
{
	return pte_mkyoung(pte);
}

static pte_t change_clean(pte_t pte)
{
	return pte_mkclean(pte);
}

static pte_t change_dirty(pte_t pte)
{
	return pte_mkdirty(pte);
}

static pte_t change_soft_dirty(pte_t pte)
{
	return pte_mksoft_dirty(pte);
}

static pte_t change_soft_clean(pte_t pte)
{
	return pte_clear_soft_dirty(pte);
}

static pte_t change_special(pte_t pte)
{
	return pte_mkspecial(pte);
}

static pte_t change_prot_none(pte_t pte)
{
	return pte_modify(pte, PAGE_NONE);
}

static pte_t change_exec(pte_t pte)
{
	return pte_modify(pte, PAGE_READONLY_EXEC);
}

#ifdef CONFIG_HAVE_ARCH_USERFAULTFD_WP
static pte_t change_uffd_wp(pte_t pte)
{
	return pte_mkuffd_wp(pte);
}
#endif

/* @ends: does such an entry end a run of young, dirty, writable ones? */
static const struct change {
	const char *name;
	pte_change apply;
	bool ends;
} changes[] = {
	{ "none", change_none, true },
	{ "next PFN", change_next_pfn, true },
	{ "far PFN", change_far_pfn, true },
	{ "read-only", change_readonly, true },
	{ "writable", change_writable, false },
	{ "old", change_old, false },
	{ "young", change_young, false },
	{ "clean", change_clean, false },
	{ "dirty", change_dirty, false },
	{ "soft-dirty", change_soft_dirty, false },
	{ "soft-clean", change_soft_clean, false },
	{ "special", change_special, true },
	{ "PROT_NONE", change_prot_none, true },
	{ "executable", change_exec, true },
#ifdef CONFIG_HAVE_ARCH_USERFAULTFD_WP
	{ "uffd-wp", change_uffd_wp, true },
#endif
};

static pte_t fresh_entry(struct page *page)
{
	pte_t pte = pfn_pte(page_to_pfn(page), PAGE_SHARED);

	return pte_mkyoung(pte_mkdirty(pte_mkwrite_novma(pte)));
}

static void fill_table(struct run_context *ctx, unsigned int at,
		       unsigned int index, unsigned int nr)
{
	unsigned int i;

	memset(ctx->table, 0, PTRS_PER_PTE * sizeof(pte_t));
	for (i = 0; i < nr; i++)
		ctx->table[at + i] =
			fresh_entry(folio_page(ctx->folio, index + i));
}

typedef unsigned int (*scan_fn)(pte_t *ptep, pte_t pte, struct page *page,
				unsigned int max, struct page **pages);

static unsigned int scan_unrolled(pte_t *ptep, pte_t pte, struct page *page,
				  unsigned int max, struct page **pages)
{
	return pagerun_scan(ptep, pte, page, max, pages);
}

static unsigned int scan_blocks(pte_t *ptep, pte_t pte, struct page *page,
				unsigned int max, struct page **pages)
{
	return pagerun_scan_blocks(ptep, pte, page, max, pages);
}

static const struct scan {
	const char *name;
	scan_fn scan;
} scans[] = {
	{ "pagerun_scan", scan_unrolled },
	{ "pagerun_scan_blocks", scan_blocks },
};

/* Compare a scan with the reference from entry @at on; return the length. */
static unsigned int compare_scan(struct kunit *test, const struct scan *scan,
				 unsigned int at, unsigned int max)
{
	struct run_context *ctx = test->priv;
	pte_t pte = ctx->table[at];
	struct page *page = pte_page(pte);
	unsigned int fast, slow, i;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		ctx->fast[i] = UNTOUCHED;
		ctx->slow[i] = UNTOUCHED;
	}

	fast = scan->scan(ctx->table + at, pte, page, max, ctx->fast);
	slow = pagerun_scan_slow(ctx->table + at, page, max, ctx->slow);

	i = min(fast, slow);
	KUNIT_EXPECT_EQ_MSG(test, fast, slow,
			    "%s from %u, at most %u: %#llx, then %#llx",
			    scan->name, at, max,
			    (u64)pte_val(ctx->table[at + i - 1]),
			    (u64)pte_val(ctx->table[min_t(unsigned int, at + i,
							  PTRS_PER_PTE - 1)]));
	KUNIT_EXPECT_MEMEQ_MSG(test, ctx->fast, ctx->slow,
			       PTRS_PER_PTE * sizeof(*ctx->fast),
			       "%s from %u, at most %u: pages", scan->name, at,
			       max);
	return fast;
}

/* Rows of every length that lies near a block's edge, limits of the same. */
static void run_length_test(struct kunit *test)
{
	static const unsigned int lengths[] = {
		1, 2, 7, 8, 9, 10, 15, 16, 17, 18, 31, 32, 33, 255, 256, 511,
	};
	struct run_context *ctx = test->priv;
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			unsigned int nr = lengths[i], max = lengths[j];

			if (max_t(unsigned int, nr, max) > FOLIO_PAGES)
				continue;

			fill_table(ctx, 0, 0, nr);
			for (k = 0; k < ARRAY_SIZE(scans); k++)
				KUNIT_EXPECT_EQ(test, min(nr, max),
						compare_scan(test, scans + k, 0, max));
		}
	}
}

/* A whole table, and its last entry. */
static void run_table_edge_test(struct kunit *test)
{
	struct run_context *ctx = test->priv;
	unsigned int nr = min_t(unsigned int, PTRS_PER_PTE, FOLIO_PAGES), k;

	fill_table(ctx, PTRS_PER_PTE - nr, 0, nr);
	for (k = 0; k < ARRAY_SIZE(scans); k++) {
		KUNIT_EXPECT_EQ(test, nr,
				compare_scan(test, scans + k,
					     PTRS_PER_PTE - nr, nr));
		KUNIT_EXPECT_EQ(test, 1,
				compare_scan(test, scans + k,
					     PTRS_PER_PTE - 1, 1));
	}
}

/* Each kind of entry at each place of a run: does it end there? */
static void run_change_test(struct kunit *test)
{
	const unsigned int nr = min(32U, FOLIO_PAGES);
	struct run_context *ctx = test->priv;
	unsigned int i, at, k;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		for (at = 1; at < nr; at++) {
			fill_table(ctx, 0, 0, nr);
			ctx->table[at] = changes[i].apply(ctx->table[at]);

			for (k = 0; k < ARRAY_SIZE(scans); k++)
				KUNIT_EXPECT_EQ_MSG(test,
						    changes[i].ends ? at : nr,
						    compare_scan(test, scans + k, 0, nr),
						    "%s at %u", changes[i].name, at);
		}
	}
}

/* Anything anywhere, heads that are not fresh included. */
static void run_generated_test(struct kunit *test)
{
	struct run_context *ctx = test->priv;
	unsigned int i, j, k;

	for (i = 0; i < CASES; i++) {
		unsigned int index = rnd_below(ctx, FOLIO_PAGES);
		unsigned int nr = 1 + rnd_below(ctx, FOLIO_PAGES - index);
		unsigned int at = rnd_below(ctx, PTRS_PER_PTE);
		unsigned int max, edits = rnd_below(ctx, 8);

		nr = min_t(unsigned int, nr, PTRS_PER_PTE - at);
		max = 1 + rnd_below(ctx, nr);
		fill_table(ctx, at, index, nr);

		for (j = 0; j < edits; j++) {
			pte_t *ptep = ctx->table + at + rnd_below(ctx, nr);
			pte_t pte = *ptep;

			if (!pte_present(pte))
				continue;
			pte = changes[rnd_below(ctx, ARRAY_SIZE(changes))].apply(pte);
			/* A head is valid and maps a page of the folio. */
			if (ptep == ctx->table + at &&
			    (!pte_access_permitted(pte, false) ||
			     pte_pfn(pte) != pte_pfn(*ptep)))
				continue;
			*ptep = pte;
		}

		for (k = 0; k < ARRAY_SIZE(scans); k++)
			compare_scan(test, scans + k, at, max);
	}
}

static int run_init(struct kunit *test)
{
	struct run_context *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	ctx->table = kunit_kcalloc(test, PTRS_PER_PTE, sizeof(pte_t), GFP_KERNEL);
	ctx->fast = kunit_kcalloc(test, PTRS_PER_PTE, sizeof(*ctx->fast), GFP_KERNEL);
	ctx->slow = kunit_kcalloc(test, PTRS_PER_PTE, sizeof(*ctx->slow), GFP_KERNEL);
	if (!ctx->table || !ctx->fast || !ctx->slow)
		return -ENOMEM;

	ctx->folio = folio_alloc(GFP_KERNEL, FOLIO_ORDER);
	if (!ctx->folio)
		return -ENOMEM;

	prandom_seed_state(&ctx->rnd, 612);
	test->priv = ctx;
	return 0;
}

static void run_exit(struct kunit *test)
{
	struct run_context *ctx = test->priv;

	if (ctx)
		folio_put(ctx->folio);
}

static struct kunit_case run_cases[] = {
	KUNIT_CASE(run_length_test),
	KUNIT_CASE(run_table_edge_test),
	KUNIT_CASE(run_change_test),
	KUNIT_CASE(run_generated_test),
	{ }
};

static struct kunit_suite run_suite = {
	.name = "pagerun_run",
	.init = run_init,
	.exit = run_exit,
	.test_cases = run_cases,
};

kunit_test_suite(run_suite);
