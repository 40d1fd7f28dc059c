// SPDX-License-Identifier: GPL-2.0-only
/* The BAR, twins of mappings of it, and all there is to see of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "bar.h"
#include "map.h"

struct bar bar;

char *const windows[2] = { (char *)0x100000000000, (char *)0x180000000000 };

/* ------------------------------------------------------------------------- */
/* The device                                                                */

const char *bar_open(void)
{
	if (!bar_find_device(bar.dir, sizeof(bar.dir)))
		return "there is no ivshmem device; boot by lab/boot, or start QEMU with -device ivshmem-plain";
	bar.phys = bar_read_phys(bar.dir);
	bar.fds[FILE_UC] = bar_open_file(bar.dir, "resource2", O_RDWR);
	bar.fds[FILE_WC] = bar_open_file(bar.dir, "resource2_wc", O_RDWR);
	bar.fds[FILE_READ] = bar_open_file(bar.dir, "resource2", O_RDONLY);
	if (!bar.phys || bar.fds[FILE_UC] < 0 || bar.fds[FILE_WC] < 0 ||
	    bar.fds[FILE_READ] < 0)
		return "the files of the ivshmem device cannot be opened; run as root";
	accesses_begin();
	return bar_fill() ? NULL :
		"the BAR of the ivshmem device does not hold what is written to it; write 1 to its file enable, and give it a memdev of 1 GiB";
}

uint64_t bar_word(uint32_t page)
{
	return 0x70616765000000ULL | page;
}

static bool fill_part(int half, int file, uint32_t first, uint32_t nr)
{
	char *part = mmap(NULL, nr * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			  bar.fds[file], bar_offset(half, first));
	volatile uint64_t *word;
	bool holds = true;
	uint32_t i;

	if (part == MAP_FAILED)
		return false;
	for (i = 0; i < nr; i++) {
		word = (volatile uint64_t *)(part + i * PAGE_SIZE);
		*word = bar_word(first + i);
		holds = holds && *word == bar_word(first + i);
	}
	munmap(part, nr * PAGE_SIZE);
	return holds;
}

bool bar_fill(void)
{
	int half;

	for (half = ON; half <= OFF; half++)
		if (!fill_part(half, FILE_UC, 0, FILLED_PAGES) ||
		    !fill_part(half, FILE_WC, WC_PAGES, FILLED_PAGES))
			return false;
	return true;
}

off_t bar_offset(int half, uint32_t page)
{
	return (off_t)(half * HALF + page * PAGE_SIZE);
}

void switch_for(int half)
{
	switch_set(half == ON);
}

/* ------------------------------------------------------------------------- */
/* Accesses                                                                  */

static sigjmp_buf caught;
static volatile sig_atomic_t trying;
static struct access fault;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!trying) {
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	fault.sig = sig;
	fault.code = info->si_code;
	siglongjmp(caught, 1);
}

void accesses_begin(void)
{
	/* Not blocked while it runs: it does not return. */
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
}

struct access load(const void *addr)
{
	struct access got = { };

	trying = 1;
	if (!sigsetjmp(caught, 0))
		got.value = *(const volatile uint64_t *)addr;
	else
		got = (struct access){ fault.sig, fault.code, 0 };
	trying = 0;
	return got;
}

struct access store(void *addr, uint64_t value)
{
	struct access got = { };

	trying = 1;
	if (!sigsetjmp(caught, 0))
		*(volatile uint64_t *)addr = value;
	else
		got = (struct access){ fault.sig, fault.code, 0 };
	trying = 0;
	return got;
}

bool access_same(const struct access *a, const struct access *b)
{
	return a->sig == b->sig && a->code == b->code && a->value == b->value;
}

static bool compare(uint32_t page, const char *what, const struct access *on,
		    const struct access *off, struct why *why)
{
	return access_same(on, off) ||
		wrong(why, "%s of page %u: %#llx, signal %d (%d); with the switch off %#llx, signal %d (%d)",
		      what, page, (unsigned long long)on->value, on->sig, on->code,
		      (unsigned long long)off->value, off->sig, off->code);
}

bool same_page(uint32_t page, struct why *why)
{
	struct access on = load(window(ON, page)), off = load(window(OFF, page));

	return compare(page, "a read", &on, &off, why);
}

bool same_pages(uint32_t first, uint32_t nr, struct why *why)
{
	uint32_t page;

	for (page = first; page < first + nr; page++)
		if (!same_page(page, why))
			return false;
	return true;
}

