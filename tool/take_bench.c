// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "measure.h"
#include "memory.h"
#include "number.h"
#include "pagerun.h"
#include "progress.h"
#include "skips.h"
#include "take_bench.h"

/**
 * struct take_case - one row of each kind of memory
 * @row: TAKE_ROWS or RELEASE_ROWS
 * @bench: the benchmark it is told under
 * @verb, @suffix: its name is "@verb/KIND@suffix"
 * @call: index into take_calls: where its figures come from
 */
struct take_case {
	unsigned int row;
	const char *bench;
	const char *verb, *suffix;
	unsigned int call;
};

enum { GET, GET_RO, PIN, PIN_RO, PIN_LONGTERM, NR_CALLS };

static const struct take take_calls[NR_CALLS] = {
	[GET]		= { .op = PAGERUN_TEST_GET, .flags = PAGERUN_TEST_WRITE },
	[GET_RO]	= { .op = PAGERUN_TEST_GET },
	[PIN]		= { .op = PAGERUN_TEST_PIN, .flags = PAGERUN_TEST_WRITE },
	[PIN_RO]	= { .op = PAGERUN_TEST_PIN },
	[PIN_LONGTERM]	= { .op = PAGERUN_TEST_PIN,
			    .flags = PAGERUN_TEST_WRITE | PAGERUN_TEST_LONGTERM },
};

static const struct take_case take_cases[] = {
	{ TAKE_ROWS,	"pin",	 "get",	    "",		 GET },
	{ TAKE_ROWS,	"pin",	 "get",	    "/ro",	 GET_RO },
	{ TAKE_ROWS,	"pin",	 "pin",	    "",		 PIN },
	{ TAKE_ROWS,	"pin",	 "pin",	    "/ro",	 PIN_RO },
	{ TAKE_ROWS,	"pin",	 "pin",	    "/longterm", PIN_LONGTERM },
	{ RELEASE_ROWS,	"unpin", "release", "",		 PIN },
};

#define NAME_ROOM 128

static char *case_name(const struct take_case *c, const struct memory_kind *kind,
		       char *buf)
{
	snprintf(buf, NAME_ROOM, "%s/%s%s", c->verb, kind->name, c->suffix);
	return buf;
}

/*
 * A geometry other than the usual one is part of the name, so that figures of
 * two geometries are never put side by side.
 */
static void full_name(const struct bench_options *opt, const struct take_case *c,
		      const struct memory_kind *kind, unsigned int threads,
		      char *buf)
{
	char part[32];

	case_name(c, kind, buf);
	if (opt->size != BENCH_DEFAULT_SIZE) {
		strcat(buf, "/size-");
		strcat(buf, size_format(opt->size, part));
	}
	if (opt->pages_per_call) {
		snprintf(part, sizeof(part), "/call-%u", opt->pages_per_call);
		strcat(buf, part);
	}
	if (threads) {
		snprintf(part, sizeof(part), "/threads-%u", threads);
		strcat(buf, part);
	}
}

void take_bench_each(unsigned int rows,
		     void (*fn)(const char *name, void *data), void *data)
{
	char name[NAME_ROOM];
	size_t i, kind;

	for (i = 0; i < ARRAY_SIZE(take_cases); i++) {
		if (!(take_cases[i].row & rows))
			continue;
		for (kind = 0; kind < nr_memory_kinds; kind++)
			fn(case_name(&take_cases[i], &memory_kinds[kind], name),
			   data);
	}
}

/**
 * struct work - one kind of memory and one number of threads
 * @threads: 0: the calling thread alone
 * @samples: of each call, empty where it was not made
 * @skipped: not possible, @why says it
 */
struct work {
	const struct memory_kind *kind;
	unsigned int threads;
	struct samples samples[NR_CALLS];
	bool skipped;
	struct why why;
};

static bool wanted(const struct bench_env *env, unsigned int rows,
		   const struct take_case *c, const struct memory_kind *kind)
{
	char name[NAME_ROOM];

	return (c->row & rows) && bench_wants(env->opt, case_name(c, kind, name));
}

static bool call_wanted(const struct bench_env *env, unsigned int rows,
			unsigned int call, const struct memory_kind *kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(take_cases); i++)
		if (take_cases[i].call == call &&
		    wanted(env, rows, &take_cases[i], kind))
			return true;
	return false;
}

