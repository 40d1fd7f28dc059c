// SPDX-License-Identifier: GPL-2.0-only
/*
 * Movers against everything else.
 *
 * There are two areas of the same length, and each page has one place in each of them:
 * it is in the one or in the other. Movers move ranges over and back. Nobody else knows
 * where a page is; who wants it tries both places. All of it is registered with a
 * userfaultfd that answers faults with SIGBUS, so that trying a place where the page is
 * not is an error, and neither a new page nor a wait.
 *
 * Each page holds its number and how often it was written to, at both ends. Writers
 * have pages of their own, and so know what must be there; readers know at least what
 * was there before they looked. Some pages belong to nobody: those are dropped, made
 * anew, merged. In the end every page is in one place, holds what was last written to
 * it, and all counts are back.
 *
 * Off and on cannot be compared here; the switch is on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../ktap.h"
#include "move.h"

#define ORDER	4
#define PAGES	(2 * PMD_PAGES)
/* The pages of nobody: the last of each group of blocks. */
#define BLOCK	32U
#define BLOCKS	4U
/* Who does not find a page for so long, never will. */
#define LOST_MS	8000
/* Counts are kept per CPU and told roughly, in pages a CPU. */
#define SLACK_KB	2048

static bool of_nobody(uint32_t page)
{
	return page / BLOCK % BLOCKS == BLOCKS - 1;
}

static struct {
	char *area[2];
	void *reserved;
	int uffd;
	atomic_bool stop;
	atomic_ulong moved, writes, reads, pins, others;
	/* How often each page was written to; known before anybody reads it. */
	atomic_uint written[PAGES];
	pthread_mutex_t lock;	/* of @why */
	struct why *why;
} race = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void report(const char *what, uint32_t page, unsigned long a,
		   unsigned long b)
{
	pthread_mutex_lock(&race.lock);
	wrong(race.why, "page %u: %s: %lu, %lu", page, what, a, b);
	pthread_mutex_unlock(&race.lock);
	atomic_store(&race.stop, true);
}

static long ms_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void *place(int side, uint32_t page)
{
	return race.area[side] + (size_t)page * PAGE_SIZE;
}

/* ------------------------------------------------------------------------- */
/* Pages, where they may not be                                              */

static __thread sigjmp_buf not_there;
static __thread volatile sig_atomic_t trying;

