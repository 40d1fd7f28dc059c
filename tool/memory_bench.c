// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory_bench.h"
#include "pagerun.h"
#include "progress.h"
#include "skips.h"

void memory_bench_each(const struct memory_bench *mb,
		       void (*fn)(const char *name, void *data), void *data)
{
	size_t i;

	for (i = 0; i < mb->nr_cases; i++)
		fn(mb->cases[i].name, data);
}

/* A case of so much memory takes seconds a sample where a search goes over all of it. */
#define LONG_BYTES	(512UL << 20)
#define LONG_SAMPLES	2U

/* Samples of a case: few of a long one, by the clock whose figures repeat. */
static unsigned int nr_samples(const struct bench_env *env, const struct memory_case *c)
{
	const struct bench_options *opt = env->opt;

	return opt->clock == CLOCK_INSN && c->size > LONG_BYTES && opt->repeat > LONG_SAMPLES ?
	       LONG_SAMPLES : opt->repeat;
}

#define NAME_ROOM 64

/* As the row is named; --case goes by the name without what is added here. */
static const char *row_name(const struct bench_env *env, const struct memory_bench *mb,
			    const struct memory_case *c, char *buf)
{
	const bool suffix = mb->wall_suffix && env->opt->clock == CLOCK_WALL;

	snprintf(buf, NAME_ROOM, "%s%s", c->name, suffix ? mb->wall_suffix : "");
	return buf;
}

static int add_row(const struct bench_env *env, const struct memory_bench *mb,
		   const struct memory_case *c, double *samples)
{
	enum clock_kind clock = env->opt->clock;
	char name[NAME_ROOM];
	struct row row = {
		.bench = (char *)mb->bench->name,
		.name = (char *)row_name(env, mb, c, name),
		.clock = (char *)clock_name(clock), .unit = (char *)mb->unit(clock),
		.less = !mb->more(clock), .samples = samples,
		.nr_samples = nr_samples(env, c),
	};

	return run_add(env->run, &row);
}

static int measure(const struct bench_env *env, const struct memory_bench *mb,
		   const struct memory_case *c, const struct memory *piece,
		   double *samples, struct why *why)
{
	struct memory memory = *piece;
	unsigned int i;
	int ret;

	memory.size = c->size;
	/* Once to warm up. */
	ret = mb->measure(env, c, &memory, mb->data, samples, why);
	for (i = 0; i < nr_samples(env, c) && !ret; i++)
		ret = mb->measure(env, c, &memory, mb->data, &samples[i], why);
	return ret;
}

static int run_case(const struct bench_env *env, const struct memory_bench *mb,
		    const struct memory_case *c, const struct memory_kind *kind,
		    const struct memory *piece)
{
	double *samples = calloc(env->opt->repeat, sizeof(*samples));
	struct why why;
	int ret;

	if (!samples) {
		warnx("out of memory for the samples");
		return PR_FAIL;
	}
	progress_say(env->progress, c->name);
	ret = measure(env, mb, c, piece, samples, &why);
	/* Figures count only if the memory still is what it was. */
	if (!ret && memory_check(kind, piece, &why))
		ret = PR_SKIP;
	if (ret == PR_SKIP)
		ret = skips_add(env->skips, c->name, why.text);
	else if (!ret)
		ret = add_row(env, mb, c, samples);
	free(samples);
	return ret;
}

static bool wanted(const struct bench_env *env, const struct memory_case *c,
		   const struct memory_kind *kind)
{
	return !strcmp(c->kind, kind->name) && bench_wants(env->opt, c->name);
}

/* All cases of a kind, on one piece of memory; or why there is none. */
static int run_kind(const struct bench_env *env, const struct memory_bench *mb,
		    const struct memory_kind *kind)
{
	struct memory piece = { 0 };
	size_t size = 0, i;
	struct why why;
	int got, ret = PR_OK;

	for (i = 0; i < mb->nr_cases; i++)
		if (wanted(env, &mb->cases[i], kind) && mb->cases[i].size > size)
			size = mb->cases[i].size;
	if (!size)
		return PR_OK;
	progress_say(env->progress, kind->name);
	got = memory_get(kind, &piece, 1, size, &why);
	if (got == PR_FAIL)
		return got;
	for (i = 0; i < mb->nr_cases && !ret; i++) {
		if (!wanted(env, &mb->cases[i], kind))
			continue;
		ret = got ? skips_add(env->skips, mb->cases[i].name, why.text) :
			    run_case(env, mb, &mb->cases[i], kind, &piece);
	}
	if (!got)
		memory_put(&piece, 1);
	return ret;
}

int memory_bench_run(const struct bench_env *env, const struct memory_bench *mb)
{
	int ret = PR_OK;
	size_t i;

	for (i = 0; i < nr_memory_kinds && !ret; i++)
		ret = run_kind(env, mb, &memory_kinds[i]);
	progress_end(env->progress);
	return ret;
}
