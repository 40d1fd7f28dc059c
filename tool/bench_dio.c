// SPDX-License-Identifier: GPL-2.0-only
/*
 * pagerun bench dio: what direct reads cost where the device costs nothing. Needs no
 * driver, but a device: see dio_file.h.
 */
#include <unistd.h>

#include "bench.h"
#include "dio_file.h"
#include "dio_measure.h"
#include "memory_bench.h"
#include "pagerun.h"

#define SIZE (64UL << 20)

/* How a case reads. */
enum { PSYNC_64K, PSYNC_1M, URING_64K, URING_1M };

static const struct {
	int (*measure)(const struct dio_job *job, uint64_t *spent, struct why *why);
	size_t request;
} ways[] = {
	[PSYNC_64K]	= { dio_measure_psync, 64UL << 10 },
	[PSYNC_1M]	= { dio_measure_psync, 1UL << 20 },
	[URING_64K]	= { dio_measure_uring, 64UL << 10 },
	[URING_1M]	= { dio_measure_uring, 1UL << 20 },
};

static const struct memory_case cases[] = {
	{ "dio/psync/64k/4k", "4k", SIZE, PSYNC_64K },
	{ "dio/psync/1m/4k", "4k", SIZE, PSYNC_1M },
	{ "dio/uring/64k/4k", "4k", SIZE, URING_64K },
	{ "dio/uring/1m/4k", "4k", SIZE, URING_1M },
	{ "dio/psync/64k/64k", "64k", SIZE, PSYNC_64K },
	{ "dio/psync/1m/64k", "64k", SIZE, PSYNC_1M },
	{ "dio/uring/64k/64k", "64k", SIZE, URING_64K },
	{ "dio/uring/1m/64k", "64k", SIZE, URING_1M },
	{ "dio/psync/64k/2m-pmd", "2m-pmd", SIZE, PSYNC_64K },
	{ "dio/psync/1m/2m-pmd", "2m-pmd", SIZE, PSYNC_1M },
	{ "dio/uring/64k/2m-pmd", "2m-pmd", SIZE, URING_64K },
	{ "dio/uring/1m/2m-pmd", "2m-pmd", SIZE, URING_1M },
};

static bool more(enum clock_kind clock)
{
	return clock == CLOCK_WALL;
}

static const char *unit(enum clock_kind clock)
{
	return more(clock) ? "GB/s" : "insn/KiB";
}

static int measure(const struct bench_env *env, const struct memory_case *c,
		   const struct memory *memory, void *data, double *sample,
		   struct why *why)
{
	enum clock_kind clock = env->opt->clock;
	const struct dio_job job = {
		.fd = *(int *)data, .memory = memory,
		.request = ways[c->how].request, .clock = clock,
	};
	uint64_t spent;
	int ret = ways[c->how].measure(&job, &spent, why);

	if (!ret)
		/* Bytes a nanosecond are GB/s. */
		*sample = more(clock) ? (double)memory->size / (double)spent :
					(double)spent / ((double)memory->size / 1024);
	return ret;
}

static const struct memory_bench dio_bench = {
	.bench = &bench_dio,
	.cases = cases,
	.nr_cases = ARRAY_SIZE(cases),
	.unit = unit,
	.more = more,
	.wall_suffix = "/wall",
	.measure = measure,
};

static void each_case(void (*fn)(const char *name, void *data), void *data)
{
	memory_bench_each(&dio_bench, fn, data);
}

static int run(const struct bench_env *env)
{
	struct memory_bench on_file = dio_bench;
	struct why why;
	int fd, ret;

	fd = dio_file_open(env->opt->device, SIZE, &why);
	if (fd < 0)
		return bench_skip_all(env, &bench_dio, why.text);
	on_file.data = &fd;
	ret = memory_bench_run(env, &on_file);
	close(fd);
	return ret;
}

const struct bench bench_dio = {
	.name = "dio",
	.summary = "direct reads of a null_blk device, with pread() and io_uring",
	.in_all = true,
	.fixed_size = true,
	.fixed_threads = true,
	.driverless = true,
	.takes_device = true,
	.each_case = each_case,
	.run = run,
};
