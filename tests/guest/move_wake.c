// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named cases of UFFDIO_MOVE with a second thread: one that waits for a page to come
 * is woken by what was moved and by nothing else; a large folio that somebody holds
 * is waited for, or not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "move.h"

#define ORDER	4
#define SIZE	(1U << ORDER)
#define PAGES	64U
#define DST	PMD_PAGES

static long ms_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
	const struct timespec wait = {
		.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000,
	};

	nanosleep(&wait, NULL);
}

/* ------------------------------------------------------------------------- */
/* Who waits for a page                                                      */

/* Long enough for a thread that was woken to fault once more. */
#define WOKEN_MS	60

struct waiter {
	pthread_t thread;
	volatile uint32_t *word;	/* of the page it waits for */
	uint32_t got;
	atomic_bool done;
};

/* A window of which faults are waited for, unlike those of a scene. */
static struct scene waits;

static void *waiter_main(void *arg)
{
	struct waiter *waiter = arg;

	waiter->got = *waiter->word;
	atomic_store(&waiter->done, true);
	return NULL;
}

/* The next fault that is told of within the time, or -1: its page. */
static long fault_within(int ms)
{
	struct pollfd poll_fd = { .fd = waits.uffd, .events = POLLIN };
	struct uffd_msg msg;

	if (poll(&poll_fd, 1, ms) != 1)
		return -1;
	if (read(waits.uffd, &msg, sizeof(msg)) != sizeof(msg) ||
	    msg.event != UFFD_EVENT_PAGEFAULT)
		die("the userfaultfd tells of something else");
	return ((long)msg.arg.pagefault.address - (long)waits.win[0].base) >>
	       PAGE_SHIFT;
}

static void waiter_start(struct waiter *waiter, uint32_t page)
{
	waiter->word = page_at(&waits.win[0], page);
	atomic_store(&waiter->done, false);
	if (pthread_create(&waiter->thread, NULL, waiter_main, waiter))
		die("cannot start a thread");
	if (fault_within(20000) != page)
		die("a fault is not told of");
}

/* It has read that, after a while; the thread is gone then. */
static void waiter_join(struct waiter *waiter, uint32_t value, struct why *why)
{
	for (int i = 0; i < 20000 && !atomic_load(&waiter->done); i++)
		sleep_ms(1);
	if (!atomic_load(&waiter->done)) {
		wrong(why, "a thread that waits for a moved page is not woken");
		/* So that the test can go on. */
		ioctl(waits.uffd, UFFDIO_WAKE, &(struct uffdio_range){
			.start = (uintptr_t)waits.win[0].base + DST * PAGE_SIZE,
			.len = PAGES * PAGE_SIZE });
	}
	pthread_join(waiter->thread, NULL);
	if (waiter->got != value)
		wrong(why, "the page that was waited for holds %u, not %u",
		      waiter->got, value);
}

static void waits_begin(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_MOVE };
	struct uffdio_register reg = {
		.mode = UFFDIO_REGISTER_MODE_MISSING,
		.range.len = PAGES * PAGE_SIZE,
	};
	static struct layout lay;

	move_begin();
	layout_init(&lay, 2 * PMD_PAGES);
	layout_add(&lay, OP_ANON, 0, PAGES, 0, LAY_EMPTY, 0);
	layout_add(&lay, OP_ANON, DST, PAGES, 0, LAY_EMPTY, 0);
	scene_make(&waits, &lay, 1);
	for (uint32_t i = 0; i < PAGES; i++)
		poke(page_at(&waits.win[0], i), 1000 + i);
	/* To poll one that is not O_NONBLOCK is an error. */
	waits.uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	reg.range.start = (uintptr_t)page_at(&waits.win[0], DST);
	if (waits.uffd < 0 || ioctl(waits.uffd, UFFDIO_API, &api) ||
	    ioctl(waits.uffd, UFFDIO_REGISTER, &reg))
		die("cannot register memory with a userfaultfd");
}

static void waits_move(uint32_t page, uint32_t nr, uint64_t mode, uint32_t moved,
		       struct why *why)
{
	const struct move_call call = {
		.src = page, .dst = DST + page, .nr = nr, .mode = mode,
	};
	int64_t bytes;

	move_ioctl(&waits, &waits.win[0], &call, &bytes);
	if (bytes != (int64_t)moved << PAGE_SHIFT)
		wrong(why, ".move is %lld, not that of %u pages", (long long)bytes,
		      moved);
}

/* Nobody was woken: who is faults again, and that is told of. */
static void expect_asleep(const struct waiter *waiter, const char *what,
			  struct why *why)
{
	const long page = fault_within(WOKEN_MS);

	if (page >= 0 || atomic_load(&waiter->done))
		wrong(why, "%s: the thread that waits for another page was woken",
		      what);
}

/* The run ends at a hole: who waits in front of it is woken, who waits for it not. */
static void wakes(bool on, struct why *why)
{
	const char *what = on ? "on" : "off";
	struct waiter moved, left;

	waits_begin();
	switch_set(on);
	madvise(page_at(&waits.win[0], 20), PAGE_SIZE, MADV_DONTNEED);
	waiter_start(&left, DST + 20);
	waits_move(30, 5, 0, 5, why);
	expect_asleep(&left, what, why);
	waiter_start(&moved, DST + 19);
	waits_move(4, 20, 0, 16, why);
	waiter_join(&moved, 1019, why);
	expect_asleep(&left, what, why);
	poke(page_at(&waits.win[0], 20), 1020);
	waits_move(20, 5, 0, 5, why);
	waiter_join(&left, 1020, why);
	switch_set(false);
	scene_end(&waits);
}

