// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named cases in which several threads take and release the same pages, each in
 * its own way, while another changes the memory under them.
 *
 * As in same_race.c, what is checked is what must hold for every call: pages that
 * are pinned stay where they are mapped as long as nobody unmaps them, each has
 * at least the counts of the thread that looks, the content is what was written,
 * and in the end all counts are back. And that the change did happen: pages were
 * swapped, migrated, merged, split or collapsed between the pins.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "same.h"

#define ORDER	4
#define SIZE	(1U << ORDER)

/* The window of most cases: folios of 64 KiB. */
#define PAGES	(8 * SIZE)
/* The longest call. */
#define CALL_MAX	(3 * SIZE)

/*
 * At least: calls of each thread; changes; and of these, such as had an effect.
 * All that within the time.
 */
#define CALLS	300U
#define CHANGES	100U
#define EFFECTS	10U
#define SECONDS	60

/* New memory comes after so many changes: most of them leave small folios. */
#define RENEW	5U

#define COMPACT	"/proc/sys/vm/compact_memory"

static const char *no_swap(void)
{
	return sys.swap ? no_64k() :
	       "no swap area; boot with CONFIG_SWAP=y, CONFIG_CONFIGFS_FS=y and CONFIG_BLK_DEV_NULL_BLK=y, run as root";
}

static const char *no_ksm(void)
{
	return sys.ksm ? no_64k() :
	       "no merging of memory; boot with CONFIG_KSM=y, run as root";
}

static const char *no_compaction(void)
{
	return access(COMPACT, W_OK) ?
	       "no " COMPACT "; boot with CONFIG_COMPACTION=y" : no_64k();
}

/* ------------------------------------------------------------------------- */
/* The threads that take pages                                               */

/* What the memory allows to be checked. */
#define CHECK_ALL	1U	/* a call takes all pages */
#define CHECK_PLACE	2U	/* pinned pages stay where they are mapped */
#define CHECK_CONTENT	4U	/* the content is what fill() wrote */

struct crowd;

struct taker {
	struct crowd *crowd;
	pthread_t thread;
	int cpu, fd;
	uint32_t op, flags;
	atomic_uint calls;
	struct rng rng;
	struct pagerun_test_page held[CALL_MAX];
	uint64_t map[CALL_MAX];
	struct why why;
};

static const struct {
	uint32_t op, flags;
} ways[] = {
	{ PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE },
	{ PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE },
	{ PAGERUN_TEST_PIN, 0 },
	{ PAGERUN_TEST_GET, 0 },
};

struct crowd {
	struct window *win;
	struct taker takers[ARRAY_SIZE(ways)];
	/* Held for reading while pages are taken, for writing by renew(). */
	pthread_rwlock_t lock;
	atomic_bool stop;
	uint32_t checks;
	bool alike;		/* all pages have the same content */
	struct rng rng;		/* the changer's */
	uint64_t effects;	/* as far as it counts them itself */
	int fd;
};

static uint32_t content(const struct crowd *crowd, uint32_t page)
{
	return crowd->alike ? 4711 : page * 5 + 1;
}

static void write_page(const struct crowd *crowd, uint32_t page)
{
	*(volatile uint32_t *)page_at(crowd->win, page) = content(crowd, page);
}

static void check_place(struct taker *taker, uint32_t page, uint32_t nr)
{
	const struct crowd *crowd = taker->crowd;

	/*
	 * Written to, so that a page which is shared is copied: then the pinned one
	 * is no longer the one that is mapped.
	 */
	for (uint32_t i = 0; i < nr; i++)
		write_page(crowd, page + i);
	pagemap_read(page_at(crowd->win, page), nr, taker->map);
	for (uint32_t i = 0; i < nr; i++)
		if (!(taker->map[i] & PM_PRESENT) ||
		    (taker->map[i] & PM_PFN) != taker->held[i].pfn)
			wrong(&taker->why, "page %u: pfn 0x%llx is pinned, pagemap says 0x%llx",
			      page + i, (unsigned long long)taker->held[i].pfn,
			      (unsigned long long)taker->map[i]);
}

