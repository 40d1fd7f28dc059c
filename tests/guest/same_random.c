// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random layouts and calls. All is drawn from the seed before anything is done,
 * so that a case repeats wherever the same kinds of memory are to be had.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "same.h"

/* ------------------------------------------------------------------------- */
/* Layouts                                                                   */

/* A random order that is in @orders, 0 if there is none. */
static unsigned int random_order(struct rng *rng, unsigned int orders)
{
	unsigned int n = __builtin_popcount(orders), order;

	if (!n)
		return 0;
	n = rng_below(rng, n);
	for (order = 0; !(orders & (1U << order)) || n--; order++)
		;
	return order;
}

static uint32_t align_up(uint32_t page, unsigned int order)
{
	return (page + (1U << order) - 1) & -(1U << order);
}

/* Something small up to page @end. */
static void fill_up(struct rng *rng, struct layout *lay, uint32_t page,
		    uint32_t end)
{
	uint32_t nr = end - page;

	if (!nr)
		return;
	if (nr > 64) {
		/* Too long for small folios alone. */
		layout_add(lay, OP_ANON, page, nr, random_order(rng, sys.orders),
			   0, 1);
		return;
	}
	switch (rng_below(rng, 4)) {
	case 0:
		break;		/* PROT_NONE, as reserved */
	case 1:
		layout_add(lay, OP_ZERO, page, nr, 0, 0, 0);
		break;
	default:
		layout_add(lay, OP_ANON, page, nr, 0, 0, 1);
	}
}

/* A length of a few folios, not always whole ones. */
static uint32_t random_length(struct rng *rng, unsigned int order, uint32_t max)
{
	uint32_t nr = (1 + rng_below(rng, order >= 8 ? 2 : 5)) << order;

	if (!order)
		nr = 1 + rng_below(rng, 24);
	else if (rng_chance(rng, 30))
		nr += rng_below(rng, 1U << order);
	return min_u32(nr, max);
}

/* Lay new memory at @page; how far it goes. */
static uint32_t random_segment(struct rng *rng, struct layout *lay,
			       uint32_t page)
{
	const uint32_t pick = rng_below(rng, 100);
	uint32_t start = page, nr, flags = 0, first = 0;
	unsigned int order;
	enum op_kind kind;

	if (pick < 66) {
		kind = OP_ANON;
		order = rng_chance(rng, 12) ? 0 : random_order(rng, sys.orders);
		/* The largest as often as all the others would be too much. */
		if (order >= 8 && rng_chance(rng, 40))
			order = random_order(rng, sys.orders);
		if (rng_chance(rng, 4))
			flags |= LAY_EMPTY;
	} else if (pick < 74) {
		kind = OP_SHMEM;
		order = random_order(rng, sys.shmem_orders);
		if (rng_chance(rng, 10))
			flags |= LAY_EMPTY;
	} else if (pick < 84) {
		kind = OP_MEMFD + rng_below(rng, 3);
		order = kind == OP_RAMFS || rng_chance(rng, 40) ? 0 : PMD_ORDER;
		if (rng_chance(rng, 40))
			first = rng_below(rng, 20);
		if (rng_chance(rng, 50))
			flags |= LAY_PRIVATE;
		if (rng_chance(rng, 15))
			flags |= LAY_READONLY;
		if (rng_chance(rng, 10))
			flags |= LAY_EMPTY;
	} else if (pick < 87) {
		kind = OP_HUGETLB;
		order = PMD_ORDER;
		flags = rng_chance(rng, 50) ? LAY_PRIVATE : 0;
		if (rng_chance(rng, 20))
			flags |= LAY_EMPTY;
	} else if (pick < 91) {
		kind = OP_DEVICE;
		order = 0;
	} else if (pick < 94) {
		kind = OP_SECRET;
		order = 0;
	} else {
		/* Not the huge one: its size enabled, khugepaged would run. */
		kind = OP_ZERO;
		order = 0;
	}

	if (kind == OP_HUGETLB || rng_chance(rng, 75))
		start = align_up(page, order);
	if (start >= lay->nr)
		start = page;
	nr = kind == OP_HUGETLB ? PMD_PAGES : random_length(rng, order, lay->nr - start);
	if (kind == OP_SECRET)
		nr = min_u32(nr, 6);
	if (kind == OP_HUGETLB && nr > lay->nr - start)
		return page;
	fill_up(rng, lay, page, start);
	layout_add(lay, kind, start, nr, order, flags, first);
	return start + nr;
}

