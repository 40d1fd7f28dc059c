// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named cases of UFFDIO_MOVE: obstacles in a range, overlaps, edges of page tables,
 * folios, and what the statistics and the tracepoint say of it.
 *
 * Each is made on twins and compared as the random ones are; what the call has to
 * return is written down besides.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "move.h"

#define ORDER	4
#define SIZE	(1U << ORDER)

/* The window of all cases: two page tables to move from, two to move to. */
#define AREA	(2 * PMD_PAGES)
#define DST	AREA

static struct layout lay;
static struct scene scene;

const char *no_move(void)
{
	if (!(sys.uffd_features & UFFD_FEATURE_MOVE) ||
	    !(sys.uffd_features & UFFD_FEATURE_SIGBUS))
		return "no UFFDIO_MOVE; boot Linux 6.8 or later with CONFIG_USERFAULTFD=y";
	return NULL;
}

const char *no_move_64k(void)
{
	if (!(sys.orders & (1U << ORDER)))
		return "no folios of 64 KiB here; boot Linux 6.8 or later with CONFIG_TRANSPARENT_HUGEPAGE=y";
	return no_move();
}

const char *no_move_2m(void)
{
	if (!(sys.orders & (1U << PMD_ORDER)))
		return "no folios of 2 MiB here; boot with CONFIG_TRANSPARENT_HUGEPAGE=y";
	return no_move();
}

static const char *no_swap(void)
{
	if (!sys.swap)
		return "no swap area; boot with CONFIG_SWAP=y, CONFIG_CONFIGFS_FS=y and CONFIG_BLK_DEV_NULL_BLK=y, run as root";
	return no_move();
}

static const char *no_ksm(void)
{
	return sys.ksm ? no_move() : "no merging; boot with CONFIG_KSM=y";
}

/* ------------------------------------------------------------------------- */
/* Steps of a case                                                           */

static void begin(void)
{
	move_begin();
	layout_init(&lay, 2 * AREA);
	layout_add(&lay, OP_ANON, 0, AREA, PMD_ORDER, LAY_EMPTY, 0);
	layout_add(&lay, OP_ANON, DST, AREA, PMD_ORDER, LAY_EMPTY, 0);
}

static void put(uint32_t page, uint32_t nr, unsigned int order)
{
	layout_add(&lay, OP_FILL, page, nr, order, 0, 11);
}

static void change(enum op_kind kind, uint32_t page, uint32_t nr, uint32_t a)
{
	layout_add(&lay, kind, page, nr, a, 0, 5);
}

static void make(struct why *why)
{
	layout_add(&lay, OP_UFFD, DST, AREA, UFFD_MISSING, 0, 0);
	scene_make(&scene, &lay, 2);
	twins_alike(&scene, why);
}

/* A call that is to move @moved pages and end with @err. */
static void expect(uint32_t src, uint32_t dst, uint32_t nr, uint64_t mode,
		   int err, uint32_t moved, struct why *why)
{
	const struct move_call call = {
		.src = src, .dst = dst, .nr = nr, .mode = mode,
	};
	const int64_t bytes = moved ? (int64_t)moved << PAGE_SHIFT : -err;

	if (why->bad || !move_twins(&scene, &call, why))
		return;
	if (move_answers[1].err != err || move_answers[1].moved != bytes)
		wrong(why, "moving [%u, %u) to %u gave errno %d and .move %lld, not %d and %lld",
		      src, src + nr, dst, move_answers[1].err,
		      (long long)move_answers[1].moved, err, (long long)bytes);
}

/* What the last call with the switch on did of it by the run. */
static void expect_runs(unsigned long runs, unsigned long pages, struct why *why)
{
	const struct stats *stats = &move_answers[1].stats;

	if (stats->runs != runs || stats->pages != pages)
		wrong(why, "on: %lu runs of %lu pages are counted, not %lu of %lu",
		      stats->runs, stats->pages, runs, pages);
}

static void finish(struct why *why)
{
	if (!why->bad)
		move_look(&scene, why);
	if (!why->bad)
		move_epilogue(&scene, true, true, why);
	scene_end(&scene);
}

