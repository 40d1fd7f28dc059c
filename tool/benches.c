// SPDX-License-Identifier: GPL-2.0-only
/* The table of benchmarks: one benchmark, one file, one line here. */
#include <fnmatch.h>

#include "bench.h"
#include "pagerun.h"
#include "skips.h"

const struct bench *const benches[] = {
	&bench_pin,
	&bench_unpin,
	&bench_nullmap,
	&bench_move,
	&bench_map,
	&bench_register,
	&bench_dio,
};

const size_t nr_benches = ARRAY_SIZE(benches);

bool bench_wants(const struct bench_options *opt, const char *name)
{
	unsigned int i;

	for (i = 0; i < opt->nr_globs; i++)
		if (!fnmatch(opt->globs[i], name, 0))
			return true;
	return !opt->nr_globs;
}

/**
 * struct all - for skip_case()
 * @ret: what the first that failed returned
 */
struct all {
	const struct bench_env *env;
	const char *why;
	int ret;
};

static void skip_case(const char *name, void *data)
{
	struct all *all = data;

	if (!all->ret && bench_wants(all->env->opt, name))
		all->ret = skips_add(all->env->skips, name, all->why);
}

int bench_skip_all(const struct bench_env *env, const struct bench *bench,
		   const char *why)
{
	struct all all = { .env = env, .why = why, .ret = PR_OK };

	bench->each_case(skip_case, &all);
	return all.ret;
}
