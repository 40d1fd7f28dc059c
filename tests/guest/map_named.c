// SPDX-License-Identifier: GPL-2.0-only
/* Cases with a name, over the files of the device. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "map.h"

#ifndef SYS_mseal
#define SYS_mseal	462
#endif

#define RW	(PROT_READ | PROT_WRITE)
#define NR	(4U * PMD_PAGES)

/* Four large entries on one side, and their twins. */
static bool four(int file, struct why *why)
{
	uint32_t i;

	look_at_none();
	if (!map_twins(0, NR, RW, MAP_SHARED, file, file == FILE_WC ? WC_PAGES : 0, why))
		return false;
	for (i = 0; i < NR; i += PMD_PAGES)
		if (!is_large(window(ON, i)))
			return wrong(why, "page %u is not mapped by a large entry", i);
	return true;
}

static bool all_same(struct why *why)
{
	uint32_t i;

	if (!same_pages(0, WINDOW_PAGES, why))
		return false;
	for (i = 0; i < WINDOW_PAGES; i += 7)
		if (!same_entry(i, why))
			return false;
	return same_proc(why);
}

static void both(void (*fn)(int half, void *data), void *data)
{
	fn(ON, data);
	fn(OFF, data);
}

struct part {
	uint32_t first, nr;
	int prot;
};

static void unmap_part(int half, void *data)
{
	struct part *part = data;

	munmap(window(half, part->first), part->nr * PAGE_SIZE);
}

static void protect_part(int half, void *data)
{
	struct part *part = data;

	mprotect(window(half, part->first), part->nr * PAGE_SIZE, part->prot);
}

/* Parts at every kind of end. */
static const struct part parts[] = {
	{ 0, 1, 0 }, { 1, 1, 0 }, { PMD_PAGES - 1, 1, 0 }, { PMD_PAGES - 1, 2, 0 },
	{ PMD_PAGES, 1, 0 }, { PMD_PAGES + 1, PMD_PAGES, 0 }, { NR - 1, 1, 0 },
	{ 5, NR - 10, 0 }, { PMD_PAGES, PMD_PAGES, 0 }, { 0, PMD_PAGES + 1, 0 },
};

static void each_part(void (*fn)(int half, void *data), int prot, int again, struct why *why)
{
	struct part part;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts) && !why->bad; i++) {
		part = parts[i];
		part.prot = prot;
		if (!four(FILE_UC, why))
			return;
		both(fn, &part);
		if (again >= 0 && all_same(why)) {
			part.prot = again;
			both(fn, &part);
		}
		if (all_same(why))
			same_write(part.first, 7, why);
		unmap_twins();
	}
}

static void run_munmap(void *data, struct why *why)
{
	(void)data;
	each_part(unmap_part, 0, -1, why);
}

static void run_protect(void *data, struct why *why)
{
	(void)data;
	each_part(protect_part, PROT_READ, -1, why);
	each_part(protect_part, PROT_READ, RW, why);
}

static void run_none(void *data, struct why *why)
{
	(void)data;
	each_part(protect_part, PROT_NONE, -1, why);
	each_part(protect_part, PROT_NONE, RW, why);
	each_part(protect_part, PROT_NONE, PROT_READ, why);
}

static bool large_still(const char *what, struct why *why)
{
	uint32_t i;

	for (i = 0; i < NR; i += PMD_PAGES)
		if (!is_large(window(ON, i)))
			return wrong(why, "%s split the entry of page %u", what, i);
	return true;
}

/* To PROT_NONE and back, all of it: nothing is split, on processors with L1TF too. */
static void run_none_whole(void *data, struct why *why)
{
	struct part all = { 0, NR, PROT_NONE };

	(void)data;
	if (!four(FILE_UC, why))
		return;
	both(protect_part, &all);
	if (!all_same(why) || !large_still("mprotect(PROT_NONE)", why))
		return;
	all.prot = RW;
	both(protect_part, &all);
	if (all_same(why))
		large_still("mprotect(PROT_READ | PROT_WRITE)", why);
}

