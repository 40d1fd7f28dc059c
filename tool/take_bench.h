/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cases of the benchmarks pin and unpin. Both come from the same calls: a
 * round takes pages and releases them, and either is timed.
 */
#ifndef TAKE_BENCH_H
#define TAKE_BENCH_H

#include "bench.h"

/* Which rows are wanted. */
#define TAKE_ROWS	(1U << 0)	/* get/..., pin/...: bench "pin" */
#define RELEASE_ROWS	(1U << 1)	/* release/...: bench "unpin" */

/* bench->each_case and bench->run for these rows */
void take_bench_each(unsigned int rows,
		     void (*fn)(const char *name, void *data), void *data);
int take_bench_run(const struct bench_env *env, unsigned int rows);

#endif /* TAKE_BENCH_H */
