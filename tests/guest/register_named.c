// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases with a name: limits to the page, failures half-way, buffers in use while they are
 * replaced, clones, many buffers, rings that are just closed, two threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "register.h"

#define FOLIO		16U	/* pages of a 64 kB folio */
#define KB(n)		((size_t)(n) << 10)

static const char *nothing(void)
{
	return NULL;
}

/* Memory of folios of one order; a scene of one window. */
static void memory_make(struct scene *scene, unsigned int order, uint32_t nr)
{
	static struct layout lay;

	layout_init(&lay, nr);
	layout_add(&lay, OP_ANON, 0, nr, order, 0, 1);
	scene_make(scene, &lay, 1);
	limit_set(~0UL);
}

static struct iovec part(const struct scene *scene, uint32_t page, uint32_t nr)
{
	return (struct iovec){ page_at(&scene->win[0], page), nr * PAGE_SIZE };
}

/* A buffer for each of the first folios. */
static void folio_buffers(const struct scene *scene, struct iovec *buffers, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		buffers[i] = part(scene, FOLIO * i, FOLIO);
}

/* What counted is given back, at the latest when a ring that was closed is gone. */
static void all_back(unsigned long locked, unsigned long pinned, const char *what,
		     struct why *why)
{
	if (!locked_back(locked, pinned))
		wrong(why, "%s: %lu pages locked, %lu pinned in the end", what,
		      locked_now() - locked, pinned_now() - pinned);
}

/* Registered with just enough, and not with a page less. */
static bool limit_is(const struct iovec *buffers, unsigned int nr, unsigned long pages,
		     const char *what, struct why *why)
{
	const unsigned long locked = locked_now();
	struct io_uring ring;
	int less, enough;

	ring_make(&ring, false);
	limit_set(locked + pages - 1);
	less = ring_register(&ring, buffers, nr);
	if (!less)
		ring_unregister(&ring);
	limit_set(locked + pages);
	enough = ring_register(&ring, buffers, nr);
	if (!enough && locked_now() != locked + pages)
		wrong(why, "%s: %lu pages count, not %lu", what, locked_now() - locked, pages);
	limit_set(~0UL);
	ring_unregister(&ring);
	ring_end(&ring);
	if (less != -ENOMEM || enough)
		return wrong(why, "%s: one page less than %lu: %d; as many: %d", what, pages,
			     less, enough);
	if (locked_now() != locked)
		return wrong(why, "%s: %lu pages still count", what, locked_now() - locked);
	return !why->bad;
}

/* The same numbers off and on: they are what the base's rules give. */
static void both(void (*run)(const char *what, struct why *why), struct why *why)
{
	switch_set(false);
	run("off", why);
	switch_set(true);
	run("on", why);
	switch_set(false);
}

static void limits_small(const char *what, struct why *why)
{
	struct scene scene;
	struct iovec one, twice[2];

	memory_make(&scene, 0, 300);
	one = part(&scene, 7, 131);
	twice[0] = part(&scene, 7, 100);
	twice[1] = part(&scene, 50, 100);
	/* Small folios count each time. */
	if (limit_is(&one, 1, 131, what, why))
		limit_is(twice, 2, 200, what, why);
	scene_end(&scene);
}

static void limits_64k(const char *what, struct why *why)
{
	struct scene scene;
	struct iovec one, inner, shared[3], many[100];
	unsigned int i;

	memory_make(&scene, 4, 2 * PMD_PAGES);
	/* A folio counts whole, once a ring. */
	one = part(&scene, 5, 100 * FOLIO);
	one.iov_len = (60 * FOLIO) * PAGE_SIZE;
	inner = part(&scene, 3, 1);
	shared[0] = part(&scene, 0, 10);
	shared[1] = part(&scene, 10, 10);
	shared[2] = part(&scene, 12, 3);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = part(&scene, 8 * i, 8);
	if (limit_is(&one, 1, 61 * FOLIO, what, why) &&
	    limit_is(&inner, 1, FOLIO, what, why) &&
	    limit_is(shared, 3, 2 * FOLIO, what, why))
		limit_is(many, ARRAY_SIZE(many), 50 * FOLIO, what, why);
	scene_end(&scene);
}

