// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of a call failing, one after the other, until the call gets all that it
 * asks for. Without memory for the set of folios the answer is the base's; without memory
 * for anything else it is ENOMEM, and nothing is left of it.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "faults.h"
#include "register.h"

#define FOLIO	16U
#define NR	100U	/* buffers, of as many folios */
#define NR_NEW	40U	/* and others to replace some of them */

struct fail_ring {
	struct scene scene;
	struct io_uring ring;
	struct iovec buffers[NR + NR_NEW];
	unsigned long locked, pinned;
};

static void setup(struct fail_ring *fail)
{
	static struct layout lay;
	unsigned int i;

	layout_init(&lay, 8 * PMD_PAGES);
	layout_add(&lay, OP_ANON, 0, 8 * PMD_PAGES, 4, 0, 1);
	scene_make(&fail->scene, &lay, 1);
	for (i = 0; i < NR + NR_NEW; i++)
		fail->buffers[i] = (struct iovec){ page_at(&fail->scene.win[0], FOLIO * i),
						   FOLIO * PAGE_SIZE };
	ring_make(&fail->ring, false);
	limit_set(~0UL);
	fail->locked = locked_now();
	fail->pinned = pinned_now();
}

/* What counts after a call that returned @ret; @pages of them if it did all. */
static bool counts_are(const struct fail_ring *fail, unsigned int nth, int ret,
		       unsigned long pages, struct why *why)
{
	if (locked_now() == fail->locked + pages && pinned_now() == fail->pinned + pages)
		return true;
	return wrong(why, "allocation %u: returned %d, %lu pages locked and %lu pinned, not %lu",
		     nth, ret, locked_now() - fail->locked, pinned_now() - fail->pinned, pages);
}

static void case_register(struct why *why)
{
	unsigned int nth, failed = 0, answered = 0, left = 0;
	struct stats before, after;
	struct fail_ring fail;
	int ret;

	setup(&fail);
	faults_begin();
	faults_open();
	switch_set(true);
	for (nth = 1; nth < FAULTS_MAX_NTH && !why->bad && !left; nth++) {
		stats_read(&before);
		faults_set(nth);
		ret = ring_register(&fail.ring, fail.buffers, NR);
		left = faults_left();
		faults_set(0);
		stats_read(&after);
		failed += !left;
		/* The one that was missed was for the set. */
		answered += !ret && after.fallbacks > before.fallbacks;
		if (ret && (ret != -ENOMEM || left))
			wrong(why, "allocation %u: %d", nth, ret);
		counts_are(&fail, nth, ret, ret ? 0 : NR * FOLIO, why);
		if (!ret)
			ring_unregister(&fail.ring);
	}
	if (!why->bad && (!failed || !answered || nth == FAULTS_MAX_NTH))
		wrong(why, "%u allocations failed, %u times the search answered, %u tries",
		      failed, answered, nth);
	switch_set(false);
	ring_end(&fail.ring);
	scene_end(&fail.scene);
}

/* Replace some buffers by others, the first with the switch on: for them the set is made. */
static void case_update(struct why *why)
{
	unsigned int nth, failed = 0, answered = 0, left = 0;
	struct stats before, after;
	struct fail_ring fail;
	int ret;

	setup(&fail);
	faults_begin();
	faults_open();
	for (nth = 1; nth < FAULTS_MAX_NTH && !why->bad && !left; nth++) {
		switch_set(false);
		if (ring_register(&fail.ring, fail.buffers, NR))
			die("buffers cannot be registered");
		switch_set(true);
		stats_read(&before);
		faults_set(nth);
		ret = ring_update(&fail.ring, 30, fail.buffers + NR, NR_NEW);
		left = faults_left();
		faults_set(0);
		stats_read(&after);
		failed += !left;
		answered += after.fallbacks > before.fallbacks;
		if (ret != (int)NR_NEW && (left || (ret < 0 && ret != -ENOMEM)))
			wrong(why, "allocation %u: %d", nth, ret);
		/* As many come as go, however far it got. */
		counts_are(&fail, nth, ret, NR * FOLIO, why);
		ring_unregister(&fail.ring);
		counts_are(&fail, nth, ret, 0, why);
	}
	if (!why->bad && (!failed || !answered || nth == FAULTS_MAX_NTH))
		wrong(why, "%u allocations failed, %u times the search answered, %u tries",
		      failed, answered, nth);
	switch_set(false);
	ring_end(&fail.ring);
	scene_end(&fail.scene);
}

const struct named register_fail_cases[] = {
	{ "failing allocations: register", no_faults, case_register },
	{ "failing allocations: update", no_faults, case_update },
};

const unsigned int nr_register_fail_cases = ARRAY_SIZE(register_fail_cases);