/* Files of sysfs want to know of writes, so what was read-only faults once. */
static void run_upgrade(void *data, struct why *why)
{
	struct part all = { 0, NR, PROT_READ };
	unsigned long tables;
	uint32_t i;

	(void)data;
	if (!four(FILE_UC, why))
		return;
	tables = tables_kb();
	both(protect_part, &all);
	if (!same_write(3, 1, why) || !same_write(PMD_PAGES, 1, why))
		return;
	all.prot = RW;
	both(protect_part, &all);
	for (i = 0; i < NR; i += 37)
		if (!same_write(i, 0x1000 + i, why))
			return;
	if (!all_same(why) || !large_still("a write", why))
		return;
	if (tables_kb() != tables)
		wrong(why, "page tables grew from %lu to %lu KiB", tables, tables_kb());
}

static void run_clear_refs(void *data, struct why *why)
{
	(void)data;
	if (!four(FILE_UC, why) || !same_write(9, 9, why))
		return;
	clear_refs(4);
	if (all_same(why) && same_write(10, 10, why) && large_still("a write", why))
		run_upgrade(NULL, why);
}

static void move_to(int half, void *data)
{
	uint32_t *move = data;

	mremap(window(half, move[0]), move[1] * PAGE_SIZE, move[1] * PAGE_SIZE,
	       MREMAP_MAYMOVE | MREMAP_FIXED, window(half, move[2]));
}

static void run_mremap(void *data, struct why *why)
{
	/* first, nr, to */
	static uint32_t moves[][3] = {
		{ 0, PMD_PAGES, NR }, { 0, 2 * PMD_PAGES, NR }, { 3, 5, NR + 3 },
		{ PMD_PAGES / 2, PMD_PAGES, NR + PMD_PAGES / 2 }, { 0, PMD_PAGES, NR + 1 },
		{ 0, PMD_PAGES - 1, NR + 1 }, { 1, PMD_PAGES, NR }, { 2, NR / 2, NR - 1 + 7 },
		{ 0, 1, NR + PMD_PAGES - 1 },
	};
	size_t i;

	(void)data;
	for (i = 0; i < ARRAY_SIZE(moves) && !why->bad; i++) {
		if (!four(FILE_UC, why))
			return;
		both(move_to, moves[i]);
		if (!all_same(why))
			wrong(why, "move %zu", i);
		unmap_twins();
	}
	if (why->bad || !four(FILE_UC, why))
		return;
	/* Whole entries go over whole, and need no tables. */
	both(move_to, moves[1]);
	if (!is_large(window(ON, NR)) || !is_large(window(ON, NR + PMD_PAGES)))
		wrong(why, "an entry that moves whole was split");
}

static void advise_part(int half, void *data)
{
	struct part *part = data;

	madvise(window(half, part->first), part->nr * PAGE_SIZE, MADV_DONTFORK);
}

static void seal_part(int half, void *data)
{
	struct part *part = data;

	syscall(SYS_mseal, window(half, part->first), part->nr * PAGE_SIZE, 0);
}

static void bind_part(int half, void *data)
{
	struct part *part = data;
	unsigned long node = 1;

	/* MPOL_PREFERRED, node 0; ENOSYS without CONFIG_NUMA */
	syscall(SYS_mbind, window(half, part->first), part->nr * PAGE_SIZE, 1, &node, 64UL, 0);
}

static void key_part(int half, void *data)
{
	struct part *part = data;

	syscall(SYS_pkey_mprotect, window(half, part->first), part->nr * PAGE_SIZE, RW,
		sys.pkeys ? sys.key_nowrite : -1);
}

/* One entry for each, of which a part is dealt with. */
static void run_parts(void *data, struct why *why)
{
	static void (*const calls[])(int half, void *data) = {
		advise_part, bind_part, key_part, seal_part,
	};
	struct part part = { 7, 3, 0 };
	size_t i;

	(void)data;
	if (!four(FILE_UC, why))
		return;
	for (i = 0; i < ARRAY_SIZE(calls); i++, part.first += PMD_PAGES) {
		both(calls[i], &part);
		if (!all_same(why) || !same_write(part.first, 3, why))
			return;
		/* Without NUMA, or without keys, there is nothing to split for. */
		if (is_large(window(ON, part.first)) && calls[i] != bind_part &&
		    (calls[i] != key_part || sys.pkeys))
			wrong(why, "call %zu split nothing", i);
	}
}

