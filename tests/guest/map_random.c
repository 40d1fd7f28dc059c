// SPDX-License-Identifier: GPL-2.0-only
/* Random sequences of calls on twins, from a seed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "map.h"

#ifndef SYS_mseal
#define SYS_mseal	462
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED	24
#endif

/* A call on both: what it returned, addresses as their place in the window. */
struct result {
	long ret;
	int err;
};

struct state {
	uint64_t seed;
	struct rng rng;
	int depth;		/* a child of a case has no more children */
	/*
	 * Private mappings, and no accesses by /proc/self/mem: of a page that was copied
	 * on write, every kernel takes the memory for the device's then, and warns.
	 */
	bool privates;
	unsigned int call;	/* how many were made */
	char text[120];		/* the last */
};

static int prot_any(struct rng *rng)
{
	static const int prots[] = {
		PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_NONE,
		PROT_READ | PROT_EXEC,
	};

	return prots[rng_below(rng, ARRAY_SIZE(prots))];
}

/* Lengths at and around what a large entry maps, and any. */
static uint32_t pages_any(struct rng *rng, uint32_t max)
{
	static const uint32_t lengths[] = { 1, 2, 3, 511, 512, 513, 1024, 1025, 1535, 2048 };
	uint32_t nr = rng_chance(rng, 60) ? lengths[rng_below(rng, ARRAY_SIZE(lengths))] :
					    1 + rng_below(rng, 700);

	return min_u32(nr, max);
}

/* Pages at and around the ends of large entries, and any. */
static uint32_t place_any(struct rng *rng)
{
	uint32_t page = rng_below(rng, WINDOW_PAGES);

	if (rng_chance(rng, 70)) {
		page -= page % PMD_PAGES;
		if (rng_chance(rng, 50))
			page += rng_below(rng, 3);
	}
	return page;
}

static bool same_result(struct state *state, const struct result *on,
			const struct result *off, struct why *why)
{
	return (on->ret == off->ret && on->err == off->err) ||
		wrong(why, "%s: %ld, errno %d; with the switch off %ld, errno %d", state->text,
		      on->ret, on->err, off->ret, off->err);
}

/* A range for a call, drawn once for both windows. */
struct range {
	uint32_t first, nr, to, what;
};

typedef long call_fn(int half, const struct range *range);

static long call_munmap(int half, const struct range *r)
{
	return munmap(window(half, r->first), r->nr * PAGE_SIZE);
}

static long call_mprotect(int half, const struct range *r)
{
	return mprotect(window(half, r->first), r->nr * PAGE_SIZE, (int)r->what);
}

static long call_pkey(int half, const struct range *r)
{
	return syscall(SYS_pkey_mprotect, window(half, r->first), r->nr * PAGE_SIZE,
		       PROT_READ | PROT_WRITE, sys.pkeys ? sys.key_nowrite : -1);
}

static long call_madvise(int half, const struct range *r)
{
	static const int advice[] = {
		MADV_DONTFORK, MADV_DOFORK, MADV_DONTDUMP, MADV_DODUMP, MADV_RANDOM,
		MADV_SEQUENTIAL, MADV_NORMAL, MADV_DONTNEED, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
		MADV_COLD, MADV_PAGEOUT, MADV_FREE, MADV_WILLNEED, MADV_POPULATE_READ,
		MADV_POPULATE_WRITE, MADV_DONTNEED_LOCKED, MADV_COLLAPSE, MADV_MERGEABLE,
		MADV_WIPEONFORK,
	};

	return madvise(window(half, r->first), r->nr * PAGE_SIZE,
		       advice[r->what % ARRAY_SIZE(advice)]);
}

static long call_mremap(int half, const struct range *r)
{
	static const int flags[] = {
		MREMAP_MAYMOVE | MREMAP_FIXED, MREMAP_MAYMOVE | MREMAP_FIXED,
		MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, 0,
	};
	int how = flags[r->what % ARRAY_SIZE(flags)];
	uint32_t new_nr = r->what & 8 && r->nr > 1 ? r->nr - 1 : r->nr;
	char *got;

	/* Neither out of the window nor into what is moved. */
	if (r->to + r->nr > WINDOW_PAGES ||
	    (how && r->to < r->first + r->nr && r->first < r->to + r->nr))
		return -2;
	got = mremap(window(half, r->first), r->nr * PAGE_SIZE, new_nr * PAGE_SIZE, how,
		     window(half, r->to));
	return got == MAP_FAILED ? -1 : got - windows[half];
}

static long call_mseal(int half, const struct range *r)
{
	return syscall(SYS_mseal, window(half, r->first), r->nr * PAGE_SIZE, 0);
}

