// SPDX-License-Identifier: GPL-2.0-only
/*
 * One call with the switch off and on, compared.
 *
 * Two ways, because a call can change the memory: it faults pages in, copies
 * shared ones, moves folios between lists.
 *
 *  - On one memory (ask_same_memory()): the call is made twice with the switch
 *    off first. After that it changes nothing any more: what it can fault in or
 *    copy is there, and the folios that it touches by the slow path are on the
 *    active list (two touches bring them there, settle() makes it so at once).
 *    Then off and on see the same pages, and everything must agree to the page
 *    frame number. The one thing that every call does change is reset before:
 *    clear_refs 1 clears the referenced flags and accessed bits, then the same
 *    pages are read.
 *
 *  - On twins (ask_twins()): two windows with the same history, from the first
 *    fault on. Off is asked on one, on on the other, always, so that they stay
 *    alike; here the first call, which changes things, is compared. Page frame
 *    numbers cannot agree, but which pages are of one folio, and where in it,
 *    must.
 *
 * Counts are looked at through a second open file, by GET_FAST with the switch
 * off: that takes one reference to each page, here and there alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "same.h"

/* Pages around a call that are looked at too, in case it takes the wrong ones. */
#define MARGIN	20

struct answer answers[2];

static uint64_t *new_map(void)
{
	uint64_t *map = calloc(WINDOW_MAX, sizeof(*map));

	if (!map)
		die("no memory");
	return map;
}

static struct pagerun_test_page *new_pages(void)
{
	struct pagerun_test_page *pages = calloc(WINDOW_MAX, sizeof(*pages));

	if (!pages)
		die("no memory");
	return pages;
}

void answer_init(struct answer *answer)
{
	if (answer->held)
		return;
	answer->held = new_pages();
	answer->held_obs = new_pages();
	answer->part_obs = new_pages();
	answer->after_obs = new_pages();
	answer->held_map = new_map();
	answer->after_map = new_map();
	answer->is_device = calloc(WINDOW_MAX, sizeof(*answer->is_device));
	if (!answer->is_device)
		die("no memory");
}

/* ------------------------------------------------------------------------- */
/* Looking                                                                   */

void observe(const struct window *win, uint32_t lo, uint32_t hi,
	     const uint64_t *map, struct pagerun_test_page *obs)
{
	uint32_t at = lo, end, first;
	int got;

	memset(obs + lo, 0, (hi - lo) * sizeof(*obs));
	while (at < hi) {
		if (!(map[at] & PM_PRESENT)) {
			at++;
			continue;
		}
		for (end = at; end < hi && (map[end] & PM_PRESENT); end++)
			;
		got = dev_hold(sys.observer, page_at(win, at), end - at,
			       PAGERUN_TEST_GET_FAST, 0, &first);
		if (got > 0) {
			dev_report(sys.observer, first, got, obs + at);
			dev_release(sys.observer);
			at += got;
		}
		/* Where it stopped is a page that cannot be had. */
		if (at < end)
			at++;
	}
}

/* Read some of the pages that are there, so that they are young. */
static void make_young(const struct window *win, const struct call *call,
		       const uint64_t *map)
{
	struct rng rng = { .state = call->young };
	const uint32_t percent = 1 + rng_below(&rng, 60);
	/* No more than about 50: each is a system call. */
	const uint32_t step = 1 + call->nr / 50;

	if (!call->young)
		return;
	for (uint32_t i = 0; i < call->nr; i += 1 + rng_below(&rng, step))
		if ((map[call->page + i] & PM_PRESENT) && rng_chance(&rng, percent))
			peek(page_at(win, call->page + i));
}

/*
 * What is looked at for a call. Always the same, since looking takes references,
 * and a folio may lie half inside.
 */
static void around(const struct window *win, const struct call *call,
		   uint32_t *lo, uint32_t *hi)
{
	*lo = call->page > MARGIN ? call->page - MARGIN : 0;
	*hi = min_u32(call->page + call->nr + MARGIN, win->nr);
}

