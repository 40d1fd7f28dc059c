// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of a call failing, one after the other, until the call gets all that it
 * asks for: it succeeds, or says ENOMEM, and no page is lost either way.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "map.h"

#define RW	(PROT_READ | PROT_WRITE)
#define NR	(4U * PMD_PAGES)
/**
 * struct fail_call - what is tried
 * @prepare: NULL: four large entries of the device's file
 * @call: returns 0 or an errno, with allocations failing
 * @gone: pages that are not mapped after a success, @nr of them from @first on
 * @never: it may not fail
 * @moved: after a success they are at @to instead
 */
struct fail_call {
	bool (*prepare)(void);
	int (*call)(void);
	uint32_t first, nr;
	bool never, moved;
	uint32_t to;
};

static bool four(void)
{
	switch_for(ON);
	return mmap(windows[ON], NR * PAGE_SIZE, RW, MAP_SHARED | MAP_FIXED, bar.fds[FILE_UC],
		    0) != MAP_FAILED && is_large(windows[ON]);
}

#define MKWRITE	PAGERUN_TEST_PHYS_MKWRITE

static bool four_of_driver(void)
{
	switch_for(ON);
	return !phys_map(ON, NR, RW, MAP_SHARED, MKWRITE) &&
		!phys_remap(ON, 0, NR / 2, 0, PAGERUN_TEST_UNCACHED) &&
		!phys_remap(ON, NR / 2, NR / 2, NR / 2, PAGERUN_TEST_UNCACHED) &&
		is_large(windows[ON]);
}

static bool four_read_only(void)
{
	return four_of_driver() && !mprotect(windows[ON], NR * PAGE_SIZE, PROT_READ) &&
		!mprotect(windows[ON], NR * PAGE_SIZE, RW);
}

static bool none_of_driver(void)
{
	switch_for(ON);
	return !phys_map(ON, NR, RW, MAP_SHARED, MKWRITE);
}

/*
 * Not mmap() of the device's file: where that gets no memory for its first table, every
 * kernel warns on x86, since it looks for the memory type in what it did not map.
 */
static int call_remap(void)
{
	/* A piece that begins and ends inside of what an entry maps. */
	return phys_remap(ON, 3, NR - 7, 3, PAGERUN_TEST_UNCACHED);
}

static int call_munmap(void)
{
	return munmap(window(ON, PMD_PAGES + 3), 5 * PAGE_SIZE) ? errno : 0;
}

static int call_munmap_wide(void)
{
	return munmap(window(ON, 3), (NR - 7) * PAGE_SIZE) ? errno : 0;
}

static int call_mprotect(void)
{
	return mprotect(window(ON, 3), (NR - 7) * PAGE_SIZE, PROT_READ) ? errno : 0;
}

static int call_madvise(void)
{
	return madvise(window(ON, PMD_PAGES + 3), PAGE_SIZE, MADV_RANDOM) ? errno : 0;
}

static int call_mremap(void)
{
	return mremap(windows[ON], NR * PAGE_SIZE, NR * PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		      window(ON, NR + 1)) == MAP_FAILED ? errno : 0;
}

static int call_mremap_part(void)
{
	return mremap(window(ON, 7), PMD_PAGES * PAGE_SIZE, PMD_PAGES * PAGE_SIZE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, window(ON, NR + 7)) == MAP_FAILED ? errno : 0;
}

static int call_fork(void)
{
	int status, err;
	pid_t pid = fork();

	err = errno;
	if (!pid)
		_exit(load(window(ON, PMD_PAGES + 9)).value != bar_word(PMD_PAGES + 9));
	if (pid < 0)
		return err;
	waitpid(pid, &status, 0);
	return status ? EIO : 0;
}

static int call_zap(void)
{
	return phys_zap(ON, PMD_PAGES + 3, PMD_PAGES);
}

static int call_unmap(void)
{
	return phys_unmap(ON, MKWRITE, PMD_PAGES + 3, PMD_PAGES);
}

static int call_write(void)
{
	/* Not the word that is compared. */
	return store(window(ON, PMD_PAGES + 3) + 8, 1).sig ? EIO : 0;
}

/* Is every page where it should be? A page that is gone reads as nothing. */
static bool whole(const struct fail_call *call, bool done, unsigned int nth, struct why *why)
{
	uint32_t page, at;
	struct access got;

	for (page = 0; page < NR; page++) {
		bool hit = page >= call->first && page < call->first + call->nr;

		if (hit && done && !call->moved)
			continue;
		at = hit && done ? page - call->first + call->to : page;
		got = load(window(ON, at));
		if (got.sig || got.value != bar_word(page))
			return wrong(why, "allocation %u: page %u: signal %d, %#llx after a call that %s",
				     nth, page, got.sig, (unsigned long long)got.value,
				     done ? "succeeded" : "failed");
	}
	return true;
}