static void on_sigbus(int sig)
{
	if (!trying) {
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	siglongjmp(not_there, 1);
}

struct stamp {
	uint32_t page, written;
};

#define LAST	(PAGE_SIZE / sizeof(struct stamp) - 1)

/* Both ends by one look each; false if the page is not there, or went meanwhile. */
static bool try_read(const void *addr, struct stamp stamps[2])
{
	const volatile struct stamp *at = addr;

	trying = 1;
	if (sigsetjmp(not_there, 0)) {
		trying = 0;
		return false;
	}
	stamps[0].page = at[0].page;
	stamps[0].written = at[0].written;
	stamps[1].page = at[LAST].page;
	stamps[1].written = at[LAST].written;
	trying = 0;
	return true;
}

static bool try_write(void *addr, uint32_t written)
{
	volatile struct stamp *at = addr;

	trying = 1;
	if (sigsetjmp(not_there, 0)) {
		trying = 0;
		return false;
	}
	at[0].written = written;
	at[LAST].written = written;
	trying = 0;
	return true;
}

/* Read a page, wherever it is. */
static bool find(uint32_t page, struct stamp stamps[2])
{
	const long start = ms_now();

	for (int i = 0; !atomic_load(&race.stop); i++) {
		if (try_read(place(i % 2, page), stamps))
			return true;
		if (i % 64 == 63) {
			sched_yield();
			if (ms_now() - start > LOST_MS) {
				report("it is nowhere", page, 0, 0);
				break;
			}
		}
	}
	return false;
}

static void check_stamps(uint32_t page, const struct stamp stamps[2],
			 uint32_t least)
{
	for (int i = 0; i < 2; i++) {
		if (stamps[i].page != page)
			report("it is another page, at an end", page,
			       stamps[i].page, i);
		if ((int32_t)(stamps[i].written - least) < 0)
			report("a write to it is lost", page, stamps[i].written,
			       least);
	}
}

/* ------------------------------------------------------------------------- */
/* Threads                                                                   */

struct actor {
	void (*once)(struct actor *actor, struct rng *rng);
	int number;		/* of those that do the same */
	int fd;			/* of the device, for who pins */
	pthread_t thread;
};

static void *actor_main(void *arg)
{
	struct actor *actor = arg;
	struct rng rng = { .state = rng_mix(actor->number * 1000003ULL + 77) };

	run_on_cpu(-1);
	while (!atomic_load(&race.stop))
		actor->once(actor, &rng);
	return NULL;
}

/* As a caller does: on behind what was moved, and over what cannot be. */
static void sweep(int from, uint32_t page, uint32_t nr, uint32_t shift)
{
	while (nr && !atomic_load(&race.stop)) {
		struct uffdio_move arg = {
			.src = (uintptr_t)place(from, page),
			.dst = (uintptr_t)place(!from, page + shift),
			.len = (uint64_t)nr << PAGE_SHIFT,
			.mode = HOLES,
		};
		uint32_t done = 1;

		if (!ioctl(race.uffd, UFFDIO_MOVE, &arg) || arg.move > 0) {
			done = arg.move >> PAGE_SHIFT;
			atomic_fetch_add(&race.moved, done);
		} else if (errno != EEXIST && errno != EBUSY && errno != EAGAIN) {
			report("moving it gave another errno", page, errno, nr);
		}
		page += done;
		nr -= done;
	}
}

/* All of it, or a part; over, and, mostly, back. */
static void mover(struct actor *actor, struct rng *rng)
{
	const int from = rng_below(rng, 2);
	uint32_t page = 0, nr = PAGES;

	(void)actor;
	if (rng_chance(rng, 60)) {
		page = rng_below(rng, PAGES);
		nr = 1 + rng_below(rng, min_u32(PAGES - page, 200));
	}
	sweep(from, page, nr, 0);
	if (rng_chance(rng, 80))
		sweep(!from, page, nr, 0);
}

static void writer(struct actor *actor, struct rng *rng)
{
	uint32_t page = rng_below(rng, PAGES / 2) * 2 + actor->number % 2;
	const uint32_t next = atomic_load(&race.written[page]) + 1;
	const long start = ms_now();

	if (of_nobody(page))
		return;
	for (int i = 0; !try_write(place(i % 2, page), next); i++) {
		if (i % 64 == 63 && ms_now() - start > LOST_MS)
			report("it is nowhere to be written to", page, 0, 0);
		/* Not written, or not at both ends: the count stays behind. */
		if (atomic_load(&race.stop))
			return;
		if (i % 16 == 15)
			sched_yield();
	}
	atomic_store(&race.written[page], next);
	atomic_fetch_add(&race.writes, 1);
}

static void reader(struct actor *actor, struct rng *rng)
{
	const uint32_t page = rng_below(rng, PAGES);
	const uint32_t least = atomic_load(&race.written[page]);
	struct stamp stamps[2];

	(void)actor;
	if (of_nobody(page) || !find(page, stamps))
		return;
	check_stamps(page, stamps, least);
	atomic_fetch_add(&race.reads, 1);
}

/* While pages are pinned, they stay where they are mapped. */
static void pinner(struct actor *actor, struct rng *rng)
{
	static __thread struct pagerun_test_page held[64];
	static __thread uint64_t map[64];
	const uint32_t page = rng_below(rng, PAGES);
	const uint32_t nr = 1 + rng_below(rng, min_u32(20, PAGES - page));
	const int side = rng_below(rng, 2);
	uint32_t first;
	int got;

	/* What belongs to nobody is unmapped at any time. */
	for (uint32_t i = page; i < page + nr; i++)
		if (of_nobody(i))
			return;
	got = dev_hold(actor->fd, place(side, page), nr, PAGERUN_TEST_PIN,
		       rng_chance(rng, 70) ? PAGERUN_TEST_WRITE : 0, &first);
	if (got <= 0)
		return;
	dev_report(actor->fd, first, got, held);
	for (int look = 0; look < 2; look++) {
		pagemap_read(place(side, page), got, map);
		for (int i = 0; i < got; i++)
			if (held[i].pfn != sys.zero_pfn &&
			    (!(map[i] & PM_PRESENT) ||
			     (map[i] & PM_PFN) != held[i].pfn))
				report("it is pinned and has moved; pfn, pagemap",
				       page + i, held[i].pfn, map[i]);
		sched_yield();
	}
	dev_release(actor->fd);
	atomic_fetch_add(&race.pins, got);
}

static void forker(struct actor *actor, struct rng *rng)
{
	const struct timespec wait = { .tv_nsec = 1000000 * (1 + rng_below(rng, 30)) };
	pid_t pid = fork();

	(void)actor;
	if (pid < 0)
		die("cannot fork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		die("cannot wait for a child");
	/* Time for the writers to make pages exclusive again. */
	nanosleep(&wait, NULL);
	atomic_fetch_add(&race.others, 1);
}

static void reclaimer(struct actor *actor, struct rng *rng)
{
	const uint32_t page = rng_below(rng, PAGES);
	const uint32_t nr = 1 + rng_below(rng, min_u32(PAGES - page, 100));

	(void)actor;
	madvise(place(rng_below(rng, 2), page), (size_t)nr * PAGE_SIZE,
		MADV_PAGEOUT);
	atomic_fetch_add(&race.others, 1);
	sched_yield();
}

/* Pages of nobody: dropped in both places, and put into one again. */
static void dropper(struct actor *actor, struct rng *rng)
{
	static __thread char zeroes[BLOCK * PAGE_SIZE]
		__attribute__((aligned(PAGE_SIZE)));
	const uint32_t block = rng_below(rng, PAGES / BLOCK / BLOCKS) * BLOCKS +
			       BLOCKS - 1;
	const uint32_t page = block * BLOCK;
	struct uffdio_copy copy = {
		.dst = (uintptr_t)place(rng_below(rng, 2), page),
		.src = (uintptr_t)zeroes, .len = sizeof(zeroes),
	};
	struct uffdio_zeropage zero = {
		.range = { .start = copy.dst, .len = sizeof(zeroes) / 2 },
	};

	(void)actor;
	zeroes[7] = 1;
	madvise(place(0, page), sizeof(zeroes), MADV_DONTNEED);
	madvise(place(1, page), sizeof(zeroes), MADV_DONTNEED);
	if (rng_chance(rng, 40))
		ioctl(race.uffd, UFFDIO_ZEROPAGE, &zero);
	ioctl(race.uffd, UFFDIO_COPY, &copy);
	atomic_fetch_add(&race.others, 1);
	sched_yield();
}

static void collapser(struct actor *actor, struct rng *rng)
{
	const struct timespec wait = { .tv_nsec = 1000000 };

	(void)actor;
	if (!madvise(place(rng_below(rng, 2), rng_below(rng, 2) * PMD_PAGES),
		     PMD_PAGES * PAGE_SIZE, MADV_COLLAPSE))
		atomic_fetch_add(&race.others, 1);
	nanosleep(&wait, NULL);
}

/* ksmd does the work: the areas are mergeable. Pages of nobody are all alike. */
static void merger(struct actor *actor, struct rng *rng)
{
	dropper(actor, rng);
}

/* ------------------------------------------------------------------------- */
/* Beginning and end                                                         */

static void map_areas(unsigned int order)
{
	const size_t size = PAGES * PAGE_SIZE, pmd = PMD_PAGES * PAGE_SIZE;
	uintptr_t at;

	race.reserved = mmap(NULL, 2 * size + 4 * pmd, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (race.reserved == MAP_FAILED)
		die("cannot reserve memory");
	at = ((uintptr_t)race.reserved + pmd - 1) & -pmd;
	for (int i = 0; i < 2; i++) {
		race.area[i] = mmap((void *)(at + i * (size + pmd)), size,
				    PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (race.area[i] == MAP_FAILED)
			die("cannot map memory");
		madvise(race.area[i], size, MADV_HUGEPAGE);
	}
	thp_none();
	if (order)
		thp_anon(order);
	for (uint32_t i = 0; i < PAGES; i++) {
		volatile struct stamp *stamp = place(0, i);

		stamp[0].page = stamp[LAST].page = i;
		atomic_store(&race.written[i], 0);
	}
	thp_none();
}

static void register_areas(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = sys.uffd_features };

	race.uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (race.uffd < 0 || ioctl(race.uffd, UFFDIO_API, &api))
		die("cannot open a userfaultfd");
	for (int i = 0; i < 2; i++) {
		struct uffdio_register reg = {
			.range = { (uintptr_t)race.area[i], PAGES * PAGE_SIZE },
			.mode = UFFDIO_REGISTER_MODE_MISSING,
		};

		if (ioctl(race.uffd, UFFDIO_REGISTER, &reg))
			die("cannot register memory with a userfaultfd");
	}
}

/* Every page is in one place, with what was written to it last. */
static void check_all(void)
{
	static uint64_t map[2][PAGES];
	struct stamp stamps[2];

	pagemap_read(race.area[0], PAGES, map[0]);
	pagemap_read(race.area[1], PAGES, map[1]);
	atomic_store(&race.stop, false);
	for (uint32_t i = 0; i < PAGES && !race.why->bad; i++) {
		const bool here = map[0][i] & (PM_PRESENT | PM_SWAP);
		const bool there = map[1][i] & (PM_PRESENT | PM_SWAP);

		if (of_nobody(i))
			continue;
		if (here == there) {
			report("so often it is there in the end", i, here, there);
			continue;
		}
		if (!find(i, stamps))
			continue;
		check_stamps(i, stamps, atomic_load(&race.written[i]));
		/* The last write may have been cut off between the ends, or behind. */
		if (stamps[0].written > atomic_load(&race.written[i]) + 1)
			report("it was written to more often than it was", i,
			       stamps[0].written, atomic_load(&race.written[i]));
	}
}

struct counts {
	unsigned long rss, swap, tables;
	uint64_t anon;
};

static void counts_read(struct counts *counts)
{
	settle_all();
	counts->rss = status_kb("RssAnon");
	counts->swap = status_kb("VmSwap");
	counts->tables = status_kb("VmPTE");
	counts->anon = vmstat("nr_anon_pages");
}

static void same_counts(const char *what, long before, long after, long slack)
{
	if (labs(after - before) > slack)
		wrong(race.why, "%s was %ld kB before and is %ld kB afterwards", what,
		      before, after);
}

static void check_counts(const struct counts *before)
{
	struct counts after;

	counts_read(&after);
	same_counts("RssAnon", before->rss, after.rss, SLACK_KB);
	same_counts("VmSwap", before->swap, after.swap, SLACK_KB);
	/* Stacks of threads have tables too, and stay for the next ones. */
	same_counts("VmPTE", before->tables, after.tables, 128);
	same_counts("nr_anon_pages", before->anon * 4, after.anon * 4,
		    2 * SLACK_KB);
}

/* ------------------------------------------------------------------------- */
/* One race                                                                  */

#define MAX_ACTORS	8

struct cast {
	void (*other)(struct actor *actor, struct rng *rng);
	int movers, others;
	unsigned int order;	/* of the folios at the start */
	bool ksm;
};

static int hire(struct actor *actors, int nr,
		void (*once)(struct actor *actor, struct rng *rng), int count)
{
	for (int i = 0; i < count; i++) {
		actors[nr] = (struct actor){ .once = once, .number = i, .fd = -1 };
		if (once == pinner) {
			actors[nr].fd = open("/dev/pagerun", O_RDWR | O_CLOEXEC);
			if (actors[nr].fd < 0)
				die("cannot open /dev/pagerun");
		}
		nr++;
	}
	return nr;
}

static void perform(struct actor *actors, int nr, long ms)
{
	const struct timespec wait = {
		.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000,
	};

	atomic_store(&race.stop, false);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]))
			die("cannot start a thread");
	nanosleep(&wait, NULL);
	atomic_store(&race.stop, true);
	for (int i = 0; i < nr; i++) {
		pthread_join(actors[i].thread, NULL);
		if (actors[i].fd >= 0)
			close(actors[i].fd);
	}
}

