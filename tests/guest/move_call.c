// SPDX-License-Identifier: GPL-2.0-only
/*
 * One call of UFFDIO_MOVE with the switch off and on, compared.
 *
 * The windows of a scene have the same history. Off is always asked on the first, on
 * on the second, so that they stay alike; which of them is asked first, the call
 * tells.
 *
 * What the feature may change, and all that is masked here: a large folio that is
 * moved whole stays large, which the base splits. So the order of a page's folio may
 * be higher on than off, and where it is, index, refcount and pincount are those of
 * another folio. The place and the flags of the page itself are compared all the
 * same, and move_epilogue() compares each refcount with the mappings.
 *
 * After MADV_FREE, some pages of a large folio can be clean. A split makes all of them
 * dirty if one is; a folio that stays large is left as it was. So smaps can find fewer
 * dirty pages in such folios, but no others; see also the named case.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ktap.h"
#include "move.h"

/* No call of a test takes that long, but one that never ends. */
#define CALL_SECONDS	40

/* Calls of one chain, so that a range full of obstacles ends. */
#define CHAIN_MAX	16

struct move_answer move_answers[2];
struct move_totals move_totals;

/* ------------------------------------------------------------------------- */
/* Who never comes back                                                      */

static atomic_long watch_until;	/* seconds of the clock; 0: nobody waits */
static char watch_what[200];

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void *watch_main(void *arg)
{
	const struct timespec wait = { .tv_nsec = 250000000 };

	for (;;) {
		long until = atomic_load(&watch_until);

		if (until && now() > until)
			break;
		nanosleep(&wait, NULL);
	}
	fprintf(stderr, "%s: does not come back: %s\n",
		program_invocation_short_name, watch_what);
	settings_restore();
	_exit(KTAP_EXIT_FAIL);
	return arg;
}

/* Before anything is measured: a thread takes memory, page tables too. */
static void watch_start(void)
{
	static bool started;
	pthread_t thread;

	if (!started && pthread_create(&thread, NULL, watch_main, NULL))
		die("cannot start a thread");
	started = true;
}

void watch(unsigned int seconds, const char *what)
{
	if (seconds)
		snprintf(watch_what, sizeof(watch_what), "%s", what);
	atomic_store(&watch_until, seconds ? now() + seconds : 0);
}

/* ------------------------------------------------------------------------- */
/* Asking                                                                    */

static void *array(size_t size)
{
	void *new = calloc(WINDOW_MAX, size);

	if (!new)
		die("no memory");
	return new;
}

void move_begin(void)
{
	for (int i = 0; i < 2 && !move_answers[i].map; i++) {
		move_answers[i].map = array(sizeof(*move_answers[i].map));
		move_answers[i].stamps = array(sizeof(*move_answers[i].stamps));
		move_answers[i].obs = array(sizeof(*move_answers[i].obs));
	}
	watch_start();
	memset(&move_totals, 0, sizeof(move_totals));
}

const char *move_text(const struct move_call *call, char *buf, size_t size)
{
	snprintf(buf, size, "move [%u, %u) to %u%s%s%s", call->src,
		 call->src + call->nr, call->dst,
		 call->mode & HOLES ? ", holes allowed" : "",
		 call->mode & UFFDIO_MOVE_MODE_DONTWAKE ? ", no wake" : "",
		 call->on_first ? ", on first" : "");
	return buf;
}

int move_ioctl(const struct scene *scene, const struct window *win,
	       const struct move_call *call, int64_t *moved)
{
	struct uffdio_move arg = {
		.dst = (uintptr_t)page_at(win, call->dst),
		.src = (uintptr_t)page_at(win, call->src),
		.len = (uint64_t)call->nr << PAGE_SHIFT,
		.mode = call->mode,
		/* No call writes that. */
		.move = INT64_MIN,
	};
	char text[120];
	int err;

	watch(CALL_SECONDS, move_text(call, text, sizeof(text)));
	err = ioctl(scene->uffd, UFFDIO_MOVE, &arg) ? errno : 0;
	watch(0, NULL);
	*moved = arg.move;
	return err;
}