/* One try in a process of its own, whose end must find all tables again. */
struct attempt {
	const struct fail_call *call;
	unsigned int nth;
	unsigned int *left;	/* in the parent's memory */
	int *err;
};

static void run_attempt(void *data, struct why *why)
{
	struct attempt *attempt = data;
	const struct fail_call *call = attempt->call;
	int err;

	faults_open();
	if (!(call->prepare ? call->prepare() : four())) {
		wrong(why, "no large entries to begin with");
		return;
	}
	faults_set(attempt->nth);
	err = call->call();
	*attempt->left = faults_left();
	faults_set(0);
	*attempt->err = err;
	/* madvise() makes the one of the other. */
	if (err && err != ENOMEM && err != EAGAIN)
		wrong(why, "allocation %u: errno %d", attempt->nth, err);
	else if (err && (call->never || *attempt->left))
		wrong(why, "allocation %u: errno %d where there can be none", attempt->nth, err);
	else if (call->call != call_remap)
		whole(call, !err, attempt->nth, why);
	else if (!err && load(window(ON, PMD_PAGES)).value != bar_word(PMD_PAGES))
		wrong(why, "allocation %u: a page is not mapped", attempt->nth);
	else if (err && !load(window(ON, PMD_PAGES)).sig)
		wrong(why, "allocation %u: a page is mapped that should not be", attempt->nth);
}

static void sweep(const struct fail_call *call, struct why *why)
{
	unsigned int *shared = mmap(NULL, PAGE_SIZE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int failed = 0, nth;

	if (shared == MAP_FAILED)
		die("no shared memory");
	if (!bar_fill())
		die("the BAR cannot be filled");
	faults_begin();
	switch_for(ON);
	for (nth = 1; nth < FAULTS_MAX_NTH && !why->bad; nth++) {
		struct attempt attempt = {
			.call = call, .nth = nth, .left = &shared[0], .err = (int *)&shared[1],
		};

		shared[0] = 0;
		in_child(run_attempt, &attempt, why);
		failed += !shared[0];
		if (shared[0])
			break;
	}
	if (!why->bad && (!failed || nth == FAULTS_MAX_NTH))
		wrong(why, "%u allocations failed, %u tries", failed, nth);
	munmap(shared, PAGE_SIZE);
}

#define SWEEP(name, ...) \
	static void case_##name(struct why *why) \
	{ \
		static const struct fail_call call = { __VA_ARGS__ }; \
		\
		sweep(&call, why); \
	}

SWEEP(remap, .prepare = none_of_driver, .call = call_remap)
SWEEP(munmap, .call = call_munmap, .first = PMD_PAGES + 3, .nr = 5)
SWEEP(munmap_wide, .call = call_munmap_wide, .first = 3, .nr = NR - 7)
SWEEP(mprotect, .call = call_mprotect)
SWEEP(madvise, .call = call_madvise)
SWEEP(mremap, .call = call_mremap, .first = 0, .nr = NR, .moved = true, .to = NR + 1)
SWEEP(mremap_part, .call = call_mremap_part, .first = 7, .nr = PMD_PAGES, .moved = true,
      .to = NR + 7)
SWEEP(fork, .call = call_fork)
SWEEP(zap, .prepare = four_of_driver, .call = call_zap, .first = PMD_PAGES + 3,
      .nr = PMD_PAGES, .never = true)
SWEEP(unmap, .prepare = four_of_driver, .call = call_unmap, .first = PMD_PAGES + 3,
      .nr = PMD_PAGES, .never = true)
SWEEP(write, .prepare = four_read_only, .call = call_write, .never = true)

const struct named map_fail_cases[] = {
	{ "failing allocations: remap_pfn_range", no_faults, case_remap },
	{ "failing allocations: munmap of a part", no_faults, case_munmap },
	{ "failing allocations: munmap of most", no_faults, case_munmap_wide },
	{ "failing allocations: mprotect of most", no_faults, case_mprotect },
	{ "failing allocations: madvise of a part", no_faults, case_madvise },
	{ "failing allocations: mremap, not congruent", no_faults, case_mremap },
	{ "failing allocations: mremap of a part", no_faults, case_mremap_part },
	{ "failing allocations: fork", no_faults, case_fork },
	{ "failing allocations: zap_vma_ptes", no_faults, case_zap },
	{ "failing allocations: unmap_mapping_range", no_faults, case_unmap },
	{ "failing allocations: a write that splits", no_faults, case_write },
};

const unsigned int nr_map_fail_cases = ARRAY_SIZE(map_fail_cases);
