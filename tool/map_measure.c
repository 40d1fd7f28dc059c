// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "map_measure.h"
#include "pagerun.h"
#include "sysfile.h"

#define PAGE_BYTES	4096
#define LINE_BYTES	64
#define READS		(1U << 20)
#define COPY_BYTES	(2U << 20)
/* Small mappings are made so often in a sample, for a clock that only tells the time. */
#define SMALL_ROUNDS	64
#define SMALL_BYTES	(1U << 20)
#define FORK_ROUNDS	15

/* No time passes between the two but theirs. */
static int mmap_once(const struct map_job *job, uint64_t *spent, struct why *why)
{
	void *addr = map_file_map(job->file, job->size, why), *again;
	uint64_t start, end;

	if (!addr)
		return PR_SKIP;
	munmap(addr, job->size);
	start = clock_read(job->clock);
	again = mmap(addr, job->size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_FIXED_NOREPLACE, job->file->fd, 0);
	if (again == addr)
		munmap(again, job->size);
	end = clock_read(job->clock);
	if (again != addr) {
		warn("%s could be mapped once and not again", job->file->path);
		return PR_FAIL;
	}
	*spent += end - start;
	return PR_OK;
}

int map_measure_mmap(const struct map_job *job, double *sample, struct why *why)
{
	unsigned int rounds = job->size <= SMALL_BYTES ? SMALL_ROUNDS : 1, i;
	uint64_t spent = 0;
	int ret = PR_OK;

	if (job->clock == CLOCK_INSN)
		clock_pass_tick();
	for (i = 0; i < rounds && !ret; i++)
		ret = mmap_once(job, &spent, why);
	*sample = (double)spent / rounds / ((double)job->size / PAGE_BYTES);
	return ret;
}

/* Return: PR_OK, or PR_FAIL after one line on stderr. */
static int fork_once(const struct map_job *job, uint64_t *spent)
{
	uint64_t start;
	pid_t pid;

	if (job->clock == CLOCK_INSN)
		clock_pass_tick();
	start = clock_read(job->clock);
	pid = fork();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
		warn("cannot fork with %s mapped", job->file->path);
		return PR_FAIL;
	}
	*spent = clock_read(job->clock) - start;
	return PR_OK;
}

static int fork_mapped(const struct map_job *job, uint64_t *spent, struct why *why)
{
	void *addr = map_file_map(job->file, job->size, why);
	int ret;

	if (!addr)
		return PR_SKIP;
	ret = fork_once(job, spent);
	munmap(addr, job->size);
	return ret;
}

static void keep_least(uint64_t *least, uint64_t spent)
{
	if (spent < *least)
		*least = spent;
}

/*
 * By a clock that tells the time, of each the least of some, made by turns: what disturbs
 * a fork only adds to it, and a difference of two that were disturbed says nothing.
 */
int map_measure_fork(const struct map_job *job, double *sample, struct why *why)
{
	unsigned int rounds = job->clock == CLOCK_WALL ? FORK_ROUNDS : 1, i;
	uint64_t with = UINT64_MAX, without = UINT64_MAX, spent;
	int ret;

	for (i = 0; i < rounds; i++) {
		ret = fork_once(job, &spent);
		if (ret)
			return ret;
		keep_least(&without, spent);
		ret = fork_mapped(job, &spent, why);
		if (ret)
			return ret;
		keep_least(&with, spent);
	}
	/* Large entries add so little that it can be lost in what else went on. */
	*sample = with > without ?
		(double)(with - without) / ((double)job->size / PAGE_BYTES) : 0;
	return PR_OK;
}

/* Return: KiB, or -1 with @why filled. */
static long page_tables(struct why *why)
{
	char text[4096], *line;
	int err = sysfile_read("/proc/self/status", text, sizeof(text));

	line = err ? NULL : strstr(text, "\nVmPTE:");
	if (line)
		return strtol(line + strlen("\nVmPTE:"), NULL, 10);
	return why_set(why, "/proc/self/status does not say VmPTE (%s): mount /proc",
		       err ? strerror(err) : "no such line");
}

int map_measure_tables(const struct map_job *job, double *sample, struct why *why)
{
	long before = page_tables(why), with;
	void *addr;

	if (before < 0)
		return PR_SKIP;
	addr = map_file_map(job->file, job->size, why);
	if (!addr)
		return PR_SKIP;
	with = page_tables(why);
	munmap(addr, job->size);
	*sample = (double)(with - before);
	return with < 0 ? PR_SKIP : PR_OK;
}

/*
 * The next place hangs on what was read, times a zero that the compiler does not know:
 * so no read begins before the last one has ended. Not a chain of pointers in the
 * mapping, which would have to be written there.
 */
static uint64_t read_around(const char *addr, size_t size, enum clock_kind clock)
{
	static volatile uint64_t zero;
	uint64_t none = zero, x = 1, start = clock_read(clock), lines = size / LINE_BYTES;
	unsigned int i;

	for (i = 0; i < READS; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		x += none * *(const volatile uint64_t *)
			(addr + ((x >> 24) & (lines - 1)) * LINE_BYTES);
	}
	zero = x & none;
	return clock_read(clock) - start;
}

int map_measure_latency(const struct map_job *job, double *sample, struct why *why)
{
	char *addr = map_file_map(job->file, job->size, why);

	if (!addr)
		return PR_SKIP;
	*sample = (double)read_around(addr, job->size, job->clock) / READS;
	munmap(addr, job->size);
	return PR_OK;
}

int map_measure_memcpy(const struct map_job *job, double *sample, struct why *why)
{
	char *addr, *to = malloc(COPY_BYTES);
	uint64_t start, spent;
	size_t offset;

	if (!to) {
		warnx("out of memory for what is copied to");
		return PR_FAIL;
	}
	memset(to, 1, COPY_BYTES);
	addr = map_file_map(job->file, job->size, why);
	if (!addr) {
		free(to);
		return PR_SKIP;
	}
	start = clock_read(job->clock);
	for (offset = 0; offset < job->size; offset += COPY_BYTES) {
		memcpy(to, addr + offset, COPY_BYTES);
		/* It was wanted. */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	spent = clock_read(job->clock) - start;
	munmap(addr, job->size);
	free(to);
	*sample = (double)job->size / (double)spent;
	return PR_OK;
}
