// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named cases in which a second thread changes the memory, or the switch, while
 * the first takes and releases pages.
 *
 * Off and on cannot be compared call by call here. What is checked is what must
 * hold for every call: the pages that a pin holds stay where they are mapped as
 * long as nobody unmaps them, each has the counts that the test alone explains,
 * and in the end nothing is left over.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "same.h"

#define ORDER	4
#define SIZE	(1U << ORDER)

/* The window of all cases: folios of 64 KiB. */
#define PAGES	(8 * SIZE)

/* Calls of the first thread; enough that the second gets its turn on one CPU. */
#define ROUNDS	250

/* ------------------------------------------------------------------------- */
/* The second thread                                                         */

struct other {
	pthread_t thread;
	const struct window *win;
	void (*once)(struct other *other, struct rng *rng);
	atomic_bool stop;
	atomic_uint rounds;
	int fd;
	bool same_cpu;		/* as the first thread's */
};

static void *other_main(void *arg)
{
	struct other *other = arg;
	struct rng rng = { .state = 42 };

	/* Where there is one CPU alone, it is shared. */
	if (!other->same_cpu)
		run_on_cpu(1);
	while (!atomic_load(&other->stop)) {
		other->once(other, &rng);
		atomic_fetch_add(&other->rounds, 1);
		sched_yield();
	}
	return NULL;
}

static void other_start(struct other *other)
{
	atomic_store(&other->stop, false);
	atomic_store(&other->rounds, 0);
	if (pthread_create(&other->thread, NULL, other_main, other))
		die("cannot start a thread");
	while (!atomic_load(&other->rounds))
		sched_yield();
}

static void other_stop(struct other *other, struct why *why)
{
	atomic_store(&other->stop, true);
	if (pthread_join(other->thread, NULL))
		die("cannot wait for a thread");
	if (atomic_load(&other->rounds) < 3)
		wrong(why, "the second thread did next to nothing: %u rounds",
		      atomic_load(&other->rounds));
}

/* ------------------------------------------------------------------------- */
/* The first thread                                                          */

/* What the pages are checked for while they are held. */
#define CHECK_ALL	1U	/* the call takes all pages */
#define CHECK_PLACE	2U	/* they stay where they are mapped */
#define CHECK_COUNTS	4U	/* pincounts are those of the call */
#define CHECK_CONTENT	8U	/* the content is what fill() wrote */
/* Folios are made anew between the calls, since fork leaves none whole. */
#define RENEW		16U

static uint32_t content(uint32_t page)
{
	return page * 5 + 1;
}

static void fill(const struct window *win)
{
	for (uint32_t i = 0; i < win->nr; i++)
		*(volatile uint32_t *)page_at(win, i) = content(i);
}

static void check_held(const struct window *win, uint32_t page, uint32_t nr,
		       const struct pagerun_test_page *held, uint32_t checks,
		       struct why *why)
{
	static uint64_t map[WINDOW_MAX];
	uint32_t i, j, mine;

	if (checks & CHECK_PLACE) {
		/*
		 * Written to, so that a page which is shared is copied: then the
		 * pinned one is no longer the one that is mapped.
		 */
		for (i = 0; i < nr; i++)
			*(volatile uint32_t *)page_at(win, page + i) =
				content(page + i);
		pagemap_read(page_at(win, page), nr, map);
		for (i = 0; i < nr; i++)
			if (!(map[i] & PM_PRESENT) ||
			    (map[i] & PM_PFN) != held[i].pfn)
				wrong(why, "page %u: pfn 0x%llx is pinned, pagemap says 0x%llx",
				      page + i, (unsigned long long)held[i].pfn,
				      (unsigned long long)map[i]);
	}
	if (checks & CHECK_COUNTS) {
		for (i = 0; i < nr; i++) {
			for (j = 0, mine = 0; j < nr; j++)
				mine += held[j].pfn - held[j].index ==
					held[i].pfn - held[i].index;
			if (held[i].pincount >= 0 &&
			    held[i].pincount != (int)mine)
				wrong(why, "page %u: %u pages of its folio are pinned, its pincount is %d",
				      page + i, mine, held[i].pincount);
		}
	}
}

static void renew(const struct window *win, uint32_t page)
{
	page &= -SIZE;
	madvise(page_at(win, page), SIZE << PAGE_SHIFT, MADV_DONTNEED);
	for (uint32_t i = page; i < page + SIZE; i++)
		*(volatile uint32_t *)page_at(win, i) = content(i);
}

/* Has a run been taken since? */
static bool runs_taken(const struct stats *since)
{
	struct stats stats;

	stats_read(&stats);
	return stats.runs != since->runs;
}