static void epoch(const struct cast *cast, long ms)
{
	struct actor actors[MAX_ACTORS];
	int nr = 0;

	map_areas(cast->order);
	register_areas();
	if (cast->ksm) {
		madvise(race.area[0], PAGES * PAGE_SIZE, MADV_MERGEABLE);
		madvise(race.area[1], PAGES * PAGE_SIZE, MADV_MERGEABLE);
		ksm_run(true);
	}
	nr = hire(actors, nr, mover, cast->movers);
	nr = hire(actors, nr, writer, 1);
	nr = hire(actors, nr, reader, 1);
	nr = hire(actors, nr, cast->other, cast->other ? cast->others : 0);
	perform(actors, nr, ms);
	if (cast->ksm)
		ksm_run(false);
	check_all();
	close(race.uffd);
	munmap(race.reserved, 2 * PAGES * PAGE_SIZE + 4 * PMD_PAGES * PAGE_SIZE);
}

/* What each race has of the time. */
static long share_ms(void)
{
	return options.seconds * 1000L / (long)max_u32(nr_move_race_cases, 1);
}

/* Has everybody done what the race is about? */
static bool busy(const struct cast *cast, const struct stats *since)
{
	struct stats stats;

	stats_read(&stats);
	return stats.runs != since->runs && atomic_load(&race.writes) &&
	       atomic_load(&race.reads) &&
	       (cast->other != pinner || atomic_load(&race.pins)) &&
	       (!cast->other || cast->other == pinner ||
		atomic_load(&race.others));
}

