// SPDX-License-Identifier: GPL-2.0-only
/* pagerun bench unpin: what unpin_user_pages() costs. */
#include "bench.h"
#include "take_bench.h"

static void each_case(void (*fn)(const char *name, void *data), void *data)
{
	take_bench_each(RELEASE_ROWS, fn, data);
}

static int run(const struct bench_env *env)
{
	return take_bench_run(env, RELEASE_ROWS);
}

const struct bench bench_unpin = {
	.name = "unpin",
	.summary = "unpin_user_pages() of what pin_user_pages_fast() took",
	.in_all = false,	/* pin gives the same rows */
	.each_case = each_case,
	.run = run,
};
