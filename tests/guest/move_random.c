// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random layouts and calls for UFFDIO_MOVE. As in same_random.c, a case is drawn from
 * its seed alone, so that it repeats wherever the same kinds of memory are to be had.
 *
 * The call wants one mapping at each end. So an area is mapped at once, and what it
 * consists of is faulted into it; only some changes split it, and then most calls get
 * an error, which must be the same error.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "../ktap.h"
#include "move.h"

struct area {
	uint32_t page, nr;
};

/* A case, as it was drawn. */
struct plan {
	struct layout lay;
	struct area src, dst;	/* the same one: source and destination in one area */
	bool one;
	bool back;		/* the source is registered too */
	bool lazy;		/* some of it may vanish: MADV_FREE */
};

/* ------------------------------------------------------------------------- */
/* What is in an area                                                        */

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

static uint32_t align_up(uint32_t page, uint32_t to)
{
	return (page + to - 1) & -to;
}

/* The order of the folios at @*page, and how many pages of them. */
static uint32_t draw_folios(struct rng *rng, uint32_t *page, uint32_t end,
			    unsigned int *order)
{
	const unsigned int small = sys.orders & ~(1U << PMD_ORDER);
	uint32_t nr;

	*order = random_order(rng, small);
	if (sys.orders & (1U << PMD_ORDER) && rng_chance(rng, 15) &&
	    align_up(*page, PMD_PAGES) + PMD_PAGES <= end)
		*order = PMD_ORDER;
	if (*order == PMD_ORDER || rng_chance(rng, 80))
		*page = min_u32(align_up(*page, 1U << *order), end);
	nr = (1 + rng_below(rng, *order >= 7 ? 1 : 5)) << *order;
	if (*order < PMD_ORDER && rng_chance(rng, 20))
		nr += rng_below(rng, 1U << *order);
	return min_u32(nr, end - *page);
}

/* One piece of it at @page; where the next begins. */
static uint32_t put_piece(struct rng *rng, struct layout *lay, uint32_t page,
			  uint32_t end)
{
	const uint32_t pick = rng_below(rng, 100);
	unsigned int order = 0;
	uint32_t nr;

	if (pick < 7)		/* a hole */
		return min_u32(page + 1 + rng_below(rng, 12), end);
	if (pick < 15) {
		nr = min_u32(1 + rng_below(rng, 10), end - page);
		layout_add(lay, OP_FILL, page, nr, 0, 1, 0);
		return page + nr;
	}
	if (pick < 50)
		nr = min_u32(1 + rng_below(rng, rng_chance(rng, 20) ? 300 : 40),
			     end - page);
	else
		nr = draw_folios(rng, &page, end, &order);
	if (nr)
		layout_add(lay, OP_FILL, page, nr, order, 0, rng_below(rng, 1000));
	return page + nr;
}

/*
 * The huge zero page goes first: while its size is enabled khugepaged runs, and would
 * collapse what is there already.
 */
static void put_huge_zero(struct rng *rng, struct layout *lay,
			  const struct area *area)
{
	const uint32_t page = align_up(area->page, PMD_PAGES);

	if (sys.orders & (1U << PMD_ORDER) && rng_chance(rng, 12) &&
	    page + PMD_PAGES <= area->page + area->nr)
		layout_add(lay, OP_FILL, page, 1, PMD_ORDER, 1, 0);
}

/* Merged pages, next: what comes later must not be looked at by KSM. */
static void put_merged(struct rng *rng, struct layout *lay,
		       const struct area *area)
{
	const uint32_t nr = min_u32(area->nr, 2 + rng_below(rng, 40));

	if (!sys.ksm || !rng_chance(rng, 8))
		return;
	layout_add(lay, OP_MERGEABLE, area->page, area->nr, 0, 0, 0);
	layout_add(lay, OP_KSM, area->page + rng_below(rng, area->nr - nr + 1), nr,
		   1 + rng_below(rng, 4), 0, rng_below(rng, 1000));
}

