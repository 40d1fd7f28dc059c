/* SPDX-License-Identifier: GPL-2.0-only */
/* What benchmarks share. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "results.h"

#define BENCH_DEFAULT_SIZE	(64ULL << 20)
#define BENCH_MAX_SIZE		(4ULL << 30)
#define BENCH_DEFAULT_REPEAT	5
#define BENCH_MAX_REPEAT	1000
#define BENCH_MAX_THREADS	256
#define BENCH_MAX_LIST		32

/**
 * struct bench_options - what the user asked for
 * @size: bytes of memory a thread
 * @pages_per_call: 0: all pages in one call
 * @repeat: samples a case
 * @threads: numbers of threads; @nr_threads 0: the calling thread alone, and
 *	no word about threads in the names of cases
 * @clock: as asked, then as chosen
 * @globs: patterns for the names of cases; @nr_globs 0: all cases
 * @device: the file that map maps, or dio reads; NULL: it finds one
 */
struct bench_options {
	uint64_t size;
	uint32_t pages_per_call;
	unsigned int repeat;
	unsigned int threads[BENCH_MAX_LIST];
	unsigned int nr_threads;
	enum clock_kind clock;
	const char *globs[BENCH_MAX_LIST];
	unsigned int nr_globs;
	const char *device;
};

struct bench;
struct bench_env;

/* Skip all cases of @bench that are asked for. Return: as skips_add(). */
int bench_skip_all(const struct bench_env *env, const struct bench *bench,
		   const char *why);

/* Whether a case, named without geometry and threads, is asked for. */
bool bench_wants(const struct bench_options *opt, const char *name);

struct skips;
struct progress;

/**
 * struct bench_env - what a benchmark works with
 * @run: gets the rows
 * @skips: get the cases that are not possible here
 * @progress: told each case; both told nothing while a case is measured
 */
struct bench_env {
	const struct bench_options *opt;
	struct run *run;
	struct skips *skips;
	struct progress *progress;
};

/**
 * struct bench - one benchmark
 * @name: after "pagerun bench"
 * @summary: one line for the help
 * @in_all: whether "all" runs it: not if another one gives the same rows
 * @fixed_size: --size and --pages-per-call mean nothing to it
 * @fixed_threads: nor does --threads
 * @driverless: it needs no test driver
 * @takes_device: --device means something to it
 * @each_case: calls @fn for the name of each case, without geometry
 * @run: measures; returns PR_OK, or PR_FAIL after one line on stderr
 * @verdict: says on stderr what its rows mean; returns PR_OK, or PR_FAIL where
 *	that is bad; NULL: there is none
 * @infer: says on stderr what can be told where @run cannot, for lack of root or
 *	of the driver; NULL: nothing
 */
struct bench {
	const char *name;
	const char *summary;
	bool in_all, fixed_size, fixed_threads, driverless, takes_device;
	void (*each_case)(void (*fn)(const char *name, void *data), void *data);
	int (*run)(const struct bench_env *env);
	int (*verdict)(const struct run *run);
	void (*infer)(void);
};

extern const struct bench *const benches[];
extern const size_t nr_benches;

extern const struct bench bench_pin;
extern const struct bench bench_unpin;
extern const struct bench bench_nullmap;
extern const struct bench bench_move;
extern const struct bench bench_map;
extern const struct bench bench_register;
extern const struct bench bench_dio;

#endif /* BENCH_H */