static void limits_2m(const char *what, struct why *why)
{
	struct scene scene;
	struct iovec across, many[128];
	unsigned int i;

	memory_make(&scene, PMD_ORDER, 4 * PMD_PAGES);
	across = part(&scene, PMD_PAGES - 1, PMD_PAGES + 2);
	/* By turns of both, so that it is not the last one that is asked for again. */
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = part(&scene, (i & 1) * PMD_PAGES + 2 * i, 2);
	if (limit_is(&across, 1, 3 * PMD_PAGES, what, why))
		limit_is(many, ARRAY_SIZE(many), 2 * PMD_PAGES, what, why);
	scene_end(&scene);
}

static void case_limits_small(struct why *why)
{
	both(limits_small, why);
}

static void case_limits_64k(struct why *why)
{
	both(limits_64k, why);
}

static void case_limits_2m(struct why *why)
{
	both(limits_2m, why);
}

/* ------------------------------------------------------------------------- */

/* A buffer in the middle is refused, or is one too many: nothing is left. */
static void half_way(const char *what, struct why *why)
{
	const unsigned long locked = locked_now(), pinned = pinned_now();
	struct iovec buffers[100];
	struct io_uring ring;
	struct scene scene;
	unsigned int i;
	int ret;

	memory_make(&scene, 4, 2 * PMD_PAGES);
	ring_make(&ring, false);
	for (i = 0; i < ARRAY_SIZE(buffers); i++)
		buffers[i] = part(&scene, 8 * i, 8);
	buffers[80].iov_base = NULL;
	ret = ring_register(&ring, buffers, ARRAY_SIZE(buffers));
	if (ret != -EFAULT)
		wrong(why, "%s: a buffer without an address: %d", what, ret);
	buffers[80].iov_base = (char *)scene.win[0].base - PMD_PAGES * PAGE_SIZE;
	ret = ring_register(&ring, buffers, ARRAY_SIZE(buffers));
	if (ret != -EFAULT)
		wrong(why, "%s: a buffer where nothing is mapped: %d", what, ret);
	buffers[80] = part(&scene, 640, 8);
	limit_set(locked + 49 * FOLIO + FOLIO - 1);
	ret = ring_register(&ring, buffers, ARRAY_SIZE(buffers));
	if (ret != -ENOMEM)
		wrong(why, "%s: one page too many: %d", what, ret);
	limit_set(locked + 50 * FOLIO);
	if (locked_now() != locked || pinned_now() != pinned)
		wrong(why, "%s: %lu pages locked, %lu pinned after a failure", what,
		      locked_now() - locked, pinned_now() - pinned);

	/* The same in an update: those before stay, and it says how many. */
	ret = ring_register(&ring, buffers, ARRAY_SIZE(buffers));
	if (ret)
		wrong(why, "%s: all of it: %d", what, ret);
	for (i = 0; i < 4; i++)
		buffers[i] = part(&scene, 900 + FOLIO * i, 8);
	/* Slot 0 gives back the folio that it shares with slot 1, which gives back none. */
	limit_set(locked_now() + 2 * FOLIO - 1);
	ret = ring_update(&ring, 0, buffers, 4);
	if (ret != 2)
		wrong(why, "%s: an update of which two fit: %d", what, ret);
	limit_set(~0UL);
	ret = ring_update(&ring, 2, buffers + 2, 2);
	/* Slots 0 and 2 gave back a folio, and each of the four has a new one. */
	if (ret != 2 || locked_now() != locked + 52 * FOLIO)
		wrong(why, "%s: the others: %d, %lu pages count", what, ret,
		      locked_now() - locked);
	ring_unregister(&ring);
	ring_end(&ring);
	scene_end(&scene);
	all_back(locked, pinned, what, why);
}

static void case_half_way(struct why *why)
{
	both(half_way, why);
}

/* ------------------------------------------------------------------------- */
/* A read that waits for data in a pipe                                      */

struct waiting {
	int fds[2];
	struct io_uring *ring;
};