/* The order of a page's folio, in the window off or on. */
static unsigned int order_at(bool on, uint32_t page)
{
	return move_answers[on].obs[page].order;
}

/* Are all pages there of folios of this order, once looked at? */
static void expect_order(bool on, uint32_t page, uint32_t nr, unsigned int order,
			 struct why *why)
{
	for (uint32_t i = page; i < page + nr && !why->bad; i++)
		if (order_at(on, i) != order)
			wrong(why, "%s: page %u is of a folio of order %u, not %u",
			      on ? "on" : "off", i, order_at(on, i), order);
}

/* ------------------------------------------------------------------------- */
/* Lengths and edges                                                         */

static void one_page(struct why *why)
{
	begin();
	put(0, 8, 0);
	make(why);
	expect(3, DST + 3, 1, 0, 0, 1, why);
	expect_runs(0, 0, why);
	finish(why);
}

static void two_pages(struct why *why)
{
	begin();
	put(0, 8, 0);
	make(why);
	expect(3, DST + 100, 2, 0, 0, 2, why);
	expect_runs(1, 2, why);
	finish(why);
}

static void table_edges(struct why *why)
{
	begin();
	put(400, 300, 0);
	make(why);
	/* Up to the last entry of both tables, and not further. */
	expect(500, DST + 500, 12, 0, 0, 12, why);
	expect_runs(1, 12, why);
	/* Over the edge of the source's. */
	expect(490, DST + 20, 10, 0, 0, 10, why);
	expect(512, DST + 30, 20, 0, 0, 20, why);
	finish(why);

	begin();
	put(400, 300, 0);
	make(why);
	expect(490, DST + 20, 40, 0, 0, 40, why);
	expect_runs(2, 40, why);
	/* Over that of the destination's, and both at different places. */
	expect(540, DST + 500, 40, 0, 0, 40, why);
	expect_runs(2, 40, why);
	finish(why);

	begin();
	put(400, 300, 0);
	make(why);
	expect(500, DST + 505, 40, 0, 0, 40, why);
	expect_runs(3, 40, why);
	finish(why);
}

static void long_range(struct why *why)
{
	begin();
	put(0, AREA, 0);
	make(why);
	expect(0, DST, AREA, 0, 0, AREA, why);
	expect_runs(2, AREA, why);
	finish(why);
}

/* ------------------------------------------------------------------------- */
/* Obstacles                                                                 */

static void holes(uint32_t hole, struct why *why)
{
	const uint32_t at = 100, nr = 40;

	begin();
	put(at, nr, 0);
	change(OP_DONTNEED, at + hole, 2, 0);
	make(why);
	expect(at, DST + at, nr, 0, hole ? EAGAIN : ENOENT, hole, why);
	expect(at + hole, DST + at + hole, nr - hole, 0, ENOENT, 0, why);
	expect(at + hole, DST + at + hole, nr - hole, HOLES, 0, nr - hole, why);
	finish(why);
}

static void hole_first(struct why *why)
{
	holes(0, why);
}

static void hole_middle(struct why *why)
{
	holes(17, why);
}

static void hole_last(struct why *why)
{
	holes(38, why);
}

static void occupied(struct why *why)
{
	begin();
	put(0, 64, 0);
	put(DST + 20, 3, 0);
	make(why);
	expect(0, DST, 64, 0, EAGAIN, 20, why);
	expect_runs(1, 20, why);
	expect(20, DST + 20, 44, 0, EEXIST, 0, why);
	expect(23, DST + 23, 41, 0, 0, 41, why);
	finish(why);
}

static void pinned(struct why *why)
{
	begin();
	put(0, 64, 0);
	change(OP_PIN, 30, 2, 0);
	make(why);
	expect(0, DST, 64, 0, EAGAIN, 30, why);
	expect_runs(1, 30, why);
	expect(30, DST + 30, 34, 0, EBUSY, 0, why);
	expect(31, DST + 31, 33, 0, EBUSY, 0, why);
	expect(32, DST + 32, 32, 0, 0, 32, why);
	finish(why);
}