/* What else maps by remap_pfn_range(): at the address that the kernel chooses. */
static void run_dev_mem(void *data, struct why *why)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	char *at;

	(void)data;
	switch_for(ON);
	at = mmap(NULL, NR * PAGE_SIZE, RW, MAP_SHARED, fd, (off_t)bar.phys);
	if (at == MAP_FAILED) {
		wrong(why, "/dev/mem: errno %d", errno);
		return;
	}
	if (!is_large(at) || !is_large(at + (NR - 1) * PAGE_SIZE))
		wrong(why, "it is not mapped by large entries");
	munmap(at + 3 * PAGE_SIZE, PAGE_SIZE);
	if (load(at).value != bar_word(0) || load(at + 3 * PAGE_SIZE).sig != SIGSEGV ||
	    load(at + 4 * PAGE_SIZE).value != bar_word(4))
		wrong(why, "it reads otherwise");
}

static const char *no_dev_mem(void)
{
	return access("/dev/mem", F_OK) ?
		"there is no /dev/mem; boot a kernel with CONFIG_DEVMEM" : NULL;
}

/* The children see what the parent has, whatever each of them does to its own. */
static void run_fork(void *data, struct why *why)
{
	int file = *(int *)data, status, i;
	struct part part = { 5, 2, PROT_NONE };
	pid_t pid;

	for (i = 0; i < 3 && !why->bad; i++) {
		if (!four(file, why))
			return;
		pid = fork();
		if (!pid) {
			bool fine = all_same(why);

			if (i == 1)
				both(unmap_part, &part);
			if (i == 2)
				both(protect_part, &part);
			_exit(fine && all_same(why) ? 0 : 1);
		}
		if (pid < 0) {
			wrong(why, "fork: errno %d", errno);
			return;
		}
		waitpid(pid, &status, 0);
		if (status)
			wrong(why, "the child of round %d ended with %#x", i, status);
		else
			all_same(why);
		unmap_twins();
	}
}

/* A copy-on-write mapping has no large entries, and keeps its copies. */
static void run_private(void *data, struct why *why)
{
	(void)data;
	look_at_none();
	if (!map_twins(0, NR, RW, MAP_PRIVATE, FILE_UC, 0, why))
		return;
	if (is_large(window(ON, 0))) {
		wrong(why, "a private mapping has a large entry");
		return;
	}
	if (same_write(3, 99, why) && same_write(PMD_PAGES, 99, why) && all_same(why) &&
	    load(window(ON, 3)).value != 99)
		wrong(why, "the copy reads otherwise");
	unmap_twins();
	/* One that cannot be written to is no such mapping. */
	if (map_twins(0, NR, PROT_READ, MAP_SHARED, FILE_READ, 0, why) && all_same(why) &&
	    !is_large(window(ON, 0)))
		wrong(why, "a mapping of a file that is open to read has no large entry");
}

static void run_off(void *data, struct why *why)
{
	struct part part = { PMD_PAGES + 3, 4, PROT_READ };
	uint32_t move[] = { 0, PMD_PAGES, NR + 5 };
	int status;
	pid_t pid;

	(void)data;
	if (!four(FILE_UC, why))
		return;
	switch_set(false);
	pid = fork();
	if (!pid)
		_exit(all_same(why) ? 0 : 1);
	waitpid(pid, &status, 0);
	if (status)
		wrong(why, "the child ended with %#x", status);
	both(protect_part, &part);
	all_same(why);
	part.first = 2 * PMD_PAGES + 9;
	both(unmap_part, &part);
	all_same(why);
	both(move_to, move);
	all_same(why);
}