static void move_ask(const struct scene *scene, const struct move_call *call, bool on)
{
	const struct window *win = &scene->win[on];
	struct move_answer *answer = &move_answers[on];
	struct stats before;
	long tables;

	switch_set(on);
	settle();
	stats_read(&before);
	tables = status_kb("VmPTE");
	answer->err = move_ioctl(scene, win, call, &answer->moved);
	answer->tables_kb = (long)status_kb("VmPTE") - tables;
	stats_read(&answer->stats);
	answer->stats.runs -= before.runs;
	answer->stats.pages -= before.pages;
	answer->stats.fallbacks -= before.fallbacks;
	pagemap_read(win->base, win->nr, answer->map);
}

bool same_move(const struct move_answer *off, const struct move_answer *on,
	       uint32_t nr, struct why *why)
{
	if (off->err != on->err)
		return wrong(why, "the call's errno is %d (%s) off, %d (%s) on; .move is %lld off, %lld on",
			     off->err, strerror(off->err), on->err,
			     strerror(on->err), (long long)off->moved,
			     (long long)on->moved);
	if (off->moved != on->moved)
		return wrong(why, "the call's .move is %lld off, %lld on (errno %d in both)",
			     (long long)off->moved, (long long)on->moved, on->err);
	if (off->tables_kb != on->tables_kb)
		return wrong(why, "VmPTE went up by %ld kB off, %ld kB on",
			     off->tables_kb, on->tables_kb);
	return same_maps(off->map, on->map, nr, "after the call", SAME_TWINS, why);
}

/* What holds for every answer, whichever way the switch stands. */
static bool sane(const struct move_answer *answer, const struct move_call *call,
		 bool on, struct why *why)
{
	const int64_t all = (int64_t)call->nr << PAGE_SHIFT;
	const char *state = on ? "on" : "off";

	if (answer->err ? answer->moved >= all || !answer->moved ||
			  (answer->moved > 0 && answer->err != EAGAIN) :
			  answer->moved != all)
		return wrong(why, "%s: errno %d and .move %lld do not go together for a range of %lld bytes",
			     state, answer->err, (long long)answer->moved,
			     (long long)all);
	if (!on && (answer->stats.runs || answer->stats.fallbacks))
		return wrong(why, "off: %lu runs and %lu fallbacks are counted",
			     answer->stats.runs, answer->stats.fallbacks);
	if (on && (int64_t)answer->stats.pages << PAGE_SHIFT >
	    (answer->moved > 0 ? answer->moved : 0))
		return wrong(why, "on: %lu pages are counted, .move is %lld",
			     answer->stats.pages, (long long)answer->moved);
	return true;
}

bool move_twins(const struct scene *scene, const struct move_call *call,
		struct why *why)
{
	move_ask(scene, call, call->on_first);
	move_ask(scene, call, !call->on_first);
	move_totals.calls++;
	move_totals.runs += move_answers[1].stats.runs;
	move_totals.pages += move_answers[1].stats.pages;
	return sane(&move_answers[0], call, false, why) &&
	       sane(&move_answers[1], call, true, why) &&
	       same_move(&move_answers[0], &move_answers[1], scene->win[0].nr, why);
}

/*
 * How much of a call can be made. The base splits a large folio that it reaches, and
 * tries again for ever while somebody holds a reference to it. Looked at in both
 * windows: in the second, more are large.
 */
static uint32_t safe_length(const struct scene *scene,
			    const struct move_call *call)
{
	static struct pagerun_test_page obs[WINDOW_MAX];
	static uint64_t map[WINDOW_MAX];
	uint32_t nr = call->nr;

	for (int i = 0; i < 2 && scene->pinned; i++) {
		const struct window *win = &scene->win[i];
		const uint32_t end = min_u32(call->src + nr, win->nr);

		if (call->src >= end)
			continue;
		pagemap_read(win->base, win->nr, map);
		observe(win, call->src, end, map, obs);
		for (uint32_t k = call->src; k < end; k++)
			if (obs[k].order && obs[k].pincount > 0) {
				nr = k - call->src;
				break;
			}
	}
	return nr;
}

