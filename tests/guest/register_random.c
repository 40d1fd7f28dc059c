// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random buffers on random memory: a row of operations on some rings is drawn from the
 * seed, and done four times: once to bring the memory to where it stays, then with the
 * switch off, with it on, and with it turned in between. What can be seen after each
 * operation must be the same each time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ktap.h"
#include "register.h"

#define NR_RINGS	3
#define MAX_STEPS	40
#define MAX_NEW		100	/* buffers of one step */

enum step_kind { REGISTER, UPDATE, UNREGISTER, CLONE, READ, LIMIT, NR_STEP_KINDS };

static const char *const kind_names[] = {
	"register", "update", "unregister", "clone", "read", "limit",
};

/**
 * struct step - one operation
 * @ring: on which; @from: CLONE's source
 * @slot: first slot of UPDATE and READ
 * @buffers: @nr of them, for REGISTER and UPDATE
 * @turn: the switch in the mixed pass
 * @amount: LIMIT: pages above what is locked; READ: draws the part
 */
struct step {
	enum step_kind kind;
	unsigned int ring, from, slot, nr;
	struct iovec buffers[MAX_NEW];
	bool turn;
	uint64_t amount;
};

/* What can be seen after a step. */
struct seen {
	int ret;
	unsigned long locked, pinned;
	uint64_t pages;		/* the counts of all pages of the window, hashed */
};

/* One pass over all steps. */
struct pass {
	struct seen seen[MAX_STEPS];
	uint32_t stamps[WINDOW_MAX];
	struct pins pins;	/* how far they went */
};

/* What a ring's slots hold, as the steps go. */
struct table {
	unsigned int nr;
	struct iovec slots[MAX_NEW];
};

static struct step steps[MAX_STEPS];
static unsigned int nr_steps;
static bool capable[NR_RINGS];
static struct pass warm, off, on, mixed;

/* ------------------------------------------------------------------------- */
/* Drawing                                                                   */

/* A part of the window: a few folios, a few bytes, or most of it. */
static struct iovec random_buffer(struct rng *rng, const struct window *win, bool clear)
{
	uint64_t size = (uint64_t)win->nr * PAGE_SIZE, start, len;

	if (clear && rng_chance(rng, 15))
		return (struct iovec){ NULL, 0 };
	/* What is refused: no length, too much, out of the window on both sides. */
	if (!rng_below(rng, 300))
		return (struct iovec){ win->base, rng_chance(rng, 50) ? 0 : (1UL << 30) + 1 };
	if (!rng_below(rng, 300))
		return (struct iovec){ win->base - 2 * PAGE_SIZE, 5 * PAGE_SIZE };

	start = rng_below(rng, win->nr) * PAGE_SIZE;
	if (rng_chance(rng, 40))
		start &= -(16 * PAGE_SIZE);
	if (rng_chance(rng, 20))
		start += rng_below(rng, PAGE_SIZE);
	switch (rng_below(rng, 4)) {
	case 0:
		len = 1 + rng_below(rng, 3 * PAGE_SIZE);
		break;
	case 1:
		len = 16 * PAGE_SIZE;
		break;
	case 2:
		len = (1 + rng_below(rng, 200)) * PAGE_SIZE;
		break;
	default:
		len = 1 + rng_below(rng, (uint32_t)size);
	}
	if (len > size - start)
		len = size - start;
	return (struct iovec){ win->base + start, len };
}

static void draw_step(struct rng *rng, const struct window *win, struct step *step)
{
	static const unsigned int chances[NR_STEP_KINDS] = { 30, 30, 8, 8, 18, 6 };
	unsigned int pick = rng_below(rng, 100), i;

	memset(step, 0, sizeof(*step));
	while (pick >= chances[step->kind])
		pick -= chances[step->kind++];
	step->ring = rng_below(rng, NR_RINGS);
	step->from = rng_below(rng, NR_RINGS);
	step->slot = rng_below(rng, rng_chance(rng, 50) ? 4 : 30);
	step->turn = rng_chance(rng, 50);
	step->amount = step->kind == LIMIT ? rng_below(rng, 3000) : rng_next(rng);
	step->nr = 1 + rng_below(rng, step->kind == REGISTER && rng_chance(rng, 40) ? MAX_NEW : 6);
	for (i = 0; i < step->nr && step->kind <= UPDATE; i++)
		step->buffers[i] = random_buffer(rng, win, true);
}

