// SPDX-License-Identifier: GPL-2.0-only
/*
 * pagerun bench register: what io_uring_register() of buffers costs. Needs no driver.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "memory_bench.h"
#include "pagerun.h"
#include "uring.h"

#define PAGE_BYTES	4096
#define MIB(n)		((size_t)(n) << 20)
/* Buffers of register-many. */
#define MANY_BYTES	(64U << 10)

/* How many buffers a case makes of the memory. */
enum { ONE, MANY };

static const struct memory_case cases[] = {
	{ "register/4k/64m", "4k", MIB(64), ONE },
	{ "register/4k/256m", "4k", MIB(256), ONE },
	{ "register/4k/1g", "4k", MIB(1024), ONE },
	{ "register/64k/64m", "64k", MIB(64), ONE },
	{ "register/64k/256m", "64k", MIB(256), ONE },
	{ "register/64k/1g", "64k", MIB(1024), ONE },
	{ "register-many/64k/64m", "64k", MIB(64), MANY },
	{ "register-many/64k/1g", "64k", MIB(1024), MANY },
	{ "register/1m/64m", "1m", MIB(64), ONE },
	{ "register/1m/256m", "1m", MIB(256), ONE },
	{ "register/1m/1g", "1m", MIB(1024), ONE },
	{ "register/2m-pmd/64m", "2m-pmd", MIB(64), ONE },
	{ "register/2m-pmd/256m", "2m-pmd", MIB(256), ONE },
	{ "register/2m-pmd/1g", "2m-pmd", MIB(1024), ONE },
};

/* The memory as @nr buffers of the same size. NULL: no memory for that. */
static struct iovec *split(const struct memory *memory, size_t nr)
{
	struct iovec *buffers = calloc(nr, sizeof(*buffers));
	size_t i;

	for (i = 0; buffers && i < nr; i++) {
		buffers[i].iov_len = memory->size / nr;
		buffers[i].iov_base = memory->addr + i * buffers[i].iov_len;
	}
	return buffers;
}

/* Return: PR_OK; PR_SKIP with @why filled; PR_FAIL after one line on stderr. */
static int time_register(enum clock_kind clock, struct io_uring *ring,
			 const struct iovec *buffers, size_t nr, double *spent,
			 struct why *why)
{
	uint64_t start;
	int err;

	if (clock == CLOCK_INSN)
		clock_pass_tick();
	start = clock_read(clock);
	err = io_uring_register_buffers(ring, buffers, (unsigned int)nr);
	*spent = (double)(clock_read(clock) - start);
	if (err) {
		why_set(why, "%zu buffers of %zu KiB cannot be registered: %s; raise the limit of locked memory (ulimit -l), or use a kernel that can",
			nr, buffers[0].iov_len >> 10, strerror(-err));
		return PR_SKIP;
	}
	err = io_uring_unregister_buffers(ring);
	if (!err)
		return PR_OK;
	warnx("buffers cannot be unregistered: %s", strerror(-err));
	return PR_FAIL;
}

/* A ring a sample: what is left of another one's buffers would be in its way. */
static int measure(const struct bench_env *env, const struct memory_case *c,
		   const struct memory *memory, void *data, double *sample,
		   struct why *why)
{
	size_t nr = c->how == MANY ? memory->size / MANY_BYTES : 1;
	struct io_uring ring;
	struct iovec *buffers;
	int ret;

	(void)data;
	ret = uring_open(&ring, 4, why);
	if (ret)
		return ret;
	buffers = split(memory, nr);
	if (buffers) {
		ret = time_register(env->opt->clock, &ring, buffers, nr, sample, why);
		*sample /= (double)memory->size / PAGE_BYTES;
	} else {
		warnx("out of memory for %zu buffers", nr);
		ret = PR_FAIL;
	}
	free(buffers);
	io_uring_queue_exit(&ring);
	return ret;
}

static bool more(enum clock_kind clock)
{
	(void)clock;
	return false;
}

static const struct memory_bench register_bench = {
	.bench = &bench_register,
	.cases = cases,
	.nr_cases = ARRAY_SIZE(cases),
	.unit = clock_page_unit,
	.more = more,
	.measure = measure,
};

static void each_case(void (*fn)(const char *name, void *data), void *data)
{
	memory_bench_each(&register_bench, fn, data);
}

static int run(const struct bench_env *env)
{
	return memory_bench_run(env, &register_bench);
}

const struct bench bench_register = {
	.name = "register",
	.summary = "io_uring_register() of one buffer, and of many",
	.in_all = true,
	.fixed_size = true,
	.fixed_threads = true,
	.driverless = true,
	.each_case = each_case,
	.run = run,
};