static void read_begin(struct waiting *wait, struct io_uring *ring, const struct iovec *buffer,
		       unsigned int slot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (pipe2(wait->fds, O_CLOEXEC) || !sqe)
		die("no pipe, or no room in a ring");
	wait->ring = ring;
	io_uring_prep_read_fixed(sqe, wait->fds[0], buffer->iov_base, 64, 0, (int)slot);
	if (io_uring_submit(ring) != 1)
		die("a read was not taken");
}

static void data_write(struct waiting *wait)
{
	static const char data[64] = "what was waited for";

	if (write(wait->fds[1], data, sizeof(data)) != sizeof(data))
		die("cannot write into a pipe");
}

/* Return: what the read returned. */
static int read_end(struct waiting *wait)
{
	struct io_uring_cqe *cqe;
	int ret;

	if (io_uring_wait_cqe(wait->ring, &cqe))
		die("a read does not end");
	ret = cqe->res;
	io_uring_cqe_seen(wait->ring, cqe);
	close(wait->fds[0]);
	close(wait->fds[1]);
	return ret;
}

/* What a read uses stays, and counts, until it has ended; its slot is another's. */
static void in_flight(const char *what, struct why *why)
{
	const unsigned long locked = locked_now(), pinned = pinned_now();
	struct iovec buffers[80], other;
	struct waiting wait;
	struct io_uring ring;
	struct scene scene;
	int ret;

	memory_make(&scene, 4, 4 * PMD_PAGES);
	folio_buffers(&scene, buffers, ARRAY_SIZE(buffers));
	other = part(&scene, 3 * PMD_PAGES, FOLIO);
	ring_make(&ring, false);
	ret = ring_register(&ring, buffers, ARRAY_SIZE(buffers));
	if (ret)
		wrong(why, "%s: register: %d", what, ret);
	read_begin(&wait, &ring, &buffers[70], 70);
	ret = ring_update(&ring, 70, &other, 1);
	if (ret != 1)
		wrong(why, "%s: update in flight: %d", what, ret);
	if (locked_now() != locked + 81 * FOLIO)
		wrong(why, "%s: %lu pages count with a buffer that is still read into", what,
		      locked_now() - locked);
	/* Its folio is in no slot: it counts anew. */
	ret = ring_update(&ring, 71, &buffers[70], 1);
	if (ret != 1 || locked_now() != locked + 82 * FOLIO)
		wrong(why, "%s: the same folio once more: %d, %lu pages count", what, ret,
		      locked_now() - locked);
	data_write(&wait);
	if (read_end(&wait) != 64 || memcmp(buffers[70].iov_base, "what was", 8))
		wrong(why, "%s: the read went wrong", what);
	if (!locked_back(locked + 80 * FOLIO, pinned + 80 * FOLIO))
		wrong(why, "%s: %lu pages count after the read", what, locked_now() - locked);
	ring_unregister(&ring);
	ring_end(&ring);
	scene_end(&scene);
	all_back(locked, pinned, what, why);
}

static void case_in_flight(struct why *why)
{
	both(in_flight, why);
}

static void *unregister_thread(void *data)
{
	return (void *)(long)ring_unregister(data);
}

/* Unregistering waits for what is in flight, and others cannot change the table then. */
static void unregister_in_flight(const char *what, struct why *why)
{
	const unsigned long locked = locked_now(), pinned = pinned_now();
	struct iovec buffers[80];
	struct waiting wait;
	struct io_uring ring;
	struct scene scene;
	pthread_t thread;
	void *ret;

	memory_make(&scene, 4, 4 * PMD_PAGES);
	folio_buffers(&scene, buffers, ARRAY_SIZE(buffers));
	ring_make(&ring, false);
	if (ring_register(&ring, buffers, ARRAY_SIZE(buffers)))
		wrong(why, "%s: register", what);
	read_begin(&wait, &ring, &buffers[3], 3);
	if (pthread_create(&thread, NULL, unregister_thread, &ring))
		die("no thread");
	usleep(50000);
	if (locked_now() != locked + 80 * FOLIO)
		wrong(why, "%s: %lu pages count while it waits", what, locked_now() - locked);
	if (ring_update(&ring, 5, &buffers[6], 1) >= 0)
		wrong(why, "%s: updated while it is unregistered", what);
	data_write(&wait);
	if (read_end(&wait) != 64)
		wrong(why, "%s: the read went wrong", what);
	pthread_join(thread, &ret);
	if (ret)
		wrong(why, "%s: unregister: %ld", what, (long)ret);
	all_back(locked, pinned, what, why);
	ring_end(&ring);
	scene_end(&scene);
}