bool same_write(uint32_t page, uint64_t value, struct why *why)
{
	struct access on = store(window(ON, page), value), off = store(window(OFF, page), value);

	return compare(page, "a write", &on, &off, why) && same_page(page, why);
}

#define MAX_LOOKS 64

static uint32_t looks[MAX_LOOKS];
static unsigned int nr_looks;

void look_at(uint32_t page)
{
	looks[nr_looks++ % MAX_LOOKS] = page;
}

void look_at_none(void)
{
	nr_looks = 0;
}

static bool near_page(uint32_t page, struct why *why)
{
	uint32_t p;

	for (p = page ? page - 1 : 0; p <= page + 1 && p < WINDOW_PAGES; p++)
		if (!same_page(p, why) || !same_entry(p, why))
			return false;
	return true;
}

bool same_looks(struct rng *rng, struct why *why)
{
	uint32_t i;

	for (i = 0; i < WINDOW_PAGES; i += PMD_PAGES)
		if (!near_page(i, why))
			return false;
	for (i = 0; i < nr_looks && i < MAX_LOOKS; i++)
		if (!near_page(looks[i], why))
			return false;
	for (i = 0; i < 8; i++)
		if (!near_page(rng_below(rng, WINDOW_PAGES), why))
			return false;
	return true;
}

/* ------------------------------------------------------------------------- */
/* Entries and /proc                                                         */

void entry_read(const void *addr, struct pagerun_test_entry *entry)
{
	*entry = (struct pagerun_test_entry){ .addr = (uintptr_t)addr };
	if (ioctl(sys.dev, PAGERUN_TEST_ENTRY, entry))
		die("PAGERUN_TEST_ENTRY");
}

bool is_large(const void *addr)
{
	struct pagerun_test_entry entry;

	entry_read(addr, &entry);
	return entry.level == PAGERUN_TEST_PMD;
}

/* A PFN of the BAR as its place in a half; one of memory as it is not: it differs. */
static uint64_t place_of(const struct pagerun_test_entry *entry, int half)
{
	uint64_t first = (bar.phys + half * HALF) >> PAGE_SHIFT;

	if (entry->pfn < first || entry->pfn >= first + (HALF >> PAGE_SHIFT))
		return UINT64_MAX;
	return entry->pfn - first;
}

/*
 * All that an entry says but for what a large one says of all its pages at once: that
 * one was read, written, or made writable. And soft-dirty, which may be missing: what
 * mprotect() finds dirty it makes writable at once, and that is all pages then. The page
 * map says nothing of such mappings.
 */
bool same_entry(uint32_t page, struct why *why)
{
	const uint32_t of_all = PAGERUN_TEST_ENTRY_DIRTY | PAGERUN_TEST_ENTRY_YOUNG |
				PAGERUN_TEST_ENTRY_WRITE;
	const uint32_t same = ~(of_all | PAGERUN_TEST_ENTRY_SOFT_DIRTY);
	struct pagerun_test_entry on, off;

	entry_read(window(ON, page), &on);
	entry_read(window(OFF, page), &off);
	if (off.level == PAGERUN_TEST_PMD)
		return wrong(why, "page %u is mapped by a large entry with the switch off", page);
	/* Copies of a private mapping: a fork that fails may have come to one of them. */
	if (on.flags && off.flags && place_of(&on, ON) == UINT64_MAX &&
	    place_of(&off, OFF) == UINT64_MAX)
		return true;
	if ((on.flags & same) != (off.flags & same) || (off.flags & ~on.flags & of_all) ||
	    on.cache != off.cache || place_of(&on, ON) != place_of(&off, OFF))
		return wrong(why, "entry of page %u: %#llx at level %u, flags %#x, memory type %u; with the switch off %#llx, flags %#x, memory type %u",
			     page, (unsigned long long)on.value, on.level, on.flags, on.cache,
			     (unsigned long long)off.value, off.flags, off.cache);
	return true;
}

/* The lines of smaps about a window, addresses and what is told of the file left out. */
static void smaps_of(int half, char *text, size_t size)
{
	unsigned long start, end;
	bool inside = false;
	char line[512], perms[8];
	size_t len = 0;
	FILE *f = fopen("/proc/self/smaps", "re");

	if (!f)
		die("/proc/self/smaps");
	text[0] = '\0';
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, perms) == 3) {
			inside = (char *)start >= windows[half] &&
				(char *)end <= windows[half] + WINDOW_PAGES * PAGE_SIZE;
			snprintf(line, sizeof(line), "%lx-%lx %s\n",
				 start - (unsigned long)windows[half],
				 end - (unsigned long)windows[half], perms);
		}
		if (inside && len < size)
			len += (size_t)snprintf(text + len, size - len, "%s", line);
	}
	fclose(f);
}