static void run_tables(void *data, struct why *why)
{
	const size_t size = WC_PAGES * PAGE_SIZE;
	unsigned long before, on, off;

	(void)data;
	switch_for(ON);
	before = tables_kb();
	if (mmap(windows[ON], size, RW, MAP_SHARED | MAP_FIXED, bar.fds[FILE_UC], 0) ==
	    MAP_FAILED) {
		wrong(why, "mmap() of %zu MiB: errno %d", size >> 20, errno);
		return;
	}
	on = tables_kb() - before;
	munmap(windows[ON], size);
	if (tables_kb() > before + 4)
		wrong(why, "%lu KiB of page tables are left", tables_kb() - before);
	switch_for(OFF);
	mmap(windows[ON], size, RW, MAP_SHARED | MAP_FIXED, bar.fds[FILE_UC], 0);
	off = tables_kb() - before;
	if (on > 16 || off < 900)
		wrong(why, "page tables of %zu MiB: %lu KiB; with the switch off %lu KiB",
		      size >> 20, on, off);
}

/* A tracer reads and writes by ->access, with the memory type of the mapping. */
static void run_ptrace(void *data, struct why *why)
{
	int file = *(int *)data, status;
	long word;
	pid_t pid;
	int half;

	if (!four(file, why))
		return;
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	for (half = ON; half <= OFF; half++) {
		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, pid, window(half, 5), NULL);
		if (errno || (uint64_t)word != load(window(half, 5)).value)
			wrong(why, "a tracer reads %#lx (errno %d)", word, errno);
		if (ptrace(PTRACE_POKEDATA, pid, window(half, 6), 0x77L) ||
		    load(window(half, 6)).value != 0x77)
			wrong(why, "a tracer cannot write (errno %d)", errno);
	}
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	all_same(why);
}

/* An address without a wish, in the file from @offset on. */
static uintptr_t any_address(int fd, size_t len, off_t offset)
{
	void *addr = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, offset);

	if (addr == MAP_FAILED)
		return 0;
	munmap(addr, len);
	return (uintptr_t)addr;
}

static void run_address(void *data, struct why *why)
{
	static const size_t lengths[] = {
		PMD_SIZE, PMD_SIZE + PAGE_SIZE, 5UL << 20, 64UL << 20,
	};
	static const off_t offsets[] = { 0, PAGE_SIZE, PMD_SIZE, 7 * PAGE_SIZE };
	uintptr_t addr;
	size_t i, j;

	(void)data;
	switch_for(ON);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (j = 0; j < ARRAY_SIZE(offsets); j++) {
			/* Where no entry of 2 MiB fits, nothing is asked for. */
			if (lengths[i] == PMD_SIZE && offsets[j] % (off_t)PMD_SIZE)
				continue;
			if (lengths[i] == PMD_SIZE + PAGE_SIZE && offsets[j] % (off_t)PMD_SIZE)
				continue;
			addr = any_address(bar.fds[FILE_UC], lengths[i], offsets[j]);
			if (!addr || (addr - bar.phys - (uint64_t)offsets[j]) % PMD_SIZE)
				wrong(why, "%zu KiB from %ld KiB: address %#lx", lengths[i] >> 10,
				      (long)offsets[j] >> 10, (unsigned long)addr);
		}
	}
}

/* Other files get the address that they get with the switch off; a wish is heeded. */
static void run_address_others(void *data, struct why *why)
{
	static const size_t lengths[] = { PAGE_SIZE, PMD_SIZE, PMD_SIZE + PAGE_SIZE, 6UL << 20 };
	int fds[3] = { memfd_create("map", 0), open("/dev/zero", O_RDWR),
		       open("/sys/kernel/mm/pagerun/map", O_RDWR) };
	uintptr_t on, off;
	size_t i, j;

	(void)data;
	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0 || ftruncate(fds[0], 8 << 20))
		die("files to compare with");
	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			switch_for(ON);
			on = any_address(fds[i], lengths[j], 0);
			switch_for(OFF);
			off = any_address(fds[i], lengths[j], 0);
			if (on != off)
				wrong(why, "file %zu, %zu KiB: %#lx; with the switch off %#lx", i,
				      lengths[j] >> 10, (unsigned long)on, (unsigned long)off);
		}
	}
	switch_for(ON);
	on = (uintptr_t)mmap((void *)0x120000001000, 4 * PMD_SIZE, PROT_READ, MAP_SHARED,
			     bar.fds[FILE_UC], 0);
	if (on != 0x120000001000)
		wrong(why, "a wish was not heeded: %#lx", (unsigned long)on);
}