/* What GUP-fast takes of the pages without mapping, in the range of the call. */
static uint32_t count_device(const struct window *win, const struct call *call,
			     const bool *is_device)
{
	const uint32_t end = call->page + call->nr;
	uint32_t at, next, count = 0;

	for (at = call->page; at < end; at = next) {
		for (next = at + 1;
		     next < end && is_device[next] == is_device[at]; next++)
			;
		if (is_device[at])
			count += dev_count(sys.dev, page_at(win, at), next - at,
					   call->flags & PAGERUN_TEST_WRITE);
	}
	return count;
}

/*
 * Entries [0, @nr) in some order: in rows forwards and backwards, by turns of two rows,
 * or without any.
 */
static void draw_order(struct rng *rng, uint32_t *order, uint32_t nr)
{
	const uint32_t way = rng_below(rng, 4), half = (nr + 1) / 2;

	for (uint32_t i = 0; i < nr; i++)
		order[i] = way == 0 ? nr - 1 - i : way == 1 ? (i & 1) * half + i / 2 : i;
	if (way != 2)
		return;
	/* Pairs change places: of all entries, or of a few. */
	for (uint32_t n = rng_chance(rng, 50) ? nr : min_u32(nr, 5); n; n--) {
		uint32_t a = rng_below(rng, nr), b = rng_below(rng, nr), swap = order[a];

		order[a] = order[b];
		order[b] = swap;
	}
}

/* The arrays of a release: all entries, in up to three, some with NULLs in front. */
static void release(const struct window *win, const struct call *call, uint32_t nr,
		    struct answer *answer)
{
	static uint32_t order[2 * WINDOW_MAX], array[2 * WINDOW_MAX + 4];
	const uint32_t how = call->dirty ? PAGERUN_TEST_RELEASE_DIRTY : PAGERUN_TEST_RELEASE;
	const bool nulls = call->op == PAGERUN_TEST_PIN && !call->dirty;
	struct rng rng = { .state = call->order };
	uint32_t parts, part, at = 0, len, i;

	memset(answer->part_obs + answer->lo, 0,
	       (answer->hi - answer->lo) * sizeof(*answer->part_obs));
	if (!nr || (!call->order && !call->dirty)) {
		dev_release(sys.dev);
		return;
	}
	draw_order(&rng, order, nr);
	parts = 1 + rng_below(&rng, 3);
	for (part = 1; part <= parts && at < nr; part++) {
		uint32_t front = nulls ? rng_below(&rng, 4) : 0;

		len = part == parts ? nr - at : 1 + rng_below(&rng, nr - at);
		for (i = 0; i < front; i++)
			array[i] = PAGERUN_TEST_NULL;
		memcpy(array + front, order + at, len * sizeof(*array));
		dev_release_array(sys.dev, array, front + len, how);
		at += len;
		if (part == 1 && at < nr && !answer->device)
			observe(win, answer->lo, answer->hi, answer->held_map,
				answer->part_obs);
	}
}

void ask(const struct window *win, const struct call *call, bool on,
	 struct answer *answer)
{
	void *addr = page_at(win, call->page);
	/* For get the counters stand still; that is not looked at every time. */
	const bool counted = call->op == PAGERUN_TEST_PIN || call->count_held;
	struct pins before = { }, held, after = { };
	struct stats stats;
	uint32_t first = 0;

	answer_init(answer);
	answer->call = *call;
	around(win, call, &answer->lo, &answer->hi);
	answer->device = win->device;
	if (answer->device)
		device_pages(win->base, win->nr, answer->is_device);

	switch_set(on);
	answer->count = dev_count(sys.dev, addr, call->nr,
				  call->flags & PAGERUN_TEST_WRITE);
	answer->count_device = answer->device ?
		count_device(win, call, answer->is_device) : 0;
	clear_refs(1);
	pagemap_read(win->base, win->nr, answer->held_map);
	make_young(win, call, answer->held_map);
	settle();
	stats_read(&stats);
	if (counted)
		pins_read(&before);