bool same_smaps_text(struct why *why)
{
	static char text[2][1 << 17];
	char *on = text[ON], *off = text[OFF];

	smaps_of(ON, text[ON], sizeof(text[ON]));
	smaps_of(OFF, text[OFF], sizeof(text[OFF]));
	while (*on && *on == *off) {
		on++;
		off++;
	}
	return *on == *off || wrong(why, "smaps: ...%.60s; with the switch off ...%.60s", on, off);
}

/* What the PFN is stands in the entries, where it can be compared. */
bool same_pagemap(struct why *why)
{
	static uint64_t maps[2][WINDOW_PAGES];
	uint32_t page;

	pagemap_read(windows[ON], WINDOW_PAGES, maps[ON]);
	pagemap_read(windows[OFF], WINDOW_PAGES, maps[OFF]);
	for (page = 0; page < WINDOW_PAGES; page++)
		if ((maps[ON][page] ^ maps[OFF][page]) & ~PM_PFN)
			return wrong(why, "page map of page %u: %#llx; with the switch off %#llx",
				     page, (unsigned long long)maps[ON][page],
				     (unsigned long long)maps[OFF][page]);
	return true;
}

/* Where a part is not mapped, the answer is no answer; then page by page. */
static bool same_mincore_of(uint32_t first, uint32_t nr, struct why *why)
{
	unsigned char vec[2][64];
	int err[2], half;
	uint32_t i;

	for (half = ON; half <= OFF; half++)
		err[half] = mincore(window(half, first), nr * PAGE_SIZE, vec[half]) ? errno : 0;
	if (err[ON] != err[OFF] || (!err[ON] && memcmp(vec[ON], vec[OFF], nr)))
		return wrong(why, "mincore() of %u pages from %u: errno %d; with the switch off %d",
			     nr, first, err[ON], err[OFF]);
	for (i = 0; err[ON] && nr > 1 && i < nr; i++)
		if (!same_mincore_of(first + i, 1, why))
			return false;
	return true;
}

bool same_mincore(struct why *why)
{
	uint32_t i;

	for (i = 0; i < WINDOW_PAGES; i += 64)
		if (!same_mincore_of(i, 64, why))
			return false;
	return true;
}

bool same_proc(struct why *why)
{
	return same_smaps_text(why) && same_pagemap(why) && same_mincore(why);
}

unsigned long tables_kb(void)
{
	return status_kb("VmPTE");
}

/* ------------------------------------------------------------------------- */
/* Twins                                                                     */

bool map_twins(uint32_t page, uint32_t nr, int prot, int flags, int file,
	       uint32_t offset, struct why *why)
{
	int err[2], half;

	for (half = ON; half <= OFF; half++) {
		switch_for(half);
		err[half] = mmap(window(half, page), nr * PAGE_SIZE, prot, flags | MAP_FIXED,
				 bar.fds[file], bar_offset(half, offset)) == MAP_FAILED ?
			errno : 0;
	}
	look_at(page);
	look_at(page + nr - 1);
	return err[ON] == err[OFF] ||
		wrong(why, "mmap() of %u pages: errno %d; with the switch off %d", nr, err[ON],
		      err[OFF]);
}

void unmap_twins(void)
{
	munmap(windows[ON], WINDOW_PAGES * PAGE_SIZE);
	munmap(windows[OFF], WINDOW_PAGES * PAGE_SIZE);
}

void in_child(void (*run)(void *data, struct why *why), void *data, struct why *why)
{
	struct why *shared = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	if (shared == MAP_FAILED)
		die("no memory for a child's answer");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		run(data, shared);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("cannot fork");
	switch_forget();
	if (shared->bad)
		wrong(why, "%s", shared->text);
	else if (status)
		wrong(why, "the child ended with status %#x", status);
	munmap(shared, PAGE_SIZE);
}

void on_bar(void (*run)(void *data, struct why *why), const void *data, struct why *why)
{
	if (!bar_fill())
		die("the BAR cannot be filled");
	in_child(run, (void *)data, why);
}
