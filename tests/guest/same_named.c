// SPDX-License-Identifier: GPL-2.0-only
/*
 * The named cases: layouts that are hard for somebody who takes pages by the
 * run, one a test, and proof that the comparison would notice.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "same.h"

/* The folios of most cases: 64 KiB, at pages 16 to 31 of the window. */
#define ORDER	4
#define SIZE	(1U << ORDER)
#define AT	16U

#define WRITE	PAGERUN_TEST_WRITE
#define LONG	PAGERUN_TEST_LONGTERM

/* All ways to take pages. */
static const struct {
	uint32_t op, flags;
} ways[] = {
	{ PAGERUN_TEST_GET, 0 },
	{ PAGERUN_TEST_GET, WRITE },
	{ PAGERUN_TEST_GET_FAST, 0 },
	{ PAGERUN_TEST_GET_FAST, WRITE },
	{ PAGERUN_TEST_PIN, 0 },
	{ PAGERUN_TEST_PIN, WRITE },
	{ PAGERUN_TEST_PIN, LONG },
	{ PAGERUN_TEST_PIN, WRITE | LONG },
};

/* What the first call is to give with the switch on; -1: no matter. */
struct want {
	long ret, runs, pages;
};

static const struct want any = { -1, -1, -1 };

static const char *no_uffd(void)
{
	return sys.uffd_wp ? no_64k() :
	       "no write protection by userfaultfd; boot with CONFIG_USERFAULTFD=y, run as root";
}

static const char *no_pkeys(void)
{
	return sys.pkeys ? no_64k() :
	       "no protection keys; run on a CPU that has them (QEMU: -cpu max)";
}

static const char *no_shmem(void)
{
	return sys.shmem_orders & (1U << ORDER) ? NULL :
	       "no shmem folios of 64 KiB; boot Linux 6.11 or later with CONFIG_TRANSPARENT_HUGEPAGE=y";
}

static const char *no_memfd(void)
{
	return sys.shmem_huge ? NULL :
	       "no large folios in memfds; boot with CONFIG_TRANSPARENT_HUGEPAGE=y, CONFIG_SHMEM=y";
}

static const char *no_tmpfs(void)
{
	return sys.tmpfs >= 0 ? NULL :
	       "no tmpfs with huge=always can be mounted below /tmp; run as root with CONFIG_TMPFS=y";
}

static const char *no_ramfs(void)
{
	return sys.ramfs >= 0 ? NULL :
	       "no ramfs can be mounted below /tmp; run as root";
}

static const char *no_hugetlb(void)
{
	return sys.hugetlb ? NULL :
	       "no 16 hugetlb pages; boot with CONFIG_HUGETLBFS=y and hugepages=16";
}

static const char *no_secretmem(void)
{
	return sys.secretmem ? NULL :
	       "no memfd_secret(); boot with CONFIG_SECRETMEM=y and secretmem.enable=1";
}

static const char *no_swap(void)
{
	return sys.swap ? no_64k() :
	       "no swap area; boot with CONFIG_SWAP=y, CONFIG_CONFIGFS_FS=y and CONFIG_BLK_DEV_NULL_BLK=y, run as root";
}

static const char *no_swap_shmem(void)
{
	return no_swap() ? no_swap() : no_shmem();
}

static const char *no_ksm(void)
{
	return sys.ksm ? no_64k() :
	       "no merging of memory; boot with CONFIG_KSM=y, run as root";
}

/* ------------------------------------------------------------------------- */
/* Helpers                                                                   */

static bool wanted(const struct answer *on, const struct want *want,
		   struct why *why)
{
	if ((want->ret >= 0 && on->ret != want->ret) ||
	    (want->runs >= 0 && on->stats.runs != (unsigned long)want->runs) ||
	    (want->pages >= 0 && on->stats.pages != (unsigned long)want->pages))
		return wrong(why, "wanted: ret %ld runs %ld pages %ld (-1: any); got: ret %d runs %lu pages %lu",
			     want->ret, want->runs, want->pages, on->ret,
			     on->stats.runs, on->stats.pages);
	return true;
}

/* Compare one call both ways; @want is of the first call on new memory. */
static bool one_way(const struct layout *lay, const struct call *call,
		    const struct want *want, struct why *why)
{
	struct want first = *want;
	struct scene scene;
	bool ok;

	if (why->bad)
		return false;
	/* All memory is moved out of ZONE_MOVABLE first, by the slow path. */
	if (sys.movable && call->flags & LONG)
		first.runs = first.pages = -1;
	scene_make(&scene, lay, 2);
	ok = twins_alike(&scene, why) && ask_twins(&scene, call, why) &&
	     wanted(&answers[1], &first, why) && twins_content(&scene, why);
	/* The first window has now all the history that the call made. */
	ok = ok && ask_same_memory(&scene.win[0], call, why);
	scene_end(&scene);
	if (!ok) {
		char text[120], was[sizeof(why->text)];

		strcpy(was, why->text);
		call_text(call, text, sizeof(text));
		snprintf(why->text, sizeof(why->text), "%s: %.250s", text, was);
	}
	return ok;
}

/* The range in all ways. */
static bool all_ways(const struct layout *lay, uint32_t page, uint32_t nr,
		     const struct want *want, struct why *why)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct call call = {
			.page = page, .nr = nr,
			.op = ways[i].op, .flags = ways[i].flags,
			.on_first = i & 1, .off_early = i & 2,
			.count_held = i == 1 || i == 4 || i == 7,
			.young = page * 31 + i,
		};

		if (!one_way(lay, &call, want, why))
			return false;
	}
	return true;
}

static void one_folio(struct layout *lay, uint32_t nr)
{
	layout_init(lay, nr);
	layout_add(lay, OP_ANON, AT, SIZE, ORDER, 0, 1);
}

/* As above, with small folios before and behind. */
static void one_folio_between(struct layout *lay)
{
	one_folio(lay, 4 * AT);
	layout_add(lay, OP_ANON, 0, AT, 0, 0, 2);
	layout_add(lay, OP_ANON, AT + SIZE, AT, 0, 0, 3);
}

/* ------------------------------------------------------------------------- */
/* Where a run begins and ends                                               */

static struct layout lay;

static void whole_folio(struct why *why)
{
	const struct want want = { SIZE, 1, SIZE };

	one_folio(&lay, 4 * AT);
	if (!all_ways(&lay, AT, SIZE, &want, why))
		return;
	/* The last way was a pin. */
	for (uint32_t i = 0; i < SIZE; i++)
		if (answers[1].held[i].order != ORDER ||
		    answers[1].held[i].index != i ||
		    answers[1].held[i].pincount != (int)SIZE ||
		    answers[1].held[i].refcount != 2 * (int)SIZE)
			wrong(why, "page %u: order %u index %u pincount %d refcount %d",
			      i, answers[1].held[i].order, answers[1].held[i].index,
			      answers[1].held[i].pincount, answers[1].held[i].refcount);
}