/* A range that begins or ends near an edge, or anywhere. */
static void random_range(struct rng *rng, const struct layout *lay,
			 uint32_t *page, uint32_t *nr)
{
	static const uint32_t lengths[] = { 1, 1, 2, 3, 5, 8, 16, 31, 100, 520 };
	uint32_t at = rng_below(rng, lay->nr);
	uint32_t len = lengths[rng_below(rng, ARRAY_SIZE(lengths))];

	if (lay->nr_edges && rng_chance(rng, 60)) {
		at = lay->edges[rng_below(rng, lay->nr_edges)];
		if (rng_chance(rng, 70))
			at += rng_below(rng, 20);
		at = min_u32(at, lay->nr - 1);
	}
	*page = at;
	*nr = 1 + rng_below(rng, min_u32(len, lay->nr - at));
}

/* Swapped out; then, mostly, some of it is touched and is there again. */
static void random_swap(struct rng *rng, struct layout *lay, uint32_t page,
			uint32_t nr)
{
	const uint32_t percent = 1 + rng_below(rng, 100);
	const uint32_t draw = rng_next(rng);

	layout_add(lay, OP_SWAP, page, nr, rng_below(rng, 2), 0, 0);
	/* A large folio comes in whole, unless a piece of it is gone. */
	if (rng_chance(rng, 50))
		layout_add(lay, OP_DONTNEED, page + rng_below(rng, nr), 1, 0, 0, 0);
	if (rng_chance(rng, 80))
		layout_add(lay, OP_READ, page, nr, percent, 0, draw);
	if (rng_chance(rng, 30))
		layout_add(lay, OP_WRITE, page, nr, percent / 4, 0, draw >> 8);
}

static void random_change(struct rng *rng, struct layout *lay)
{
	static const uint32_t prots[] = {
		PROT_NONE, PROT_READ, PROT_READ, PROT_READ | PROT_WRITE,
		PROT_READ | PROT_WRITE,
	};
	const uint32_t percent = 1 + rng_below(rng, 100);
	const uint32_t draw = rng_next(rng);
	uint32_t page, nr, to, k;

	random_range(rng, lay, &page, &nr);
	switch (rng_below(rng, 24)) {
	case 0:
	case 1:
		layout_add(lay, OP_DONTNEED, page, nr, 0, 0, 0);
		break;
	case 2:
		layout_add(lay, OP_MUNMAP, page, nr, 0, 0, 0);
		break;
	case 3:
	case 4:
		layout_add(lay, OP_PROT, page, nr,
			   prots[rng_below(rng, ARRAY_SIZE(prots))], 0, 0);
		break;
	case 5:
		if (rng_chance(rng, 50))
			layout_add(lay, OP_PKEY, page, nr, rng_below(rng, 2), 0, 0);
		else
			layout_add(lay, OP_PTEMAP, page, nr, 0, 0, 0);
		break;
	case 6:
	case 7:
	case 8:
		/* Rarely is one DONTFORK alone; then the fork that it is for. */
		for (k = rng_below(rng, 4); k > 0; k--) {
			layout_add(lay, OP_DONTFORK, page, nr, 0, 0, 0);
			random_range(rng, lay, &page, &nr);
		}
		layout_add(lay, OP_FORK, 0, 0, rng_below(rng, 2), 0, 0);
		/* All read-only: then exclusive and shared ones look alike. */
		if (rng_chance(rng, 40) && lay->nr_edges) {
			page = lay->edges[rng_below(rng, lay->nr_edges)];
			page = min_u32(page, lay->nr - 1);
			layout_add(lay, OP_PROT, page,
				   min_u32(600, lay->nr - page), PROT_READ, 0, 0);
		}
		break;
	case 9:
	case 10:
		layout_add(lay, OP_WRITE, page, nr, percent, 0, draw);
		break;
	case 11:
		layout_add(lay, OP_READ, page, nr, percent, 0, draw);
		break;
	case 12:
	case 13:
		to = rng_below(rng, lay->nr - nr + 1);
		if (to + nr <= page || page + nr <= to)
			layout_add(lay, OP_MOVE, page, nr, to, 0, 0);
		break;
	case 14:
		layout_add(lay, OP_REVERSE, page, nr, 0, 0, 0);
		break;
	case 15:
		nr = min_u32(nr, 16);
		if (page + 2 * nr <= lay->nr)
			layout_add(lay, OP_INTERLEAVE, page, nr, nr, 0, 0);
		break;
	case 16:
	case 17:
		layout_add(lay, OP_UFFD_WP, page, nr, 0, 0, 0);
		break;
	case 18:
		layout_add(lay, OP_SOFT_DIRTY, 0, 0, 0, 0, 0);
		layout_add(lay, OP_WRITE, 0, lay->nr, percent, 0, draw);
		break;
	case 19:
	case 20:
	case 21:
		random_swap(rng, lay, page, nr);
		break;
	case 22:
		layout_add(lay, OP_KSM, page, min_u32(nr, 64),
			   1 + rng_below(rng, 4), 0, draw);
		break;
	default:
		layout_add(lay, rng_chance(rng, 50) ? OP_FREE : OP_MLOCK, page, nr,
			   0, 0, 0);
	}
}

