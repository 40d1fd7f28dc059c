// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpus.h"
#include "measure.h"
#include "pagerun.h"
#include "stats.h"

/*
 * How long a thread's sample is to take with a CPU of its own, and how many rounds
 * it has. Threads that share CPUs take less each, so that all together end in time.
 */
#define SAMPLE_NS	50000000ULL
#define MIN_ROUNDS	8U
#define MAX_ROUNDS	(1U << 14)

#define PAGE_BYTES	4096

void samples_free(struct samples *samples)
{
	free(samples->take);
	free(samples->release);
	memset(samples, 0, sizeof(*samples));
}

static int samples_alloc(struct samples *samples, size_t nr)
{
	samples->nr = nr;
	samples->take = calloc(nr, sizeof(*samples->take));
	samples->release = calloc(nr, sizeof(*samples->release));
	if (samples->take && samples->release)
		return PR_OK;
	samples_free(samples);
	warnx("out of memory for the samples");
	return PR_FAIL;
}

static void samples_set(struct samples *samples, size_t i,
			const struct take_time *time, enum clock_kind clock,
			double pages)
{
	if (clock == CLOCK_INSN) {
		samples->take[i] = (double)time->take_cycles / pages;
		samples->release[i] = (double)time->release_cycles / pages;
	} else {
		samples->take[i] = (double)time->take_ns / pages;
		samples->release[i] = (double)time->release_ns / pages;
	}
}

static int take_failed(const struct take *take, int err)
{
	const char *what = take->op == PAGERUN_TEST_PIN ?
		"pin_user_pages_fast()" : "get_user_pages_fast()";

	if (err == ENODATA)
		warnx("%s took fewer pages than asked: look into the kernel log, then try a smaller --size",
		      what);
	else
		warnx("timing %s failed: %s", what, strerror(err));
	return PR_FAIL;
}

int measure_alone(const struct bench_options *opt, const struct take *take,
		  const struct memory *memory, struct samples *samples)
{
	uint32_t pages = (uint32_t)(memory->size / PAGE_BYTES);
	struct take_time time;
	unsigned int i;
	int fd, ret, err;

	ret = driver_open(&fd);
	if (ret)
		return ret;
	ret = samples_alloc(samples, opt->repeat);
	if (ret)
		goto out;
	err = driver_time(fd, take, memory->addr, pages, 1, &time);
	for (i = 0; i < opt->repeat && !err; i++) {
		if (opt->clock == CLOCK_INSN)
			clock_pass_tick();
		err = driver_time(fd, take, memory->addr, pages, 1, &time);
		if (!err)
			samples_set(samples, i, &time, opt->clock, pages);
	}
	if (err) {
		samples_free(samples);
		ret = take_failed(take, err);
	}
out:
	close(fd);
	return ret;
}

/**
 * struct gate - what the threads of one measurement share
 * @lock, @opened: protect and announce @state
 * @state: GATE_SHUT until all threads exist; GATE_ABORT if they never will
 * @barrier: of all threads
 * @rounds: a sample, set by the first thread between two barriers
 */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	enum { GATE_SHUT, GATE_OPEN, GATE_ABORT } state;
	pthread_barrier_t barrier;
	uint32_t rounds;
};

/**
 * struct worker - one thread
 * @warm_ns: of its first round, all included
 * @take, @release: ns of each round of a sample
 * @times: opt->repeat of them, each the median round of a sample
 * @err: errno of its first failure; it goes on through the barriers then
 */
struct worker {
	pthread_t thread;
	const struct bench_options *opt;
	const struct take *how;
	const struct memory *memory;
	struct gate *gate;
	struct worker *all;
	unsigned int nr;
	int fd;
	uint64_t warm_ns;
	double *take, *release;
	struct take_time *times;
	int err;
};

static bool pass_gate(struct gate *gate)
{
	bool pass;

	pthread_mutex_lock(&gate->lock);
	while (gate->state == GATE_SHUT)
		pthread_cond_wait(&gate->opened, &gate->lock);
	pass = gate->state == GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	return pass;
}

static void set_gate(struct gate *gate, int state)
{
	pthread_mutex_lock(&gate->lock);
	gate->state = state;
	pthread_cond_broadcast(&gate->opened);
	pthread_mutex_unlock(&gate->lock);
}

/* Rounds for a sample, from the slowest thread's first round. */
static uint32_t choose_rounds(const struct worker *all, unsigned int nr)
{
	/* Where that cannot be told, each thread has one. */
	unsigned int cpus = cpus_usable(BENCH_MAX_THREADS), i;
	uint64_t slowest = 1, rounds, ns = SAMPLE_NS;

	for (i = 0; i < nr; i++)
		if (all[i].warm_ns > slowest)
			slowest = all[i].warm_ns;
	if (nr > cpus)
		ns = ns * cpus / nr;
	rounds = ns / slowest + 1;
	if (rounds < MIN_ROUNDS)
		return MIN_ROUNDS;
	return rounds > MAX_ROUNDS ? MAX_ROUNDS : (uint32_t)rounds;
}