/* Pin and unpin ranges in a loop, all of the window now and then. */
static void pin_loop(const struct window *win, struct other *other,
		     uint32_t flags, uint32_t checks, struct why *why)
{
	static struct pagerun_test_page held[WINDOW_MAX];
	struct rng rng = { .state = 1234 };
	struct pins before, after;
	struct stats stats;
	uint32_t first, i;

	settle();
	pins_read(&before);
	stats_read(&stats);
	other_start(other);
	/* On a busy host the second thread may leave a PMD entry for long. */
	for (i = 0; i < ROUNDS || atomic_load(&other->rounds) < 3 ||
	     !runs_taken(&stats); i++) {
		uint32_t page = 0, nr = win->nr;
		int ret;

		if (i > 400 * ROUNDS || why->bad)
			break;
		if (rng_chance(&rng, 80)) {
			page = rng_below(&rng, win->nr);
			nr = 1 + rng_below(&rng, min_u32(win->nr - page, 3 * SIZE));
		}
		for (uint32_t at = page & -SIZE; checks & RENEW && at < page + nr;
		     at += SIZE)
			renew(win, at);
		ret = dev_hold(sys.dev, page_at(win, page), nr, PAGERUN_TEST_PIN,
			       flags, &first);
		if (ret > (int)nr || (checks & CHECK_ALL && ret != (int)nr))
			wrong(why, "pin of %u pages at %u returned %d", nr, page,
			      ret);
		if (ret > 0) {
			dev_report(sys.dev, first, ret, held);
			check_held(win, page, ret, held, checks, why);
		}
		dev_release(sys.dev);
		if (i % 4 == 0)
			sched_yield();
	}
	other_stop(other, why);
	if (!runs_taken(&stats))
		wrong(why, "no run was taken");

	settle();
	pins_read(&after);
	if (after.acquired - before.acquired != after.released - before.released)
		wrong(why, "%llu pins acquired, %llu released",
		      (unsigned long long)(after.acquired - before.acquired),
		      (unsigned long long)(after.released - before.released));
	if (checks & CHECK_CONTENT)
		for (i = 0; i < win->nr; i++)
			if (*(volatile uint32_t *)page_at(win, i) != content(i))
				wrong(why, "page %u holds %u, not %u", i,
				      *(volatile uint32_t *)page_at(win, i),
				      content(i));
	no_leaks(win, why);
}

static void flip_once(struct other *other, struct rng *rng)
{
	(void)other;
	switch_flip(rng);
}

/*
 * Is this CPU emulated by QEMU? The switch patches code. Up to 8.0, QEMU can
 * miss that while another CPU translates the same page, and go on executing the
 * breakpoint that stands there for a moment; the kernel then dies of it.
 */
static bool emulated(void)
{
#ifdef __x86_64__
	char name[13] = "";
	unsigned int eax, regs[3];

	__cpuid(0x40000000, eax, regs[0], regs[1], regs[2]);
	memcpy(name, regs, sizeof(regs));
	return eax >= 0x40000000 && !strcmp(name, "TCGTCGTCGTCG");
#else
	return false;
#endif
}

static void race(unsigned int order, uint32_t nr, uint32_t flags,
		 uint32_t checks,
		 void (*once)(struct other *other, struct rng *rng), int fd,
		 struct why *why)
{
	static struct layout lay;
	static struct scene scene;
	struct other other = {
		.once = once, .fd = fd,
		.same_cpu = once == flip_once && emulated(),
	};

	layout_init(&lay, nr);
	layout_add(&lay, OP_ANON, 0, nr, order, 0, 1);
	layout_add(&lay, OP_PTEMAP, 0, nr, 0, 0, 0);
	/* So that what is faulted in anew is large again. */
	layout_add(&lay, OP_THP, 0, 0, order < PMD_ORDER ? order : 0, 0, 0);
	scene_make(&scene, &lay, 1);
	fill(&scene.win[0]);
	other.win = &scene.win[0];
	switch_set(true);
	pin_loop(&scene.win[0], &other, flags, checks, why);
	switch_set(false);
	scene_end(&scene);
}

/* ------------------------------------------------------------------------- */

static void flip(struct why *why)
{
	race(ORDER, PAGES, PAGERUN_TEST_WRITE,
	     CHECK_ALL | CHECK_PLACE | CHECK_COUNTS | CHECK_CONTENT, flip_once, -1,
	     why);
}

