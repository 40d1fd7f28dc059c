// SPDX-License-Identifier: GPL-2.0-only
/* pagerun bench pin: what taking pages costs, and what giving them back does. */
#include "bench.h"
#include "take_bench.h"

#define ROWS (TAKE_ROWS | RELEASE_ROWS)

static void each_case(void (*fn)(const char *name, void *data), void *data)
{
	take_bench_each(ROWS, fn, data);
}

static int run(const struct bench_env *env)
{
	return take_bench_run(env, ROWS);
}

const struct bench bench_pin = {
	.name = "pin",
	.summary = "get_user_pages_fast(), pin_user_pages_fast(), and unpin",
	.in_all = true,
	.each_case = each_case,
	.run = run,
};
