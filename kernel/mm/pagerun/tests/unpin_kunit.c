// SPDX-License-Identifier: GPL-2.0-only
/*
 * unpin against the base, over generated arrays of pages of real folios; what the base
 * does not take, NULLs behind a page, against what the counts must be. And which struct
 * pages it touches, on a folio most of whose struct pages are not there.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>

#include "../array.h"
#include "../compat.h"
#include "tests.h"

#define CASES		300
#define NR_FOLIOS	12
#define NR_ENTRIES	600

struct unpin_context {
	struct rnd_state rnd;
	struct folio *folios[NR_FOLIOS];
	struct page **pages;		/* NR_ENTRIES */
	int pins[NR_FOLIOS];		/* that the array has */
};

static const unsigned int orders[NR_FOLIOS] = { 0, 2, 0, 4, 9, 0, 1, 3, 0, 2, 5, 0 };

static u32 rnd_below(struct unpin_context *ctx, u32 bound)
{
	return prandom_u32_state(&ctx->rnd) % bound;
}

/* Of all nodes, with what the CPUs keep. */
static long released_now(void)
{
	long sum = 0;
	int nid, cpu;

	for_each_online_node(nid) {
		sum += atomic_long_read(&NODE_DATA(nid)->vm_stat[NR_FOLL_PIN_RELEASED]);
		for_each_online_cpu(cpu)
			sum += per_cpu_ptr(NODE_DATA(nid)->per_cpu_nodestats, cpu)
				->vm_node_stat_diff[NR_FOLL_PIN_RELEASED];
	}
	return sum;
}

/* Pin @folio @nr times as FOLL_PIN does, in the counts and in the statistics. */
static void take(struct folio *folio, int nr)
{
	if (folio_test_large(folio)) {
		folio_ref_add(folio, nr);
		atomic_add(nr, &folio->_pincount);
	} else {
		folio_ref_add(folio, nr * GUP_PIN_COUNTING_BIAS);
	}
	mod_node_page_state(folio_pgdat(folio), NR_FOLL_PIN_ACQUIRED, nr);
}

static void add_entry(struct unpin_context *ctx, unsigned int nr, unsigned int which,
		      unsigned int index)
{
	struct folio *folio = ctx->folios[which];

	ctx->pages[nr] = folio_page(folio, index % folio_nr_pages(folio));
	ctx->pins[which]++;
}

/* A stretch of one folio, or of two that take turns: forwards, backwards or anyhow. */
static unsigned int add_stretch(struct unpin_context *ctx, unsigned int at)
{
	unsigned int a = rnd_below(ctx, NR_FOLIOS), b = rnd_below(ctx, NR_FOLIOS);
	unsigned int nr = 1 + rnd_below(ctx, min(NR_ENTRIES - at, 80U));
	unsigned int first = rnd_below(ctx, 512), way = rnd_below(ctx, 5), i;

	for (i = 0; i < nr; i++) {
		switch (way) {
		case 0:
			add_entry(ctx, at + i, a, first + nr - i);
			break;
		case 1:
			add_entry(ctx, at + i, i & 1 ? a : b, first + i / 2);
			break;
		case 2:
			add_entry(ctx, at + i, a, first);
			break;
		case 3:
			add_entry(ctx, at + i, a, prandom_u32_state(&ctx->rnd));
			break;
		default:
			add_entry(ctx, at + i, a, first + i);
		}
	}
	return at + nr;
}

/* NULLs in front, which the base takes; @holes: anywhere. Return: the length. */
static unsigned int make_array(struct unpin_context *ctx, bool holes)
{
	unsigned int at = 0, until = 1 + rnd_below(ctx, NR_ENTRIES);

	memset(ctx->pins, 0, sizeof(ctx->pins));
	while (at < until && rnd_below(ctx, 4) == 0)
		ctx->pages[at++] = NULL;
	while (at < until) {
		at = add_stretch(ctx, at);
		if (holes && at < NR_ENTRIES && rnd_below(ctx, 2))
			ctx->pages[at++] = NULL;
	}
	return at;
}

static void release(struct unpin_context *ctx, unsigned int nr, bool dirty, bool on)
{
	int i;

	for (i = 0; i < NR_FOLIOS; i++)
		take(ctx->folios[i], ctx->pins[i]);
	set_switch(PAGERUN_UNPIN, on);
	if (dirty)
		unpin_user_pages_dirty_lock(ctx->pages, nr, true);
	else
		unpin_user_pages(ctx->pages, nr);
}