static int uio_open(struct pagerun_test_uio *uio)
{
	char name[32];

	uio->phys = bar.phys;
	uio->size = 16UL << 20;
	if (ioctl(sys.dev, PAGERUN_TEST_UIO, uio))
		return -1;
	snprintf(name, sizeof(name), "/dev/uio%u", uio->minor);
	return open(name, O_RDWR | O_CLOEXEC);
}

const char *map_has_uio(void)
{
	return access("/sys/class/uio", F_OK) ?
		"the kernel has no UIO; boot one with CONFIG_UIO" : NULL;
}

/* Map 1 begins one page behind map 0; the file's offset says which, not where. */
static void run_uio(void *data, struct why *why)
{
	struct pagerun_test_uio uio = { };
	int fd, map;
	uintptr_t addr;
	char *at;

	(void)data;
	fd = uio_open(&uio);
	if (fd < 0) {
		wrong(why, "no UIO device: errno %d", errno);
		return;
	}
	switch_for(ON);
	for (map = 0; map < 2; map++) {
		addr = any_address(fd, 4 * PMD_SIZE + PAGE_SIZE, map * (off_t)PAGE_SIZE);
		if (!addr || (addr - bar.phys - map * PAGE_SIZE) % PMD_SIZE)
			wrong(why, "map %d: address %#lx", map, (unsigned long)addr);
		at = mmap(NULL, 4 * PMD_SIZE, PROT_READ, MAP_SHARED, fd, map * (off_t)PAGE_SIZE);
		if (at == MAP_FAILED)
			wrong(why, "map %d: errno %d", map, errno);
		else if (!is_large(at + PMD_SIZE) || load(at).value != bar_word(map))
			wrong(why, "map %d: no large entry, or it reads %#llx", map,
			      (unsigned long long)load(at).value);
	}
	close(fd);
}

/*
 * What a public test system found in an earlier attempt of others: tables kept for
 * entries of other kinds, and none for those of a child. The guest's kernel log tells.
 */
static void run_shmem_thp(void *data, struct why *why)
{
	int fd = memfd_create("thp", 0), i;
	char *at;

	(void)data;
	thp_memfd(true);
	for (i = 0; i < 4; i++) {
		if (fd < 0 || ftruncate(fd, 4 * PMD_SIZE))
			die("no memory file");
		at = mmap((void *)0x130000000000, 4 * PMD_SIZE, RW, MAP_SHARED | MAP_FIXED, fd, 0);
		if (at == MAP_FAILED)
			die("no mapping of a memory file");
		memset(at, 1, 4 * PMD_SIZE);
		munmap(at + PAGE_SIZE, PAGE_SIZE);
		mprotect(at + PMD_SIZE, PAGE_SIZE, PROT_READ);
		madvise(at + 2 * PMD_SIZE, PMD_SIZE / 2, MADV_DONTNEED);
		if (load(at + 3 * PMD_SIZE).value != 0x0101010101010101)
			wrong(why, "a page of a file was lost");
		munmap(at, 4 * PMD_SIZE);
	}
	thp_memfd(false);
	close(fd);
}

/* clone() that fails when memory was copied: the place for the pidfd is no memory. */
static void run_clone_fails(void *data, struct why *why)
{
	int i, status;
	long pid;

	(void)data;
	for (i = 0; i < 20 && !why->bad; i++) {
		if (!four(FILE_UC, why))
			return;
		errno = 0;
		pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, (void *)8, NULL, 0);
		if (pid != -1 || errno != EFAULT)
			wrong(why, "clone() with a bad pointer: %ld, errno %d", pid, errno);
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid((pid_t)pid, &status, 0);
		all_same(why);
		unmap_twins();
	}
}