/*
 * Pages to pass over after an error: the one it is about, and such as are like it.
 * After the @n-th in a chain more of them, as all may be busy that a child shares.
 */
static uint32_t pages_in_vain(const struct move_call *call, int err, int n)
{
	const uint64_t *map = move_answers[0].map;
	uint32_t i = err == EBUSY ? min_u32(1U << n / 3, call->nr) : 1;

	while (i < call->nr &&
	       ((err == EEXIST && map[call->dst + i]) ||
		(err == ENOENT && !map[call->src + i])))
		i++;
	return i;
}

bool move_chain(const struct scene *scene, const struct move_call *call,
		struct why *why)
{
	struct move_call rest = *call;

	for (int i = 0; i < CHAIN_MAX && rest.nr; i++) {
		struct move_call part = rest;
		uint32_t done;

		part.nr = safe_length(scene, &rest);
		if (!part.nr)
			break;
		if (!move_twins(scene, &part, why))
			return false;
		if (move_answers[0].moved > 0)
			done = move_answers[0].moved >> PAGE_SHIFT;
		else if (move_answers[0].err == EEXIST ||
			 move_answers[0].err == ENOENT ||
			 move_answers[0].err == EBUSY)
			done = pages_in_vain(&part, move_answers[0].err, i);
		else
			break;
		rest.src += done;
		rest.dst += done;
		rest.nr -= done;
		rest.on_first = !rest.on_first;
	}
	return move_look(scene, why);
}

/* ------------------------------------------------------------------------- */
/* Looking                                                                   */

static bool same_stamps(const uint32_t *off, const uint32_t *on, uint32_t nr,
			struct why *why)
{
	for (uint32_t i = 0; i < nr; i++)
		if (off[i] != on[i])
			return wrong(why, "page %u holds 0x%x off, 0x%x on", i,
				     off[i], on[i]);
	return true;
}

/* The difference between two pages, but for the folios that they belong to. */
static const char *page_differs(const struct pagerun_test_page *off,
				const struct pagerun_test_page *on)
{
	uint32_t flags = off->flags ^ on->flags;

	if (!off->pfn != !on->pfn)
		return "being there";
	if (on->order < off->order)
		return "order (a folio was split that the base does not split)";
	if (off->pfn == sys.zero_pfn || on->pfn == sys.zero_pfn)
		return off->pfn == on->pfn ? NULL : "being the zero page";
	if (on->order > off->order)
		/* One flag for all pages of the folio. */
		return flags & ~PAGERUN_TEST_PAGE_REFERENCED ? "flags" : NULL;
	if (off->index != on->index)
		return "place in the folio";
	if (off->refcount != on->refcount)
		return "refcount";
	if (off->pincount != on->pincount)
		return "pincount";
	return flags ? "flags" : NULL;
}

static bool same_obs(const struct pagerun_test_page *off,
		     const struct pagerun_test_page *on, uint32_t nr,
		     struct why *why)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct pagerun_test_page *a = &off[i], *b = &on[i];
		const char *what = page_differs(a, b);

		if (what)
			return wrong(why, "page %u: %s differs: off: pfn 0x%llx order %u index %u refcount %d pincount %d flags 0x%x; on: pfn 0x%llx order %u index %u refcount %d pincount %d flags 0x%x",
				     i, what, (unsigned long long)a->pfn, a->order,
				     a->index, a->refcount, a->pincount, a->flags,
				     (unsigned long long)b->pfn, b->order, b->index,
				     b->refcount, b->pincount, b->flags);
	}
	return true;
}

static unsigned long *smaps_field(struct smaps *smaps, const char *name)
{
	for (uint32_t i = 0; i < smaps->nr; i++)
		if (!strcmp(smaps->names[i], name))
			return &smaps->kb[i];
	die("/proc/self/smaps has no field %s", name);
}