static void merged(struct why *why)
{
	begin();
	change(OP_MERGEABLE, 0, AREA, 0);
	layout_add(&lay, OP_KSM, 20, 10, 1, 0, 7);
	put(0, 20, 0);
	put(30, 20, 0);
	make(why);
	expect(0, DST, 50, 0, EAGAIN, 20, why);
	expect(20, DST + 20, 30, 0, EBUSY, 0, why);
	expect(30, DST + 30, 20, 0, 0, 20, why);
	finish(why);
}

static void forked(uint32_t stays, struct why *why)
{
	begin();
	put(0, 64, 0);
	change(OP_FORK, 0, 0, stays);
	/* Exclusive again. */
	change(OP_WRITE, 0, 20, 100);
	change(OP_WRITE, 40, 24, 100);
	make(why);
	expect(0, DST, 64, 0, EAGAIN, 20, why);
	expect(20, DST + 20, 44, 0, EBUSY, 0, why);
	expect(40, DST + 40, 24, 0, 0, 24, why);
	finish(why);
}

static void forked_alive(struct why *why)
{
	forked(1, why);
}

static void forked_gone(struct why *why)
{
	forked(0, why);
}

static void locked(struct why *why)
{
	begin();
	put(0, 64, 0);
	change(OP_MLOCK, 0, AREA, 0);
	make(why);
	expect(0, DST, 64, 0, EINVAL, 0, why);
	finish(why);

	begin();
	put(0, 64, 0);
	change(OP_MLOCK, 0, AREA, 0);
	layout_add(&lay, OP_UFFD, DST, AREA, UFFD_MISSING, 0, 0);
	change(OP_MLOCK, DST, AREA, 0);
	make(why);
	expect(0, DST, 64, 0, 0, 64, why);
	finish(why);
}

static void protected(struct why *why)
{
	begin();
	put(0, 64, 0);
	change(OP_PROT, 0, AREA, PROT_NONE);
	make(why);
	expect(0, DST, 64, 0, EINVAL, 0, why);
	finish(why);
}

/* ------------------------------------------------------------------------- */
/* What is carried along                                                     */

static void zeroes(struct why *why)
{
	begin();
	put(0, 20, 0);
	layout_add(&lay, OP_FILL, 20, 5, 0, 1, 0);
	put(25, 20, 0);
	make(why);
	expect(0, DST + 7, 45, 0, 0, 45, why);
	expect_runs(1, 45, why);
	finish(why);
}

static void swapped(struct why *why)
{
	begin();
	put(0, 60, 0);
	change(OP_SWAP, 20, 10, 0);
	make(why);
	expect(0, DST + 7, 60, 0, 0, 60, why);
	expect_runs(1, 60, why);
	finish(why);
}

/* In the swap cache: those are left to the base, one by one. */
static void swap_cached(struct why *why)
{
	begin();
	put(0, 60, 0);
	change(OP_SWAP, 20, 10, 1);
	make(why);
	expect(0, DST + 7, 60, 0, 0, 60, why);
	finish(why);
}

static void dirty_or_not(struct why *why)
{
	begin();
	put(0, 64, 0);
	/* Through swap and back: read again they are clean, written to dirty. */
	change(OP_SWAP, 0, 64, 0);
	change(OP_READ, 0, 64, 100);
	change(OP_WRITE, 0, 64, 40);
	change(OP_SOFT_DIRTY, 0, 0, 0);
	change(OP_WRITE, 0, 64, 20);
	make(why);
	expect(0, DST, 64, 0, 0, 64, why);
	finish(why);
}

static void write_protected(struct why *why)
{
	begin();
	put(0, 64, 0);
	layout_add(&lay, OP_UFFD, 0, AREA, UFFD_WP, 0, 0);
	change(OP_UFFD_WP, 10, 20, 0);
	make(why);
	expect(0, DST, 64, 0, 0, 64, why);
	finish(why);
}

