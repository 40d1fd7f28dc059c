// SPDX-License-Identifier: GPL-2.0-only
/*
 * register: the set of folios against a plain list, and what is accounted for the buffers
 * of a ring against the base's search, over generated rings, with memory for the set
 * running out at any time. No io_uring is set up: a ring is what the functions look at,
 * its table of buffers and its lock.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/io_uring_types.h>
#include <linux/mm.h>
#include <linux/prandom.h>

#include "../../../io_uring/io_uring.h"
#include "../../../io_uring/rsrc.h"
#include "../register.h"
#include "../register_set.h"
#include "tests.h"

/* ------------------------------------------------------------------------- */
/* The set                                                                   */

#define SET_HEADS	1500
#define SET_STEPS	20000

/* Percent of the set's allocations that fail. */
static unsigned int failing;
static size_t largest;		/* that was asked for */
static struct rnd_state rnd;

static u32 rnd_below(u32 bound)
{
	return prandom_u32_state(&rnd) % bound;
}

static void *alloc_or_fail(size_t size)
{
	largest = max(largest, size);
	return rnd_below(100) < failing ? NULL : kvzalloc(size, GFP_KERNEL);
}

/* Keys are addresses that nobody follows. */
static const struct page *key(unsigned int i)
{
	return (const struct page *)(0x1000UL + 64UL * i);
}

static void set_generated_test(struct kunit *test)
{
	unsigned long *held = kunit_kcalloc(test, SET_HEADS, sizeof(*held), GFP_KERNEL);
	struct pagerun_folios *set = NULL;
	unsigned int i, failures = 0;

	KUNIT_ASSERT_NOT_NULL(test, held);
	failing = 30;
	for (i = 0; i < SET_STEPS; i++) {
		unsigned int which = rnd_below(SET_HEADS), nr = 1 + rnd_below(3);
		long before;

		if (held[which] && rnd_below(2)) {
			nr = 1 + rnd_below(held[which]);
			pagerun_folios_remove(set, key(which), nr);
			held[which] -= nr;
			continue;
		}
		before = pagerun_folios_add(&set, key(which), nr, rnd_below(40));
		if (before < 0) {
			KUNIT_EXPECT_EQ(test, before, -ENOMEM);
			failures++;
			continue;
		}
		KUNIT_ASSERT_EQ(test, before, held[which]);
		held[which] += nr;
	}
	pagerun_folios_free(set);
	/* It was full, and could not grow, now and then. */
	KUNIT_EXPECT_GT(test, failures, 0);
}

/* One that goes and comes again takes no room: the set does not grow for ever. */
static void set_churn_test(struct kunit *test)
{
	struct pagerun_folios *set = NULL;
	unsigned int i;
	size_t first;

	failing = 0;
	largest = 0;
	KUNIT_ASSERT_EQ(test, pagerun_folios_add(&set, key(0), 1, 0), 0);
	first = largest;
	for (i = 1; i < SET_STEPS; i++) {
		KUNIT_ASSERT_EQ(test, pagerun_folios_add(&set, key(i), 1, 0), 0);
		pagerun_folios_remove(set, key(i), 1);
	}
	KUNIT_EXPECT_EQ(test, largest, first);
	pagerun_folios_free(set);
}

/* ------------------------------------------------------------------------- */
/* Accounting                                                                */

#define NR_FOLIOS	120
#define NR_SLOTS	40
#define BUFFER_PAGES	200
#define RINGS		60
#define STEPS		80

static struct folio *folios[NR_FOLIOS];

/* A ring, and a row of buffers that may be in its table. */
struct ring {
	struct io_ring_ctx ctx;
	struct io_mapped_ubuf *slots[NR_SLOTS];
};

/* As the base's headpage_already_acct(), by the letter. */
static bool found_before(const struct io_ring_ctx *ctx, struct page **pages, int nr,
			 struct page *head)
{
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		if (PageCompound(pages[i]) && compound_head(pages[i]) == head)
			return true;
	}
	for (i = 0; i < ctx->nr_user_bufs; i++) {
		for (j = 0; j < ctx->user_bufs[i]->nr_bvecs; j++) {
			struct page *page = ctx->user_bufs[i]->bvec[j].bv_page;

			if (PageCompound(page) && compound_head(page) == head)
				return true;
		}
	}
	return false;
}