/* Make a field of @on what it is in @off, by up to @limit more, at the cost of @from. */
static void shift(struct smaps *off, struct smaps *on, unsigned long limit,
		  const char *to, const char *from)
{
	unsigned long *dirty = smaps_field(on, to);
	const unsigned long by = *smaps_field(off, to) - *dirty;

	if (by > limit)
		return;
	*dirty += by;
	if (from)
		*smaps_field(on, from) -= by;
}

static bool same_sums(const struct move_answer *off, const struct move_answer *on,
		      uint32_t nr, struct why *why)
{
	struct smaps a = off->smaps, b = on->smaps;
	unsigned long larger = 0;

	for (uint32_t i = 0; off->lazy && i < nr; i++)
		larger += on->obs[i].order > off->obs[i].order;
	if (larger) {
		const unsigned long limit = larger * PAGE_SIZE / 1024;

		shift(&a, &b, limit, "Pss_Dirty", NULL);
		shift(&a, &b, limit, "Private_Dirty", "Private_Clean");
		shift(&b, &a, limit, "LazyFree", NULL);
	}
	return same_smaps(&a, &b, "afterwards", why);
}

bool same_look(const struct move_answer *off, const struct move_answer *on,
	       uint32_t nr, struct why *why)
{
	return same_maps(off->map, on->map, nr, "afterwards", SAME_TWINS, why) &&
	       same_stamps(off->stamps, on->stamps, nr, why) &&
	       same_obs(off->obs, on->obs, nr, why) &&
	       same_sums(off, on, nr, why);
}

bool move_look(const struct scene *scene, struct why *why)
{
	const uint32_t nr = scene->win[0].nr;

	settle();
	for (int i = 0; i < 2; i++) {
		const struct window *win = &scene->win[i];
		struct move_answer *answer = &move_answers[i];

		pagemap_read(win->base, nr, answer->map);
		smaps_read(win->base, nr, &answer->smaps);
		answer->lazy = scene->lazy;
		observe(win, 0, nr, answer->map, answer->obs);
		stamps_read(win->base, nr, answer->map, answer->stamps);
	}
	return same_look(&move_answers[0], &move_answers[1], nr, why);
}

/* ------------------------------------------------------------------------- */
/* The end                                                                   */

/* Let go of what @scene holds, so that all of its memory can be looked at. */
static void let_go(struct scene *scene)
{
	const struct op reap = { .kind = OP_REAP };

	scene_apply(scene, &reap);
	if (scene->pinned)
		dev_release(sys.dev);
	scene->pinned = false;
	settle();
}

static void fault_in(const struct window *win)
{
	static uint64_t map[WINDOW_MAX];

	pagemap_read(win->base, win->nr, map);
	for (uint32_t i = 0; i < win->nr; i++)
		if (map[i] & PM_SWAP)
			peek(page_at(win, i));
}

/*
 * Reclaim finds the mappings of a page by what the page itself says about its place:
 * one that was moved and says it wrong stays mapped.
 */
static bool swap_all(const struct scene *scene, struct why *why)
{
	const uint32_t nr = scene->win[0].nr;

	for (int i = 0; i < 2; i++) {
		swap_out(scene->win[i].base, nr, false);
		pagemap_read(scene->win[i].base, nr, move_answers[i].map);
	}
	return same_maps(move_answers[0].map, move_answers[1].map, nr,
			 "swapped out in the end", SAME_TWINS, why);
}

bool move_epilogue(struct scene *scene, bool swap, bool leaks, struct why *why)
{
	let_go(scene);
	switch_set(false);
	if (swap && sys.swap && !swap_all(scene, why))
		return false;
	fault_in(&scene->win[0]);
	fault_in(&scene->win[1]);
	if (!twins_content(scene, why))
		return false;
	return !leaks || (no_leaks(&scene->win[0], why) &&
			  no_leaks(&scene->win[1], why));
}