static void check_counts(struct kunit *test, bool dirty, const char *state)
{
	struct unpin_context *ctx = test->priv;
	int i;

	for (i = 0; i < NR_FOLIOS; i++) {
		struct folio *folio = ctx->folios[i];

		KUNIT_ASSERT_EQ_MSG(test, folio_ref_count(folio), 1, "%s: folio %d", state, i);
		if (folio_test_large(folio))
			KUNIT_ASSERT_EQ_MSG(test, atomic_read(&folio->_pincount), 0,
					    "%s: folio %d", state, i);
		KUNIT_EXPECT_EQ_MSG(test, folio_test_dirty(folio), dirty && ctx->pins[i],
				    "%s: folio %d", state, i);
		folio_clear_dirty(folio);
	}
}

static long sum_pins(const struct unpin_context *ctx)
{
	long sum = 0;
	int i;

	for (i = 0; i < NR_FOLIOS; i++)
		sum += ctx->pins[i];
	return sum;
}

/* On, and where the base can, off. */
static void unpin_arrays_test(struct kunit *test)
{
	struct unpin_context *ctx = test->priv;
	unsigned int i, nr;
	int on;

	for (i = 0; i < CASES; i++) {
		bool holes = i & 1, dirty = i & 2;

		nr = make_array(ctx, holes);
		/* With @dirty, the base takes no NULL at all. */
		for (on = holes || (dirty && !ctx->pages[0]); on <= 1; on++) {
			long before = released_now();

			release(ctx, nr, dirty, on);
			KUNIT_EXPECT_EQ(test, released_now() - before, sum_pins(ctx));
			check_counts(test, dirty, on ? "on" : "off");
		}
	}
}

/* An array in reverse has no runs, and is given back all the same. */
static void unpin_statistics_test(struct kunit *test)
{
	struct unpin_context *ctx = test->priv;
	struct pagerun_count before, after;
	unsigned int i;

	memset(ctx->pins, 0, sizeof(ctx->pins));
	for (i = 0; i < 512; i++)
		add_entry(ctx, i, 4, i);
	before = count_now(PAGERUN_UNPIN);
	release(ctx, 512, false, true);
	after = count_now(PAGERUN_UNPIN);
	KUNIT_EXPECT_EQ(test, after.runs - before.runs, 1);
	KUNIT_EXPECT_EQ(test, after.pages - before.pages, 512);
	check_counts(test, false, "in order");

	memset(ctx->pins, 0, sizeof(ctx->pins));
	for (i = 0; i < 16; i++)
		add_entry(ctx, i, 3, 15 - i);
	before = count_now(PAGERUN_UNPIN);
	release(ctx, 16, false, true);
	after = count_now(PAGERUN_UNPIN);
	KUNIT_EXPECT_EQ(test, after.runs, before.runs);
	check_counts(test, false, "in reverse");

	before = count_now(PAGERUN_UNPIN);
	release(ctx, 16, false, false);
	after = count_now(PAGERUN_UNPIN);
	KUNIT_EXPECT_EQ(test, after.runs, before.runs);
	check_counts(test, false, "off");
}

/* Longer than what is released at once, which ends in the middle of a folio. */
static void unpin_long_array_test(struct kunit *test)
{
	struct unpin_context *ctx = test->priv;
	const unsigned long nr = PAGERUN_ARRAY_PART + 10;
	struct folio *folio = ctx->folios[3];
	struct page **pages;
	unsigned long i;
	long before;

	pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < nr; i++)
		pages[i] = folio_page(folio, (i + 7) % folio_nr_pages(folio));
	before = released_now();
	take(folio, nr);
	set_switch(PAGERUN_UNPIN, true);
	unpin_user_pages(pages, nr);
	kvfree(pages);
	KUNIT_EXPECT_EQ(test, released_now() - before, nr);
	memset(ctx->pins, 0, sizeof(ctx->pins));
	check_counts(test, false, "long");
}

#if !PAGERUN_PAGES_APART && defined(CONFIG_64BIT) && !defined(CONFIG_DEBUG_VM)
/*
 * A row of struct pages that is not the kernel's: of a folio of order 9. Only those in
 * @present have memory; any other cannot be touched without a fault, and what lies
 * beside those that may be says that it belongs elsewhere.
 */
#define FAKE_ORDER	9
#define FAKE_PAGES	BIT(FAKE_ORDER)
#define FAKE_AREA	(FAKE_PAGES * sizeof(struct page) / PAGE_SIZE)
#define AREA_PAGES	(PAGE_SIZE / sizeof(struct page))

static struct page *make_fake(struct kunit *test, struct page **area, unsigned int index)
{
	struct page *map = vmap(area, FAKE_AREA, VM_MAP, PAGE_KERNEL);
	unsigned int keep = index / AREA_PAGES, i;
	struct folio *folio = (struct folio *)map;