static void case_unregister_in_flight(struct why *why)
{
	both(unregister_in_flight, why);
}

/* ------------------------------------------------------------------------- */

/* A clone counts nothing, knows what it holds, and gives it back if it is the last. */
static void clones(const char *what, struct why *why)
{
	const unsigned long locked = locked_now(), pinned = pinned_now();
	struct iovec buffers[90], again[90];
	struct io_uring source, clone;
	struct scene scene;
	unsigned int i;
	int ret;

	memory_make(&scene, 4, 4 * PMD_PAGES);
	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		buffers[i] = part(&scene, FOLIO * i, FOLIO);
		again[i] = part(&scene, FOLIO * (ARRAY_SIZE(buffers) - 1 - i), FOLIO);
	}
	ring_make(&source, false);
	ring_make(&clone, false);
	ret = ring_register(&source, buffers, ARRAY_SIZE(buffers));
	if (!ret)
		ret = ring_clone(&clone, &source);
	if (ret || locked_now() != locked + 90 * FOLIO)
		wrong(why, "%s: clone: %d, %lu pages count", what, ret, locked_now() - locked);
	/* All of it is in the clone's table already, whichever slot it goes to. */
	ret = ring_update(&clone, 0, again, 45);
	if (ret != 45 || locked_now() != locked + 90 * FOLIO)
		wrong(why, "%s: update of the clone: %d, %lu pages count", what, ret,
		      locked_now() - locked);
	ring_unregister(&source);
	if (locked_now() != locked + 45 * FOLIO)
		wrong(why, "%s: %lu pages count without the source", what, locked_now() - locked);
	if (ring_read(&clone, 80, buffers[80].iov_base, KB(64), 0) != KB(64) ||
	    *(uint32_t *)buffers[80].iov_base != pattern_word(0))
		wrong(why, "%s: the clone cannot be read into", what);
	ring_unregister(&clone);
	all_back(locked, pinned, what, why);
	ring_end(&source);
	ring_end(&clone);
	scene_end(&scene);
}

static void case_clones(struct why *why)
{
	both(clones, why);
}

/* As many buffers as a ring can have, a folio each. */
static void case_many(struct why *why)
{
	const unsigned long locked = locked_now(), pinned = pinned_now();
	struct iovec *buffers = calloc(MAX_BUFFERS, sizeof(*buffers));
	const uint32_t nr = WINDOW_MAX / FOLIO;
	struct stats before, after;
	struct io_uring ring;
	struct scene scene;
	unsigned int i;
	int ret;

	if (!buffers)
		die("no memory");
	memory_make(&scene, 4, WINDOW_MAX);
	/* The window has fewer folios: each is in several buffers, far apart. */
	for (i = 0; i < MAX_BUFFERS; i++)
		buffers[i] = part(&scene, i % nr * FOLIO, FOLIO);
	ring_make(&ring, false);
	switch_set(true);
	stats_read(&before);
	ret = ring_register(&ring, buffers, MAX_BUFFERS);
	stats_read(&after);
	if (ret || after.runs - before.runs != MAX_BUFFERS || after.fallbacks != before.fallbacks)
		wrong(why, "%d, %lu runs, %lu fallbacks", ret, after.runs - before.runs,
		      after.fallbacks - before.fallbacks);
	if (locked_now() != locked + WINDOW_MAX || pinned_now() != pinned + WINDOW_MAX)
		wrong(why, "%lu pages locked, %lu pinned", locked_now() - locked,
		      pinned_now() - pinned);
	if (ring_read(&ring, MAX_BUFFERS - 1, buffers[MAX_BUFFERS - 1].iov_base, KB(64), 0) !=
	    KB(64))
		wrong(why, "the last buffer cannot be read into");
	/* Off: all of the table is there to be searched, and to be given back. */
	switch_set(false);
	ret = ring_update(&ring, 77, buffers, 1);
	/* Slot 77 gives back its folio, though others hold it; what comes is held already. */
	if (ret != 1 || locked_now() != locked + WINDOW_MAX - FOLIO)
		wrong(why, "an update with the switch off: %d, %lu pages count", ret,
		      locked_now() - locked);
	ring_unregister(&ring);
	ring_end(&ring);
	scene_end(&scene);
	free(buffers);
	all_back(locked, pinned, "on", why);
}