/* On a busy host, some epochs more, until everybody had a turn. */
#define EPOCH_MS	1500
#define MORE_EPOCHS	20

static void epochs(const struct cast *cast, long ms, struct why *why)
{
	struct stats since, stats;
	int more = 0;

	stats_read(&since);
	for (; ms > 0 && !why->bad; ms -= EPOCH_MS)
		epoch(cast, ms < EPOCH_MS ? ms : EPOCH_MS);
	while (!why->bad && !busy(cast, &since) && more++ < MORE_EPOCHS)
		epoch(cast, EPOCH_MS);
	stats_read(&stats);
	ktap_diag("%lu pages moved, %lu of them in %lu runs; %lu writes, %lu reads, %lu pins, %lu other things",
		  atomic_load(&race.moved), stats.pages - since.pages,
		  stats.runs - since.runs, atomic_load(&race.writes),
		  atomic_load(&race.reads), atomic_load(&race.pins),
		  atomic_load(&race.others));
	if (!busy(cast, &since))
		wrong(why, "somebody did nothing: see the numbers");
}

static void forget(struct why *why)
{
	race.why = why;
	atomic_store(&race.moved, 0);
	atomic_store(&race.others, 0);
	atomic_store(&race.writes, 0);
	atomic_store(&race.reads, 0);
	atomic_store(&race.pins, 0);
}