static int measure_calls(const struct bench_env *env, unsigned int rows,
			 struct work *work, const struct memory *pieces)
{
	unsigned int call;
	int ret = PR_OK;

	for (call = 0; call < NR_CALLS && !ret; call++) {
		struct take take = take_calls[call];

		if (!call_wanted(env, rows, call, work->kind))
			continue;
		take.pages_per_call = env->opt->pages_per_call;
		if (work->threads)
			ret = measure_threads(env->opt, &take, pieces,
					      work->threads,
					      &work->samples[call]);
		else
			ret = measure_alone(env->opt, &take, pieces,
					    &work->samples[call]);
	}
	return ret;
}

static int measure_work(const struct bench_env *env, unsigned int rows,
			struct work *work)
{
	unsigned int nr = work->threads ? work->threads : 1, i;
	struct memory pieces[BENCH_MAX_THREADS];
	char what[64];
	int ret;

	snprintf(what, sizeof(what), "%s memory, %u thread%s", work->kind->name,
		 nr, nr == 1 ? "" : "s");
	progress_say(env->progress, what);
	ret = memory_get(work->kind, pieces, nr, env->opt->size, &work->why);
	if (ret == PR_SKIP)
		work->skipped = true;
	if (ret)
		return ret == PR_SKIP ? PR_OK : ret;

	ret = measure_calls(env, rows, work, pieces);
	/* Figures count only if the memory still is what it was. */
	for (i = 0; i < nr && !ret && !work->skipped; i++)
		work->skipped = memory_check(work->kind, &pieces[i], &work->why);
	memory_put(pieces, nr);
	return ret;
}

static int add_row(const struct bench_env *env, const struct take_case *c,
		   const struct work *work)
{
	const struct samples *samples = &work->samples[c->call];
	enum clock_kind clock = env->opt->clock;
	char name[NAME_ROOM];
	struct row row = {
		.bench = (char *)c->bench,
		.name = name,
		.clock = (char *)clock_name(clock),
		.unit = (char *)clock_page_unit(clock),
		.less = true,
		.samples = c->row == RELEASE_ROWS ? samples->release :
						    samples->take,
		.nr_samples = samples->nr,
	};

	full_name(env->opt, c, work->kind, work->threads, name);
	if (work->skipped)
		return skips_add(env->skips, name, work->why.text);
	return run_add(env->run, &row);
}

/* Rows in the order of the cases, whatever the order of measuring was. */
static int add_rows(const struct bench_env *env, unsigned int rows,
		    const struct work *works, size_t nr)
{
	size_t i, j;
	int ret = PR_OK;

	for (i = 0; i < ARRAY_SIZE(take_cases); i++)
		for (j = 0; j < nr && !ret; j++)
			if (wanted(env, rows, &take_cases[i], works[j].kind))
				ret = add_row(env, &take_cases[i], &works[j]);
	return ret;
}

static bool any_wanted(const struct bench_env *env, unsigned int rows,
		       const struct memory_kind *kind)
{
	unsigned int call;

	for (call = 0; call < NR_CALLS; call++)
		if (call_wanted(env, rows, call, kind))
			return true;
	return false;
}

int take_bench_run(const struct bench_env *env, unsigned int rows)
{
	unsigned int per_kind = env->opt->nr_threads ? env->opt->nr_threads : 1;
	size_t nr = nr_memory_kinds * per_kind, i, call;
	struct work *works;
	int ret = PR_OK;

	works = calloc(nr, sizeof(*works));
	if (!works) {
		warnx("out of memory");
		return PR_FAIL;
	}
	for (i = 0; i < nr && !ret; i++) {
		works[i].kind = &memory_kinds[i / per_kind];
		if (env->opt->nr_threads)
			works[i].threads = env->opt->threads[i % per_kind];
		if (any_wanted(env, rows, works[i].kind))
			ret = measure_work(env, rows, &works[i]);
	}
	progress_end(env->progress);
	if (!ret)
		ret = add_rows(env, rows, works, nr);
	for (i = 0; i < nr; i++)
		for (call = 0; call < NR_CALLS; call++)
			samples_free(&works[i].samples[call]);
	free(works);
	return ret;
}
