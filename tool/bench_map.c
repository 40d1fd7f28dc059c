// SPDX-License-Identifier: GPL-2.0-only
/*
 * pagerun bench map: what it costs to map a device, and to have it mapped.
 *
 * Needs no driver, but a device: see map_file.h.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "map_measure.h"
#include "pagerun.h"
#include "progress.h"
#include "skips.h"

/**
 * struct map_case - one row
 * @unit: NULL: that of a cost per page
 * @count: of events, by no clock
 * @wall: by the wall clock alone
 * @more: more is better
 */
struct map_case {
	const char *name;
	size_t size;
	int (*measure)(const struct map_job *job, double *sample, struct why *why);
	const char *unit;
	bool count, wall, more;
};

#define MIB(n) ((size_t)(n) << 20)
#define PER_PAGE .unit = NULL

static const struct map_case cases[] = {
	{ "mmap/4k", 4096, map_measure_mmap, PER_PAGE },
	{ "mmap/64m", MIB(64), map_measure_mmap, PER_PAGE },
	{ "mmap/1g", MIB(1024), map_measure_mmap, PER_PAGE },
	{ "fork/1g", MIB(1024), map_measure_fork, PER_PAGE },
	{ "page-tables-kib/1g", MIB(1024), map_measure_tables, .unit = "KiB", .count = true },
	{ "latency/64m", MIB(64), map_measure_latency, .unit = "ns/read", .wall = true },
	{ "latency/256m", MIB(256), map_measure_latency, .unit = "ns/read", .wall = true },
	{ "latency/1g", MIB(1024), map_measure_latency, .unit = "ns/read", .wall = true },
	{ "memcpy/1g", MIB(1024), map_measure_memcpy, .unit = "GB/s", .wall = true,
	  .more = true },
};

static void each_case(void (*fn)(const char *name, void *data), void *data)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		fn(cases[i].name, data);
}

static int add_row(const struct bench_env *env, const struct map_case *c,
		   double *samples, size_t nr)
{
	enum clock_kind clock = env->opt->clock;
	struct row row = {
		.bench = "map", .name = (char *)c->name,
		.clock = (char *)(c->count ? "count" : clock_name(clock)),
		.unit = (char *)(c->unit ? c->unit : clock_page_unit(clock)),
		.less = !c->more, .samples = samples, .nr_samples = nr,
	};

	return run_add(env->run, &row);
}

static int measure(const struct bench_env *env, const struct map_case *c,
		   const struct map_file *file)
{
	const struct map_job job = {
		.file = file, .size = c->size, .clock = env->opt->clock,
	};
	size_t nr = c->count ? 1 : env->opt->repeat, i;
	double *samples = calloc(nr, sizeof(*samples));
	struct why why;
	int ret;

	if (!samples) {
		warnx("out of memory for the samples");
		return PR_FAIL;
	}
	progress_say(env->progress, c->name);
	/* Once to warm up: tables above, caches of the kernel. */
	ret = c->measure(&job, samples, &why);
	for (i = 0; i < nr && !ret; i++)
		ret = c->measure(&job, &samples[i], &why);
	if (ret == PR_SKIP)
		ret = skips_add(env->skips, c->name, why.text);
	else if (!ret)
		ret = add_row(env, c, samples, nr);
	free(samples);
	return ret;
}

static int run_case(const struct bench_env *env, const struct map_case *c,
		    const struct map_file *file)
{
	if (!c->wall || env->opt->clock == CLOCK_WALL)
		return measure(env, c, file);
	/* Time is not missed where there is none, unless it was asked for. */
	return env->opt->nr_globs ?
		skips_add(env->skips, c->name,
			  "it is timed by the wall clock, and here it counts instructions: use a machine without -icount") :
		PR_OK;
}

static int run(const struct bench_env *env)
{
	struct map_file file;
	int ret = PR_OK;
	struct why why;
	size_t i;

	if (map_file_open(&file, env->opt->device, &why))
		return bench_skip_all(env, &bench_map, why.text);
	for (i = 0; i < ARRAY_SIZE(cases) && !ret; i++)
		if (bench_wants(env->opt, cases[i].name))
			ret = run_case(env, &cases[i], &file);
	close(file.fd);
	progress_end(env->progress);
	return ret;
}

const struct bench bench_map = {
	.name = "map",
	.summary = "mmap(), munmap() and fork() of a device, and reads of it",
	.in_all = true,
	.fixed_size = true,
	.fixed_threads = true,
	.driverless = true,
	.takes_device = true,
	.each_case = each_case,
	.run = run,
};