static void one_short(struct why *why)
{
	const struct want both = { SIZE - 2, 1, SIZE - 2 };
	const struct want one = { SIZE - 1, 1, SIZE - 1 };

	one_folio(&lay, 4 * AT);
	all_ways(&lay, AT + 1, SIZE - 2, &both, why);
	all_ways(&lay, AT + 1, SIZE - 1, &one, why);
	all_ways(&lay, AT, SIZE - 1, &one, why);
}

static void one_page(struct why *why)
{
	const struct want want = { 1, 1, 1 };

	one_folio(&lay, 4 * AT);
	all_ways(&lay, AT, 1, &want, why);
	all_ways(&lay, AT + 7, 1, &want, why);
	all_ways(&lay, AT + SIZE - 1, 1, &want, why);
}

static void between_small(struct why *why)
{
	const struct want want = { SIZE + 2, 1, SIZE };

	one_folio_between(&lay);
	all_ways(&lay, AT - 1, SIZE + 2, &want, why);
	all_ways(&lay, 0, 3 * AT, &any, why);
}

static void next_to_nothing(struct why *why)
{
	const struct want want = { SIZE, 1, SIZE };

	one_folio(&lay, 4 * AT);
	all_ways(&lay, AT, SIZE + 1, &want, why);
	all_ways(&lay, AT - 1, SIZE + 1, &any, why);
}

static void two_tables(struct why *why)
{
	const struct want want = { SIZE, 2, SIZE };

	one_folio(&lay, 2 * PMD_PAGES);
	layout_add(&lay, OP_MOVE, AT, SIZE, PMD_PAGES - 5, 0, 0);
	all_ways(&lay, PMD_PAGES - 5, SIZE, &want, why);
}

static void four_tables(struct why *why)
{
	struct want want = { 4 * PMD_PAGES, 4 * PMD_PAGES / SIZE, 4 * PMD_PAGES };

	layout_init(&lay, 4 * PMD_PAGES);
	layout_add(&lay, OP_ANON, 0, lay.nr, ORDER, 0, 0);
	all_ways(&lay, 0, lay.nr, &want, why);
	/* Two folios are cut, so there is one run more than whole folios. */
	want = (struct want){ PMD_PAGES, PMD_PAGES / SIZE + 1, PMD_PAGES };
	one_way(&lay, &(struct call){
			.page = PMD_PAGES / 2 + 1, .nr = PMD_PAGES,
			.op = PAGERUN_TEST_PIN, .flags = WRITE }, &want, why);
}

static void every_size(struct why *why)
{
	for (unsigned int order = 1; order < PMD_ORDER; order++) {
		const uint32_t size = 1U << order;
		struct want want = { 2 * size, 2, 2 * size };

		if (!(sys.orders & (1U << order)))
			continue;
		layout_init(&lay, 4 * size);
		layout_add(&lay, OP_ANON, size, 2 * size, order, 0, 0);
		if (!all_ways(&lay, size, 2 * size, &want, why))
			return;
		/* The end of one and the beginning of the next. */
		want = (struct want){ size, 2, size };
		if (!one_way(&lay, &(struct call){
				.page = size + size / 2, .nr = size,
				.op = PAGERUN_TEST_PIN }, &want, why))
			return;
	}
}

static void by_ptes(struct why *why)
{
	struct want want = { PMD_PAGES, 1, PMD_PAGES };

	layout_init(&lay, 2 * PMD_PAGES);
	layout_add(&lay, OP_ANON, 0, 2 * PMD_PAGES, PMD_ORDER, 0, 0);
	layout_add(&lay, OP_PTEMAP, 0, PMD_PAGES, 0, 0, 0);
	all_ways(&lay, 0, PMD_PAGES, &want, why);
	want = (struct want){ PMD_PAGES - 2, 1, PMD_PAGES - 2 };
	all_ways(&lay, 1, PMD_PAGES - 2, &want, why);
	/* On into a folio that has a PMD entry of its own. */
	want = (struct want){ PMD_PAGES, 1, PMD_PAGES / 2 };
	all_ways(&lay, PMD_PAGES / 2, PMD_PAGES, &want, why);
}

static void by_pmd(struct why *why)
{
	const struct want want = { PMD_PAGES, 0, 0 };

	layout_init(&lay, PMD_PAGES);
	layout_add(&lay, OP_ANON, 0, PMD_PAGES, PMD_ORDER, 0, 0);
	all_ways(&lay, 0, PMD_PAGES, &want, why);
}

/* ------------------------------------------------------------------------- */
/* Sharing                                                                   */

static void dontfork_write(struct why *why)
{
	const struct call fast = {
		.page = AT, .nr = SIZE, .op = PAGERUN_TEST_GET_FAST, .flags = WRITE,
	};
	const struct want one = { 1, 1, 1 };

	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_DONTFORK, AT, 1, 0, 0, 0);
	layout_add(&lay, OP_FORK, 0, 0, 1, 0, 0);
	/* The head is writable, its neighbour must not be written to. */
	one_way(&lay, &fast, &one, why);
	all_ways(&lay, AT, SIZE, &any, why);

	/* And the other way round: the last page alone is writable. */
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_DONTFORK, AT + SIZE - 1, 1, 0, 0, 0);
	layout_add(&lay, OP_FORK, 0, 0, 1, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
}

/*
 * Every page of the folio exclusive or shared, writable or not, at random. GUP-fast
 * ends at the first page that it cannot take, so calls begin everywhere.
 */
static void dontfork_mixes(struct why *why)
{
	struct rng rng = { .state = 4711 };
	struct call call = { .op = PAGERUN_TEST_PIN };
	uint32_t page;

	for (int round = 0; round < 6 && !why->bad; round++) {
		one_folio_between(&lay);
		for (page = AT; page < AT + SIZE; page++)
			if (rng_chance(&rng, 60))
				layout_add(&lay, OP_DONTFORK, page, 1, 0, 0, 0);
		layout_add(&lay, OP_FORK, 0, 0, round & 1, 0, 0);
		if (round & 2)
			layout_add(&lay, OP_PROT, AT, SIZE, PROT_READ, 0, 0);
		else
			layout_add(&lay, OP_PROT, AT + rng_below(&rng, SIZE),
				   1 + rng_below(&rng, SIZE), PROT_READ, 0, 0);
		for (uint32_t i = 0; i < 8 && !why->bad; i++) {
			call.page = AT + rng_below(&rng, SIZE);
			call.nr = AT + SIZE + 2 - call.page;
			call.flags = i & 1 ? LONG : 0;
			call.on_first = i & 2;
			one_way(&lay, &call, &any, why);
		}
	}
	all_ways(&lay, AT - 2, SIZE + 4, &any, why);
}