static void wake_exactly(struct why *why)
{
	wakes(false, why);
	wakes(true, why);
}

static void dont_wake(struct why *why)
{
	for (int on = 0; on < 2; on++) {
		struct uffdio_range range = { .len = PAGES * PAGE_SIZE };
		struct waiter waiter;

		waits_begin();
		switch_set(on);
		waiter_start(&waiter, DST + 7);
		waits_move(0, 20, UFFDIO_MOVE_MODE_DONTWAKE, 20, why);
		expect_asleep(&waiter, on ? "on" : "off", why);
		range.start = (uintptr_t)page_at(&waits.win[0], DST);
		ioctl(waits.uffd, UFFDIO_WAKE, &range);
		waiter_join(&waiter, 1007, why);
		switch_set(false);
		scene_end(&waits);
	}
}

/* ------------------------------------------------------------------------- */
/* Who holds a folio                                                         */

/* Releases what the device holds, after a while. */
struct holder {
	pthread_t thread;
	long ms;
};

static void *holder_main(void *arg)
{
	const struct holder *holder = arg;

	sleep_ms(holder->ms);
	dev_release(sys.dev);
	return NULL;
}

static struct scene held;

/* Two folios; @op holds one page of the second. Return: milliseconds of the call. */
static long move_held(bool on, uint32_t op, long ms, struct why *why)
{
	const struct move_call call = { .src = 0, .dst = DST, .nr = 4 * SIZE };
	struct holder holder = { .ms = ms };
	const long start = ms_now();
	int64_t moved;
	int err;

	dev_hold(sys.dev, page_at(&held.win[on], SIZE + 3), 1, op,
		 PAGERUN_TEST_WRITE, NULL);
	if (pthread_create(&holder.thread, NULL, holder_main, &holder))
		die("cannot start a thread");
	switch_set(on);
	err = move_ioctl(&held, &held.win[on], &call, &moved);
	switch_set(false);
	holder.ms = ms_now() - start;
	pthread_join(holder.thread, NULL);
	if (err || moved != (int64_t)call.nr << PAGE_SHIFT)
		wrong(why, "%s: errno %d, .move %lld", on ? "on" : "off", err,
		      (long long)moved);
	return holder.ms;
}

static void held_begin(void)
{
	static struct layout lay;

	move_begin();
	layout_init(&lay, 2 * PMD_PAGES);
	layout_add(&lay, OP_ANON, 0, PAGES, ORDER, LAY_EMPTY, 0);
	layout_add(&lay, OP_ANON, DST, PAGES, ORDER, LAY_EMPTY, 0);
	layout_add(&lay, OP_FILL, 0, 4 * SIZE, ORDER, 0, 3);
	layout_add(&lay, OP_UFFD, DST, PAGES, UFFD_MISSING, 0, 0);
	scene_make(&held, &lay, 2);
}

/* Are the folios whole? With @any, the one that was held need not be. */
static void held_end(bool any, struct why *why)
{
	if (!why->bad)
		move_look(&held, why);
	for (uint32_t i = DST; i < DST + 4 * SIZE && !why->bad; i++)
		if (move_answers[1].obs[i].order != ORDER &&
		    !(any && i / SIZE == (DST + SIZE) / SIZE))
			wrong(why, "on: page %u is of a folio of order %u, not %u",
			      i, move_answers[1].obs[i].order, ORDER);
	if (!why->bad)
		move_epilogue(&held, true, true, why);
	scene_end(&held);
}

/* The base tries again until the pin is gone; so it is with the switch on. */
static void pinned_folio(struct why *why)
{
	held_begin();
	for (int on = 0; on < 2; on++) {
		long ms = move_held(on, PAGERUN_TEST_PIN, 100, why);

		if (ms < 50)
			wrong(why, "%s: a pinned folio was moved after %ld ms; it is pinned for 100",
			      on ? "on" : "off", ms);
	}
	/* The pin can go just before the base tries to split it. */
	held_end(true, why);
}

/* A reference that is no pin keeps a folio from being split, not from being moved. */
static void referenced_folio(struct why *why)
{
	long ms;

	held_begin();
	move_held(false, PAGERUN_TEST_GET, 0, why);
	ms = move_held(true, PAGERUN_TEST_GET, 3000, why);
	if (ms > 2500)
		wrong(why, "on: a folio with one more reference was moved after %ld ms, when the reference was gone",
		      ms);
	held_end(false, why);
}

/* ------------------------------------------------------------------------- */

const struct named wake_cases[] = {
	{ "who waits for a moved page is woken, and nobody else", no_move,
	  wake_exactly },
	{ "nobody is woken if the caller says so", no_move, dont_wake },
	{ "64k folio with a pinned page is waited for", no_move_64k, pinned_folio },
	{ "64k folio with another reference is moved whole", no_move_64k,
	  referenced_folio },
};

const unsigned int nr_wake_cases = ARRAY_SIZE(wake_cases);