	KUNIT_ASSERT_NOT_NULL(test, map);
	memset(map, 0x5b, FAKE_PAGES * sizeof(*map));

	memset(map, 0, 2 * sizeof(*map));
	map[0].flags = area[0]->flags;
	__folio_set_head(folio);
	folio->_flags_1 = FAKE_ORDER;
	folio->_folio_nr_pages = FAKE_PAGES;
	map[1].compound_head = (unsigned long)map | 1;
	if (index)
		map[index].compound_head = (unsigned long)map | 1;
	folio_set_count(folio, 1);

	for (i = 1; i < FAKE_AREA; i++) {
		if (i != keep)
			vunmap_range((unsigned long)map + i * PAGE_SIZE,
				     (unsigned long)map + (i + 1) * PAGE_SIZE);
	}
	return map;
}

/* A run from each of some places on: the head of the folio, its next page, its own page. */
static void unpin_touches_test(struct kunit *test)
{
	static const unsigned int indices[] = { 0, 1, 2, 63, 64, 100, 255, 448, 510, 511 };
	struct unpin_context *ctx = test->priv;
	struct page *area[FAKE_AREA];
	unsigned int i, j;

	for (i = 0; i < FAKE_AREA; i++) {
		area[i] = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, area[i]);
	}
	set_switch(PAGERUN_UNPIN, true);
	for (i = 0; i < ARRAY_SIZE(indices); i++) {
		unsigned int index = indices[i], nr = FAKE_PAGES - index;
		struct page *map = make_fake(test, area, index);
		struct folio *folio = (struct folio *)map;
		struct pagerun_count before = count_now(PAGERUN_UNPIN), after;

		for (j = 0; j < nr; j++)
			ctx->pages[j] = map + index + j;
		take(folio, nr);
		unpin_user_pages(ctx->pages, nr);
		after = count_now(PAGERUN_UNPIN);
		/* One page is no run. */
		KUNIT_EXPECT_EQ_MSG(test, after.runs - before.runs, nr > 1, "from %u", index);
		KUNIT_EXPECT_EQ_MSG(test, after.pages - before.pages, nr > 1 ? nr : 0,
				    "from %u", index);
		KUNIT_EXPECT_EQ_MSG(test, folio_ref_count(folio), 1, "from %u", index);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&folio->_pincount), 0, "from %u", index);
		vunmap(map);
	}
	for (i = 0; i < FAKE_AREA; i++)
		__free_page(area[i]);
}
#else
static void unpin_touches_test(struct kunit *test)
{
	/* DEBUG_VM looks at each page itself. */
	kunit_skip(test, "take a 64-bit kernel with SPARSEMEM_VMEMMAP and without DEBUG_VM");
}
#endif

static bool switch_was_on;

static int unpin_suite_init(struct kunit_suite *suite)
{
	switch_was_on = switch_is_on(PAGERUN_UNPIN);
	return 0;
}

static void unpin_suite_exit(struct kunit_suite *suite)
{
	set_switch(PAGERUN_UNPIN, switch_was_on);
}

static int unpin_init(struct kunit *test)
{
	struct unpin_context *ctx;
	int i;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	test->priv = ctx;
	ctx->pages = kunit_kcalloc(test, NR_ENTRIES, sizeof(*ctx->pages), GFP_KERNEL);
	if (!ctx->pages)
		return -ENOMEM;

	for (i = 0; i < NR_FOLIOS; i++) {
		ctx->folios[i] = folio_alloc(GFP_KERNEL, orders[i]);
		if (!ctx->folios[i])
			return -ENOMEM;
	}
	prandom_seed_state(&ctx->rnd, 612);
	return 0;
}

static void unpin_exit(struct kunit *test)
{
	struct unpin_context *ctx = test->priv;
	int i;

	for (i = 0; ctx && i < NR_FOLIOS; i++) {
		if (ctx->folios[i])
			folio_put(ctx->folios[i]);
	}
}

static struct kunit_case unpin_cases[] = {
	KUNIT_CASE(unpin_arrays_test),
	KUNIT_CASE(unpin_statistics_test),
	KUNIT_CASE(unpin_long_array_test),
	KUNIT_CASE(unpin_touches_test),
	{ }
};

static struct kunit_suite unpin_suite = {
	.name = "pagerun_unpin",
	.suite_init = unpin_suite_init,
	.suite_exit = unpin_suite_exit,
	.init = unpin_init,
	.exit = unpin_exit,
	.test_cases = unpin_cases,
};

kunit_test_suite(unpin_suite);