void random_layout(struct rng *rng, struct layout *lay)
{
	uint32_t page = 0, changes, i;

	layout_init(lay, PMD_PAGES * (1 + rng_below(rng, 4)));
	/* Leave room for the changes. */
	while (page < lay->nr && lay->nr_ops < LAYOUT_OPS / 2)
		page = random_segment(rng, lay, page);

	changes = rng_below(rng, 14);
	for (i = 0; i < changes; i++)
		random_change(rng, lay);
	if (rng_chance(rng, 30))
		layout_add(lay, OP_REAP, 0, 0, 0, 0, 0);
	layout_add(lay, OP_THP, 0, 0, rng_chance(rng, 30) ?
		   random_order(rng, sys.orders & ~(1U << PMD_ORDER)) : 0, 0, 0);
}

/* Something writable all over: folios of all sizes, anonymous and of files. */
static void whole_segments(struct rng *rng, struct layout *lay)
{
	static const enum op_kind kinds[] = {
		OP_ANON, OP_ANON, OP_ANON, OP_ANON, OP_SHMEM, OP_MEMFD, OP_HUGETLB,
	};
	uint32_t page = 0, nr;

	while (page < lay->nr) {
		enum op_kind kind = kinds[rng_below(rng, ARRAY_SIZE(kinds))];
		unsigned int order = rng_chance(rng, 30) ? 4 : rng_below(rng, PMD_ORDER + 1);

		nr = min_u32((1 + rng_below(rng, 8)) << order, lay->nr - page);
		if (kind == OP_HUGETLB || (order == PMD_ORDER && rng_chance(rng, 80))) {
			/* Up to where one can begin. */
			nr = PMD_PAGES - page % PMD_PAGES;
			if (nr != PMD_PAGES)
				kind = OP_ANON, order = 3;
		}
		if (kind == OP_HUGETLB && !sys.hugetlb)
			kind = OP_ANON;
		layout_add(lay, kind, page, nr, order, kind == OP_HUGETLB ? LAY_PRIVATE : 0, 0);
		page += nr;
	}
}

/* What leaves all of it there, but no longer in whole folios, or in another order. */
static void whole_change(struct rng *rng, struct layout *lay)
{
	uint32_t page = rng_below(rng, lay->nr - 64), nr = 1 + rng_below(rng, 32);

	switch (rng_below(rng, 5)) {
	case 0:
		layout_add(lay, OP_DONTNEED, page, 1 + nr / 8, 0, 0, 0);
		break;
	case 1:
		/* Copied here and there, once the child has them too. */
		layout_add(lay, OP_FORK, 0, 0, 1, 0, 0);
		layout_add(lay, OP_WRITE, 0, lay->nr, 1 + rng_below(rng, 8), 0, rng_next(rng));
		layout_add(lay, OP_REAP, 0, 0, 0, 0, 0);
		break;
	case 2:
		layout_add(lay, OP_REVERSE, page, nr, 0, 0, 0);
		break;
	case 3:
		layout_add(lay, OP_INTERLEAVE, page, nr, nr, 0, 0);
		break;
	default:
		layout_add(lay, OP_PTEMAP, page, nr, 0, 0, 0);
	}
}