static void play(const struct cast *cast, struct why *why)
{
	struct sigaction bus = { .sa_handler = on_sigbus, .sa_flags = SA_NODEFER };
	struct pins pins_before, pins_after;
	struct counts before;

	sigaction(SIGBUS, &bus, NULL);
	switch_set(true);
	/* The first one takes what stays: stacks, buffers. */
	forget(why);
	epoch(cast, 50);
	forget(why);
	counts_read(&before);
	pins_forget();
	pins_read(&pins_before);
	epochs(cast, share_ms(), why);
	check_counts(&before);
	pins_forget();
	pins_read(&pins_after);
	switch_set(false);
	signal(SIGBUS, SIG_DFL);
	if (pins_after.acquired - pins_before.acquired !=
	    pins_after.released - pins_before.released)
		wrong(why, "%llu pins acquired, %llu released",
		      (unsigned long long)(pins_after.acquired - pins_before.acquired),
		      (unsigned long long)(pins_after.released - pins_before.released));
}

/* ------------------------------------------------------------------------- */

static void plain(struct why *why)
{
	play(&(struct cast){ .movers = 1 }, why);
}

static void two_movers(struct why *why)
{
	play(&(struct cast){ .movers = 2 }, why);
}

static void folios(struct why *why)
{
	play(&(struct cast){ .movers = 2, .order = ORDER }, why);
}

static void pins(struct why *why)
{
	play(&(struct cast){ .movers = 1, .other = pinner, .others = 1 }, why);
}

static void pins_folios(struct why *why)
{
	play(&(struct cast){ .movers = 2, .other = pinner, .others = 2,
			     .order = ORDER }, why);
}

static void forks(struct why *why)
{
	play(&(struct cast){ .movers = 1, .other = forker, .others = 1,
			     .order = ORDER }, why);
}

static void reclaim(struct why *why)
{
	play(&(struct cast){ .movers = 2, .other = reclaimer, .others = 1,
			     .order = ORDER }, why);
}

static void drops(struct why *why)
{
	play(&(struct cast){ .movers = 2, .other = dropper, .others = 1 }, why);
}

static void merges(struct why *why)
{
	play(&(struct cast){ .movers = 1, .other = merger, .others = 1,
			     .ksm = true }, why);
}

static void collapses(struct why *why)
{
	play(&(struct cast){ .movers = 1, .other = collapser, .others = 1 }, why);
}

static const char *no_swap(void)
{
	if (!sys.swap)
		return "no swap area; boot with CONFIG_SWAP=y, CONFIG_CONFIGFS_FS=y and CONFIG_BLK_DEV_NULL_BLK=y, run as root";
	return no_move_64k();
}

static const char *no_ksm(void)
{
	return sys.ksm ? no_move() : "no merging; boot with CONFIG_KSM=y";
}

const struct named move_race_cases[] = {
	{ "race: one mover, a reader and a writer", no_move, plain },
	{ "race: two movers", no_move, two_movers },
	{ "race: two movers, 64k folios", no_move_64k, folios },
	{ "race: pins", no_move, pins },
	{ "race: pins of 64k folios", no_move_64k, pins_folios },
	{ "race: fork", no_move_64k, forks },
	{ "race: reclaim", no_swap, reclaim },
	{ "race: MADV_DONTNEED of other pages", no_move, drops },
	{ "race: KSM", no_ksm, merges },
	{ "race: collapse", no_move_2m, collapses },
};

const unsigned int nr_move_race_cases = ARRAY_SIZE(move_race_cases);