/* As the base's loop does from entry @i on. */
static unsigned long base_account(const struct io_ring_ctx *ctx, struct page **pages, int i,
				  int nr, struct page **last)
{
	unsigned long sum = 0;

	for (; i < nr; i++) {
		struct page *head;

		if (!PageCompound(pages[i])) {
			sum++;
			continue;
		}
		head = compound_head(pages[i]);
		if (head == *last)
			continue;
		*last = head;
		if (!found_before(ctx, pages, i, head))
			sum += compound_nr(head);
	}
	return sum;
}

/* The heads of folios, as of a buffer that is told by whole folios; or pages in rows. */
static int make_pages(struct page **pages)
{
	int nr = 1 + rnd_below(rnd_below(4) ? 20 : BUFFER_PAGES), i = 0;
	bool whole = rnd_below(2);

	while (i < nr) {
		struct folio *folio = folios[rnd_below(NR_FOLIOS)];
		unsigned int at = rnd_below(folio_nr_pages(folio));

		if (whole) {
			pages[i++] = &folio->page;
			continue;
		}
		do {
			pages[i++] = folio_page(folio, at++);
		} while (i < nr && at < folio_nr_pages(folio) && rnd_below(8));
	}
	return nr;
}

static struct io_mapped_ubuf *make_buffer(struct kunit *test, struct page **pages, int nr)
{
	struct io_mapped_ubuf *imu = kvzalloc(struct_size(imu, bvec, nr), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, imu);
	imu->nr_bvecs = nr;
	for (i = 0; i < nr; i++)
		bvec_set_page(&imu->bvec[i], pages[i], PAGE_SIZE, 0);
	return imu;
}

/* Account a new buffer and compare; NULL if it was to fail after that. */
static struct io_mapped_ubuf *add_buffer(struct kunit *test, struct ring *ring,
					 struct page **last, bool fails)
{
	struct page **pages = kunit_kcalloc(test, BUFFER_PAGES, sizeof(*pages), GFP_KERNEL);
	struct page *base_last = *last;
	struct io_mapped_ubuf *imu;
	unsigned long sum;
	int nr;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	nr = make_pages(pages);
	imu = make_buffer(test, pages, nr);
	sum = base_account(&ring->ctx, pages, 0, nr, &base_last);

	if (!pagerun_register_account(&ring->ctx, pages, nr, imu, last)) {
		/* Off, or no memory. */
		KUNIT_EXPECT_TRUE(test, IS_ERR_OR_NULL(ring->ctx.pagerun_folios));
		KUNIT_EXPECT_EQ(test, imu->acct_pages, 0);
		imu->acct_pages = base_account(&ring->ctx, pages, 0, nr, last);
	}
	KUNIT_EXPECT_EQ(test, imu->acct_pages, sum);
	KUNIT_EXPECT_PTR_EQ(test, *last, base_last);
	if (fails) {
		pagerun_register_undo(&ring->ctx, pages, nr);
		kvfree(imu);
		imu = NULL;
	}
	kunit_kfree(test, pages);
	return imu;
}

static void register_all(struct kunit *test, struct ring *ring)
{
	unsigned int nr = 1 + rnd_below(NR_SLOTS), i;
	struct page *last = NULL;

	for (i = 0; i < nr; i++) {
		ring->slots[i] = add_buffer(test, ring, &last, false);
		ring->ctx.nr_user_bufs++;
	}
}

static void unregister_all(struct ring *ring)
{
	unsigned int i;

	for (i = 0; i < ring->ctx.nr_user_bufs; i++)
		kvfree(ring->slots[i]);
	pagerun_register_drop(&ring->ctx);
	ring->ctx.nr_user_bufs = 0;
}