/* Others hold pages of the folio too, so the counts may be higher. */
static void check_counts(struct taker *taker, uint32_t page, uint32_t nr)
{
	const bool pin = taker->op == PAGERUN_TEST_PIN;

	for (uint32_t i = 0; i < nr; i++) {
		const struct pagerun_test_page *held = &taker->held[i];
		int mine = 0, refs;

		/* It takes no pins. */
		if (held->pfn == sys.zero_pfn)
			continue;
		for (uint32_t j = 0; j < nr; j++)
			mine += taker->held[j].pfn - taker->held[j].index ==
				held->pfn - held->index;
		/* A pin of a small folio is GUP_PIN_COUNTING_BIAS references. */
		refs = pin && held->pincount < 0 ? mine * 1024 : mine;
		if (held->refcount < refs ||
		    (pin && held->pincount >= 0 && held->pincount < mine))
			wrong(&taker->why, "page %u, of a folio of order %u: %d of its pages are held, refcount %d pincount %d",
			      page + i, held->order, mine, held->refcount,
			      held->pincount);
	}
}

static void take_once(struct taker *taker)
{
	const struct crowd *crowd = taker->crowd;
	const uint32_t page = rng_below(&taker->rng, crowd->win->nr);
	const uint32_t nr = 1 + rng_below(&taker->rng,
					  min_u32(crowd->win->nr - page, CALL_MAX));
	uint32_t first;
	int ret;

	ret = dev_hold(taker->fd, page_at(crowd->win, page), nr, taker->op,
		       taker->flags, &first);
	if (ret > (int)nr || (crowd->checks & CHECK_ALL && ret != (int)nr))
		wrong(&taker->why, "taking %u pages at %u returned %d", nr, page,
		      ret);
	if (ret > 0) {
		dev_report(taker->fd, first, ret, taker->held);
		check_counts(taker, page, ret);
		/* Who only has references may see the page replaced. */
		if (crowd->checks & CHECK_PLACE && taker->op == PAGERUN_TEST_PIN)
			check_place(taker, page, ret);
	}
	dev_release(taker->fd);
}

static void *taker_main(void *arg)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	struct taker *taker = arg;
	struct crowd *crowd = taker->crowd;

	/* Where there is one CPU alone, it is shared. */
	run_on_cpu(taker->cpu);
	while (!atomic_load(&crowd->stop) && !taker->why.bad) {
		pthread_rwlock_rdlock(&crowd->lock);
		take_once(taker);
		pthread_rwlock_unlock(&crowd->lock);
		atomic_fetch_add(&taker->calls, 1);
		/* Pinned all the time, memory would not change at all. */
		if (rng_chance(&taker->rng, 40))
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static void lock_init(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;

	/* Or who writes would wait until all who read are done by chance. */
	if (pthread_rwlockattr_init(&attr) ||
	    pthread_rwlockattr_setkind_np(&attr,
			PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) ||
	    pthread_rwlock_init(lock, &attr))
		die("cannot make a lock");
	pthread_rwlockattr_destroy(&attr);
}

static void takers_start(struct crowd *crowd)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct taker *taker = &crowd->takers[i];

		taker->crowd = crowd;
		taker->cpu = i & 1;
		taker->op = ways[i].op;
		taker->flags = ways[i].flags;
		taker->rng.state = 100 + i;
		taker->fd = open("/dev/pagerun", O_RDWR | O_CLOEXEC);
		if (taker->fd < 0)
			die("cannot open /dev/pagerun");
		if (pthread_create(&taker->thread, NULL, taker_main, taker))
			die("cannot start a thread");
	}
}

static void takers_stop(struct crowd *crowd, struct why *why)
{
	atomic_store(&crowd->stop, true);
	for (uint32_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct taker *taker = &crowd->takers[i];

		if (pthread_join(taker->thread, NULL))
			die("cannot wait for a thread");
		close(taker->fd);
		if (taker->why.bad)
			wrong(why, "thread %u: %s", i, taker->why.text);
	}
	pthread_rwlock_destroy(&crowd->lock);
	pins_forget();
}

static bool takers_busy(const struct crowd *crowd)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (atomic_load(&crowd->takers[i].calls) < CALLS)
			return true;
	return false;
}

static bool takers_failed(const struct crowd *crowd)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (crowd->takers[i].why.bad)
			return true;
	return false;
}

/* ------------------------------------------------------------------------- */
/* The changes                                                               */

struct change {
	uint32_t checks;
	bool alike;
	uint32_t nr;
	/* One change; it counts effects, or the kernel does in /proc/vmstat. */
	void (*once)(struct crowd *crowd);
	const char *event;
	void (*renewed)(struct crowd *crowd);
	/* Ends what goes on beside the threads, and takes references. */
	void (*stop)(void);
};