static long call_mbind(int half, const struct range *r)
{
	unsigned long node = 1;

	/* MPOL_PREFERRED and MPOL_BIND of node 0 */
	return syscall(SYS_mbind, window(half, r->first), r->nr * PAGE_SIZE,
		       1 + r->what % 2, &node, 64UL, 0);
}

static long call_mlock(int half, const struct range *r)
{
	return r->what & 1 ? mlock(window(half, r->first), r->nr * PAGE_SIZE) :
			     munlock(window(half, r->first), r->nr * PAGE_SIZE);
}

static long call_msync(int half, const struct range *r)
{
	return msync(window(half, r->first), r->nr * PAGE_SIZE, MS_SYNC);
}

/* As a debugger does: by ->access of the mapping. */
static long mem_call(int half, const struct range *r, bool write)
{
	uint64_t value = bar_word(r->what);
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	off_t at = (off_t)(uintptr_t)window(half, r->first);
	ssize_t n;
	int err;

	if (fd < 0)
		die("/proc/self/mem");
	n = write ? pwrite(fd, &value, sizeof(value), at) :
		    pread(fd, &value, sizeof(value), at);
	err = errno;
	close(fd);
	errno = err;
	if (n < 0)
		return -1;
	return write ? n : (long)value;
}

static long call_mem_read(int half, const struct range *r)
{
	return mem_call(half, r, false);
}

static long call_mem_write(int half, const struct range *r)
{
	return mem_call(half, r, true);
}

static long call_vm_read(int half, const struct range *r)
{
	uint64_t value = 0;
	struct iovec to = { &value, sizeof(value) };
	struct iovec from = { window(half, r->first), sizeof(value) };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0);
}

static const struct {
	const char *name;
	call_fn *fn;
	unsigned int weight;
} calls[] = {
	{ "munmap", call_munmap, 12 },
	{ "mprotect", call_mprotect, 20 },
	{ "pkey_mprotect", call_pkey, 4 },
	{ "madvise", call_madvise, 14 },
	{ "mremap", call_mremap, 14 },
	{ "mseal", call_mseal, 2 },
	{ "mbind", call_mbind, 4 },
	{ "mlock", call_mlock, 3 },
	{ "msync", call_msync, 1 },
	{ "read of /proc/self/mem", call_mem_read, 6 },
	{ "write of /proc/self/mem", call_mem_write, 4 },
	{ "process_vm_readv", call_vm_read, 1 },
};

static unsigned int call_any(struct rng *rng, bool privates)
{
	unsigned int sum = 0, at, i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		sum += calls[i].weight;
	at = rng_below(rng, sum);
	for (i = 0; at >= calls[i].weight; i++)
		at -= calls[i].weight;
	if (privates && (calls[i].fn == call_mem_read || calls[i].fn == call_mem_write))
		i = 0;
	return i;
}

static bool do_call(struct state *state, struct why *why)
{
	struct rng *rng = &state->rng;
	unsigned int i = call_any(rng, state->privates);
	struct range r = { .first = place_any(rng) };
	struct result result[2];
	int half;

	r.nr = pages_any(rng, WINDOW_PAGES - r.first);
	r.to = place_any(rng);
	if (rng_chance(rng, 50))
		r.to = r.to - r.to % PMD_PAGES + r.first % PMD_PAGES;
	r.what = calls[i].fn == call_mprotect ? (uint32_t)prot_any(rng) :
						(uint32_t)rng_next(rng) & 0xffff;
	snprintf(state->text, sizeof(state->text), "%s of pages %u to %u (to %u, %#x)",
		 calls[i].name, r.first, r.first + r.nr, r.to, r.what);
	for (half = ON; half <= OFF; half++) {
		errno = 0;
		result[half].ret = calls[i].fn(half, &r);
		result[half].err = errno;
	}
	/*
	 * A tracer may write what the processor can. After mprotect() that is a page that
	 * was written to, or one of the same large entry.
	 */
	if (calls[i].fn == call_mem_write && result[OFF].err == EIO && !result[ON].err &&
	    !store(window(OFF, r.first), bar_word(r.what)).sig)
		result[OFF] = result[ON];
	look_at(r.first);
	look_at(r.first + r.nr - 1);
	look_at(min_u32(r.to, WINDOW_PAGES - 1));
	return same_result(state, &result[ON], &result[OFF], why);
}

static bool do_map(struct state *state, struct why *why)
{
	struct rng *rng = &state->rng;
	int file = (int)rng_below(rng, NR_FILES), prot = prot_any(rng);
	int flags = !state->privates || rng_chance(rng, 80) ? MAP_SHARED : MAP_PRIVATE;
	uint32_t page = place_any(rng), nr = pages_any(rng, WINDOW_PAGES - page), offset;

	if (file == FILE_READ && flags == MAP_SHARED)
		prot &= ~PROT_WRITE;
	offset = file == FILE_WC ? WC_PAGES : 0;
	offset += rng_below(rng, 8) * PMD_PAGES + page % PMD_PAGES;
	if (rng_chance(rng, 15))
		offset += 1 + rng_below(rng, 500);
	snprintf(state->text, sizeof(state->text),
		 "mmap of pages %u to %u, file %d, offset %u, prot %d, flags %d", page, page + nr,
		 file, offset, prot, flags);
	return map_twins(page, nr, prot, flags, file, offset, why);
}

