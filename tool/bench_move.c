// SPDX-License-Identifier: GPL-2.0-only
/*
 * pagerun bench move: what it costs to move pages from one place of a process to
 * another, by UFFDIO_MOVE and by what there is besides.
 *
 * Needs no driver. Every round moves fresh memory, since a folio that was split
 * stays split, and only the calls are measured.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "cpus.h"
#include "move_count.h"
#include "move_measure.h"
#include "pagerun.h"
#include "progress.h"
#include "skips.h"
#include "uffd.h"

static const struct memory_kind small = { "4k", 1, false };
static const struct memory_kind folios_64k = { "64k", 16, false };
static const struct memory_kind folios_2m = { "2m-pte", 512, false };

/**
 * struct move_case - one row
 * @unit: of a count; NULL: it is a cost per page
 * @count: counts; NULL: time is taken
 * @crew: of no movers: the calling thread alone, by any clock
 */
struct move_case {
	const char *name;
	struct move_plan plan;
	const char *unit;
	int (*count)(const struct move_plan *plan, int uffd, double *value,
		     struct why *why);
	struct move_crew crew;
};

#define MOVE(of, pages) .plan = { &move_how_move, of, pages }

static const struct move_case cases[] = {
	{ "move/1-per-call",	 MOVE(&small, 1) },
	{ "move/2-per-call",	 MOVE(&small, 2) },
	{ "move/8-per-call",	 MOVE(&small, 8) },
	{ "move/32-per-call",	 MOVE(&small, 32) },
	{ "move/64-per-call",	 MOVE(&small, 64) },
	{ "move/512-per-call",	 MOVE(&small, 512) },
	{ "move/64k-folios",	 MOVE(&folios_64k, 512) },
	{ "move/2m-pte",	 MOVE(&folios_2m, 512) },
	{ "copy/512-per-call",	 .plan = { &move_how_copy, &small, 512 } },
	{ "mremap/512-per-call", .plan = { &move_how_mremap, &small, 512 } },
	{ "flushes/512-per-call", MOVE(&small, 512),
	  .unit = "flushes/call", .count = move_count_flushes },
	{ "splits/64k-folios",	 MOVE(&folios_64k, 512),
	  .unit = "splits", .count = move_count_splits },
	{ "move-spin/512-per-call", MOVE(&small, 512), .crew = { 1, 1 } },
	{ "move-threads-1/512-per-call", MOVE(&small, 512), .crew = { 1, 0 } },
	{ "move-threads-2/512-per-call", MOVE(&small, 512), .crew = { 2, 0 } },
	{ "move-threads-4/512-per-call", MOVE(&small, 512), .crew = { 4, 0 } },
};

static void each_case(void (*fn)(const char *name, void *data), void *data)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		fn(cases[i].name, data);
}

static int add_row(const struct bench_env *env, const struct move_case *c,
		   double *samples, size_t nr)
{
	enum clock_kind clock = env->opt->clock;
	struct row row = {
		.bench = "move", .name = (char *)c->name,
		.clock = (char *)(c->count ? "count" : clock_name(clock)),
		.unit = (char *)(c->count ? c->unit : clock_page_unit(clock)),
		.less = true, .samples = samples, .nr_samples = nr,
	};

	return run_add(env->run, &row);
}

static int measure(const struct bench_env *env, const struct move_case *c,
		   int uffd)
{
	size_t nr = c->count ? 1 : env->opt->repeat;
	double *samples;
	struct why why;
	int ret;

	if (c->crew.movers)
		nr *= c->crew.movers;
	samples = calloc(nr, sizeof(*samples));
	if (!samples) {
		warnx("out of memory for the samples");
		return PR_FAIL;
	}
	progress_say(env->progress, c->name);
	if (c->count)
		ret = c->count(&c->plan, uffd, samples, &why);
	else if (c->crew.movers)
		ret = move_measure_crew(env->opt, &c->plan, &c->crew, uffd,
					samples, &why);
	else
		ret = move_measure_alone(env->opt, &c->plan, uffd, samples, &why);
	if (ret == PR_SKIP)
		ret = skips_add(env->skips, c->name, why.text);
	else if (!ret)
		ret = add_row(env, c, samples, nr);
	free(samples);
	return ret;
}

/* Why the case is not possible here, NULL if it is. */
static const char *obstacle(const struct bench_env *env, const struct move_case *c)
{
	if (!c->crew.movers)
		return NULL;
	if (env->opt->clock == CLOCK_INSN)
		return CLOCK_NO_THREADS;
	if (c->crew.spinners && cpus_usable(BENCH_MAX_THREADS) < 2)
		return "a thread that spins beside the one that moves needs a second CPU: give this machine two, or lift its taskset";
	return NULL;
}

/* Threads are not missed where there is no time, unless they were asked for. */
static bool told(const struct bench_env *env)
{
	return env->opt->clock != CLOCK_INSN || env->opt->nr_globs;
}

static int run_case(const struct bench_env *env, const struct move_case *c, int uffd)
{
	const char *why = obstacle(env, c);

	if (!why)
		return measure(env, c, uffd);
	return told(env) ? skips_add(env->skips, c->name, why) : PR_OK;
}

static int run(const struct bench_env *env)
{
	int uffd, ret = PR_OK;
	struct why why;
	size_t i;

	if (uffd_open(&uffd, &why))
		return bench_skip_all(env, &bench_move, why.text);
	for (i = 0; i < ARRAY_SIZE(cases) && !ret; i++)
		if (bench_wants(env->opt, cases[i].name))
			ret = run_case(env, &cases[i], uffd);
	close(uffd);
	progress_end(env->progress);
	return ret;
}

const struct bench bench_move = {
	.name = "move",
	.summary = "UFFDIO_MOVE of small pages and of large folios",
	.in_all = true,
	.fixed_size = true,
	.fixed_threads = true,
	.driverless = true,
	.each_case = each_case,
	.run = run,
};
