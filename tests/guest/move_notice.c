// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the comparison notice what is wrong? An answer that is right is made wrong by
 * hand, in one place, and has to be found so.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "move.h"

#define PAGES	128U
#define PAGE	(PAGES + 5)	/* one that is moved */

static struct scene scene;

/* A call that is right; both answers stay in move_answers[]. */
static bool ask_right(struct why *why)
{
	static struct layout lay;
	const struct move_call call = { .dst = PAGES, .nr = 16 };

	move_begin();
	layout_init(&lay, 2 * PAGES);
	layout_add(&lay, OP_ANON, 0, 2 * PAGES, PMD_ORDER, LAY_EMPTY, 0);
	layout_add(&lay, OP_FILL, 0, 32, 0, 0, 3);
	layout_add(&lay, OP_UFFD, PAGES, PAGES, UFFD_MISSING, 0, 0);
	scene_make(&scene, &lay, 2);
	move_twins(&scene, &call, why);
	if (!why->bad)
		move_look(&scene, why);
	scene_end(&scene);
	return !why->bad;
}

/* Is the difference, in the answer with the switch on, found? Its text has @word. */
static void expect_found(const char *word, struct why *why)
{
	struct why found = { };

	if (same_move(&move_answers[0], &move_answers[1], 2 * PAGES, &found))
		same_look(&move_answers[0], &move_answers[1], 2 * PAGES, &found);
	if (!found.bad)
		wrong(why, "it was not noticed (%s)", word);
	else if (!strstr(found.text, word))
		wrong(why, "something else was noticed than %s: %s", word,
		      found.text);
}

static void nothing(struct why *why)
{
	if (ask_right(why) &&
	    same_move(&move_answers[0], &move_answers[1], 2 * PAGES, why))
		same_look(&move_answers[0], &move_answers[1], 2 * PAGES, why);
}

static void lost_page(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].map[PAGE] = 0;
	expect_found("pagemap", why);
}

static void page_twice(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].map[PAGE - PAGES] = move_answers[1].map[PAGE];
	expect_found("pagemap", why);
}

static void content(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].stamps[PAGE]++;
	expect_found("holds", why);
}

static void soft_dirty(struct why *why)
{
	if (!ask_right(why))
		return;
	if (!(move_answers[1].map[PAGE] & PM_SOFT_DIRTY))
		wrong(why, "a moved page is not soft-dirty");
	move_answers[1].map[PAGE] &= ~PM_SOFT_DIRTY;
	expect_found("pagemap", why);
}

static void uffd_wp(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].map[PAGE] |= PM_UFFD_WP;
	expect_found("pagemap", why);
}

static void moved(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].moved -= PAGE_SIZE;
	expect_found(".move", why);
}

static void errnos(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].err = EBUSY;
	expect_found("errno", why);
}

static void tables(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].tables_kb += 4;
	expect_found("VmPTE", why);
}

static void references(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].obs[PAGE].refcount++;
	expect_found("refcount", why);
}

static void exclusive(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].obs[PAGE].flags ^= PAGERUN_TEST_PAGE_EXCLUSIVE;
	expect_found("flags", why);
}

/* Larger on is what the feature is for, smaller is not. */
static void folio(struct why *why)
{
	if (!ask_right(why))
		return;
	move_answers[1].obs[PAGE].order = 4;
	same_look(&move_answers[0], &move_answers[1], 2 * PAGES, why);
	move_answers[1].obs[PAGE].flags ^= PAGERUN_TEST_PAGE_ANON;
	expect_found("flags", why);
	move_answers[1].obs[PAGE] = move_answers[0].obs[PAGE];
	move_answers[0].obs[PAGE].order = 4;
	expect_found("order", why);
}

static void sums(struct why *why)
{
	if (!ask_right(why))
		return;
	for (uint32_t i = 0; i < move_answers[1].smaps.nr; i++)
		if (!strcmp(move_answers[1].smaps.names[i], "Private_Dirty"))
			move_answers[1].smaps.kb[i] -= 4;
	expect_found("Private_Dirty", why);
}

const struct named notice_cases[] = {
	{ "comparison: equal is equal", no_move, nothing },
	{ "comparison: notices a lost page", no_move, lost_page },
	{ "comparison: notices a page in both places", no_move, page_twice },
	{ "comparison: notices a wrong content", no_move, content },
	{ "comparison: notices a missing soft-dirty bit", no_move, soft_dirty },
	{ "comparison: notices another write protection", no_move, uffd_wp },
	{ "comparison: notices a wrong .move", no_move, moved },
	{ "comparison: notices a wrong errno", no_move, errnos },
	{ "comparison: notices a page table more", no_move, tables },
	{ "comparison: notices a lost reference", no_move, references },
	{ "comparison: notices a page that is not exclusive", no_move, exclusive },
	{ "comparison: masks that a folio stays large, no more", no_move, folio },
	{ "comparison: notices a page that is clean", no_move, sums },
};

const unsigned int nr_notice_cases = ARRAY_SIZE(notice_cases);