static void take_round(struct worker *w, struct take_time *time)
{
	uint32_t pages = (uint32_t)(w->memory->size / PAGE_BYTES);

	if (!w->err)
		w->err = driver_time(w->fd, w->how, w->memory->addr, pages, 1,
				     time);
}

static void make_room(struct worker *w)
{
	w->take = calloc(w->gate->rounds, sizeof(*w->take));
	w->release = calloc(w->gate->rounds, sizeof(*w->release));
	if (!w->err && (!w->take || !w->release))
		w->err = ENOMEM;
}

/*
 * The median, not the mean: a round in which the thread lost its CPU, to another
 * one of ours or to a neighbour of the machine, says nothing about the call.
 */
static void take_sample(struct worker *w, struct take_time *out)
{
	uint32_t rounds = w->gate->rounds, i;
	struct stats take, release;
	struct take_time time;

	for (i = 0; i < rounds; i++) {
		take_round(w, &time);
		if (w->err)
			return;
		w->take[i] = (double)time.take_ns;
		w->release[i] = (double)time.release_ns;
	}
	if (!stats_of(w->take, rounds, &take) ||
	    !stats_of(w->release, rounds, &release)) {
		w->err = ENOMEM;
		return;
	}
	*out = (struct take_time) {
		.take_ns = (uint64_t)take.median,
		.release_ns = (uint64_t)release.median,
	};
}

static void *worker_main(void *data)
{
	struct take_time warm = { 0 };
	struct worker *w = data;
	unsigned int i;

	if (!pass_gate(w->gate))
		return NULL;
	take_round(w, &warm);
	w->warm_ns = warm.take_ns + warm.release_ns;
	pthread_barrier_wait(&w->gate->barrier);
	if (w == w->all)
		w->gate->rounds = choose_rounds(w->all, w->nr);
	pthread_barrier_wait(&w->gate->barrier);
	make_room(w);
	for (i = 0; i < w->opt->repeat; i++) {
		pthread_barrier_wait(&w->gate->barrier);
		take_sample(w, &w->times[i]);
	}
	return NULL;
}

static void free_workers(struct worker *workers, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		free(workers[i].take);
		free(workers[i].release);
		free(workers[i].times);
		if (workers[i].fd >= 0)
			close(workers[i].fd);
	}
	free(workers);
}

static int prepare_workers(struct worker *workers, struct gate *gate,
			   const struct bench_options *opt,
			   const struct take *take,
			   const struct memory *pieces, unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++)
		workers[i] = (struct worker) {
			.opt = opt, .how = take, .memory = &pieces[i],
			.gate = gate, .all = workers, .nr = nr, .fd = -1,
		};
	for (i = 0; i < nr; i++) {
		ret = driver_open(&workers[i].fd);
		if (ret) {
			workers[i].fd = -1;
			return ret;
		}
		workers[i].times = calloc(opt->repeat, sizeof(struct take_time));
		if (!workers[i].times) {
			warnx("out of memory for the samples");
			return PR_FAIL;
		}
	}
	return PR_OK;
}

/* Let all threads run to their end. */
static int run_workers(struct worker *workers, struct gate *gate,
		       unsigned int nr)
{
	unsigned int i, started;
	int err = 0;

	for (started = 0; started < nr; started++) {
		err = pthread_create(&workers[started].thread, NULL, worker_main,
				     &workers[started]);
		if (err)
			break;
	}
	set_gate(gate, err ? GATE_ABORT : GATE_OPEN);
	for (i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	if (err) {
		warnx("cannot start thread %u of %u (%s): use fewer --threads",
		      started + 1, nr, strerror(err));
		return PR_FAIL;
	}
	for (i = 0; i < nr; i++)
		if (workers[i].err)
			return take_failed(workers[i].how, workers[i].err);
	return PR_OK;
}

static int collect(const struct worker *workers, const struct bench_options *opt,
		   unsigned int nr, struct samples *samples)
{
	unsigned int i, j;
	double pages;
	int ret;

	ret = samples_alloc(samples, (size_t)nr * opt->repeat);
	if (ret)
		return ret;
	for (i = 0; i < opt->repeat; i++) {
		for (j = 0; j < nr; j++) {
			pages = (double)(workers[j].memory->size / PAGE_BYTES);
			samples_set(samples, (size_t)i * nr + j,
				    &workers[j].times[i], opt->clock, pages);
		}
	}
	return PR_OK;
}

int measure_threads(const struct bench_options *opt, const struct take *take,
		    const struct memory *pieces, unsigned int nr,
		    struct samples *samples)
{
	struct gate gate = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.opened = PTHREAD_COND_INITIALIZER,
		.state = GATE_SHUT,
	};
	struct worker *workers;
	int ret;

	workers = calloc(nr, sizeof(*workers));
	if (!workers || pthread_barrier_init(&gate.barrier, NULL, nr)) {
		free(workers);
		warnx("out of memory for %u threads", nr);
		return PR_FAIL;
	}
	ret = prepare_workers(workers, &gate, opt, take, pieces, nr);
	if (!ret)
		ret = run_workers(workers, &gate, nr);
	if (!ret)
		ret = collect(workers, opt, nr, samples);
	free_workers(workers, nr);
	pthread_barrier_destroy(&gate.barrier);
	return ret;
}