static bool do_writes(struct state *state, struct why *why)
{
	uint32_t i, page;

	snprintf(state->text, sizeof(state->text), "writes");
	for (i = 0; i < 6; i++) {
		page = place_any(&state->rng);
		look_at(page);
		if (!same_write(page, rng_next(&state->rng), why))
			return false;
	}
	return true;
}

static bool do_steps(struct state *state, unsigned int nr, struct why *why);

/* In the child everything is as in the parent, and stays so whatever it does. */
static bool do_fork(struct state *state, struct why *why)
{
	struct why *shared;
	int status;
	pid_t pid;

	if (state->depth)
		return true;
	shared = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("no memory for a child's answer");
	snprintf(state->text, sizeof(state->text), "fork");
	pid = fork();
	if (!pid) {
		state->depth++;
		state->rng.state ^= 0x5bd1e995;
		if (same_looks(&state->rng, shared))
			do_steps(state, 4, shared);
		_exit(0);
	}
	/*
	 * On x86 no kernel can copy a private mapping whose first page was written to: it
	 * would tell the memory type by that.
	 */
	if (pid < 0 && errno == ENOMEM && state->privates) {
		munmap(shared, PAGE_SIZE);
		return true;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("cannot fork");
	switch_forget();
	if (shared->bad || status)
		wrong(why, "in a child: %s (status %#x)", shared->text, status);
	munmap(shared, PAGE_SIZE);
	return !why->bad;
}

static bool do_proc(struct state *state, struct why *why)
{
	snprintf(state->text, sizeof(state->text), "/proc");
	return same_proc(why);
}

/* Afterwards the kernel wants to see writes, where it maps for writing. */
static bool do_clear_refs(struct state *state, struct why *why)
{
	(void)why;
	snprintf(state->text, sizeof(state->text), "clear_refs");
	clear_refs(4);
	return true;
}

/* What stands is treated the same with the switch off as with it on. */
static bool do_switch(struct state *state, struct why *why)
{
	(void)why;
	snprintf(state->text, sizeof(state->text), "the switch");
	switch_set(rng_chance(&state->rng, 50));
	return true;
}

static const struct {
	bool (*step)(struct state *state, struct why *why);
	unsigned int percent;
} steps[] = {
	{ do_call, 50 }, { do_map, 22 }, { do_writes, 14 }, { do_fork, 5 }, { do_proc, 4 },
	{ do_clear_refs, 2 }, { do_switch, 3 },
};

static bool do_steps(struct state *state, unsigned int nr, struct why *why)
{
	unsigned int i, at, step;

	for (i = 0; i < nr; i++) {
		at = rng_below(&state->rng, 100);
		for (step = 0; at >= steps[step].percent; step++)
			at -= steps[step].percent;
		if (!steps[step].step(state, why) || !same_looks(&state->rng, why))
			break;
		state->call++;
	}
	/* Which call it was, in front of what was found after it. */
	if (why->bad) {
		char found[sizeof(why->text)];

		snprintf(found, sizeof(found), "%s", why->text);
		snprintf(why->text, sizeof(why->text), "step %u, %s: %.250s", state->call,
			 state->text, found);
	}
	return !why->bad;
}

static void run(void *data, struct why *why)
{
	struct state *state = data;
	uint32_t offset = state->seed % 4 * PMD_PAGES;
	int file = state->seed % 5 == 0 ? FILE_WC : FILE_UC;

	if (file == FILE_WC)
		offset += WC_PAGES;
	/* So that there is something to call upon. */
	if (map_twins(0, 4 * PMD_PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset, why) &&
	    do_steps(state, options.calls, why) && same_pages(0, WINDOW_PAGES, why))
		same_proc(why);
	unmap_twins();
}

void map_random(uint64_t seed)
{
	struct state state = {
		.seed = seed, .rng = { .state = rng_mix(seed) }, .privates = seed % 2,
	};
	struct why why = { };

	look_at_none();
	if (!bar_fill())
		die("the BAR cannot be filled");
	in_child(run, &state, &why);
	if (ktap_ok(!why.bad, "random case %llu", (unsigned long long)seed))
		return;
	ktap_diag("%s", why.text);
	ktap_diag("to repeat: map_answers --only %s --seed %llu --cases 1 --calls %u",
		  ONLY_RANDOM, (unsigned long long)seed, options.calls);
}