/* A dump leaves devices out; that it comes to an end, and the process with it. */
static void run_dump(void *data, struct why *why)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	int status;
	pid_t pid;

	(void)data;
	if (!four(FILE_UC, why))
		return;
	pid = fork();
	if (!pid) {
		if (chdir("/tmp") || setrlimit(RLIMIT_CORE, &limit))
			_exit(1);
		signal(SIGABRT, SIG_DFL);
		abort();
	}
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !WCOREDUMP(status))
		wrong(why, "the child ended with %#x", status);
	all_same(why);
	unlink("/tmp/core");
}

static const char *no_dump(void)
{
	return access("/proc/sys/kernel/core_pattern", F_OK) ?
		"the kernel makes no core dumps; boot one with CONFIG_COREDUMP" : NULL;
}

static const char *no_shmem_huge(void)
{
	return sys.shmem_huge ? NULL :
		"shmem has no large folios here; boot a kernel with CONFIG_TRANSPARENT_HUGEPAGE";
}

static int uc = FILE_UC, wc = FILE_WC;

MAP_CASE(munmap, run_munmap, NULL)
MAP_CASE(protect, run_protect, NULL)
MAP_CASE(none, run_none, NULL)
MAP_CASE(none_whole, run_none_whole, NULL)
MAP_CASE(upgrade, run_upgrade, NULL)
MAP_CASE(clear_refs, run_clear_refs, NULL)
MAP_CASE(mremap, run_mremap, NULL)
MAP_CASE(parts, run_parts, NULL)
MAP_CASE(dev_mem, run_dev_mem, NULL)
MAP_CASE(fork_uc, run_fork, &uc)
MAP_CASE(fork_wc, run_fork, &wc)
MAP_CASE(private, run_private, NULL)
MAP_CASE(off, run_off, NULL)
MAP_CASE(tables, run_tables, NULL)
MAP_CASE(ptrace_uc, run_ptrace, &uc)
MAP_CASE(ptrace_wc, run_ptrace, &wc)
MAP_CASE(address, run_address, NULL)
MAP_CASE(address_others, run_address_others, NULL)
MAP_CASE(uio, run_uio, NULL)
MAP_CASE(shmem_thp, run_shmem_thp, NULL)
MAP_CASE(clone_fails, run_clone_fails, NULL)
MAP_CASE(dump, run_dump, NULL)

const struct named map_cases[] = {
	{ "munmap of parts", map_possible, case_munmap },
	{ "mprotect of parts", map_possible, case_protect },
	{ "mprotect of parts to PROT_NONE and back", map_possible, case_none },
	{ "mprotect of all to PROT_NONE splits nothing", map_possible, case_none_whole },
	{ "a write makes a read-only entry writable as it is", map_possible, case_upgrade },
	{ "the same after clear_refs", map_possible, case_clear_refs },
	{ "mremap, congruent and not", map_possible, case_mremap },
	{ "madvise, mbind, pkey_mprotect and mseal of parts", map_possible, case_parts },
	{ "/dev/mem", no_dev_mem, case_dev_mem },
	{ "fork", map_possible, case_fork_uc },
	{ "fork, write-combining", map_possible, case_fork_wc },
	{ "a private mapping", map_possible, case_private },
	{ "made with the switch on, split and copied with it off", map_possible, case_off },
	{ "page tables", map_possible, case_tables },
	{ "a tracer", map_possible, case_ptrace_uc },
	{ "a tracer, write-combining", map_possible, case_ptrace_wc },
	{ "addresses for the files of the device", map_possible, case_address },
	{ "addresses for other files", map_possible, case_address_others },
	{ "addresses for a UIO device", map_has_uio, case_uio },
	{ "large folios of shmem, split", no_shmem_huge, case_shmem_thp },
	{ "clone that fails half-way", map_possible, case_clone_fails },
	{ "a core dump", no_dump, case_dump },
};

const unsigned int nr_map_cases = ARRAY_SIZE(map_cases);
