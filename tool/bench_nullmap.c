// SPDX-License-Identifier: GPL-2.0-only
/*
 * pagerun bench nullmap: pages whose ->mapping is NULL, as drivers map them.
 *
 * One thread alone hardly shows that such pages go the slow way; whether they do
 * is counted, and what it costs shows in threads, which share the mmap_lock then.
 * Anonymous memory of the same shape is the control.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "driver.h"
#include "driver_memory.h"
#include "measure.h"
#include "memory.h"
#include "nullmap_say.h"
#include "pagerun.h"
#include "progress.h"
#include "skips.h"

#define BYTES (NULLMAP_PAGES * 4096UL)
#define NAME_ROOM 64

static const unsigned int usual_threads[] = { 1, 8, 32, 128 };

/**
 * struct sort - a sort of memory, of small pages both
 * @count, @pin: names of its cases
 * @get: gets pieces of it, see memory_get()
 * @check: whether it still is what it was, see memory_check(); NULL: always
 */
struct sort {
	const char *name, *count, *pin;
	int (*get)(struct memory *pieces, unsigned int nr, struct why *why);
	int (*check)(const struct memory *memory, struct why *why);
};

static int get_nullmap(struct memory *pieces, unsigned int nr, struct why *why)
{
	return driver_memory_get(pieces, nr, BYTES, why);
}

static const struct memory_kind small = { "4k", 1, false };

static int get_anon(struct memory *pieces, unsigned int nr, struct why *why)
{
	return memory_get(&small, pieces, nr, BYTES, why);
}

static int check_anon(const struct memory *memory, struct why *why)
{
	return memory_check(&small, memory, why);
}

static const struct sort sorts[] = {
	{ "nullmap", NULLMAP_CASE, "pin/nullmap", get_nullmap, NULL },
	{ "anon", NULLMAP_CONTROL, "pin/anon", get_anon, check_anon },
};

static void each_case(void (*fn)(const char *name, void *data), void *data)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sorts); i++)
		fn(sorts[i].count, data);
	for (i = 0; i < ARRAY_SIZE(sorts); i++)
		fn(sorts[i].pin, data);
}

static int count_fast(const struct memory *memory, double *taken)
{
	uint32_t nr;
	int fd, ret, err;

	ret = driver_open(&fd);
	if (ret)
		return ret;
	err = driver_count(fd, memory->addr, NULLMAP_PAGES, &nr);
	close(fd);
	if (err) {
		warnx("counting what GUP-fast takes failed: %s", strerror(err));
		return PR_FAIL;
	}
	*taken = nr;
	return PR_OK;
}

static int run_count(const struct bench_env *env, const struct sort *sort)
{
	double taken;
	struct row row = {
		.bench = "nullmap", .name = (char *)sort->count,
		.clock = "count", .unit = "pages", .less = false,
		.samples = &taken, .nr_samples = 1,
	};
	struct memory memory;
	struct why why;
	int ret;

	progress_say(env->progress, sort->count);
	ret = sort->get(&memory, 1, &why);
	if (ret == PR_SKIP)
		return skips_add(env->skips, sort->count, why.text);
	if (ret)
		return ret;
	ret = count_fast(&memory, &taken);
	memory_put(&memory, 1);
	return ret ? ret : run_add(env->run, &row);
}

static int add_threads(const struct bench_env *env, char *name,
		       const struct samples *samples)
{
	struct row row = {
		.bench = "nullmap", .name = name,
		.clock = (char *)clock_name(CLOCK_WALL),
		.unit = (char *)clock_page_unit(CLOCK_WALL), .less = true,
		.samples = samples->take, .nr_samples = samples->nr,
	};

	return run_add(env->run, &row);
}

static int run_threads(const struct bench_env *env, const struct sort *sort,
		       unsigned int nr)
{
	const struct take take = {
		.op = PAGERUN_TEST_PIN, .flags = PAGERUN_TEST_WRITE,
	};
	struct memory pieces[BENCH_MAX_THREADS];
	struct samples samples = { 0 };
	char name[NAME_ROOM];
	bool changed = false;
	struct why why;
	unsigned int i;
	int ret;

	snprintf(name, sizeof(name), "%s/threads-%u", sort->pin, nr);
	progress_say(env->progress, name);
	ret = sort->get(pieces, nr, &why);
	if (ret == PR_SKIP)
		return skips_add(env->skips, name, why.text);
	if (ret)
		return ret;
	ret = measure_threads(env->opt, &take, pieces, nr, &samples);
	for (i = 0; i < nr && !ret && !changed && sort->check; i++)
		changed = sort->check(&pieces[i], &why);
	memory_put(pieces, nr);
	if (!ret)
		ret = changed ? skips_add(env->skips, name, why.text) :
				add_threads(env, name, &samples);
	samples_free(&samples);
	return ret;
}

/* The two sorts by turns, so that what disturbs one disturbs both. */
static int run_sweep(const struct bench_env *env)
{
	const struct bench_options *opt = env->opt;
	const unsigned int *threads = opt->nr_threads ? opt->threads :
							usual_threads;
	size_t nr = opt->nr_threads ? opt->nr_threads :
				      ARRAY_SIZE(usual_threads);
	size_t i, sort;
	int ret = PR_OK;

	for (i = 0; i < nr; i++)
		for (sort = 0; sort < ARRAY_SIZE(sorts) && !ret; sort++)
			if (bench_wants(opt, sorts[sort].pin))
				ret = run_threads(env, &sorts[sort], threads[i]);
	return ret;
}

/* One CPU runs no threads side by side. That is told if they were asked for. */
static int skip_sweep(const struct bench_env *env)
{
	size_t sort;
	int ret = PR_OK;

	for (sort = 0; sort < ARRAY_SIZE(sorts) && !ret; sort++)
		if (env->opt->nr_globs && bench_wants(env->opt, sorts[sort].pin))
			ret = skips_add(env->skips, sorts[sort].pin,
					CLOCK_NO_THREADS);
	return ret;
}

static int run(const struct bench_env *env)
{
	size_t sort;
	int ret = PR_OK;

	for (sort = 0; sort < ARRAY_SIZE(sorts) && !ret; sort++)
		if (bench_wants(env->opt, sorts[sort].count))
			ret = run_count(env, &sorts[sort]);
	if (!ret)
		ret = env->opt->clock == CLOCK_INSN ? skip_sweep(env) :
						      run_sweep(env);
	progress_end(env->progress);
	return ret;
}

const struct bench bench_nullmap = {
	.name = "nullmap",
	.summary = "pages with a NULL ->mapping: does GUP-fast take them?",
	.in_all = true,
	.fixed_size = true,
	.each_case = each_case,
	.run = run,
	.verdict = nullmap_verdict,
	.infer = nullmap_infer,
};