/* ------------------------------------------------------------------------- */
/* Doing                                                                     */

/* Counts of all pages that are there. */
static uint64_t pages_hash(const struct window *win)
{
	static struct pagerun_test_page obs[WINDOW_MAX];
	static uint64_t map[WINDOW_MAX];
	uint64_t hash = 0;
	uint32_t i;

	settle();
	pagemap_read(win->base, win->nr, map);
	observe(win, 0, win->nr, map, obs);
	for (i = 0; i < win->nr; i++)
		hash = rng_mix(hash ^ obs[i].pfn ^ (uint64_t)(uint32_t)obs[i].refcount << 32 ^
			       (uint64_t)(uint32_t)obs[i].pincount << 8 ^ obs[i].order);
	return hash;
}

static void note_slots(struct table *table, unsigned int slot, const struct iovec *buffers,
		       int nr)
{
	int i;

	for (i = 0; i < nr && slot + i < table->nr; i++)
		table->slots[slot + i] = buffers[i];
}

static int do_read(struct io_uring *ring, const struct table *table, const struct step *step)
{
	struct rng rng = { .state = step->amount };
	const struct iovec *buffer;
	size_t at, len;

	if (step->slot >= table->nr || !table->slots[step->slot].iov_len)
		return 0;
	buffer = &table->slots[step->slot];
	at = rng_below(&rng, (uint32_t)buffer->iov_len);
	len = 1 + rng_below(&rng, min_u32((uint32_t)(buffer->iov_len - at), 1U << 20));
	return ring_read(ring, step->slot, (char *)buffer->iov_base + at, (unsigned int)len,
			 rng_below(&rng, 2048) *
			 PAGE_SIZE);
}

static int do_step(struct io_uring *rings, struct table *tables, const struct step *step)
{
	struct io_uring *ring = &rings[step->ring];
	struct table *table = &tables[step->ring];
	int ret;

	switch (step->kind) {
	case REGISTER:
		ret = ring_register(ring, step->buffers, step->nr);
		if (!ret) {
			table->nr = step->nr;
			note_slots(table, 0, step->buffers, (int)step->nr);
		}
		return ret;
	case UPDATE:
		ret = ring_update(ring, step->slot, step->buffers, step->nr);
		note_slots(table, step->slot, step->buffers, ret);
		return ret;
	case UNREGISTER:
		ret = ring_unregister(ring);
		if (!ret)
			table->nr = 0;
		return ret;
	case CLONE:
		ret = ring_clone(ring, &rings[step->from]);
		if (!ret)
			*table = tables[step->from];
		return ret;
	case READ:
		return do_read(ring, table, step);
	default:
		limit_set(locked_now() + step->amount);
		return 0;
	}
}

/* What no read has brought, so that one that goes elsewhere shows. */
static void wipe(const struct window *win)
{
	uint32_t i;

	for (i = 0; i < win->nr; i++)
		poke(page_at(win, i), 0x10000 + i);
}

enum how { OFF, ON, MIXED };

static void do_pass(const struct window *win, enum how how, struct pass *pass)
{
	static struct table tables[NR_RINGS];
	static uint64_t map[WINDOW_MAX];
	struct io_uring rings[NR_RINGS];
	struct pins before;
	unsigned int i;

	memset(tables, 0, sizeof(tables));
	wipe(win);
	limit_set(~0UL);
	switch_set(how == ON);
	for (i = 0; i < NR_RINGS; i++)
		ring_make(&rings[i], capable[i]);
	pins_forget();
	pins_read(&before);
	for (i = 0; i < nr_steps; i++) {
		struct seen *seen = &pass->seen[i];

		if (how == MIXED)
			switch_set(steps[i].turn);
		seen->ret = do_step(rings, tables, &steps[i]);
		seen->pinned = pinned_now();
		seen->locked = locked_now();
		seen->pages = pages_hash(win);
	}
	limit_set(~0UL);
	for (i = 0; i < NR_RINGS; i++) {
		ring_unregister(&rings[i]);
		ring_end(&rings[i]);
	}
	pins_forget();
	pins_read(&pass->pins);
	pass->pins.acquired -= before.acquired;
	pass->pins.released -= before.released;
	pagemap_read(win->base, win->nr, map);
	stamps_read(win->base, win->nr, map, pass->stamps);
}