/* @nr pages of it. */
static void put_source(struct rng *rng, struct layout *lay,
		       const struct area *area, uint32_t nr)
{
	const uint32_t end = area->page + nr;
	uint32_t page = area->page;

	put_huge_zero(rng, lay, area);
	put_merged(rng, lay, area);
	while (page < end && lay->nr_ops < LAYOUT_OPS / 2)
		page = put_piece(rng, lay, page, end);
}

/* Somewhere in an area, up to @max pages. */
static struct area somewhere(struct rng *rng, const struct area *area,
			     uint32_t max)
{
	struct area part;

	part.page = area->page + rng_below(rng, area->nr);
	part.nr = 1 + rng_below(rng, min_u32(max, area->page + area->nr -
						  part.page));
	return part;
}

static void put_obstacles(struct rng *rng, struct layout *lay,
			  const struct area *area)
{
	uint32_t nr = rng_chance(rng, 50) ? 0 : 1 + rng_below(rng, 4);

	for (; nr; nr--) {
		struct area part = somewhere(rng, area, 20);

		layout_add(lay, OP_FILL, part.page, part.nr,
			   rng_chance(rng, 20) ? 4 : 0, rng_chance(rng, 30), nr);
	}
}

/* ------------------------------------------------------------------------- */
/* What happened to it since                                                 */

static void add(struct layout *lay, enum op_kind kind, const struct area *area,
		uint32_t a, uint32_t b, uint32_t c)
{
	layout_add(lay, kind, area->page, area->nr, a, b, c);
}

static void change_swap(struct rng *rng, struct plan *plan,
			const struct area *part)
{
	add(&plan->lay, OP_SWAP, part, rng_below(rng, 2), 0, 0);
	if (rng_chance(rng, 60))
		add(&plan->lay, OP_READ, part, 1 + rng_below(rng, 60), 0,
		    rng_next(rng));
	if (rng_chance(rng, 30))
		add(&plan->lay, OP_WRITE, part, 1 + rng_below(rng, 30), 0,
		    rng_next(rng));
}

static void change_fork(struct rng *rng, struct plan *plan)
{
	layout_add(&plan->lay, OP_FORK, 0, 0, rng_below(rng, 2), 0, 0);
	/* Without a write nothing is exclusive any more. */
	add(&plan->lay, OP_WRITE, &plan->src, 60 + rng_below(rng, 80), 0,
	    rng_next(rng));
}

static void change_lock(struct rng *rng, struct plan *plan)
{
	const struct area part = somewhere(rng, &plan->src, 100);

	if (rng_chance(rng, 40)) {
		add(&plan->lay, OP_MLOCK, &part, 0, 0, 0);
		return;
	}
	add(&plan->lay, OP_MLOCK, &plan->src, 0, 0, 0);
	if (rng_chance(rng, 70))
		add(&plan->lay, OP_MLOCK, &plan->dst, 0, 0, 0);
}

static void change_protection(struct rng *rng, struct plan *plan)
{
	const struct area part = somewhere(rng, &plan->src, 200);

	add(&plan->lay, OP_PROT, &part, rng_chance(rng, 50) ? PROT_NONE : PROT_READ,
	    0, 0);
	/* Back again: one mapping, with entries that are not writable. */
	if (rng_chance(rng, 70))
		add(&plan->lay, OP_PROT, &part, PROT_READ | PROT_WRITE, 0, 0);
}

static void change_free(struct rng *rng, struct plan *plan,
			const struct area *part)
{
	plan->lazy = true;
	add(&plan->lay, OP_FREE, part, 0, 0, 0);
	if (rng_chance(rng, 50))
		add(&plan->lay, OP_WRITE, part, 30, 0, rng_next(rng));
}