/* New memory, while nobody holds any of the old. */
static void renew(struct crowd *crowd, const struct change *change)
{
	const size_t size = (size_t)crowd->win->nr << PAGE_SHIFT;

	pthread_rwlock_wrlock(&crowd->lock);
	if (mmap(crowd->win->base, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("cannot map");
	madvise(crowd->win->base, size, MADV_HUGEPAGE);
	for (uint32_t i = 0; i < crowd->win->nr; i++)
		write_page(crowd, i);
	if (change->renewed)
		change->renewed(crowd);
	pthread_rwlock_unlock(&crowd->lock);
}

static uint64_t effects(const struct crowd *crowd, const struct change *change)
{
	return change->event ? vmstat(change->event) : crowd->effects;
}

static void change_loop(struct crowd *crowd, const struct change *change,
			struct why *why)
{
	const uint64_t before = effects(crowd, change);
	const time_t end = time(NULL) + SECONDS;
	uint32_t i;

	for (i = 0; i < CHANGES || takers_busy(crowd) ||
	     effects(crowd, change) < before + EFFECTS; i++) {
		if (takers_failed(crowd))
			return;
		if (time(NULL) > end) {
			wrong(why, "after %d s: %u changes, %llu had an effect; it takes %u and %u, and %u calls of each thread",
			      SECONDS, i,
			      (unsigned long long)(effects(crowd, change) - before),
			      CHANGES, EFFECTS, CALLS);
			return;
		}
		if (i && i % RENEW == 0)
			renew(crowd, change);
		change->once(crowd);
		sched_yield();
	}
}

static void check_end(struct crowd *crowd, const struct pins *before,
		      struct why *why)
{
	struct pins after;

	settle_all();
	pins_read(&after);
	if (after.acquired - before->acquired != after.released - before->released)
		wrong(why, "%llu pins acquired, %llu released",
		      (unsigned long long)(after.acquired - before->acquired),
		      (unsigned long long)(after.released - before->released));
	for (uint32_t i = 0; crowd->checks & CHECK_CONTENT && i < crowd->win->nr;
	     i++) {
		uint32_t found = *(volatile uint32_t *)page_at(crowd->win, i);

		if (found != content(crowd, i))
			wrong(why, "page %u holds %u, not %u", i, found,
			      content(crowd, i));
	}
	settle_all();
	no_leaks(crowd->win, why);
}

static void crowd(const struct change *change, int fd, struct why *why)
{
	static struct layout lay;
	static struct scene scene;
	static struct crowd crowd;
	struct pins before;
	struct stats stats, stats_after;

	layout_init(&lay, change->nr);
	layout_add(&lay, OP_THP, 0, 0, ORDER, 0, 0);
	scene_make(&scene, &lay, 1);
	memset(&crowd, 0, sizeof(crowd));
	crowd.win = &scene.win[0];
	crowd.checks = change->checks;
	crowd.alike = change->alike;
	crowd.rng.state = 42;
	crowd.fd = fd;
	switch_set(true);
	settle();
	pins_read(&before);
	stats_read(&stats);

	lock_init(&crowd.lock);
	renew(&crowd, change);
	takers_start(&crowd);
	change_loop(&crowd, change, why);
	takers_stop(&crowd, why);
	if (change->stop)
		change->stop();

	stats_read(&stats_after);
	if (stats_after.runs == stats.runs)
		wrong(why, "no run was taken");
	check_end(&crowd, &before, why);
	switch_set(false);
	scene_end(&scene);
}

/* A range of a few folios, not always whole ones. */
static void *some_pages(struct crowd *crowd, size_t *size)
{
	const uint32_t page = rng_below(&crowd->rng, crowd->win->nr);
	uint32_t nr = 1 + rng_below(&crowd->rng,
				    min_u32(crowd->win->nr - page, 2 * SIZE));

	*size = (size_t)nr << PAGE_SHIFT;
	if (rng_chance(&crowd->rng, 50))
		return page_at(crowd->win, page);
	*size = SIZE << PAGE_SHIFT;
	return page_at(crowd->win, page & -SIZE);
}

/* ------------------------------------------------------------------------- */

static void fork_once(struct crowd *crowd)
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		die("cannot wait for a child");
	crowd->effects++;
}

static void fork_case(struct why *why)
{
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PAGES,
		.once = fork_once,
	}, -1, why);
}

static void zap_once(struct crowd *crowd)
{
	size_t size;
	void *addr = some_pages(crowd, &size);

	if (!madvise(addr, size, MADV_DONTNEED))
		crowd->effects++;
}

static void zap_case(struct why *why)
{
	crowd(&(struct change){
		.checks = CHECK_ALL, .nr = PAGES, .once = zap_once,
	}, -1, why);
}