	answer->ret = dev_hold(sys.dev, addr, call->nr, call->op, call->flags,
			       &first);
	/* What nullmap changes is explained for one call. */
	answer->again = call->again && answer->ret > 0 && !answer->device ?
		dev_hold(sys.dev, addr, call->nr, call->op, call->flags, NULL) : 0;
	settle();
	held = before;
	if (call->count_held)
		pins_read(&held);
	stats_read(&answer->stats);
	if (call->off_early)
		switch_set(false);
	if (answer->ret > 0)
		dev_report(sys.dev, first, answer->ret, answer->held);
	pagemap_read(win->base, win->nr, answer->held_map);
	/* With nullmap on, pages would be seen that are not seen with it off. */
	if (answer->device)
		switch_set(false);
	observe(win, answer->lo, answer->hi, answer->held_map, answer->held_obs);
	if (answer->device)
		switch_set(on && !call->off_early);

	release(win, call, (answer->ret > 0 ? answer->ret : 0) +
		(answer->again > 0 ? answer->again : 0), answer);
	if (counted)
		pins_read(&after);
	switch_set(false);
	settle();
	pagemap_read(win->base, win->nr, answer->after_map);
	observe(win, answer->lo, answer->hi, answer->after_map,
		answer->after_obs);

	answer->smaps.nr = 0;
	if (call->count_held)
		smaps_read(win->base, win->nr, &answer->smaps);

	answer->hold.acquired = held.acquired - before.acquired;
	answer->hold.released = held.released - before.released;
	answer->release.acquired = after.acquired - held.acquired;
	answer->release.released = after.released - held.released;
	answer->stats.runs -= stats.runs;
	answer->stats.pages -= stats.pages;
	answer->stats.fallbacks -= stats.fallbacks;
}

/* ------------------------------------------------------------------------- */
/* Comparing                                                                 */

/*
 * Which folio of one window stands for which of the other. Both directions are
 * kept, so that neither two folios can become one nor one two.
 */
#define PAIRS	(4 * WINDOW_MAX)

struct pairing {
	struct {
		uint64_t key, value;	/* 0: empty; values are one too high */
	} slots[2][PAIRS];
};

static bool pair_one(struct pairing *pairs, int way, uint64_t key,
		     uint64_t value)
{
	uint32_t i = rng_mix(key) % PAIRS;

	while (pairs->slots[way][i].key && pairs->slots[way][i].key != key + 1)
		i = (i + 1) % PAIRS;
	if (!pairs->slots[way][i].key) {
		pairs->slots[way][i].key = key + 1;
		pairs->slots[way][i].value = value;
	}
	return pairs->slots[way][i].value == value;
}

static bool pair(struct pairing *pairs, const struct pagerun_test_page *a,
		 const struct pagerun_test_page *b)
{
	const uint64_t head_a = a->pfn - a->index, head_b = b->pfn - b->index;

	/* What was not seen has no folio. */
	if (!a->pfn || !b->pfn)
		return a->pfn == b->pfn;
	return pair_one(pairs, 0, head_a, head_b) &&
	       pair_one(pairs, 1, head_b, head_a);
}

/* All pairings of one comparison; too large for a stack. */
static struct pairing pairing;

/*
 * What nullmap changes
 * --------------------
 * With it off, GUP-fast ends at a page without mapping; with it on, it does not.
 * All that may come of that is masked here, and only in a kernel that has such a
 * switch, and for calls or windows with such pages:
 *
 *  - How many of these pages GUP-fast counts. Of all other pages it counts as
 *    many as before.
 *  - A fast-only call goes on behind such a page. What it takes with the switch
 *    off it takes with it on; what it takes more explains each further reference
 *    while they are held.
 *  - The attempt at the first such page is a pin that was taken back. It is not
 *    made.
 *  - From there on pages were touched by the slow path, each on its own, which
 *    turns the referenced flag of a folio over until it is on the active list,
 *    and dirties what is to be written to, as smaps tells.
 *    Where the memory is one and the same, it is there; twins are not, and what
 *    one call has left shows in the next. A folio that a PMD maps never gets the flag
 *    from the slow path, and always from the fast one.
 */
static bool mask_referenced, mask_referenced_pmd;

/*
 * The zero page has one referenced flag for the whole system, which nobody
 * clears and the slow path turns over with every touch.
 */
static uint32_t flags_of(const struct pagerun_test_page *page)
{
	return page->pfn == sys.zero_pfn || mask_referenced ||
	       (mask_referenced_pmd && page->order >= PMD_ORDER) ?
	       page->flags & ~PAGERUN_TEST_PAGE_REFERENCED : page->flags;
}