/* A ring that is closed with buffers in it; what was made on, goes with the switch off. */
static void case_closed(struct why *why)
{
	const unsigned long locked = locked_now(), pinned = pinned_now();
	struct iovec buffers[100];
	struct io_uring ring;
	struct scene scene;

	memory_make(&scene, 4, 4 * PMD_PAGES);
	folio_buffers(&scene, buffers, ARRAY_SIZE(buffers));
	switch_set(true);
	ring_make(&ring, false);
	if (ring_register(&ring, buffers, ARRAY_SIZE(buffers)))
		wrong(why, "register");
	switch_set(false);
	ring_end(&ring);
	all_back(locked, pinned, "on", why);
	scene_end(&scene);
}

/* ------------------------------------------------------------------------- */
/* Two threads with a ring each, on the same memory                          */

#define RACE_ROUNDS	60

struct racer {
	const struct scene *scene;
	uint64_t seed;
	int failed;
};

static void *race_thread(void *data)
{
	struct racer *racer = data;
	struct rng rng = { .state = racer->seed };
	struct iovec buffers[70];
	struct io_uring ring;
	unsigned int i, round;

	ring_make(&ring, false);
	for (round = 0; round < RACE_ROUNDS && !racer->failed; round++) {
		for (i = 0; i < ARRAY_SIZE(buffers); i++)
			buffers[i] = part(racer->scene, rng_below(&rng, 2000), 1 + rng_below(&rng, 40));
		racer->failed = ring_register(&ring, buffers, ARRAY_SIZE(buffers));
		for (i = 0; i < 10 && !racer->failed; i++)
			racer->failed = ring_update(&ring, rng_below(&rng, 60), buffers + i, 3) != 3;
		ring_unregister(&ring);
	}
	ring_end(&ring);
	return NULL;
}

static void case_race(struct why *why)
{
	const unsigned long locked = locked_now(), pinned = pinned_now();
	struct racer racers[2];
	pthread_t threads[2];
	struct scene scene;
	unsigned int i;

	memory_make(&scene, 4, 4 * PMD_PAGES);
	switch_set(true);
	run_on_cpu(-1);
	for (i = 0; i < 2; i++) {
		racers[i] = (struct racer){ &scene, i + 1, 0 };
		if (pthread_create(&threads[i], NULL, race_thread, &racers[i]))
			die("no thread");
	}
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		if (racers[i].failed)
			wrong(why, "thread %u: %d", i, racers[i].failed);
	}
	run_on_cpu(0);
	switch_set(false);
	all_back(locked, pinned, "on", why);
	scene_end(&scene);
}

const struct named register_named_cases[] = {
	{ "limits: small folios, to the page", nothing, case_limits_small },
	{ "limits: 64 kB folios, whole and in parts, shared by buffers", no_64k, case_limits_64k },
	{ "limits: 2 MB folios", no_2m, case_limits_2m },
	{ "failures half-way", no_64k, case_half_way },
	{ "a buffer is replaced while it is read into", no_64k, case_in_flight },
	{ "buffers are unregistered while one is read into", no_64k, case_unregister_in_flight },
	{ "clones", no_64k, case_clones },
	{ "16384 buffers", no_64k, case_many },
	{ "a ring is closed with buffers in it", no_64k, case_closed },
	{ "two threads with a ring each", no_64k, case_race },
};

const unsigned int nr_register_named_cases = ARRAY_SIZE(register_named_cases);