/* ------------------------------------------------------------------------- */
/* Overlaps, in one mapping                                                  */

static void one_area(uint32_t page, uint32_t nr, unsigned int order,
		     struct why *why)
{
	move_begin();
	layout_init(&lay, 2 * AREA);
	layout_add(&lay, OP_ANON, 0, 2 * AREA, PMD_ORDER, LAY_EMPTY, 0);
	put(page, nr, order);
	layout_add(&lay, OP_UFFD, 0, 2 * AREA, UFFD_MISSING, 0, 0);
	scene_make(&scene, &lay, 2);
	twins_alike(&scene, why);
}

/* Down: each page makes room for one behind it. */
static void overlap_down(uint32_t by, unsigned int order, struct why *why)
{
	const uint32_t at = 2 * PMD_PAGES, nr = 700;

	one_area(at, nr, order, why);
	expect(at, at - by, nr, 0, 0, nr, why);
	finish(why);
}

/*
 * Up: the second page is in the way. With holes behind it, the same pages are moved
 * again and again to the end.
 */
static void overlap_up(uint32_t by, struct why *why)
{
	const uint32_t at = 600, nr = by + by / 2 + 5;

	one_area(at, by + 3, 0, why);
	expect(at, at + by, by + 3, 0, EEXIST, 0, why);
	finish(why);

	one_area(at, by, 0, why);
	expect(at, at + by, nr, HOLES, 0, nr, why);
	finish(why);
}

static void overlap_1(struct why *why)
{
	overlap_down(1, 0, why);
	overlap_up(1, why);
}

static void overlap_7(struct why *why)
{
	overlap_down(7, 0, why);
	overlap_up(7, why);
}

static void overlap_512(struct why *why)
{
	overlap_down(PMD_PAGES, 0, why);
	overlap_up(PMD_PAGES, why);
}

static void overlap_folios(struct why *why)
{
	overlap_down(SIZE, ORDER, why);
	overlap_down(SIZE / 2, ORDER, why);
	overlap_down(3 * SIZE, ORDER, why);
}

/* ------------------------------------------------------------------------- */
/* Large folios                                                              */

#define SPLITS	"/sys/kernel/mm/transparent_hugepage/hugepages-64kB/stats/split"

/* Folios that were split by a call of one window alone. */
static unsigned long splits_of(const struct move_call *call, bool on,
			       struct why *why)
{
	const unsigned long before = number_read(SPLITS);
	int64_t moved;

	switch_set(on);
	if (move_ioctl(&scene, &scene.win[on], call, &moved) ||
	    moved != (int64_t)call->nr << PAGE_SHIFT)
		wrong(why, "%s: .move is %lld", on ? "on" : "off", (long long)moved);
	return number_read(SPLITS) - before;
}

static void folios_whole(struct why *why)
{
	const struct move_call call = { .src = 2 * SIZE, .dst = DST, .nr = 8 * SIZE };
	unsigned long off, on;

	begin();
	put(0, 12 * SIZE, ORDER);
	make(why);
	off = splits_of(&call, false, why);
	on = splits_of(&call, true, why);
	if (!why->bad && (off != 8 || on))
		wrong(why, "%lu folios are split off, %lu on; not 8 and none", off,
		      on);
	if (!why->bad)
		move_look(&scene, why);
	expect_order(false, DST, 8 * SIZE, 0, why);
	expect_order(true, DST, 8 * SIZE, ORDER, why);
	finish(why);
}

static void folios_shifted(struct why *why)
{
	begin();
	put(0, 12 * SIZE, ORDER);
	make(why);
	expect(0, DST + 1, 4 * SIZE, 0, 0, 4 * SIZE, why);
	expect(4 * SIZE, DST + 5 * SIZE + 8, 4 * SIZE, 0, 0, 4 * SIZE, why);
	finish(why);
}