static bool longer_by_nullmap(const struct answer *off, const struct answer *on)
{
	return sys.nullmap && on->device && off->ret >= 0 &&
	       on->ret > off->ret &&
	       on->call.op == PAGERUN_TEST_GET_FAST &&
	       on->is_device[on->call.page + off->ret];
}

static bool same_pages(const struct pagerun_test_page *off,
		       const struct pagerun_test_page *on, uint32_t nr,
		       uint32_t first, const char *what, enum same_how how,
		       struct why *why)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct pagerun_test_page *a = &off[i], *b = &on[i];
		const char *field = NULL;

		if (a->order != b->order || a->index != b->index)
			field = "place in the folio";
		else if (how == SAME_MEMORY ? a->pfn != b->pfn :
			 !pair(&pairing, a, b))
			field = "page";
		else if (a->refcount != b->refcount)
			field = "refcount";
		else if (a->pincount != b->pincount)
			field = "pincount";
		else if (flags_of(a) != flags_of(b))
			field = "flags";
		if (field)
			return wrong(why, "%s, page %u: %s differs: off: pfn 0x%llx order %u index %u refcount %d pincount %d flags 0x%x; on: pfn 0x%llx order %u index %u refcount %d pincount %d flags 0x%x",
				     what, first + i, field,
				     (unsigned long long)a->pfn, a->order,
				     a->index, a->refcount, a->pincount, a->flags,
				     (unsigned long long)b->pfn, b->order,
				     b->index, b->refcount, b->pincount, b->flags);
	}
	return true;
}

bool same_maps(const uint64_t *off, const uint64_t *on, uint32_t nr,
	       const char *what, enum same_how how, struct why *why)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t a = off[i], b = on[i];

		/* Entries of absent pages may hold addresses there. */
		if (how == SAME_TWINS) {
			a &= ~PM_PFN;
			b &= ~PM_PFN;
		}
		if (a != b)
			return wrong(why, "%s, page %u: pagemap differs: off 0x%llx, on 0x%llx",
				     what, i, (unsigned long long)a,
				     (unsigned long long)b);
	}
	return true;
}

static bool same_counts(const struct answer *off, const struct answer *on,
			struct why *why)
{
	if (off->count - off->count_device == on->count - on->count_device &&
	    (off->count_device == on->count_device ||
	     (sys.nullmap && off->device && off->count_device < on->count_device)))
		return true;
	return wrong(why, "GUP-fast takes %u pages off, %u on; pages without mapping among them: %u off, %u on",
		     off->count, on->count, off->count_device,
		     on->count_device);
}

/* May the attempt at a page without mapping have been spared? */
static bool attempts_by_nullmap(const struct answer *off,
				const struct pins *off_pins,
				const struct pins *on_pins)
{
	const struct call *call = &off->call;
	const uint64_t spared = off_pins->acquired - on_pins->acquired;
	bool device = false;

	if (!sys.nullmap || !off->device || call->op != PAGERUN_TEST_PIN)
		return false;
	for (uint32_t i = 0; i < call->nr; i++)
		device |= off->is_device[call->page + i];
	/*
	 * The slow path pins what is to leave ZONE_MOVABLE, and gives it back.
	 * How much it finds depends on where the fast path ended.
	 */
	return device && spared == off_pins->released - on_pins->released &&
	       (spared <= 1 ||
		(sys.movable && call->flags & PAGERUN_TEST_LONGTERM));
}

static bool same_pins(const struct answer *off, const struct pins *off_pins,
		      const struct pins *on_pins, const char *what,
		      struct why *why)
{
	if ((off_pins->acquired == on_pins->acquired &&
	     off_pins->released == on_pins->released) ||
	    attempts_by_nullmap(off, off_pins, on_pins))
		return true;
	return wrong(why, "%s: nr_foll_pin_acquired, _released went up by %llu, %llu with the switch off and by %llu, %llu with it on",
		     what, (unsigned long long)off_pins->acquired,
		     (unsigned long long)off_pins->released,
		     (unsigned long long)on_pins->acquired,
		     (unsigned long long)on_pins->released);
}