/* Entries that are alike to the bit, of exclusive and of shared pages. */
static void stops_at_shared(struct why *why)
{
	const struct call pin = {
		.page = AT, .nr = SIZE, .op = PAGERUN_TEST_PIN,
		.count_held = true,
	};
	const struct want want = { SIZE, 1, SIZE / 2 };

	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_DONTFORK, AT, SIZE / 2, 0, 0, 0);
	layout_add(&lay, OP_FORK, 0, 0, 1, 0, 0);
	layout_add(&lay, OP_PROT, AT, SIZE, PROT_READ, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
	all_ways(&lay, AT + 3, SIZE - 3, &any, why);
	if (!one_way(&lay, &pin, &want, why))
		return;

	/* Again, to see the first call: the shared half must be copied. */
	struct scene scene;

	scene_make(&scene, &lay, 2);
	ask_twins(&scene, &pin, why);
	scene_end(&scene);
	for (int on = 0; on < 2; on++) {
		for (uint32_t i = 0; i < SIZE; i++)
			if (answers[on].held[i].order != (i < SIZE / 2 ? ORDER : 0) ||
			    !(answers[on].held[i].flags & PAGERUN_TEST_PAGE_EXCLUSIVE))
				wrong(why, "switch %d: page %u of order %u has flags 0x%x",
				      on, i, answers[on].held[i].order,
				      answers[on].held[i].flags);
		/* One attempt at a shared page was taken back. */
		if (answers[on].hold.acquired != SIZE + 1 ||
		    answers[on].hold.released != 1)
			wrong(why, "switch %d: %llu pins acquired, %llu released", on,
			      (unsigned long long)answers[on].hold.acquired,
			      (unsigned long long)answers[on].hold.released);
	}
}

static void child_gone(struct why *why)
{
	one_folio_between(&lay);
	layout_add(&lay, OP_FORK, 0, 0, 0, 0, 0);
	all_ways(&lay, AT - 1, SIZE + 2, &any, why);
}

static void copied_pages(struct why *why)
{
	one_folio_between(&lay);
	layout_add(&lay, OP_FORK, 0, 0, 1, 0, 0);
	layout_add(&lay, OP_WRITE, AT + 3, 4, 100, 0, 1);
	layout_add(&lay, OP_WRITE, AT + 9, 1, 100, 0, 1);
	all_ways(&lay, AT - 1, SIZE + 2, &any, why);
}

static void exclusive_readonly(struct why *why)
{
	const struct want want = { SIZE, 1, SIZE };
	const struct call pin = {
		.page = AT, .nr = SIZE, .op = PAGERUN_TEST_PIN,
	};

	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_PROT, AT, SIZE, PROT_READ, 0, 0);
	one_way(&lay, &pin, &want, why);
	all_ways(&lay, AT, SIZE, &any, why);
}

/* ------------------------------------------------------------------------- */
/* Entries that differ                                                       */

static void hole(struct why *why)
{
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_DONTNEED, AT + 7, 1, 0, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_DONTNEED, AT, 1, 0, 0, 0);
	layout_add(&lay, OP_DONTNEED, AT + 9, 3, 0, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
}

static void unmapped_piece(struct why *why)
{
	const struct want want = { 7, 1, 7 };

	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_MUNMAP, AT + 7, 2, 0, 0, 0);
	all_ways(&lay, AT, SIZE, &want, why);
	all_ways(&lay, AT + 8, 4, &any, why);
	all_ways(&lay, AT + 9, 4, &any, why);
}

static void wp_by_uffd(struct why *why)
{
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_UFFD_WP, AT + 7, 1, 0, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);

	/*
	 * All the others read-only too, so that this bit alone differs. No answer
	 * depends on it, but it is to end a run.
	 */
	layout_add(&lay, OP_PROT, AT, SIZE, PROT_READ, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
	one_way(&lay, &(struct call){
			.page = AT, .nr = SIZE, .op = PAGERUN_TEST_GET,
		}, &(struct want){ SIZE, 3, SIZE }, why);

	layout_init(&lay, PMD_PAGES);
	layout_add(&lay, OP_ANON, 0, PMD_PAGES, PMD_ORDER, 0, 0);
	layout_add(&lay, OP_UFFD_WP, 100, 1, 0, 0, 0);
	all_ways(&lay, 0, PMD_PAGES, &any, why);
}

static void prot_none(struct why *why)
{
	const struct want want = { 7, 1, 7 };

	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_PROT, AT + 7, 1, PROT_NONE, 0, 0);
	all_ways(&lay, AT, SIZE, &want, why);
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_PROT, AT, SIZE, PROT_NONE, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
}

static void prot_read(struct why *why)
{
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_PROT, AT + 7, 3, PROT_READ, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_PROT, AT, 3, PROT_READ, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
}

static void keys(struct why *why)
{
	for (uint32_t noaccess = 0; noaccess < 2; noaccess++) {
		one_folio(&lay, 4 * AT);
		layout_add(&lay, OP_PKEY, AT + 7, 2, noaccess, 0, 0);
		all_ways(&lay, AT, SIZE, &any, why);
	}
}

static void one_run_nevertheless(struct why *why)
{
	const struct want want = { SIZE, 1, SIZE };
	const struct call read = {
		.page = AT, .nr = SIZE, .op = PAGERUN_TEST_GET, .young = 99,
	};

	/* All clean and old, then some not; all are writable. */
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_FREE, AT, SIZE, 0, 0, 0);
	layout_add(&lay, OP_WRITE, AT + 5, 4, 100, 0, 1);
	all_ways(&lay, AT, SIZE, &want, why);

	/* Some soft-dirty, all read-only. */
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_SOFT_DIRTY, 0, 0, 0, 0, 0);
	layout_add(&lay, OP_WRITE, AT + 5, 4, 100, 0, 1);
	layout_add(&lay, OP_PROT, AT, SIZE, PROT_READ, 0, 0);
	one_way(&lay, &read, &want, why);
	all_ways(&lay, AT, SIZE, &any, why);
}

static void soft_dirty(struct why *why)
{
	one_folio_between(&lay);
	layout_add(&lay, OP_SOFT_DIRTY, 0, 0, 0, 0, 0);
	layout_add(&lay, OP_WRITE, 0, 3 * AT, 50, 0, 7);
	all_ways(&lay, AT - 1, SIZE + 2, &any, why);
}

static void locked(struct why *why)
{
	const struct want want = { SIZE + 2, 1, SIZE };

	one_folio_between(&lay);
	layout_add(&lay, OP_MLOCK, 0, 3 * AT, 0, 0, 0);
	all_ways(&lay, AT - 1, SIZE + 2, &want, why);
}

/* ------------------------------------------------------------------------- */
/* Pages in another order than in their folio                                */

static void reversed(struct why *why)
{
	const struct want want = { SIZE, 2, SIZE };

	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_REVERSE, AT, SIZE, 0, 0, 0);
	all_ways(&lay, AT, SIZE, &want, why);
}

