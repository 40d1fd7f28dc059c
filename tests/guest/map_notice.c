// SPDX-License-Identifier: GPL-2.0-only
/* Does the comparison notice what is wrong? Each case makes one thing differ. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "map.h"

#define RW	(PROT_READ | PROT_WRITE)
#define NR	(2U * PMD_PAGES)
/* Behind what is mapped of the device, so that other memory can be there. */
#define FREE	(3U * PMD_PAGES)

/**
 * struct flaw - what is wrong
 * @make: makes it, on twins that are alike
 * @same: the part of the comparison that is to notice
 */
struct flaw {
	void (*make)(void);
	bool (*same)(struct why *why);
};

static void give(char *got)
{
	if (got == MAP_FAILED)
		die("no mapping to differ by");
}

static void other_value(void)
{
	store(window(OFF, 5), 1);
}

static void page_gone(void)
{
	munmap(window(ON, 5), PAGE_SIZE);
}

static void read_only(void)
{
	mprotect(window(ON, 5), PAGE_SIZE, PROT_READ);
}

/* It reads the same, but is another page. */
static void other_page(void)
{
	give(mmap(window(ON, 5), PAGE_SIZE, RW, MAP_SHARED | MAP_FIXED, bar.fds[FILE_UC],
		  bar_offset(ON, 6)));
	store(window(ON, 5), bar_word(5));
}

/* One of the two can write, and neither does. */
static void other_flags(void)
{
	mprotect(window(ON, 0), NR * PAGE_SIZE, PROT_READ);
}

static void locked(void)
{
	give(mmap(window(ON, FREE), PAGE_SIZE, RW,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED, -1, 0));
	give(mmap(window(OFF, FREE), PAGE_SIZE, RW,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	store(window(OFF, FREE), 0);
}

/* Both were written to, but one since the kernel was told to forget that. */
static void soft_dirty(void)
{
	int half;

	for (half = ON; half <= OFF; half++) {
		give(mmap(window(half, FREE), PAGE_SIZE, RW,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		store(window(half, FREE), 1);
	}
	clear_refs(4);
	store(window(ON, FREE), 2);
}

/* A page of a file that is in memory, mapped by neither. */
static void in_memory(void)
{
	int half, fd;

	for (half = ON; half <= OFF; half++) {
		fd = memfd_create("map", 0);
		if (fd < 0 || ftruncate(fd, PAGE_SIZE) ||
		    (half == ON && pwrite(fd, "x", 1, 0) != 1))
			die("no memory file");
		give(mmap(window(half, FREE), PAGE_SIZE, RW, MAP_SHARED | MAP_FIXED, fd, 0));
		close(fd);
	}
}

static bool by_reads(struct why *why)
{
	return same_pages(0, NR, why);
}

static bool by_write(struct why *why)
{
	return same_write(5, 9, why);
}

static bool by_entry(struct why *why)
{
	return same_entry(5, why);
}

static void run(void *data, struct why *why)
{
	const struct flaw *flaw = data;
	struct why found = { };

	if (!map_twins(0, NR, RW, MAP_SHARED, FILE_UC, 0, why) || !same_pages(0, NR, why) ||
	    !same_entry(5, why) || !same_proc(why))
		return;
	flaw->make();
	if (flaw->same(&found) || !found.bad)
		wrong(why, "it was not noticed");
}

#define NOTICE(name, makes, notices) \
	static const struct flaw flaw_##name = { makes, notices }; \
	MAP_CASE(name, run, &flaw_##name)

NOTICE(value, other_value, by_reads)
NOTICE(gone, page_gone, by_reads)
NOTICE(write, read_only, by_write)
NOTICE(page, other_page, by_entry)
NOTICE(flags, other_flags, by_entry)
NOTICE(smaps, locked, same_smaps_text)
NOTICE(pagemap, soft_dirty, same_pagemap)
NOTICE(mincore, in_memory, same_mincore)

const struct named map_notice_cases[] = {
	{ "noticed: another value", map_possible, case_value },
	{ "noticed: a page that is gone", map_possible, case_gone },
	{ "noticed: a write that is refused", map_possible, case_write },
	{ "noticed: another page with the same value", map_possible, case_page },
	{ "noticed: an entry that may not be written", map_possible, case_flags },
	{ "noticed: smaps", map_possible, case_smaps },
	{ "noticed: the page map", map_possible, case_pagemap },
	{ "noticed: mincore", map_possible, case_mincore },
};

const unsigned int nr_map_notice_cases = ARRAY_SIZE(map_notice_cases);