static void change(struct rng *rng, struct plan *plan)
{
	struct layout *lay = &plan->lay;
	struct area part = somewhere(rng, &plan->src,
				     rng_chance(rng, 30) ? 600 : 30);

	switch (rng_below(rng, 16)) {
	case 0:
	case 1:
		add(lay, OP_DONTNEED, &part, 0, 0, 0);
		break;
	case 2:
	case 3:
	case 4:
		change_swap(rng, plan, &part);
		break;
	case 5:
	case 6:
		change_fork(rng, plan);
		break;
	case 7:
		change_lock(rng, plan);
		break;
	case 8:
		change_protection(rng, plan);
		break;
	case 9:
		change_free(rng, plan, &part);
		break;
	case 10:
	case 11:
		layout_add(lay, OP_SOFT_DIRTY, 0, 0, 0, 0, 0);
		add(lay, OP_WRITE, &part, 50, 0, rng_next(rng));
		break;
	case 12:
		/* All of it, so that it stays one mapping; and some in earnest. */
		add(lay, OP_UFFD, &plan->src, UFFD_WP, 0, 0);
		add(lay, OP_UFFD_WP, &part, 0, 0, 0);
		break;
	case 13:
		add(lay, OP_PTEMAP, &plan->src, 0, 0, 0);
		break;
	default:
		part.nr = min_u32(part.nr, 3);
		add(lay, OP_PIN, &part, 0, 0, 0);
	}
}

/* ------------------------------------------------------------------------- */
/* The areas                                                                 */

/* Where they lie: apart, at any distance, or the same. Return: pages of the window. */
static uint32_t draw_areas(struct rng *rng, struct plan *plan)
{
	const uint32_t sizes[] = { 40, 100, 300, 520, 700, 1100, 1500 };
	uint32_t end;

	plan->src.page = rng_chance(rng, 50) ? 0 : rng_below(rng, 300);
	plan->src.nr = sizes[rng_below(rng, ARRAY_SIZE(sizes))];
	plan->src.nr -= rng_below(rng, plan->src.nr * 3 / 4);
	plan->one = rng_chance(rng, 25);
	if (plan->one) {
		plan->src.nr *= 2;
		plan->dst = plan->src;
		return plan->src.page + plan->src.nr;
	}
	end = plan->src.page + plan->src.nr + 1 + rng_below(rng, 64);
	plan->dst.page = rng_chance(rng, 60) ?
		align_up(end - plan->src.page % PMD_PAGES, PMD_PAGES) +
		plan->src.page % PMD_PAGES : end;
	plan->dst.nr = rng_chance(rng, 70) ? plan->src.nr :
			2 + rng_below(rng, plan->src.nr);
	return plan->dst.page + plan->dst.nr;
}

/*
 * The source, made where it is, or elsewhere and moved by mremap(), so that its
 * folios do not lie at multiples of their size.
 */
static void make_source(struct rng *rng, struct plan *plan)
{
	struct area made = plan->src;
	const uint32_t shift = 1U << rng_below(rng, 8);
	const bool moved = !plan->one && rng_chance(rng, 20) &&
			   made.page + 2 * made.nr + shift + 1 < plan->dst.page;

	if (moved)
		made.page += made.nr + shift;
	add(&plan->lay, OP_ANON, &made, PMD_ORDER, LAY_EMPTY, 0);
	/* In one area, the rest is room to move to. */
	put_source(rng, &plan->lay, &made, plan->one ? made.nr / 2 : made.nr);
	if (moved)
		add(&plan->lay, OP_MOVE, &made, plan->src.page, 0, 0);
}

static void register_areas(struct rng *rng, struct plan *plan)
{
	const uint32_t mode = UFFD_MISSING | (rng_chance(rng, 30) ? UFFD_WP : 0);

	plan->back = plan->one || rng_chance(rng, 30);
	/* Rarely nothing is, or not all. */
	if (rng_chance(rng, 3))
		return;
	if (rng_chance(rng, 3)) {
		struct area part = somewhere(rng, &plan->dst, plan->dst.nr);

		add(&plan->lay, OP_UFFD, &part, mode, 0, 0);
		return;
	}
	add(&plan->lay, OP_UFFD, &plan->dst, mode, 0, 0);
	if (plan->back)
		add(&plan->lay, OP_UFFD, &plan->src, UFFD_MISSING | UFFD_WP, 0, 0);
}