static void unmap_once(struct crowd *crowd)
{
	size_t size;
	void *addr = some_pages(crowd, &size);

	if (munmap(addr, size))
		die("cannot unmap");
	crowd->effects++;
	/* Mostly it is mapped again at once; nobody else maps anything. */
	if (rng_chance(&crowd->rng, 20))
		return;
	if (mmap(addr, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("cannot map");
	madvise(addr, size, MADV_HUGEPAGE);
}

static void unmap_case(struct why *why)
{
	crowd(&(struct change){
		.nr = PAGES, .once = unmap_once,
	}, -1, why);
}

/* ------------------------------------------------------------------------- */

/* The order of the folio that a page is of. */
static unsigned int order_at(const void *addr)
{
	struct pagerun_test_page page = { };
	uint32_t first;

	if (dev_hold(sys.observer, addr, 1, PAGERUN_TEST_GET, 0, &first) == 1)
		dev_report(sys.observer, first, 1, &page);
	dev_release(sys.observer);
	return page.order;
}

static void split_once(struct crowd *crowd)
{
	char line[100];
	size_t size;
	char *addr = some_pages(crowd, &size);
	const unsigned int before = order_at(addr);
	int len;

	len = snprintf(line, sizeof(line), "%d,0x%lx,0x%lx,%d", getpid(),
		       (unsigned long)addr, (unsigned long)(addr + size),
		       rng_chance(&crowd->rng, 50) ? 0 : ORDER - 2);
	/* It fails when nothing was to be split. */
	if (write(crowd->fd, line, len) < 0)
		sched_yield();
	if (order_at(addr) < before)
		crowd->effects++;
}

static void split_case(struct why *why)
{
	int fd = open(SPLIT, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die("cannot open %s", SPLIT);
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PAGES,
		.once = split_once,
	}, fd, why);
	close(fd);
}

static bool collapsed(const struct crowd *crowd)
{
	return order_at(crowd->win->base) == PMD_ORDER;
}

static void collapse_once(struct crowd *crowd)
{
	const bool before = collapsed(crowd);

	madvise(crowd->win->base, (size_t)crowd->win->nr << PAGE_SHIFT,
		MADV_COLLAPSE);
	if (!before && collapsed(crowd))
		crowd->effects++;
	/* By PTEs again, of the whole folio; that makes pages of it read-only. */
	if (rng_chance(&crowd->rng, 70)) {
		pthread_rwlock_wrlock(&crowd->lock);
		mprotect(crowd->win->base, PAGE_SIZE, PROT_READ);
		mprotect(crowd->win->base, PAGE_SIZE, PROT_READ | PROT_WRITE);
		pthread_rwlock_unlock(&crowd->lock);
	}
}

static void collapse_case(struct why *why)
{
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PMD_PAGES,
		.once = collapse_once,
	}, -1, why);
}

/* Wait a little for khugepaged, which makes the changes. */
static void khugepaged_once(struct crowd *crowd)
{
	const struct timespec wait = { .tv_nsec = 5000000 };
	const bool before = collapsed(crowd);

	for (int i = 0; !before && i < 20; i++) {
		nanosleep(&wait, NULL);
		if (collapsed(crowd)) {
			crowd->effects++;
			return;
		}
	}
}

/* Small folios, where the largest size is what faults may have. */
static void small_folios(struct crowd *crowd)
{
	const size_t size = (size_t)crowd->win->nr << PAGE_SHIFT;

	madvise(crowd->win->base, size, MADV_NOHUGEPAGE);
	madvise(crowd->win->base, size, MADV_DONTNEED);
	/* Halves: one of small folios, one in which runs are taken. */
	thp_none();
	thp_anon(ORDER);
	for (uint32_t i = 0; i < crowd->win->nr; i++) {
		if (i == crowd->win->nr / 2)
			madvise(crowd->win->base, size, MADV_HUGEPAGE);
		write_page(crowd, i);
	}
	thp_anon(PMD_ORDER);
	/* Again, for khugepaged to take notice of the process. */
	madvise(crowd->win->base, size, MADV_HUGEPAGE);
}

static void khugepaged_case(struct why *why)
{
	khugepaged_hurry(true);
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PMD_PAGES,
		.once = khugepaged_once, .renewed = small_folios,
		/* It runs as long as its size is enabled. */
		.stop = thp_none,
	}, -1, why);
	khugepaged_hurry(false);
}

/* ------------------------------------------------------------------------- */

static void pageout_once(struct crowd *crowd)
{
	size_t size;
	void *addr = some_pages(crowd, &size);

	madvise(addr, size, MADV_PAGEOUT);
}

static void pageout_case(struct why *why)
{
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PAGES,
		.once = pageout_once, .event = "pswpout",
	}, -1, why);
}