/* The folios at both ends are partly outside; the others stay whole. */
static void folios_partly(struct why *why)
{
	begin();
	put(0, 8 * SIZE, ORDER);
	make(why);
	expect(1, DST + 1, 8 * SIZE - 2, 0, 0, 8 * SIZE - 2, why);
	if (!why->bad)
		move_look(&scene, why);
	expect_order(true, DST + 1, SIZE - 1, 0, why);
	expect_order(true, DST + SIZE, 6 * SIZE, ORDER, why);
	expect_order(true, DST + 7 * SIZE, SIZE - 1, 0, why);
	finish(why);
}

static void folios_gaps(struct why *why)
{
	begin();
	put(0, 8 * SIZE, ORDER);
	change(OP_DONTNEED, 0, 1, 0);
	change(OP_DONTNEED, 2 * SIZE - 1, 1, 0);
	change(OP_DONTNEED, 2 * SIZE + 5, 1, 0);
	put(DST + 4 * SIZE + 3, 1, 0);
	make(why);
	expect(0, DST, 8 * SIZE, HOLES, EAGAIN, 4 * SIZE + 3, why);
	expect(4 * SIZE + 4, DST + 4 * SIZE + 4, 4 * SIZE - 4, HOLES, 0,
	       4 * SIZE - 4, why);
	finish(why);
}

static void folio_2m(bool ptes, struct why *why)
{
	begin();
	put(0, PMD_PAGES, PMD_ORDER);
	if (ptes)
		change(OP_PTEMAP, 0, PMD_PAGES, 0);
	make(why);
	expect(0, DST, PMD_PAGES, 0, 0, PMD_PAGES, why);
	if (!why->bad)
		move_look(&scene, why);
	expect_order(true, DST, PMD_PAGES, PMD_ORDER, why);
	finish(why);
}

static void folio_2m_ptes(struct why *why)
{
	folio_2m(true, why);
}

static void folio_2m_pmd(struct why *why)
{
	folio_2m(false, why);
}

static void folio_2m_pieces(struct why *why)
{
	begin();
	put(0, PMD_PAGES, PMD_ORDER);
	make(why);
	expect(0, DST, 100, 0, 0, 100, why);
	expect(100, DST + 300, PMD_PAGES - 100, 0, 0, PMD_PAGES - 100, why);
	finish(why);
}

static void huge_zero(struct why *why)
{
	begin();
	layout_add(&lay, OP_FILL, 0, 1, PMD_ORDER, 1, 0);
	make(why);
	expect(0, DST, PMD_PAGES, 0, 0, PMD_PAGES, why);
	expect(DST, 0, 20, 0, EINVAL, 0, why);
	finish(why);
}

/*
 * A folio with pages full of zeroes. When the base splits one it puts the zero page in
 * their place, as any split does; what stays large keeps them. So memory use, and all
 * that is told of such pages, differs as it does between folios of two sizes; what
 * they hold does not.
 */
static void folios_of_zeroes(struct why *why)
{
	const struct move_call call = { .src = 0, .dst = DST, .nr = 4 * SIZE };
	static uint64_t map[2][4 * SIZE];
	static uint32_t stamps[2][4 * SIZE];

	begin();
	put(0, 4 * SIZE, ORDER);
	make(why);
	for (int i = 0; i < 2; i++) {
		uint32_t written = 0;

		for (uint32_t page = 3; page < 4 * SIZE; page += 5)
			poke(page_at(&scene.win[i], page), 0);
		splits_of(&call, i, why);
		pagemap_read(page_at(&scene.win[i], DST), 4 * SIZE, map[i]);
		stamps_read(page_at(&scene.win[i], DST), 4 * SIZE, map[i],
			    stamps[i]);
		for (uint32_t page = 0; page < 4 * SIZE; page++)
			written += (map[i][page] & PM_PFN) != sys.zero_pfn;
		if (i && written != 4 * SIZE)
			wrong(why, "on: %u pages of %u are left", written, 4 * SIZE);
	}
	for (uint32_t page = 0; page < 4 * SIZE; page++)
		if (stamps[0][page] != stamps[1][page])
			wrong(why, "page %u holds 0x%x off, 0x%x on", page,
			      stamps[0][page], stamps[1][page]);
	if (!why->bad)
		no_leaks(&scene.win[1], why);
	scene_end(&scene);
}

