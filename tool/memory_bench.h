/* SPDX-License-Identifier: GPL-2.0-only */
/* Benchmarks whose cases work on memory of some kind, one piece a kind. */
#ifndef MEMORY_BENCH_H
#define MEMORY_BENCH_H

#include <stddef.h>

#include "bench.h"
#include "memory.h"

/**
 * struct memory_case - one row
 * @name: of the case
 * @kind: name of its kind of memory
 * @size: bytes of memory that it works on, from the start of the piece
 * @how: what the benchmark does with it, to @measure of struct memory_bench
 */
struct memory_case {
	const char *name, *kind;
	size_t size;
	unsigned int how;
};

/**
 * struct memory_bench - such a benchmark
 * @cases: @nr_cases
 * @unit: of the samples by a clock
 * @more: whether more is better, by a clock
 * @wall_suffix: ends the names of rows by the wall clock, which are of another unit and
 *	can be in one file with those of the other clock; NULL: nothing does
 * @measure: takes one sample. @memory->size is that of the case. Returns PR_OK; PR_SKIP
 *	with @why filled; or PR_FAIL after one line on stderr
 * @data: for @measure
 */
struct memory_bench {
	const struct bench *bench;
	const struct memory_case *cases;
	size_t nr_cases;
	const char *(*unit)(enum clock_kind clock);
	bool (*more)(enum clock_kind clock);
	const char *wall_suffix;
	int (*measure)(const struct bench_env *env, const struct memory_case *c,
		       const struct memory *memory, void *data, double *sample,
		       struct why *why);
	void *data;
};

/* As @each_case and @run of struct bench. */
void memory_bench_each(const struct memory_bench *mb,
		       void (*fn)(const char *name, void *data), void *data);
int memory_bench_run(const struct bench_env *env, const struct memory_bench *mb);

#endif /* MEMORY_BENCH_H */