void whole_layout(struct rng *rng, struct layout *lay)
{
	unsigned int i, nr = rng_below(rng, 6);

	layout_init(lay, PMD_PAGES * (1 + rng_below(rng, 4)));
	whole_segments(rng, lay);
	for (i = 0; i < nr; i++)
		whole_change(rng, lay);
}

/* ------------------------------------------------------------------------- */
/* Calls                                                                     */

static uint32_t near_edge(struct rng *rng, const struct layout *lay)
{
	uint32_t at;

	switch (rng_below(rng, 4)) {
	case 0:		/* of a page table */
		at = PMD_PAGES * rng_below(rng, lay->nr / PMD_PAGES + 1);
		break;
	case 1:
		at = rng_below(rng, lay->nr + 1);
		break;
	default:
		at = lay->edges[rng_below(rng, lay->nr_edges)];
		/* Of a folio in the middle of a segment, perhaps. */
		if (rng_chance(rng, 40))
			at += rng_below(rng, 4) << rng_below(rng, PMD_ORDER);
	}
	at += rng_below(rng, 3);
	return min_u32(at ? at - 1 : 0, lay->nr);
}

void random_call(struct rng *rng, const struct layout *lay, struct call *call)
{
	static const uint32_t ops[] = {
		PAGERUN_TEST_GET, PAGERUN_TEST_GET_FAST, PAGERUN_TEST_PIN,
		PAGERUN_TEST_PIN,
	};
	static const uint32_t lengths[] = {
		1, 2, 4, 8, 15, 16, 17, 31, 32, 33, 64, 128, 511, 512, 513, 1024,
	};
	uint32_t start = near_edge(rng, lay), end;

	switch (rng_below(rng, 8)) {
	case 0:
		start = 0;
		end = lay->nr;
		break;
	case 1:
	case 2:
	case 3:
		end = near_edge(rng, lay);
		break;
	default:
		end = start + lengths[rng_below(rng, ARRAY_SIZE(lengths))];
	}
	end = min_u32(end, lay->nr);
	if (end < start) {
		uint32_t swap = start;

		start = end;
		end = swap;
	}
	if (start == lay->nr)
		start--;
	if (end <= start)
		end = start + 1;

	call->page = start;
	call->nr = end - start;
	call->op = ops[rng_below(rng, ARRAY_SIZE(ops))];
	call->flags = rng_chance(rng, 50) ? PAGERUN_TEST_WRITE : 0;
	if (call->op == PAGERUN_TEST_PIN && rng_chance(rng, 40))
		call->flags |= PAGERUN_TEST_LONGTERM;
	call->on_first = rng_chance(rng, 50);
	call->off_early = rng_chance(rng, 50);
	call->count_held = rng_chance(rng, 25);
	call->young = rng_chance(rng, 60) ? rng_next(rng) | 1 : 0;
	call->again = rng_chance(rng, 20);
	call->dirty = call->op == PAGERUN_TEST_PIN &&
		      call->flags & PAGERUN_TEST_WRITE && rng_chance(rng, 30);
	call->order = rng_chance(rng, 60) ? rng_next(rng) | 1 : 0;
}

const char *call_text(const struct call *call, char *buf, size_t size)
{
	static const char *const ops[] = {
		[PAGERUN_TEST_GET] = "get",
		[PAGERUN_TEST_PIN] = "pin",
		[PAGERUN_TEST_GET_FAST] = "get-fast-only",
	};

	snprintf(buf, size, "%s%s%s [%u, %u)%s%s%s%s%s", ops[call->op],
		 call->flags & PAGERUN_TEST_WRITE ? " write" : "",
		 call->flags & PAGERUN_TEST_LONGTERM ? " longterm" : "",
		 call->page, call->page + call->nr,
		 call->on_first ? ", on first" : "",
		 call->off_early ? ", off before the release" : "",
		 call->again ? ", twice" : "", call->dirty ? ", released dirty" : "",
		 call->order ? ", released in some order" : "");
	return buf;
}