/* How many references @on took to the folio of @page, and @off did not. */
static int more_references(const struct answer *off, const struct answer *on,
			   const struct pagerun_test_page *page)
{
	int more = 0;

	for (int i = off->ret; i < on->ret; i++)
		more += on->held[i].pfn - on->held[i].index ==
			page->pfn - page->index;
	return more;
}

/*
 * What was seen while pages were held, or afterwards. If @longer, @on took more
 * pages than @off: their folios have been referenced, and have as many more
 * references while held.
 */
static bool same_seen(const struct answer *off, const struct answer *on,
		      bool held, bool longer, enum same_how how,
		      struct why *why)
{
	static struct pagerun_test_page a[WINDOW_MAX], b[WINDOW_MAX];
	const uint32_t lo = off->lo, seen = off->hi - off->lo;

	memcpy(a, (held ? off->held_obs : off->after_obs) + lo,
	       seen * sizeof(*a));
	memcpy(b, (held ? on->held_obs : on->after_obs) + lo, seen * sizeof(*b));
	for (uint32_t i = 0; longer && i < seen; i++) {
		int more = b[i].pfn ? more_references(off, on, &b[i]) : 0;

		if (!more)
			continue;
		if (held)
			b[i].refcount -= more;
		a[i].flags |= PAGERUN_TEST_PAGE_REFERENCED;
		b[i].flags |= PAGERUN_TEST_PAGE_REFERENCED;
	}
	return same_pages(a, b, seen, lo, held ? "while held" : "after release",
			  how, why);
}

bool same_smaps(const struct smaps *off, const struct smaps *on,
		const char *what, struct why *why)
{
	for (uint32_t i = 0; i < off->nr && i < on->nr; i++)
		if (strcmp(off->names[i], on->names[i]) ||
		    off->kb[i] != on->kb[i])
			return wrong(why, "%s, smaps: %s is %lu kB off; %s is %lu kB on",
				     what, off->names[i], off->kb[i], on->names[i],
				     on->kb[i]);
	if (off->nr != on->nr)
		return wrong(why, "%s, smaps has %u fields off, %u on",
			     what, off->nr, on->nr);
	return true;
}

bool same_answer(const struct answer *off, const struct answer *on,
		 uint32_t nr, enum same_how how, struct why *why)
{
	const bool longer = longer_by_nullmap(off, on);

	if (how == SAME_TWINS)
		memset(&pairing, 0, sizeof(pairing));
	mask_referenced_pmd = sys.nullmap && off->device && on->device;
	mask_referenced = mask_referenced_pmd && how == SAME_TWINS;
	if (!same_counts(off, on, why))
		return false;
	if (off->ret != on->ret && !longer)
		return wrong(why, "the call returned %d off, %d on", off->ret,
			     on->ret);
	if (!same_pages(off->held, on->held, off->ret > 0 ? off->ret : 0, 0,
			"page array", how, why))
		return false;
	if (off->lo != on->lo || off->hi != on->hi)
		return wrong(why, "the calls were of other ranges");
	if (off->again != on->again && !longer)
		return wrong(why, "the second call returned %d off, %d on", off->again,
			     on->again);
	/* Which entries a part has, hangs on how many there are. */
	if (!longer && !same_pages(off->part_obs + off->lo, on->part_obs + on->lo,
				   off->hi - off->lo, off->lo, "after part of the release",
				   how, why))
		return false;
	return same_pins(off, &off->hold, &on->hold, "taking", why) &&
	       same_pins(off, &off->release, &on->release, "releasing", why) &&
	       same_maps(off->held_map, on->held_map, nr, "while held", how,
			 why) &&
	       same_maps(off->after_map, on->after_map, nr, "after release", how,
			 why) &&
	       same_seen(off, on, true, longer, how, why) &&
	       same_seen(off, on, false, longer, how, why) &&
	       /* The slow path dirties what it takes for writing. */
	       (mask_referenced || longer ||
		same_smaps(&off->smaps, &on->smaps, "after release", why));
}