static void draw_plan(struct rng *rng, struct plan *plan)
{
	uint32_t nr, changes;

	do
		nr = draw_areas(rng, plan);
	while (nr > WINDOW_MAX);
	layout_init(&plan->lay, nr);
	plan->lazy = false;
	if (!plan->one)
		add(&plan->lay, OP_ANON, &plan->dst,
		    rng_chance(rng, 50) ? PMD_ORDER : 0, LAY_EMPTY, 0);
	make_source(rng, plan);
	if (!plan->one)
		put_obstacles(rng, &plan->lay, &plan->dst);
	for (changes = rng_below(rng, 6); changes; changes--)
		change(rng, plan);
	register_areas(rng, plan);
	if (rng_chance(rng, 20))
		layout_add(&plan->lay, OP_REAP, 0, 0, 0, 0, 0);
}

/* ------------------------------------------------------------------------- */
/* Calls                                                                     */

static uint32_t draw_start(struct rng *rng, const struct plan *plan,
			   const struct area *area)
{
	uint32_t at;

	if (rng_chance(rng, 25))
		return area->page;
	if (rng_chance(rng, 30))
		return area->page + rng_below(rng, area->nr);
	at = plan->lay.edges[rng_below(rng, plan->lay.nr_edges)];
	at += rng_below(rng, 5);
	at = at > 2 ? at - 2 : 0;
	if (rng_chance(rng, 30))
		at = align_up(at, 1U << rng_below(rng, PMD_ORDER + 1));
	return at < area->page || at >= area->page + area->nr ? area->page : at;
}

/* Where to: mostly at a distance that lets large folios stay large. */
static uint32_t draw_target(struct rng *rng, const struct area *from,
			    const struct area *to, uint32_t src)
{
	static const uint32_t steps[] = { 512, 512, 512, 512, 64, 16, 16, 4, 1, 1 };
	const uint32_t step = steps[rng_below(rng, ARRAY_SIZE(steps))];
	/* The first page there that is @step times something away. */
	const uint32_t first = to->page + (src + step - to->page % step) % step;
	uint32_t nr;

	/* The same page of both areas, if that will do. */
	if (from != to && rng_chance(rng, 50) && src - from->page < to->nr &&
	    (to->page - from->page) % step == 0)
		return to->page + src - from->page;
	if (first >= to->page + to->nr)
		return to->page + rng_below(rng, to->nr);
	nr = 1 + (to->page + to->nr - 1 - first) / step;
	return first + step * rng_below(rng, nr);
}

/* Is there something to move at its first page, and room for it? */
static bool in_vain(const struct plan *plan, const struct move_call *call)
{
	const uint64_t *map = move_answers[0].map;

	return call->dst >= plan->lay.nr || !map[call->src] || map[call->dst];
}

static void draw_once(struct rng *rng, const struct plan *plan,
		      struct move_call *call)
{
	static const uint32_t lengths[] = {
		1, 2, 3, 7, 16, 17, 64, 100, 256, 511, 512, 513, 1024, 2000, 2000,
		2000, 2000, 2000,
	};
	const bool back = !plan->one && plan->back && rng_chance(rng, 35);
	const struct area *from = back ? &plan->dst : &plan->src;
	const struct area *to = plan->one ? from : back ? &plan->src : &plan->dst;

	call->src = draw_start(rng, plan, from);
	call->dst = draw_target(rng, from, to, call->src);
	call->nr = lengths[rng_below(rng, ARRAY_SIZE(lengths))];
	/* Overlapping now and then, both ways. */
	if (plan->one && rng_chance(rng, 40)) {
		static const uint32_t apart[] = { 1, 2, 7, 16, 64, 512 };
		const uint32_t by = apart[rng_below(rng, ARRAY_SIZE(apart))];

		call->dst = rng_chance(rng, 50) || call->src < from->page + by ?
			    call->src + by : call->src - by;
	}
	if (!rng_chance(rng, 3)) {
		call->nr = min_u32(call->nr, from->page + from->nr - call->src);
		if (call->dst < to->page + to->nr)
			call->nr = min_u32(call->nr,
					   to->page + to->nr - call->dst);
	}
	call->mode = rng_chance(rng, 65) ? HOLES : 0;
	if (rng_chance(rng, 30))
		call->mode |= UFFDIO_MOVE_MODE_DONTWAKE;
	call->on_first = rng_chance(rng, 50);
}