/* ------------------------------------------------------------------------- */
/* Comparing                                                                 */

static bool same_pass(const struct pass *a, const struct pass *b, uint32_t nr,
		      const char *how, struct why *why)
{
	unsigned int i;

	for (i = 0; i < nr_steps; i++) {
		const struct seen *x = &a->seen[i], *y = &b->seen[i];

		if (x->ret != y->ret || x->locked != y->locked || x->pinned != y->pinned ||
		    x->pages != y->pages)
			return wrong(why, "step %u (%s, ring %u): off: %d, %lu locked, %lu pinned; %s: %d, %lu locked, %lu pinned%s",
				     i, kind_names[steps[i].kind], steps[i].ring, x->ret,
				     x->locked, x->pinned, how, y->ret, y->locked, y->pinned,
				     x->pages == y->pages ? "" : "; counts of pages differ");
	}
	for (i = 0; i < nr; i++)
		if (a->stamps[i] != b->stamps[i])
			return wrong(why, "page %u: off: %#x; %s: %#x", i, a->stamps[i], how,
				     b->stamps[i]);
	if (b->pins.acquired != b->pins.released)
		return wrong(why, "%s: %llu pins acquired, %llu released", how,
			     (unsigned long long)b->pins.acquired,
			     (unsigned long long)b->pins.released);
	return true;
}

void register_random(uint64_t seed)
{
	static struct layout lay;
	static struct scene scene;
	struct rng rng = { .state = rng_mix(seed) };
	unsigned long locked, pinned;
	struct stats before, after;
	unsigned int i, done = 0;
	struct why why = { };

	/* In others, most buffers have a page that cannot be had. */
	if (rng_chance(&rng, 80))
		whole_layout(&rng, &lay);
	else
		random_layout(&rng, &lay);
	scene_make(&scene, &lay, 1);
	nr_steps = min_u32(options.calls, MAX_STEPS);
	for (i = 0; i < NR_RINGS; i++)
		capable[i] = rng_chance(&rng, 25);
	for (i = 0; i < nr_steps; i++)
		draw_step(&rng, &scene.win[0], &steps[i]);

	locked = locked_now();
	pinned = pinned_now();
	do_pass(&scene.win[0], OFF, &warm);
	do_pass(&scene.win[0], OFF, &off);
	stats_read(&before);
	do_pass(&scene.win[0], ON, &on);
	stats_read(&after);
	do_pass(&scene.win[0], MIXED, &mixed);
	switch_set(false);
	if (same_pass(&off, &on, scene.win[0].nr, "on", &why) &&
	    same_pass(&off, &mixed, scene.win[0].nr, "turned", &why) &&
	    !locked_back(locked, pinned))
		wrong(&why, "%lu pages locked and %lu pinned before, %lu and %lu afterwards",
		      locked, pinned, locked_now(), pinned_now());
	scene_end(&scene);

	for (i = 0; i < nr_steps; i++)
		done += off.seen[i].ret >= 0;
	if (ktap_ok(!why.bad, "random case %llu: %u steps, %u of them not refused, %lu runs",
		    (unsigned long long)seed, nr_steps, done, after.runs - before.runs))
		return;
	ktap_diag("%s", why.text);
	layout_show(&lay);
	ktap_diag("to repeat: register_answers --only %s --seed %llu --cases 1 --calls %u",
		  ONLY_RANDOM, (unsigned long long)seed, options.calls);
}