static void fork_once(struct other *other, struct rng *rng)
{
	pid_t pid = fork();

	(void)other;
	if (pid < 0)
		die("cannot fork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		die("cannot wait for a child");
	/* Give the pages time to be exclusive again. */
	for (uint32_t i = rng_below(rng, 3); i > 0; i--)
		sched_yield();
}

static void fork_write(struct why *why)
{
	race(ORDER, PAGES, PAGERUN_TEST_WRITE,
	     CHECK_ALL | CHECK_PLACE | CHECK_COUNTS | CHECK_CONTENT | RENEW,
	     fork_once, -1, why);
}

static void fork_read(struct why *why)
{
	race(ORDER, PAGES, 0,
	     CHECK_ALL | CHECK_PLACE | CHECK_COUNTS | CHECK_CONTENT | RENEW,
	     fork_once, -1, why);
}

static void zap_once(struct other *other, struct rng *rng)
{
	const uint32_t page = rng_below(rng, other->win->nr);
	const uint32_t nr = 1 + rng_below(rng, min_u32(other->win->nr - page, 20));

	/* Whole folios now and then, so that new ones come. */
	if (rng_chance(rng, 20))
		madvise(page_at(other->win, page & -SIZE), SIZE << PAGE_SHIFT,
			MADV_DONTNEED);
	else
		madvise(page_at(other->win, page), (size_t)nr << PAGE_SHIFT,
			MADV_DONTNEED);
	*(volatile uint32_t *)page_at(other->win, page & -SIZE) = 1;
}

static void zap_write(struct why *why)
{
	race(ORDER, PAGES, PAGERUN_TEST_WRITE, CHECK_ALL | CHECK_COUNTS, zap_once,
	     -1, why);
}

static void zap_read(struct why *why)
{
	race(ORDER, PAGES, 0, CHECK_ALL, zap_once, -1, why);
}

static void remap_once(struct other *other, struct rng *rng)
{
	const uint32_t page = rng_below(rng, other->win->nr) & -SIZE;
	void *addr = page_at(other->win, page);

	/*
	 * Unmapped page by page, then mapped anew. Nobody else maps anything
	 * meanwhile, so the gap stays ours.
	 */
	for (uint32_t i = 0; i < SIZE; i += 1 + rng_below(rng, 3))
		munmap(page_at(other->win, page + i), PAGE_SIZE);
	if (mmap(addr, SIZE << PAGE_SHIFT, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("cannot map");
	madvise(addr, SIZE << PAGE_SHIFT, MADV_HUGEPAGE);
	*(volatile uint32_t *)addr = 1;
}

static void remap(struct why *why)
{
	race(ORDER, PAGES, PAGERUN_TEST_WRITE, CHECK_COUNTS, remap_once, -1, why);
}

static void protect_once(struct other *other, struct rng *rng)
{
	const uint32_t page = rng_below(rng, other->win->nr);
	void *addr = page_at(other->win, page);

	mprotect(addr, PAGE_SIZE, rng_chance(rng, 50) ? PROT_READ : PROT_NONE);
	mprotect(addr, PAGE_SIZE, PROT_READ | PROT_WRITE);
}

static void protect(struct why *why)
{
	race(ORDER, PAGES, PAGERUN_TEST_WRITE, CHECK_COUNTS, protect_once, -1, why);
}

/* Split to pages, collapse to a folio again; both give way to pins. */
static void split_once(struct other *other, struct rng *rng)
{
	const struct window *win = other->win;
	char line[100];
	int len;

	len = snprintf(line, sizeof(line), "%d,0x%lx,0x%lx,%d", getpid(),
		       (unsigned long)win->base,
		       (unsigned long)page_at(win, win->nr),
		       rng_chance(rng, 50) ? 0 : ORDER);
	/* It fails when nothing was to be split. */
	if (write(other->fd, line, len) < 0)
		sched_yield();
	madvise(win->base, (size_t)win->nr << PAGE_SHIFT, MADV_COLLAPSE);
	/* By PTEs again, of the whole folio. */
	if (rng_chance(rng, 70)) {
		mprotect(win->base, PAGE_SIZE, PROT_READ);
		mprotect(win->base, PAGE_SIZE, PROT_READ | PROT_WRITE);
	}
}

static void split_collapse(struct why *why)
{
	int fd = open(SPLIT, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die("cannot open %s", SPLIT);
	race(PMD_ORDER, PMD_PAGES, 0, CHECK_ALL | CHECK_CONTENT, split_once, fd,
	     why);
	close(fd);
}

const struct named race_cases[] = {
	{ "race: the switch is flipped", no_64k, flip },
	{ "race: fork, pins for writing", no_64k, fork_write },
	{ "race: fork, pins for reading", no_64k, fork_read },
	{ "race: MADV_DONTNEED, pins for writing", no_64k, zap_write },
	{ "race: MADV_DONTNEED, pins for reading", no_64k, zap_read },
	{ "race: unmapped by pieces and mapped anew", no_64k, remap },
	{ "race: protected and not", no_64k, protect },
	{ "race: split and collapsed", no_split, split_collapse },
};

const unsigned int nr_race_cases = ARRAY_SIZE(race_cases);