static void compact_once(struct crowd *crowd)
{
	if (pwrite(crowd->fd, "1", 1, 0) != 1)
		die("cannot write %s", COMPACT);
}

static void migrate_case(struct why *why)
{
	int fd = open(COMPACT, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die("cannot open %s", COMPACT);
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PAGES,
		.once = compact_once, .event = "pgmigrate_success",
	}, fd, why);
	close(fd);
}

static void mergeable(struct crowd *crowd)
{
	madvise(crowd->win->base, (size_t)crowd->win->nr << PAGE_SHIFT,
		MADV_MERGEABLE);
}

/* ksmd makes the changes; who checks the place of a page writes to it. */
static void ksm_once(struct crowd *crowd)
{
	const struct timespec wait = { .tv_nsec = 5000000 };

	(void)crowd;
	nanosleep(&wait, NULL);
}

static void ksm_stop(void)
{
	ksm_run(false);
}

static void ksm_case(struct why *why)
{
	ksm_run(true);
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PAGES,
		.alike = true, .once = ksm_once, .event = "cow_ksm",
		.renewed = mergeable, .stop = ksm_stop,
	}, -1, why);
}

/* ------------------------------------------------------------------------- */
/* A memory group, of which the kernel reclaims                              */

static char group_dir[40];
static bool group_mounted;

static bool group_write(const char *name, const char *value)
{
	char path[sizeof(group_dir) + 60];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", group_dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return ok;
}

static void group_end(void)
{
	char path[sizeof(group_dir) + 60];

	if (!group_mounted)
		return;
	group_mounted = false;
	/* What it was charged for goes to its parent. */
	group_write("cgroup.procs", "0");
	snprintf(path, sizeof(path), "%s/same_answers", group_dir);
	rmdir(path);
	group_write("cgroup.subtree_control", "-memory");
	umount2(group_dir, MNT_DETACH);
	rmdir(group_dir);
}

/* The process in a group of its own; the file that reclaims, or -1. */
static int group_begin(void)
{
	char path[sizeof(group_dir) + 60];
	int fd;

	strcpy(group_dir, "/tmp/same_answers.XXXXXX");
	if (!mkdtemp(group_dir))
		return -1;
	if (mount("none", group_dir, "cgroup2", 0, NULL)) {
		rmdir(group_dir);
		return -1;
	}
	/* die() ends by exit(). */
	if (!group_mounted && atexit(group_end))
		die("cannot register what puts the group back");
	group_mounted = true;
	snprintf(path, sizeof(path), "%s/same_answers", group_dir);
	if (!group_write("cgroup.subtree_control", "+memory") ||
	    mkdir(path, 0700) || !group_write("same_answers/cgroup.procs", "0")) {
		group_end();
		return -1;
	}
	snprintf(path, sizeof(path), "%s/same_answers/memory.reclaim", group_dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		group_end();
	return fd;
}

static const char *no_group(void)
{
	int fd = no_swap() ? -1 : group_begin();

	if (fd < 0)
		return no_swap() ? no_swap() :
		       "no memory.reclaim; boot Linux 5.19 or later with CONFIG_MEMCG=y, no cgroup v1";
	close(fd);
	group_end();
	return NULL;
}

static void reclaim_once(struct crowd *crowd)
{
	/* Where less than that can be had it says EAGAIN. */
	if (write(crowd->fd, "256K", 4) != 4 && errno != EAGAIN)
		die("cannot write memory.reclaim");
}

static void reclaim_case(struct why *why)
{
	int fd = group_begin();

	if (fd < 0)
		die("cannot make a memory group");
	crowd(&(struct change){
		.checks = CHECK_ALL | CHECK_PLACE | CHECK_CONTENT, .nr = PAGES,
		.once = reclaim_once, .event = "pswpout",
	}, fd, why);
	close(fd);
	group_end();
}

/* ------------------------------------------------------------------------- */

const struct named crowd_cases[] = {
	{ "threads and fork", no_64k, fork_case },
	{ "threads and MADV_DONTNEED", no_64k, zap_case },
	{ "threads and munmap", no_64k, unmap_case },
	{ "threads and split", no_split, split_case },
	{ "threads and MADV_COLLAPSE", no_2m, collapse_case },
	{ "threads and khugepaged", no_2m, khugepaged_case },
	{ "threads and MADV_PAGEOUT", no_swap, pageout_case },
	{ "threads and memory.reclaim", no_group, reclaim_case },
	{ "threads and compaction", no_compaction, migrate_case },
	{ "threads and KSM", no_ksm, ksm_case },
};

const unsigned int nr_crowd_cases = ARRAY_SIZE(crowd_cases);