/* Most draws would be in vain; some are to be. */
static void draw_call(struct rng *rng, const struct plan *plan,
		      struct move_call *call)
{
	draw_once(rng, plan, call);
	for (int i = 0; i < 20 && in_vain(plan, call) && !rng_chance(rng, 5); i++)
		draw_once(rng, plan, call);
}

/* ------------------------------------------------------------------------- */
/* Between the calls                                                         */

/*
 * Only what does the same to the pages of a large folio as to small ones: those in
 * the second window may be of one by now.
 */
static void draw_between(struct rng *rng, const struct plan *plan, struct op *op)
{
	const struct area *area = rng_chance(rng, 50) ? &plan->src : &plan->dst;
	const struct area part = somewhere(rng, area, 60);

	*op = (struct op){
		.page = part.page, .nr = part.nr,
		.a = 1 + rng_below(rng, 60), .c = rng_next(rng),
	};
	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
		op->kind = OP_WRITE;
		break;
	case 2:
		op->kind = OP_READ;
		break;
	case 3:
	case 4:
		op->kind = OP_DONTNEED;
		break;
	case 5:
		op->kind = OP_SOFT_DIRTY;
		break;
	case 6:
		op->kind = OP_FORK;
		op->a = 0;
		break;
	default:
		op->kind = plan->lazy ? OP_READ : OP_SWAP;
		op->a = plan->lazy ? op->a : 0;
	}
}

static bool one_step(struct rng *rng, const struct plan *plan,
		     struct scene *scene, struct move_call *call, struct why *why)
{
	struct op op;

	draw_call(rng, plan, call);
	if (!move_chain(scene, call, why))
		return false;
	if (rng_chance(rng, 40)) {
		draw_between(rng, plan, &op);
		scene_apply(scene, &op);
		settle();
	}
	return true;
}

static void show(uint64_t seed, unsigned int step, const struct plan *plan,
		 const struct move_call *call, const struct why *why)
{
	char text[200];

	if (step)
		ktap_diag("call %u: %s", step, move_text(call, text, sizeof(text)));
	ktap_diag("%s", why->text);
	ktap_diag("source [%u, %u), destination [%u, %u)", plan->src.page,
		  plan->src.page + plan->src.nr, plan->dst.page,
		  plan->dst.page + plan->dst.nr);
	layout_show(&plan->lay);
	ktap_diag("to repeat: move_answers --only " ONLY_RANDOM
		  " --seed %llu --cases 1 --calls %u",
		  (unsigned long long)seed, options.calls);
}

void move_random(uint64_t seed)
{
	static struct plan plan;
	static struct scene scene;
	struct rng rng = { .state = rng_mix(seed) };
	struct move_call call = { };
	struct why why = { };
	unsigned int i;

	if (no_move()) {
		ktap_skip("random case %llu: %s", (unsigned long long)seed, no_move());
		return;
	}
	move_begin();
	draw_plan(&rng, &plan);
	scene_make(&scene, &plan.lay, 2);
	twins_alike(&scene, &why);
	if (!why.bad)
		move_look(&scene, &why);
	for (i = 0; i < options.calls && !why.bad; i++)
		one_step(&rng, &plan, &scene, &call, &why);
	if (!why.bad)
		move_epilogue(&scene, !plan.lazy, rng_chance(&rng, 25), &why);
	scene_end(&scene);
	if (!ktap_ok(!why.bad, "random case %llu: %lu calls, %lu pages in %lu runs",
		     (unsigned long long)seed, move_totals.calls,
		     move_totals.pages, move_totals.runs))
		show(seed, i, &plan, &call, &why);
}