/*
 * Which pages are dirty, and which may vanish, is left as it was in a folio that stays
 * whole. (The base's split makes all dirty if one is.)
 */
static void folios_clean(struct why *why)
{
	static const char *const names[] = {
		"Private_Dirty", "Private_Clean", "LazyFree", "Rss",
	};
	const struct move_call call = { .src = 0, .dst = DST, .nr = 8 * SIZE };
	struct smaps before, after;

	begin();
	put(0, 8 * SIZE, ORDER);
	change(OP_FREE, 0, 8 * SIZE, 0);
	change(OP_WRITE, 0, 4 * SIZE, 30);
	make(why);
	smaps_read(scene.win[1].base, scene.win[1].nr, &before);
	splits_of(&call, true, why);
	smaps_read(scene.win[1].base, scene.win[1].nr, &after);
	for (uint32_t i = 0; i < before.nr && i < after.nr; i++)
		for (uint32_t k = 0; k < ARRAY_SIZE(names); k++)
			if (!strcmp(before.names[i], names[k]) &&
			    before.kb[i] != after.kb[i])
				wrong(why, "on: %s was %lu kB before, and is %lu kB now",
				      names[k], before.kb[i], after.kb[i]);
	splits_of(&call, false, why);
	if (!why->bad)
		move_look(&scene, why);
	if (!why->bad)
		move_epilogue(&scene, false, true, why);
	scene_end(&scene);
}

/* What stayed large is moved again, page by page, swapped, and shared. */
static void folios_used_after(struct why *why)
{
	const struct op swap = { .kind = OP_SWAP, .page = DST, .nr = 4 * SIZE };
	const struct op fork = { .kind = OP_FORK };
	const struct op write = {
		.kind = OP_WRITE, .page = DST + 4 * SIZE, .nr = 4 * SIZE, .a = 60,
	};

	begin();
	put(0, 12 * SIZE, ORDER);
	make(why);
	expect(0, DST, 12 * SIZE, 0, 0, 12 * SIZE, why);
	scene_apply(&scene, &swap);
	scene_apply(&scene, &fork);
	scene_apply(&scene, &write);
	finish(why);
}

/* ------------------------------------------------------------------------- */
/* The switch, the statistics, the tracepoint                                */

static void call_one(bool on, const struct move_call *call, struct why *why)
{
	int64_t moved;
	int err;

	for (int i = 0; i < 2; i++) {
		/* The first window stays off. */
		switch_set(i && on);
		err = move_ioctl(&scene, &scene.win[i], call, &moved);
		if (err || moved != (int64_t)call->nr << PAGE_SHIFT)
			wrong(why, "%s: errno %d, .move %lld",
			      i ? "on, then off" : "off", err, (long long)moved);
	}
}

/* There and back, and there: each time the other way. */
static void switched(struct why *why)
{
	const struct move_call there = { .src = 0, .dst = DST, .nr = 8 * SIZE };
	const struct move_call back = { .src = DST, .dst = 0, .nr = 8 * SIZE };

	for (int first = 0; first < 2; first++) {
		begin();
		layout_add(&lay, OP_FILL, 0, 4 * SIZE, ORDER, 0, 11);
		put(4 * SIZE, 4 * SIZE, 0);
		layout_add(&lay, OP_UFFD, 0, AREA, UFFD_MISSING, 0, 0);
		make(why);
		call_one(first, &there, why);
		call_one(!first, &back, why);
		call_one(first, &there, why);
		finish(why);
	}
}

static void statistics(struct why *why)
{
	begin();
	put(0, 64, 0);
	put(DST + 40, 1, 0);
	make(why);
	expect(0, DST, 32, 0, 0, 32, why);
	expect_runs(1, 32, why);
	if (move_answers[1].stats.fallbacks)
		wrong(why, "on: a fallback is counted though all was moved");
	expect(32, DST + 32, 32, 0, EAGAIN, 8, why);
	expect_runs(1, 8, why);
	if (!move_answers[1].stats.fallbacks)
		wrong(why, "on: no fallback is counted though the run was cut short");
	finish(why);
}