/* What holds for every answer, whichever way the switch stands. */
static bool sane(const struct call *call, const struct answer *answer, bool on,
		 struct why *why)
{
	const char *state = on ? "on" : "off";
	const uint32_t got = answer->ret > 0 ? answer->ret : 0;
	uint32_t pinned = 0;

	if (got > call->nr)
		return wrong(why, "%s: %d pages of %u taken", state, answer->ret,
			     call->nr);
	for (uint32_t i = 0; i < got; i++) {
		const struct pagerun_test_page *page = &answer->held[i];
		const uint64_t entry = answer->held_map[call->page + i];

		if ((entry & PM_PRESENT) && (entry & PM_PFN) != page->pfn)
			return wrong(why, "%s: entry %u is pfn 0x%llx, but pfn 0x%llx is mapped there",
				     state, i, (unsigned long long)page->pfn,
				     (unsigned long long)(entry & PM_PFN));
		/* The zero page alone is not pinned; it is of no other kind. */
		if (page->pincount == 0 && (page->flags & PAGERUN_TEST_PAGE_PINNED) &&
		    page->order)
			return wrong(why, "%s: entry %u is of a large folio and not pinned",
				     state, i);
		pinned += call->op == PAGERUN_TEST_PIN;
	}
	if (answer->again > 0 && call->op == PAGERUN_TEST_PIN)
		pinned += answer->again;
	if (call->count_held &&
	    answer->hold.acquired - answer->hold.released > pinned)
		return wrong(why, "%s: %u pages taken, but %llu more pins acquired than released",
			     state, pinned,
			     (unsigned long long)(answer->hold.acquired -
						  answer->hold.released));
	if (answer->hold.acquired + answer->release.acquired !=
	    answer->hold.released + answer->release.released)
		return wrong(why, "%s: after release, nr_foll_pin_acquired and _released went up by %llu and %llu",
			     state,
			     (unsigned long long)(answer->hold.acquired +
						  answer->release.acquired),
			     (unsigned long long)(answer->hold.released +
						  answer->release.released));
	if (!on && (answer->stats.runs || answer->stats.pages ||
		    answer->stats.fallbacks))
		return wrong(why, "off: the statistics count nevertheless: runs %lu pages %lu fallbacks %lu",
			     answer->stats.runs, answer->stats.pages,
			     answer->stats.fallbacks);
	return true;
}

/* Counts are back where they were; referenced flags need not be. */
static bool back(const struct answer *answer,
		 const struct pagerun_test_page *before, const char *state,
		 struct why *why)
{
	for (uint32_t i = answer->lo; i < answer->hi; i++) {
		const struct pagerun_test_page *a = &before[i];
		const struct pagerun_test_page *b = &answer->after_obs[i];

		if (a->pfn != b->pfn || a->refcount != b->refcount ||
		    a->pincount != b->pincount ||
		    (a->flags ^ b->flags) & ~PAGERUN_TEST_PAGE_REFERENCED)
			return wrong(why, "%s: page %u is not back where it was: before: pfn 0x%llx refcount %d pincount %d flags 0x%x; after release: pfn 0x%llx refcount %d pincount %d flags 0x%x",
				     state, i, (unsigned long long)a->pfn,
				     a->refcount, a->pincount, a->flags,
				     (unsigned long long)b->pfn, b->refcount,
				     b->pincount, b->flags);
	}
	return true;
}

bool ask_same_memory(const struct window *win, const struct call *call,
		     struct why *why)
{
	static struct pagerun_test_page before[WINDOW_MAX];
	static uint64_t map[WINDOW_MAX];
	uint32_t lo, hi;

	switch_set(false);
	for (int i = 0; i < 2; i++) {
		dev_hold(sys.dev, page_at(win, call->page), call->nr, call->op,
			 call->flags, NULL);
		dev_release(sys.dev);
		settle();
	}
	pagemap_read(win->base, win->nr, map);
	around(win, call, &lo, &hi);
	observe(win, lo, hi, map, before);

	for (int i = 0; i < 2; i++) {
		const bool on = call->on_first ? !i : i;

		ask(win, call, on, &answers[on]);
		if (!sane(call, &answers[on], on, why) ||
		    !same_maps(map, answers[on].after_map, win->nr,
			       on ? "before, after on" : "before, after off",
			       SAME_MEMORY, why) ||
		    !back(&answers[on], before, on ? "on" : "off", why))
			return false;
	}
	return same_answer(&answers[0], &answers[1], win->nr, SAME_MEMORY, why);
}