static void misaligned(struct why *why)
{
	struct want want = { SIZE, 1, SIZE };

	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_MOVE, AT, SIZE, AT + SIZE + 5, 0, 0);
	all_ways(&lay, AT + SIZE + 5, SIZE, &want, why);

	/* The end of one folio before the beginning of the next. */
	layout_init(&lay, 8 * SIZE);
	layout_add(&lay, OP_ANON, 0, 2 * SIZE, ORDER, 0, 0);
	layout_add(&lay, OP_MOVE, 5, 2 * SIZE - 9, 3 * SIZE + 3, 0, 0);
	want = (struct want){ 2 * SIZE - 9, 2, 2 * SIZE - 9 };
	all_ways(&lay, 3 * SIZE + 3, 2 * SIZE - 9, &want, why);
}

static void gap_closed(struct why *why)
{
	const struct want want = { 10, 2, 10 };

	/* The pages on both sides of a gap side by side: PFNs jump. */
	one_folio(&lay, 4 * AT);
	layout_add(&lay, OP_MOVE, AT + 12, 4, AT + 6, 0, 0);
	all_ways(&lay, AT, 10, &want, why);
}

static void interleaved(struct why *why)
{
	const struct want want = { 2 * SIZE, 2 * SIZE, 2 * SIZE };

	layout_init(&lay, 4 * SIZE);
	layout_add(&lay, OP_ANON, 0, 2 * SIZE, ORDER, 0, 0);
	layout_add(&lay, OP_INTERLEAVE, 0, SIZE, SIZE, 0, 0);
	all_ways(&lay, 0, 2 * SIZE, &want, why);
}

static void in_a_row(struct why *why)
{
	/*
	 * Folios that come from one 2 MiB block, so that their PFNs go on: a run
	 * must end with its folio.
	 */
	const struct want want = { 8 * SIZE, 8, 8 * SIZE };

	layout_init(&lay, 8 * SIZE);
	layout_add(&lay, OP_ANON, 0, 8 * SIZE, ORDER, 0, 0);
	all_ways(&lay, 0, 8 * SIZE, &want, why);
	all_ways(&lay, 3, 7 * SIZE, &any, why);
}

/* ------------------------------------------------------------------------- */
/* Other kinds of memory                                                     */

static void shmem(struct why *why)
{
	const struct want want = { SIZE, 1, SIZE };

	layout_init(&lay, 4 * AT);
	layout_add(&lay, OP_SHMEM, AT, SIZE, ORDER, 0, 0);
	all_ways(&lay, AT, SIZE, &want, why);
	all_ways(&lay, AT + 1, SIZE, &any, why);
}

static void memfd(struct why *why)
{
	/* At an odd place of the file, so never by a PMD entry. */
	const struct want want = { 100, 1, 100 };

	layout_init(&lay, 2 * PMD_PAGES);
	layout_add(&lay, OP_MEMFD, PMD_PAGES, 100, 1, 0, 3);
	all_ways(&lay, PMD_PAGES, 100, &want, why);
	layout_init(&lay, 2 * PMD_PAGES);
	layout_add(&lay, OP_MEMFD, PMD_PAGES, 40, 1, LAY_READONLY, 3);
	all_ways(&lay, PMD_PAGES, 40, &any, why);
}

static void private_file(struct why *why)
{
	layout_init(&lay, 4 * AT);
	layout_add(&lay, OP_TMPFS, AT, SIZE, 1, LAY_PRIVATE, 3);
	layout_add(&lay, OP_WRITE, AT + 4, 5, 100, 0, 1);
	all_ways(&lay, AT, SIZE, &any, why);
}