static void update_some(struct kunit *test, struct ring *ring)
{
	unsigned int at = rnd_below(ring->ctx.nr_user_bufs), nr = 1 + rnd_below(3);
	struct page *last = NULL;

	for (; nr && at < ring->ctx.nr_user_bufs; nr--, at++) {
		struct io_mapped_ubuf *imu = add_buffer(test, ring, &last, !rnd_below(10));

		if (!imu)
			return;
		pagerun_register_remove(&ring->ctx, ring->slots[at]);
		kvfree(ring->slots[at]);
		ring->slots[at] = imu;
	}
}

static void account_generated_test(struct kunit *test)
{
	struct ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	unsigned int i, step, with_set = 0;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	mutex_init(&ring->ctx.uring_lock);
	ring->ctx.user_bufs = ring->slots;
	mutex_lock(&ring->ctx.uring_lock);
	for (i = 0; i < RINGS; i++) {
		/* A third with memory at all times, a third without, the rest with some. */
		failing = (i % 3) * 50;
		set_switch(PAGERUN_REGISTER, true);
		register_all(test, ring);
		for (step = 0; step < STEPS; step++) {
			if (!rnd_below(12))
				set_switch(PAGERUN_REGISTER, rnd_below(2));
			update_some(test, ring);
			with_set += !IS_ERR_OR_NULL(ring->ctx.pagerun_folios);
		}
		unregister_all(ring);
		KUNIT_EXPECT_NULL(test, ring->ctx.pagerun_folios);
	}
	mutex_unlock(&ring->ctx.uring_lock);
	KUNIT_EXPECT_GT(test, with_set, RINGS * STEPS / 8);
}

/* A short search goes without a set; the same once the switch is off. */
static void account_small_test(struct kunit *test)
{
	struct ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	struct io_mapped_ubuf *imu;
	struct page *last = NULL, *page = &folios[NR_FOLIOS - 1]->page;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	mutex_init(&ring->ctx.uring_lock);
	ring->ctx.user_bufs = ring->slots;
	failing = 0;
	set_switch(PAGERUN_REGISTER, true);
	mutex_lock(&ring->ctx.uring_lock);
	imu = make_buffer(test, &page, 1);
	KUNIT_EXPECT_TRUE(test, pagerun_register_account(&ring->ctx, &page, 1, imu, &last));
	KUNIT_EXPECT_NULL(test, ring->ctx.pagerun_folios);
	KUNIT_EXPECT_EQ(test, imu->acct_pages, compound_nr(page));
	set_switch(PAGERUN_REGISTER, false);
	KUNIT_EXPECT_FALSE(test, pagerun_register_account(&ring->ctx, &page, 1, imu, &last));
	kvfree(imu);
	mutex_unlock(&ring->ctx.uring_lock);
}

/* ------------------------------------------------------------------------- */

static bool switch_was_on;

static void put_folios(void)
{
	int i;

	for (i = 0; i < NR_FOLIOS; i++) {
		if (folios[i])
			folio_put(folios[i]);
		folios[i] = NULL;
	}
}

static int register_suite_init(struct kunit_suite *suite)
{
	int i;

	switch_was_on = switch_is_on(PAGERUN_REGISTER);
	prandom_seed_state(&rnd, 612);
	for (i = 0; i < NR_FOLIOS; i++) {
		folios[i] = folio_alloc(GFP_KERNEL, i % 5);
		if (!folios[i]) {
			put_folios();
			return -ENOMEM;
		}
	}
	return 0;
}

static void register_suite_exit(struct kunit_suite *suite)
{
	put_folios();
	set_switch(PAGERUN_REGISTER, switch_was_on);
}

static int register_init(struct kunit *test)
{
	kunit_activate_static_stub(test, pagerun_folios_alloc, alloc_or_fail);
	return 0;
}

static struct kunit_case register_cases[] = {
	KUNIT_CASE(set_generated_test),
	KUNIT_CASE(set_churn_test),
	KUNIT_CASE(account_generated_test),
	KUNIT_CASE(account_small_test),
	{ }
};

static struct kunit_suite register_suite = {
	.name = "pagerun_register",
	.suite_init = register_suite_init,
	.suite_exit = register_suite_exit,
	.init = register_init,
	.test_cases = register_cases,
};

kunit_test_suite(register_suite);
