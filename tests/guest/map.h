/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of map_answers share. See map_answers.c for what it does; these are
 * its parts:
 *
 *	map_twin.c	the BAR, twins, and what there is to see of them
 *	map_random.c	random sequences of calls from a seed
 *	map_named.c	cases with a name, over the files of the device
 *	map_driver.c	those over mappings of the driver, which can take pages out
 *	map_race.c	readers against everything that splits
 *	map_fail.c	each allocation of a call failing in turn
 *	map_notice.c	does the comparison notice what is wrong?
 *
 * and those of same.h that are marked there. A twin is two mappings of the same
 * pattern: one in the first half of the BAR, made with the switch on, and one in the
 * second, made with it off.
 */
#ifndef MAP_H
#define MAP_H

#include "same.h"

#define PMD_SIZE	(PMD_PAGES * PAGE_SIZE)
#define HALF		(512UL << 20)
/*
 * How much of a half holds the pattern, at its beginning and from WC_PAGES on; cases
 * use no more. The latter is for write-combining mappings alone: a page has one memory
 * type at a time, and the kernel forgets none when it was unmapped in parts.
 */
#define FILLED_PAGES	(16U * PMD_PAGES)
#define WC_PAGES	((uint32_t)(HALF / PAGE_SIZE) - FILLED_PAGES)
#define NR_FILES	3

/* How a mapping is opened: by the uncached file, the write-combining one, or to read. */
enum { FILE_UC, FILE_WC, FILE_READ };

struct bar {
	int fds[NR_FILES];
	uint64_t phys;
	char dir[128];		/* of the device in sysfs */
};

extern struct bar bar;

/* Which half: also whether the switch is on for it. */
enum { ON, OFF };

/* Where windows are: far from what the kernel chooses, 1 GiB aligned. */
extern char *const windows[2];
#define WINDOW_PAGES	(6U * PMD_PAGES)

/* Opens the device and lays out the pattern. Why that cannot be done, or NULL. */
const char *bar_open(void);
/* What a page of the pattern begins with; @page counts from the start of a half. */
uint64_t bar_word(uint32_t page);
/* Writes the pattern; whether it is there then. Nothing else of the BAR is mapped. */
bool bar_fill(void);
off_t bar_offset(int half, uint32_t page);

static inline char *window(int half, uint32_t page)
{
	return windows[half] + page * PAGE_SIZE;
}

/* The switch as it is to be for a mapping in that half. */
void switch_for(int half);

/* What an access came to: a value, or a signal. */
struct access {
	int sig, code;
	uint64_t value;
};

struct access load(const void *addr);
struct access store(void *addr, uint64_t value);
bool access_same(const struct access *a, const struct access *b);
/* From here on load() and store() catch signals. */
void accesses_begin(void);

/* Does @page of both windows read the same? */
bool same_page(uint32_t page, struct why *why);
/* All pages, or those around the ends of entries and of what was touched. */
bool same_pages(uint32_t first, uint32_t nr, struct why *why);
bool same_looks(struct rng *rng, struct why *why);
/* Does a write to @page of both come to the same? */
bool same_write(uint32_t page, uint64_t value, struct why *why);
/* A page whose neighbourhood same_looks() will look at. */
void look_at(uint32_t page);
void look_at_none(void);

/* The entries of both, as the driver reads them. */
void entry_read(const void *addr, struct pagerun_test_entry *entry);
bool same_entry(uint32_t page, struct why *why);
bool is_large(const void *addr);

/* What /proc/self says of both windows: smaps, page map, and mincore(). */
bool same_proc(struct why *why);
bool same_smaps_text(struct why *why);
bool same_pagemap(struct why *why);
bool same_mincore(struct why *why);

/* Maps both, fixed; returns whether both did what the base does. */
bool map_twins(uint32_t page, uint32_t nr, int prot, int flags, int file,
	       uint32_t offset, struct why *why);
void unmap_twins(void);

/*
 * Runs in a child, which may crash or get what it does not expect: then that is what
 * is wrong. The child has no other threads and nothing in the windows.
 */
void in_child(void (*run)(void *data, struct why *why), void *data, struct why *why);
/* The same on a BAR that holds the pattern. */
void on_bar(void (*run)(void *data, struct why *why), const void *data, struct why *why);

/* A case of struct named that is one function on the BAR: case_NAME. */
#define MAP_CASE(name, run, data) \
	static void case_##name(struct why *why) \
	{ \
		on_bar(run, data, why); \
	}

/*
 * The driver. A mapping that is not filled yet, at a window's start; @bits are
 * PAGERUN_TEST_PHYS_*; the halves have different places in the file. 0, or an errno.
 */
int phys_map(int half, uint32_t nr, int prot, int flags, uint64_t bits);
/* Where @page of such a mapping is in the file. */
uint64_t phys_offset(int half, uint64_t bits, uint32_t page);
/* Each returns 0 or an errno; @offset is the page of the half that is mapped. */
int phys_remap(int half, uint32_t page, uint32_t nr, uint32_t offset, uint32_t cache);
int phys_zap(int half, uint32_t page, uint32_t nr);
int phys_unmap(int half, uint64_t bits, uint32_t page, uint32_t nr);

/* KiB of page tables of this process. */
unsigned long tables_kb(void);

void map_random(uint64_t seed);

const char *map_possible(void);
const char *map_has_uio(void);

extern const struct named map_notice_cases[], map_cases[], map_driver_cases[],
			  map_race_cases[], map_fail_cases[];
extern const unsigned int nr_map_notice_cases, nr_map_cases, nr_map_driver_cases,
			  nr_map_race_cases, nr_map_fail_cases;

#endif /* MAP_H */