bool ask_twins(const struct scene *scene, const struct call *call,
	       struct why *why)
{
	for (int i = 0; i < 2; i++) {
		const bool on = call->on_first ? !i : i;

		ask(&scene->win[on], call, on, &answers[on]);
		if (!sane(call, &answers[on], on, why))
			return false;
	}
	return same_answer(&answers[0], &answers[1], scene->win[0].nr,
			   SAME_TWINS, why);
}

bool twins_alike(const struct scene *scene, struct why *why)
{
	const uint32_t nr = scene->win[0].nr;

	memset(&pairing, 0, sizeof(pairing));
	mask_referenced = false;
	switch_set(false);
	for (int i = 0; i < 2; i++) {
		answer_init(&answers[i]);
		pagemap_read(scene->win[i].base, nr, answers[i].after_map);
		observe(&scene->win[i], 0, nr, answers[i].after_map,
			answers[i].after_obs);
	}
	return same_maps(answers[0].after_map, answers[1].after_map, nr,
			 "twins", SAME_TWINS, why) &&
	       same_pages(answers[0].after_obs, answers[1].after_obs, nr, 0,
			  "twins", SAME_TWINS, why);
}

bool twins_content(const struct scene *scene, struct why *why)
{
	static uint32_t stamps[2][WINDOW_MAX];
	static uint64_t map[WINDOW_MAX];
	const uint32_t nr = scene->win[0].nr;

	for (int i = 0; i < 2; i++) {
		pagemap_read(scene->win[i].base, nr, map);
		stamps_read(scene->win[i].base, nr, map, stamps[i]);
	}
	for (uint32_t i = 0; i < nr; i++)
		if (stamps[0][i] != stamps[1][i])
			return wrong(why, "page %u holds 0x%x off, 0x%x on", i,
				     stamps[0][i], stamps[1][i]);
	return true;
}

bool no_leaks(const struct window *win, struct why *why)
{
	static struct pagerun_test_page pages[WINDOW_MAX];
	static uint64_t map[WINDOW_MAX];
	uint32_t nr = 0, at, i, j;

	switch_set(false);
	/* A PMD entry is one reference, yet a mapping of each page: split it. */
	for (at = 0; at < win->nr; at += PMD_PAGES) {
		mprotect(page_at(win, at), PAGE_SIZE, PROT_READ);
		mprotect(page_at(win, at), PAGE_SIZE, PROT_READ | PROT_WRITE);
	}
	settle();
	pagemap_read(win->base, win->nr, map);
	/* All at once, so that each page's own reference is known. */
	for (at = 0; at < win->nr; at++)
		if ((map[at] & PM_PRESENT) &&
		    dev_hold(sys.observer, page_at(win, at), 1,
			     PAGERUN_TEST_GET_FAST, 0, NULL) == 1)
			nr++;
	dev_report(sys.observer, 0, nr, pages);
	dev_release(sys.observer);

	for (i = 0; i < nr; i++) {
		const struct pagerun_test_page *page = &pages[i];
		const uint64_t head = page->pfn - page->index;
		uint64_t mapped = 0;
		uint32_t mine = 0;

		for (j = 0; j < i && pages[j].pfn - pages[j].index != head; j++)
			;
		if (j < i || !(page->flags & PAGERUN_TEST_PAGE_ANON))
			continue;
		for (j = 0; j < 1U << page->order; j++)
			mapped += kpagecount(head + j);
		if (in_swap_cache(head))
			mapped += 1ULL << page->order;
		for (j = i; j < nr; j++)
			mine += pages[j].pfn - pages[j].index == head;
		if (page->pincount > 0 ||
		    (uint64_t)page->refcount != mapped + mine)
			return wrong(why, "a folio of order %u has refcount %d and pincount %d, but %llu mappings (the swap cache's included) and %u references of the test",
				     page->order, page->refcount, page->pincount,
				     (unsigned long long)mapped, mine);
	}
	return true;
}