#define EVENT	"pagerun_move"

static const char *no_events(void)
{
	return no_tracefs() ? no_tracefs() : no_move_64k();
}

static void check_event(const char *line, const struct move_call *call,
			uint32_t large, struct why *why)
{
	const struct window *win = &scene.win[1];
	char text[120];

	snprintf(text, sizeof(text), "src=0x%lx dst=0x%lx nr=%u large=%u",
		 (unsigned long)page_at(win, call->src),
		 (unsigned long)page_at(win, call->dst), call->nr, large);
	if (!strstr(line, text))
		wrong(why, "the event is '%s', without '%s'", line, text);
}

static void tracepoint(struct why *why)
{
	const struct move_call call = { .src = 0, .dst = DST, .nr = SIZE + 20 };
	char line[400] = "";
	int64_t moved;

	begin();
	put(0, SIZE, ORDER);
	put(SIZE, 20, 0);
	make(why);
	trace_begin(EVENT);
	for (int on = 0; on < 2; on++) {
		switch_set(on);
		trace_clear();
		move_ioctl(&scene, &scene.win[on], &call, &moved);
		if (trace_read(EVENT, line, sizeof(line)) != on)
			wrong(why, "%s: there is %s event", on ? "on" : "off",
			      on ? "no" : "an");
	}
	trace_end(EVENT);
	check_event(line, &call, SIZE, why);
	finish(why);
}

/* ------------------------------------------------------------------------- */

const struct named move_cases[] = {
	{ "one page", no_move, one_page },
	{ "two pages", no_move, two_pages },
	{ "edges of page tables", no_move, table_edges },
	{ "two page tables in one call", no_move, long_range },
	{ "hole at the start", no_move, hole_first },
	{ "hole in the middle", no_move, hole_middle },
	{ "hole at the end", no_move, hole_last },
	{ "destination occupied in the middle", no_move, occupied },
	{ "pinned half-way", no_move, pinned },
	{ "merged by KSM in the middle", no_ksm, merged },
	{ "shared with a child", no_move, forked_alive },
	{ "was shared with a child", no_move, forked_gone },
	{ "mlocked", no_move, locked },
	{ "no access", no_move, protected },
	{ "zero pages in the middle", no_move, zeroes },
	{ "swapped out in the middle", no_swap, swapped },
	{ "swap cache in the middle", no_swap, swap_cached },
	{ "dirty and soft-dirty, or not", no_swap, dirty_or_not },
	{ "write-protected by userfaultfd", no_move, write_protected },
	{ "overlap, one page apart", no_move, overlap_1 },
	{ "overlap, 7 pages apart", no_move, overlap_7 },
	{ "overlap, 512 pages apart", no_move, overlap_512 },
	{ "overlap of 64k folios", no_move_64k, overlap_folios },
	{ "64k folios stay whole", no_move_64k, folios_whole },
	{ "64k folios to another place in their size", no_move_64k, folios_shifted },
	{ "64k folios partly outside", no_move_64k, folios_partly },
	{ "64k folios with gaps, and in the way", no_move_64k, folios_gaps },
	{ "64k folios with pages that are clean", no_move_64k, folios_clean },
	{ "64k folios with pages full of zeroes", no_move_64k, folios_of_zeroes },
	{ "64k folios moved, then swapped, shared, written", no_move_64k,
	  folios_used_after },
	{ "2M folio mapped by pages", no_move_2m, folio_2m_ptes },
	{ "2M folio mapped whole", no_move_2m, folio_2m_pmd },
	{ "2M folio in pieces", no_move_2m, folio_2m_pieces },
	{ "huge zero page", no_move_2m, huge_zero },
	{ "switched between two calls", no_move_64k, switched },
	{ "statistics", no_move, statistics },
	{ "tracepoint", no_events, tracepoint },
};

const unsigned int nr_move_cases = ARRAY_SIZE(move_cases);