static void file(struct why *why)
{
	layout_init(&lay, 4 * AT);
	layout_add(&lay, OP_RAMFS, AT, SIZE, 0, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
	layout_init(&lay, 4 * AT);
	layout_add(&lay, OP_RAMFS, AT, SIZE, 0, LAY_PRIVATE, 0);
	layout_add(&lay, OP_WRITE, AT + 4, 5, 100, 0, 1);
	all_ways(&lay, AT, SIZE, &any, why);
}

static void hugetlb(struct why *why)
{
	for (uint32_t private = 0; private < 2; private++) {
		layout_init(&lay, 2 * PMD_PAGES);
		layout_add(&lay, OP_HUGETLB, PMD_PAGES, PMD_PAGES, PMD_ORDER,
			   private ? LAY_PRIVATE : 0, 0);
		layout_add(&lay, OP_FORK, 0, 0, 1, 0, 0);
		all_ways(&lay, PMD_PAGES + 1, 200, &any, why);
	}
}

static void device(struct why *why)
{
	layout_init(&lay, 4 * AT);
	layout_add(&lay, OP_ANON, 0, 2 * AT, ORDER, 0, 1);
	layout_add(&lay, OP_DEVICE, 2 * AT, SIZE, 0, 0, 0);
	all_ways(&lay, 2 * AT, SIZE, &any, why);
	all_ways(&lay, AT + 3, 2 * SIZE - 6, &any, why);

	/* And on behind them, which the fast path alone may do or not. */
	layout_add(&lay, OP_ANON, 3 * AT, SIZE, ORDER, 0, 2);
	layout_add(&lay, OP_PROT, 2 * AT + 9, 2, PROT_READ, 0, 0);
	all_ways(&lay, AT + 3, 2 * SIZE + 6, &any, why);
	/* Two pages of a folio: the second touch clears its referenced flag. */
	all_ways(&lay, 2 * AT + 3, SIZE - 1, &any, why);
}

static void secretmem(struct why *why)
{
	layout_init(&lay, 4 * AT);
	layout_add(&lay, OP_ANON, 0, 2 * AT, ORDER, 0, 1);
	layout_add(&lay, OP_SECRET, 2 * AT, 4, 0, 0, 0);
	all_ways(&lay, 2 * AT, 4, &any, why);
	all_ways(&lay, 2 * AT - 3, 5, &any, why);
}

static void zero_pages(struct why *why)
{
	one_folio_between(&lay);
	layout_add(&lay, OP_DONTNEED, AT + 5, 2, 0, 0, 0);
	layout_add(&lay, OP_READ, AT + 5, 2, 100, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
	all_ways(&lay, AT + 5, 2, &any, why);

	layout_init(&lay, PMD_PAGES);
	layout_add(&lay, OP_ZERO, 0, PMD_PAGES, PMD_ORDER, 0, 0);
	all_ways(&lay, 3, 40, &any, why);
	layout_add(&lay, OP_PROT, 9, 1, PROT_READ, 0, 0);
	all_ways(&lay, 3, 40, &any, why);
}

static void first_faults(struct why *why)
{
	const unsigned int orders[] = { 0, ORDER };

	for (uint32_t i = 0; i < ARRAY_SIZE(orders); i++) {
		layout_init(&lay, 4 * AT);
		layout_add(&lay, OP_ANON, AT, SIZE, orders[i], LAY_EMPTY, 0);
		layout_add(&lay, OP_THP, 0, 0, orders[i], 0, 0);
		all_ways(&lay, AT, SIZE, &any, why);
	}
}

/* ------------------------------------------------------------------------- */
/* Memory that is not there, or not alone                                    */

/* Are the pages of OP_SWAP out? If not, a case would show nothing. */
static void all_out(uint32_t page, uint32_t nr, struct why *why)
{
	struct scene scene;
	uint64_t map[SIZE];

	scene_make(&scene, &lay, 1);
	pagemap_read(page_at(&scene.win[0], page), nr, map);
	for (uint32_t i = 0; i < nr; i++)
		if (map[i] & PM_PRESENT)
			wrong(why, "page %u is not swapped out: pagemap 0x%llx",
			      page + i, (unsigned long long)map[i]);
	scene_end(&scene);
}

static void swapped(struct why *why)
{
	/* What is read again is read into small folios. */
	const struct want small = { 7, 0, 0 };

	/* In the middle: that splits the folio. */
	one_folio_between(&lay);
	layout_add(&lay, OP_SWAP, AT + 5, 4, 0, 0, 0);
	all_out(AT + 5, 4, why);
	layout_add(&lay, OP_READ, AT + 6, 2, 100, 0, 0);
	all_ways(&lay, AT - 1, SIZE + 2, &any, why);

	/* Whole, then some pages of it; one of them written to. */
	one_folio_between(&lay);
	layout_add(&lay, OP_SWAP, AT, SIZE, 0, 0, 0);
	all_out(AT, SIZE, why);
	layout_add(&lay, OP_READ, AT + 2, 7, 100, 0, 0);
	layout_add(&lay, OP_WRITE, AT + 4, 1, 100, 0, 3);
	all_ways(&lay, AT, SIZE, &any, why);
	all_ways(&lay, AT + 2, 7, &small, why);

	/* Next to a folio that is there, and nothing read. */
	layout_init(&lay, 8 * SIZE);
	layout_add(&lay, OP_ANON, 0, 8 * SIZE, ORDER, 0, 0);
	layout_add(&lay, OP_SWAP, 2 * SIZE, SIZE, 0, 0, 0);
	all_ways(&lay, SIZE, 3 * SIZE, &any, why);
}

/*
 * A large folio in the swap cache, of which some pages are mapped. One entry is
 * taken away first: if all were there, one fault would map them all.
 */
static void swap_cache(struct why *why)
{
	const struct want run = { 5, 1, 5 };
	const struct call get = {
		.page = AT + 3, .nr = SIZE, .op = PAGERUN_TEST_GET_FAST,
	};

	one_folio_between(&lay);
	layout_add(&lay, OP_SWAP, AT, SIZE, 1, 0, 0);
	layout_add(&lay, OP_DONTNEED, AT + 1, 1, 0, 0, 0);
	layout_add(&lay, OP_READ, AT + 3, 5, 100, 0, 0);
	layout_add(&lay, OP_READ, AT + 10, 3, 100, 0, 0);
	/* A run ends where the swap entries begin. */
	one_way(&lay, &get, &run, why);
	all_ways(&lay, AT + 3, 5, &run, why);
	all_ways(&lay, AT - 1, SIZE + 2, &any, why);

	/* Pages written to are mapped beside those that were only read. */
	layout_add(&lay, OP_WRITE, AT + 5, 1, 100, 0, 3);
	layout_add(&lay, OP_WRITE, AT + 12, 2, 100, 0, 3);
	all_ways(&lay, AT, SIZE, &any, why);

	/* All mapped by one fault, and the folio has its place in the area. */
	one_folio_between(&lay);
	layout_add(&lay, OP_SWAP, AT, SIZE, 1, 0, 0);
	layout_add(&lay, OP_READ, AT + 3, 1, 100, 0, 0);
	all_ways(&lay, AT, SIZE, &(struct want){ SIZE, 1, SIZE }, why);
}

/* Entries that are shared with a child are read as shared pages. */
static void swap_shared(struct why *why)
{
	for (uint32_t stay = 0; stay < 2; stay++) {
		one_folio_between(&lay);
		layout_add(&lay, OP_SWAP, AT, SIZE, 1, 0, 0);
		layout_add(&lay, OP_READ, AT + 12, 1, 100, 0, 0);
		layout_add(&lay, OP_SWAP, AT, SIZE, 1, 0, 0);
		layout_add(&lay, OP_DONTNEED, AT + 1, 1, 0, 0, 0);
		layout_add(&lay, OP_READ, AT + 2, 3, 100, 0, 0);
		layout_add(&lay, OP_FORK, 0, 0, stay, 0, 0);
		layout_add(&lay, OP_READ, AT + 5, 4, 100, 0, 0);
		layout_add(&lay, OP_PROT, AT, SIZE, PROT_READ, 0, 0);
		all_ways(&lay, AT + 2, SIZE - 2, &any, why);
	}
}

static void swapped_shmem(struct why *why)
{
	layout_init(&lay, 4 * AT);
	layout_add(&lay, OP_SHMEM, AT, SIZE, ORDER, 0, 0);
	layout_add(&lay, OP_SWAP, AT, SIZE, 1, 0, 0);
	all_out(AT, SIZE, why);
	layout_add(&lay, OP_READ, AT + 4, 3, 100, 0, 0);
	all_ways(&lay, AT, SIZE, &any, why);
}

/* Is the memory of OP_KSM merged? If not, a case would show nothing. */
static bool merged(const struct window *win, uint32_t page, uint32_t step,
		   struct why *why)
{
	uint64_t map[SIZE];

	pagemap_read(page_at(win, page), SIZE, map);
	for (uint32_t i = step; i < SIZE; i++)
		if (!(map[i] & PM_PRESENT) || map[i] & PM_EXCLUSIVE ||
		    (map[i] ^ map[i - step]) & PM_PFN)
			return wrong(why, "KSM did not merge page %u: pagemap 0x%llx, that of page %u 0x%llx",
				     page + i, (unsigned long long)map[i],
				     page + i - step,
				     (unsigned long long)map[i - step]);
	return true;
}

static void ksm(struct why *why)
{
	struct scene scene;

	for (uint32_t kinds = 1; kinds < 4; kinds += 2) {
		one_folio_between(&lay);
		layout_add(&lay, OP_KSM, AT, SIZE, kinds, 0, 1000);
		scene_make(&scene, &lay, 1);
		merged(&scene.win[0], AT, kinds, why);
		scene_end(&scene);
		/* One page of them has been copied again. */
		layout_add(&lay, OP_WRITE, AT + 6, 1, 100, 0, 1);
		all_ways(&lay, AT - 1, SIZE + 2, &any, why);
		/* The others stay merged, and have fewer references. */
		all_ways(&lay, AT + 4, 5, &any, why);
	}
}

/* ------------------------------------------------------------------------- */
/* The switch                                                                */

/* Pages are taken on one setting of the switch and released on the other. */
static void other_setting(struct why *why)
{
	static struct pagerun_test_page before[WINDOW_MAX], after[WINDOW_MAX];
	static uint64_t map[WINDOW_MAX];
	const struct window *win;
	struct scene scene;

	one_folio_between(&lay);
	scene_make(&scene, &lay, 1);
	win = &scene.win[0];
	for (uint32_t i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		const uint32_t way = i / 2;

		pagemap_read(win->base, win->nr, map);
		switch_set(false);
		observe(win, 0, win->nr, map, before);
		for (uint32_t n = 0; n < 3; n++) {
			/* Once more on the other setting, held at the same time. */
			switch_set((i ^ n) & 1);
			dev_hold(sys.dev, page_at(win, AT - 1), SIZE + 2,
				 ways[way].op, ways[way].flags, NULL);
		}
		switch_set(i & 1);
		dev_release(sys.dev);
		switch_set(false);
		settle();
		observe(win, 0, win->nr, map, after);
		for (uint32_t p = 0; p < win->nr; p++)
			if (before[p].refcount != after[p].refcount ||
			    before[p].pincount != after[p].pincount)
				wrong(why, "way %u: page %u: refcount %d, pincount %d before, %d, %d after",
				      way, p, before[p].refcount, before[p].pincount,
				      after[p].refcount, after[p].pincount);
	}
	no_leaks(win, why);
	scene_end(&scene);
}

/*
 * Pinned with the switch on; off; then the folio is shared with a child, and its
 * mapping taken away. What pages do that were pinned with it off, they must too.
 */
static void used_after_off(struct why *why)
{
	static struct pagerun_test_page held[2][SIZE];
	static uint64_t map[2][4 * AT];
	struct pins before, after;
	struct scene scene;
	int ret;

	for (uint32_t flags = 0; flags < 2; flags++) {
		one_folio(&lay, 4 * AT);
		scene_make(&scene, &lay, 2);
		settle();
		pins_read(&before);
		for (int on = 0; on < 2; on++) {
			int fd = on ? sys.observer : sys.dev;

			switch_set(on);
			ret = dev_hold(fd, page_at(&scene.win[on], AT + 2), SIZE - 4,
				       PAGERUN_TEST_PIN, flags ? WRITE : 0, NULL);
			if (ret != SIZE - 4)
				wrong(why, "pinned %d pages", ret);
		}
		switch_set(false);
		for (int step = 0; step < 2 && !why->bad; step++) {
			for (int on = 0; on < 2; on++) {
				void *addr = page_at(&scene.win[on], AT);

				/* Once each, in both windows. */
				if (step)
					madvise(addr, SIZE << PAGE_SHIFT,
						MADV_DONTNEED);
			}
			if (!step) {
				pid_t pid = fork();

				if (pid < 0)
					die("cannot fork");
				if (!pid)
					_exit(0);
				if (waitpid(pid, NULL, 0) != pid)
					die("cannot wait for a child");
			}
			settle();
			for (int on = 0; on < 2; on++) {
				dev_report(on ? sys.observer : sys.dev, 0, SIZE - 4,
					   held[on]);
				pagemap_read(scene.win[on].base, 4 * AT, map[on]);
				for (uint32_t i = 0; i < 4 * AT; i++)
					map[on][i] &= ~PM_PFN;
				for (uint32_t i = 0; i < SIZE - 4; i++)
					held[on][i].pfn = 0;
			}
			if (memcmp(held[0], held[1], sizeof(held[0])) ||
			    memcmp(map[0], map[1], sizeof(map[0])))
				wrong(why, "%s: pages pinned on and off differ",
				      step ? "after MADV_DONTNEED" : "after fork()");
			/* A pinned page is never shared. */
			if (!step && !(held[1][0].flags & PAGERUN_TEST_PAGE_EXCLUSIVE))
				wrong(why, "fork() shared a pinned page");
		}
		dev_release(sys.dev);
		dev_release(sys.observer);
		pins_forget();
		settle();
		pins_read(&after);
		if (after.acquired - before.acquired != after.released - before.released)
			wrong(why, "%llu pins acquired, %llu released",
			      (unsigned long long)(after.acquired - before.acquired),
			      (unsigned long long)(after.released - before.released));
		no_leaks(&scene.win[1], why);
		scene_end(&scene);
	}
}

static void statistics(struct why *why)
{
	const struct call call = {
		.page = 0, .nr = 4 * SIZE, .op = PAGERUN_TEST_PIN, .flags = WRITE,
	};
	struct scene scene;

	layout_init(&lay, 4 * SIZE);
	layout_add(&lay, OP_ANON, 0, 4 * SIZE, ORDER, 0, 0);
	scene_make(&scene, &lay, 1);
	ask_same_memory(&scene.win[0], &call, why);
	if (answers[1].stats.runs != 4 || answers[1].stats.pages != 4 * SIZE ||
	    answers[1].stats.fallbacks)
		wrong(why, "on: runs %lu pages %lu fallbacks %lu, not 4, %u, 0",
		      answers[1].stats.runs, answers[1].stats.pages,
		      answers[1].stats.fallbacks, 4 * SIZE);
	if (answers[0].stats.runs || answers[0].stats.pages)
		wrong(why, "off: runs %lu pages %lu", answers[0].stats.runs,
		      answers[0].stats.pages);
	scene_end(&scene);
}

/* ------------------------------------------------------------------------- */
/* The tracepoint                                                            */

#define EVENT	"pagerun_pin"

static const char *no_events(void)
{
	return no_tracefs() ? no_tracefs() : no_64k();
}

static void tracepoint(struct why *why)
{
	unsigned long addr, pfn;
	unsigned int order, nr, flags;
	struct pagerun_test_page page;
	struct scene scene;
	char line[512], *at;

	one_folio(&lay, 4 * AT);
	scene_make(&scene, &lay, 1);
	trace_begin(EVENT);
	for (int on = 0; on < 2; on++) {
		switch_set(on);
		trace_clear();
		dev_hold(sys.dev, page_at(&scene.win[0], AT + 1), SIZE - 2,
			 PAGERUN_TEST_PIN, WRITE, NULL);
		dev_report(sys.dev, 0, 1, &page);
		dev_release(sys.dev);
		if (trace_read(EVENT, line, sizeof(line)) != on)
			wrong(why, on ? "no event with the switch on" :
			      "an event with the switch off");
	}
	switch_set(false);
	at = strstr(line, "pagerun_pin: ");
	if (!at || sscanf(at, "pagerun_pin: addr=0x%lx pfn=0x%lx order=%u nr=%u flags=0x%x",
			  &addr, &pfn, &order, &nr, &flags) != 5)
		wrong(why, "the event cannot be understood: %s", line);
	else if (addr != (uintptr_t)page_at(&scene.win[0], AT + 1) ||
		 pfn != page.pfn || order != ORDER || nr != SIZE - 2)
		wrong(why, "wrong event: %s", at);
	trace_end(EVENT);
	scene_end(&scene);
}

/* ------------------------------------------------------------------------- */
/* Would the comparison notice?                                              */

/*
 * Answers of two calls on one window, the second with the switch on. The scene
 * is left to the caller, who changes something and compares.
 */
static void two_answers(struct scene *scene, const struct call *off,
			const struct call *on, struct why *why)
{
	one_folio_between(&lay);
	scene_make(scene, &lay, 1);
	ask(&scene->win[0], off, false, &answers[0]);
	ask(&scene->win[0], on, true, &answers[1]);
	if (answers[0].ret <= 0)
		wrong(why, "the call returned %d", answers[0].ret);
}

static void must_differ(enum same_how how, const char *what, struct why *why)
{
	struct why found = { };

	if (same_answer(&answers[0], &answers[1], lay.nr, how, &found))
		wrong(why, "not noticed: %s", what);
}

static const struct call plain = {
	.page = AT, .nr = SIZE, .op = PAGERUN_TEST_PIN, .flags = WRITE,
	.count_held = true,
};

static void notices_nothing(struct why *why)
{
	struct scene scene;

	two_answers(&scene, &plain, &plain, why);
	same_answer(&answers[0], &answers[1], lay.nr, SAME_MEMORY, why);
	scene_end(&scene);
}

static void notices_range(struct why *why)
{
	struct call call = plain;
	struct scene scene;

	call.page++;
	two_answers(&scene, &plain, &call, why);
	must_differ(SAME_MEMORY, "a range that begins one page later", why);
	must_differ(SAME_TWINS, "a range that begins one page later", why);
	scene_end(&scene);

	call = plain;
	call.nr--;
	two_answers(&scene, &plain, &call, why);
	must_differ(SAME_MEMORY, "one page less", why);
	must_differ(SAME_TWINS, "one page less", why);
	scene_end(&scene);
}

static void notices_way(struct why *why)
{
	struct call call = plain;
	struct scene scene;

	call.op = PAGERUN_TEST_GET;
	two_answers(&scene, &plain, &call, why);
	must_differ(SAME_MEMORY, "get instead of pin", why);
	must_differ(SAME_TWINS, "get instead of pin", why);
	scene_end(&scene);
}

static void notices_order(struct why *why)
{
	struct pagerun_test_page swap;
	struct scene scene;

	two_answers(&scene, &plain, &plain, why);
	swap = answers[1].held[3];
	answers[1].held[3] = answers[1].held[4];
	answers[1].held[4] = swap;
	must_differ(SAME_MEMORY, "two pages exchanged", why);
	must_differ(SAME_TWINS, "two pages exchanged", why);
	scene_end(&scene);
}

static void notices_reference(struct why *why)
{
	int fd = open("/dev/pagerun", O_RDWR | O_CLOEXEC);
	struct scene scene;

	if (fd < 0)
		die("cannot open /dev/pagerun");
	two_answers(&scene, &plain, &plain, why);
	/* One reference to a page that is not in the call's range. */
	dev_hold(fd, page_at(&scene.win[0], AT + SIZE), 1, PAGERUN_TEST_GET, 0,
		 NULL);
	ask(&scene.win[0], &plain, true, &answers[1]);
	must_differ(SAME_MEMORY, "a reference too many", why);
	must_differ(SAME_TWINS, "a reference too many", why);
	dev_release(fd);
	close(fd);
	scene_end(&scene);
}

static void notices_counters(struct why *why)
{
	struct scene scene;

	two_answers(&scene, &plain, &plain, why);
	answers[1].release.released--;
	must_differ(SAME_MEMORY, "a pin that is not counted as released", why);
	answers[1].release.released++;
	answers[1].count--;
	must_differ(SAME_MEMORY, "a page less in the fast path", why);
	answers[1].count++;

	/* Clean pages where there were dirty ones. */
	if (!answers[1].smaps.nr)
		wrong(why, "smaps says nothing");
	madvise(page_at(&scene.win[0], AT), SIZE << PAGE_SHIFT, MADV_FREE);
	smaps_read(scene.win[0].base, scene.win[0].nr, &answers[1].smaps);
	must_differ(SAME_MEMORY, "pages that are not dirty", why);
	scene_end(&scene);
}

static void notices_memory(struct why *why)
{
	struct scene scene;
	struct why found = { };

	/* Twins, of which one was written to. */
	one_folio_between(&lay);
	layout_add(&lay, OP_SOFT_DIRTY, 0, 0, 0, 0, 0);
	scene_make(&scene, &lay, 2);
	if (!twins_alike(&scene, why) || !twins_content(&scene, why))
		goto out;
	poke(page_at(&scene.win[1], AT + 3), 54321);
	if (twins_content(&scene, &found))
		wrong(why, "not noticed: other content");
	found.bad = false;
	if (twins_alike(&scene, &found))
		wrong(why, "not noticed: a soft-dirty page");
	scene_end(&scene);

	/* Twins, of which one has two folios exchanged for one. */
	layout_init(&lay, 4 * SIZE);
	layout_add(&lay, OP_ANON, 0, 2 * SIZE, ORDER, 0, 0);
	scene_make(&scene, &lay, 2);
	found.bad = false;
	mremap(page_at(&scene.win[1], 3), PAGE_SIZE, PAGE_SIZE,
	       MREMAP_MAYMOVE | MREMAP_FIXED, page_at(&scene.win[1], SIZE + 3));
	mremap(page_at(&scene.win[0], SIZE + 5), PAGE_SIZE, PAGE_SIZE,
	       MREMAP_MAYMOVE | MREMAP_FIXED, page_at(&scene.win[0], SIZE + 3));
	mremap(page_at(&scene.win[0], 3), PAGE_SIZE, PAGE_SIZE,
	       MREMAP_MAYMOVE | MREMAP_FIXED, page_at(&scene.win[0], SIZE + 5));
	if (twins_alike(&scene, &found))
		wrong(why, "not noticed: a page of another folio");
out:
	scene_end(&scene);
}

/* What a call that is like @plain gave, with a switch nullmap and without. */
static void nullmap_differs(bool with, const char *what, struct why *why)
{
	const bool nullmap = sys.nullmap;

	sys.nullmap = true;
	if (with)
		must_differ(SAME_MEMORY, what, why);
	else
		same_answer(&answers[0], &answers[1], lay.nr, SAME_MEMORY, why);
	sys.nullmap = false;
	must_differ(SAME_MEMORY, what, why);
	sys.nullmap = nullmap;
}

/* Counts that nullmap may change, and those next to them that it may not. */
static void nullmap_counts(struct why *why)
{
	struct answer *off = &answers[0], *on = &answers[1];

	off->count_device = 0;
	on->count += SIZE - on->count_device;
	on->count_device = SIZE;
	nullmap_differs(false, "pages without mapping in the fast path", why);
	on->count++;
	nullmap_differs(true, "another page in the fast path", why);
	on->count -= 2;
	nullmap_differs(true, "a page less in the fast path", why);
	on->count = off->count;
	on->count_device = 0;

	on->hold = off->hold;
	on->hold.acquired--;
	nullmap_differs(true, "a pin that is released alone", why);
	on->hold.released--;
	nullmap_differs(false, "an attempt less", why);
	on->hold.acquired--;
	on->hold.released--;
	nullmap_differs(true, "two attempts less", why);
	on->hold.acquired += 3;
	on->hold.released += 3;
	nullmap_differs(true, "an attempt more", why);
	on->hold = off->hold;
	on->ret++;
	nullmap_differs(true, "a page more pinned", why);
	on->ret--;
}

/* A fast-only call that takes @more pages with the switch on. */
static void nullmap_longer(const struct window *win, uint32_t more,
			   struct why *why)
{
	struct call call = {
		.page = AT, .nr = SIZE, .op = PAGERUN_TEST_GET_FAST, .off_early = true,
	};
	struct answer *off = &answers[0], *on = &answers[1];

	/* Off, it ends with the folio; on, pages of the driver follow. */
	ask(win, &call, false, off);
	ask(win, &call, false, on);
	on->ret += more;
	for (uint32_t i = 0; i < more; i++)
		on->held[SIZE + i] = (struct pagerun_test_page){ .pfn = 1 };
	nullmap_differs(false, "pages without mapping behind", why);

	/* The last is of the folio again. */
	on->held[SIZE + more - 1] = on->held[0];
	nullmap_differs(true, "a page taken without a reference", why);
	for (uint32_t i = AT; i < AT + SIZE; i++)
		on->held_obs[i].refcount++;
	nullmap_differs(false, "a page behind those without mapping", why);
	on->held_obs[AT - 1].refcount++;
	nullmap_differs(true, "a reference to a page that was not taken", why);
	on->held_obs[AT - 1].refcount--;
	on->after_obs[AT].refcount++;
	nullmap_differs(true, "a reference that stays", why);
	on->after_obs[AT].refcount--;
	off->ret--;
	nullmap_differs(true, "a call that ended before them", why);
}

static void notices_nullmap(struct why *why)
{
	struct call call = plain;
	struct scene scene;

	one_folio_between(&lay);
	layout_add(&lay, OP_DEVICE, AT + SIZE, SIZE, 0, 0, 0);
	scene_make(&scene, &lay, 1);
	call.nr = 2 * SIZE;
	for (int on = 0; on < 2; on++)
		ask(&scene.win[0], &call, false, &answers[on]);
	nullmap_counts(why);
	nullmap_longer(&scene.win[0], 3, why);
	scene_end(&scene);
}

/* ------------------------------------------------------------------------- */

const struct named named_cases[] = {
	{ "whole 64k folio", no_64k, whole_folio },
	{ "one page short at the ends of a folio", no_64k, one_short },
	{ "one page of a folio", no_64k, one_page },
	{ "folio between small ones", no_64k, between_small },
	{ "folio next to nothing", no_64k, next_to_nothing },
	{ "folio across two page tables", no_64k, two_tables },
	{ "folios in four page tables", no_64k, four_tables },
	{ "folios of every size", no_64k, every_size },
	{ "2m folio mapped by PTEs", no_2m, by_ptes },
	{ "2m folio mapped by its PMD", no_2m, by_pmd },
	{ "DONTFORK and fork, write across the VMA edge", no_64k, dontfork_write },
	{ "DONTFORK and fork, all mixes", no_64k, dontfork_mixes },
	{ "read-only pin stops at the first shared page", no_64k, stops_at_shared },
	{ "write-protected by a child that is gone", no_64k, child_gone },
	{ "copied pages in mid-folio", no_64k, copied_pages },
	{ "exclusive but read-only", no_64k, exclusive_readonly },
	{ "hole in mid-folio", no_64k, hole },
	{ "unmapped piece in mid-folio", no_64k, unmapped_piece },
	{ "uffd-wp in mid-folio", no_uffd, wp_by_uffd },
	{ "PROT_NONE in mid-folio", no_64k, prot_none },
	{ "PROT_READ in mid-folio", no_64k, prot_read },
	{ "protection key in mid-folio", no_pkeys, keys },
	{ "accessed, dirty and soft-dirty differ in one run", no_64k,
	  one_run_nevertheless },
	{ "soft-dirty in mid-folio", no_64k, soft_dirty },
	{ "locked memory", no_64k, locked },
	{ "pieces of a folio in reverse order", no_64k, reversed },
	{ "unaligned offset in the folio", no_64k, misaligned },
	{ "pages of a folio with some left out", no_64k, gap_closed },
	{ "pages of two folios interleaved", no_64k, interleaved },
	{ "folios with consecutive PFNs", no_64k, in_a_row },
	{ "shared anonymous 64k folio", no_shmem, shmem },
	{ "memfd with large folios", no_memfd, memfd },
	{ "private mapping of tmpfs, pages copied", no_tmpfs, private_file },
	{ "file that is not shmem", no_ramfs, file },
	{ "hugetlb, shared by fork", no_hugetlb, hugetlb },
	{ "pages of a device without mapping", no_64k, device },
	{ "secretmem", no_secretmem, secretmem },
	{ "zero pages", no_2m, zero_pages },
	{ "empty memory", no_64k, first_faults },
	{ "swapped out, and some pages in again", no_swap, swapped },
	{ "large folio in the swap cache, partly mapped", no_swap, swap_cache },
	{ "swapped out, shared by fork", no_swap, swap_shared },
	{ "shared anonymous 64k folio, swapped out", no_swap_shmem, swapped_shmem },
	{ "merged by KSM", no_ksm, ksm },
	{ "taken on one setting, released on the other", no_64k, other_setting },
	{ "pinned on, then off, fork and zap", no_64k, used_after_off },
	{ "statistics", no_64k, statistics },
	{ "tracepoint", no_events, tracepoint },
	{ "comparison: equal is equal", no_64k, notices_nothing },
	{ "comparison: notices another range", no_64k, notices_range },
	{ "comparison: notices another way", no_64k, notices_way },
	{ "comparison: notices another order", no_64k, notices_order },
	{ "comparison: notices a lost reference", no_64k, notices_reference },
	{ "comparison: notices wrong counters", no_64k, notices_counters },
	{ "comparison: notices other memory", no_64k, notices_memory },
	{ "comparison: masks what nullmap changes, no more", no_64k,
	  notices_nullmap },
};

const unsigned int nr_named_cases = ARRAY_SIZE(named_cases);
