// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases over mappings of the driver: filled by remap_pfn_range() in pieces, and taken out
 * of by their owner in pieces, by zap_vma_ptes() and unmap_mapping_range().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "map.h"

#define RW	(PROT_READ | PROT_WRITE)
#define NR	(4U * PMD_PAGES)

int phys_map(int half, uint32_t nr, int prot, int flags, uint64_t bits)
{
	void *got = mmap(windows[half], nr * PAGE_SIZE, prot, flags | MAP_FIXED, sys.dev,
			 (off_t)phys_offset(half, bits, 0));

	return got == MAP_FAILED ? errno : 0;
}

uint64_t phys_offset(int half, uint64_t bits, uint32_t page)
{
	return (PAGERUN_TEST_PHYS_OFFSET | bits) + ((uint64_t)half << 32) + page * PAGE_SIZE;
}

int phys_remap(int half, uint32_t page, uint32_t nr, uint32_t offset, uint32_t cache)
{
	struct pagerun_test_remap remap = {
		.addr = (uintptr_t)window(half, page), .size = nr * PAGE_SIZE,
		.phys = bar.phys + (uint64_t)bar_offset(half, offset), .cache = cache,
	};

	return ioctl(sys.dev, PAGERUN_TEST_REMAP, &remap) ? errno : -remap.ret;
}

int phys_zap(int half, uint32_t page, uint32_t nr)
{
	struct pagerun_test_range range = { (uintptr_t)window(half, page), nr * PAGE_SIZE };

	return ioctl(sys.dev, PAGERUN_TEST_ZAP, &range) ? errno : 0;
}

int phys_unmap(int half, uint64_t bits, uint32_t page, uint32_t nr)
{
	struct pagerun_test_range range = { phys_offset(half, bits, page), nr * PAGE_SIZE };

	return ioctl(sys.dev, PAGERUN_TEST_UNMAP, &range) ? errno : 0;
}

static bool same_err(const char *what, int on, int off, struct why *why)
{
	return on == off || wrong(why, "%s: errno %d; with the switch off %d", what, on, off);
}

/* Where write-combining is asked for it is in pages that are for that. */
static uint32_t offset_for(uint32_t cache)
{
	return cache == PAGERUN_TEST_WRITE_COMBINE ? WC_PAGES : 0;
}

static bool remap_both(uint32_t page, uint32_t nr, uint32_t offset, uint32_t cache,
		       struct why *why)
{
	int err[2], half;

	for (half = ON; half <= OFF; half++) {
		switch_for(half);
		err[half] = phys_remap(half, page, nr, offset, cache);
	}
	return same_err("remap", err[ON], err[OFF], why);
}

static bool begin(uint64_t bits, int flags, struct why *why)
{
	int half, err;

	for (half = ON; half <= OFF; half++) {
		err = phys_map(half, WINDOW_PAGES, RW, flags, bits);
		if (err)
			return wrong(why, "a mapping of the driver: errno %d", err);
	}
	return true;
}

static bool all_same(struct why *why)
{
	uint32_t page;

	for (page = 0; page < WINDOW_PAGES; page++)
		if (!same_page(page, why) || !same_entry(page, why))
			return false;
	return same_proc(why);
}

/* ------------------------------------------------------------------------- */

static const uint64_t all_bits[] = {
	0, PAGERUN_TEST_PHYS_FAULT, PAGERUN_TEST_PHYS_MKWRITE,
	PAGERUN_TEST_PHYS_FAULT | PAGERUN_TEST_PHYS_NOTIFY,
	PAGERUN_TEST_PHYS_FAULT | PAGERUN_TEST_PHYS_MKWRITE | PAGERUN_TEST_PHYS_NOTIFY,
};

/* One that does something to both, drawn from @rng; false if they differ. */
static bool step(struct rng *rng, uint64_t bits, uint32_t cache, struct why *why)
{
	uint32_t first = rng_below(rng, WINDOW_PAGES), nr, what = rng_below(rng, 100);
	int err[2], half, prot;

	if (rng_chance(rng, 60))
		first = first - first % PMD_PAGES + rng_below(rng, 3);
	nr = rng_chance(rng, 50) ? 1 + rng_below(rng, 600) : PMD_PAGES * (1 + rng_below(rng, 3));
	nr = min_u32(nr, WINDOW_PAGES - first);
	prot = rng_chance(rng, 50) ? PROT_READ : rng_chance(rng, 70) ? RW : PROT_NONE;
	look_at(first);
	look_at(first + nr - 1);
	if (what < 30) {
		/* What is mapped there is in the way, so it is taken out most times. */
		if (rng_chance(rng, 80)) {
			phys_zap(ON, first, nr);
			phys_zap(OFF, first, nr);
		}
		return remap_both(first, nr, offset_for(cache) + first % PMD_PAGES +
				  PMD_PAGES * rng_below(rng, 4) + (rng_chance(rng, 10) ? 1 : 0),
				  cache, why);
	}
	if (what < 40) {
		uint64_t value = rng_next(rng);

		return same_write(first, value, why) && same_write(first + nr - 1, value, why);
	}
	for (half = ON; half <= OFF; half++) {
		errno = 0;
		if (what < 60)
			err[half] = phys_zap(half, first, nr);
		else if (what < 75)
			err[half] = phys_unmap(half, bits, first, nr);
		else if (what < 88)
			err[half] = mprotect(window(half, first), nr * PAGE_SIZE, prot) ? errno : 0;
		else if (what < 94)
			err[half] = madvise(window(half, first), nr * PAGE_SIZE,
					    MADV_RANDOM) ? errno : 0;
		else
			err[half] = munmap(window(half, first), nr * PAGE_SIZE) ? errno : 0;
	}
	return same_err("a call", err[ON], err[OFF], why);
}

static void run_pieces(void *data, struct why *why)
{
	uint64_t seed = options.seed * 1000, bits;
	uint32_t cache = *(uint32_t *)data, i, call;

	for (i = 0; i < 10 && !why->bad; i++) {
		struct rng rng = { .state = rng_mix(seed + i) };

		bits = all_bits[i % ARRAY_SIZE(all_bits)];
		look_at_none();
		if (!begin(bits, MAP_SHARED, why))
			return;
		/* In two pieces, see make_round() in map_race.c. */
		remap_both(0, NR, offset_for(cache), cache, why);
		remap_both(NR, WINDOW_PAGES - NR, offset_for(cache) + NR, cache, why);
		for (call = 0; call < 15 && !why->bad; call++)
			if (step(&rng, bits, cache, why))
				same_looks(&rng, why);
		if (!why->bad)
			all_same(why);
		unmap_twins();
	}
}

/* Bits of entries are those of the base: each type of memory, split and not. */
static void run_types(void *data, struct why *why)
{
	static const uint32_t types[] = {
		PAGERUN_TEST_UNCACHED, PAGERUN_TEST_WRITE_COMBINE, PAGERUN_TEST_WRITE_THROUGH,
		PAGERUN_TEST_CACHED,
	};
	struct pagerun_test_entry whole, split;
	uint32_t offset;
	size_t i;

	(void)data;
	for (i = 0; i < ARRAY_SIZE(types) && !why->bad; i++) {
		if (types[i] == PAGERUN_TEST_WRITE_COMBINE)
			offset = WC_PAGES;
		else
			/* Its own pages, where nothing has another type. */
			offset = FILLED_PAGES * (1 + i);
		if (!begin(0, MAP_SHARED, why))
			return;
		remap_both(0, WINDOW_PAGES, offset, types[i], why);
		entry_read(window(ON, 9), &whole);
		if (whole.level != PAGERUN_TEST_PMD)
			wrong(why, "type %u: not mapped by a large entry", types[i]);
		all_same(why);
		phys_zap(ON, 3, 1);
		phys_zap(OFF, 3, 1);
		entry_read(window(ON, 9), &split);
		if (split.level != PAGERUN_TEST_PTE || split.cache != whole.cache ||
		    split.pfn != whole.pfn || split.flags != whole.flags)
			wrong(why, "type %u: %#llx split into %#llx", types[i],
			      (unsigned long long)whole.value, (unsigned long long)split.value);
		all_same(why);
		unmap_twins();
	}
}

/* System memory, which is never of another type than the kernel's own mapping of it. */
static void run_memory(void *data, struct why *why)
{
	struct pagerun_test_memory memory = { .size = 4U << 20 };
	struct pagerun_test_entry entry;
	struct pagerun_test_remap remap;
	int half;

	(void)data;
	if (ioctl(sys.dev, PAGERUN_TEST_MEMORY, &memory)) {
		wrong(why, "no memory block: errno %d", errno);
		return;
	}
	if (!begin(PAGERUN_TEST_PHYS_FAULT, MAP_SHARED, why))
		return;
	for (half = ON; half <= OFF; half++) {
		switch_for(half);
		remap = (struct pagerun_test_remap){
			.addr = (uintptr_t)window(half, 0), .size = memory.size,
			.phys = memory.phys, .cache = PAGERUN_TEST_WRITE_COMBINE,
		};
		if (ioctl(sys.dev, PAGERUN_TEST_REMAP, &remap) || remap.ret)
			wrong(why, "remap of memory: errno %d, %d", errno, remap.ret);
		entry_read(window(half, 5), &entry);
		if (entry.cache)
			wrong(why, "system memory has memory type %u", entry.cache);
	}
	/* The same memory, by both. */
	store(window(OFF, 700), 0x1234);
	if (!is_large(window(ON, 0)) || load(window(ON, 700)).value != 0x1234)
		wrong(why, "it is not mapped by large entries, or reads otherwise");
	phys_zap(ON, 512, 3);
	phys_zap(OFF, 512, 3);
	same_pages(0, WINDOW_PAGES, why);
	unmap_twins();
}

static void run_private(void *data, struct why *why)
{
	int half, err[2];

	(void)data;
	for (half = ON; half <= OFF; half++) {
		switch_for(half);
		phys_map(half, WINDOW_PAGES, RW, MAP_PRIVATE, PAGERUN_TEST_PHYS_FAULT);
		/* All of it at once is what such a mapping can have. */
		err[half] = phys_remap(half, 0, PMD_PAGES, 0, PAGERUN_TEST_CACHED);
		if (err[half] == EINVAL)
			err[half] = phys_remap(half, 0, WINDOW_PAGES, 0, PAGERUN_TEST_UNCACHED);
	}
	if (same_err("remap", err[ON], err[OFF], why) && same_write(3, 5, why) &&
	    same_pages(0, WINDOW_PAGES, why) && is_large(window(ON, 0)))
		wrong(why, "a private mapping has a large entry");
	unmap_twins();
}

/* What is taken out of the file is out of the child's mapping too, and nothing else is. */
static void run_children(void *data, struct why *why)
{
	int status, in[2], out[2];
	char byte = 0;
	pid_t pid;

	(void)data;
	if (pipe(in) || pipe(out))
		die("no pipes");
	if (!begin(PAGERUN_TEST_PHYS_FAULT, MAP_SHARED, why))
		return;
	remap_both(0, WINDOW_PAGES, 0, PAGERUN_TEST_UNCACHED, why);
	pid = fork();
	if (!pid) {
		struct why mine = { };
		bool fine = write(out[1], &byte, 1) == 1 && read(in[0], &byte, 1) == 1;

		_exit(fine && all_same(&mine) && load(window(ON, 5)).sig == SIGBUS &&
		      load(window(ON, 4)).value == bar_word(4) ? 0 : 1);
	}
	if (read(out[0], &byte, 1) != 1)
		die("the child is gone");
	phys_unmap(ON, PAGERUN_TEST_PHYS_FAULT, 5, 3);
	phys_unmap(OFF, PAGERUN_TEST_PHYS_FAULT, 5, 3);
	phys_unmap(ON, PAGERUN_TEST_PHYS_FAULT, PMD_PAGES, PMD_PAGES);
	phys_unmap(OFF, PAGERUN_TEST_PHYS_FAULT, PMD_PAGES, PMD_PAGES);
	if (write(in[1], &byte, 1) != 1 || waitpid(pid, &status, 0) != pid || status)
		wrong(why, "the child has not what the parent has");
	all_same(why);
	unmap_twins();
}

static bool l1tf_affects(void)
{
	char text[64] = "";
	int fd = open("/sys/devices/system/cpu/vulnerabilities/l1tf", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die("/sys/devices/system/cpu/vulnerabilities/l1tf");
	close(fd);
	return strncmp(text, "Not affected", 12);
}

/* PROT_NONE of what L1TF could read, by who may not ask for it. */
static void run_high(void *data, struct why *why)
{
	const uint64_t high = 1ULL << 45;	/* a half of what 46 bits are for */
	struct pagerun_test_remap remap = { .size = NR * PAGE_SIZE, .phys = high };
	bool affected = l1tf_affects();
	int err[2], half;

	(void)data;
	if (!begin(PAGERUN_TEST_PHYS_FAULT, MAP_SHARED, why))
		return;
	for (half = ON; half <= OFF; half++) {
		switch_for(half);
		remap.addr = (uintptr_t)window(half, 0);
		remap.phys = high + half * HALF;
		/* Processors with fewer address bits have no such address. */
		if (ioctl(sys.dev, PAGERUN_TEST_REMAP, &remap) || remap.ret) {
			unmap_twins();
			return;
		}
	}
	if (setuid(65534))
		die("cannot become nobody");
	for (half = ON; half <= OFF; half++)
		err[half] = mprotect(window(half, 3), (NR - 9) * PAGE_SIZE, PROT_NONE) ? errno : 0;
	same_err("mprotect(PROT_NONE)", err[ON], err[OFF], why);
	if (err[ON] != (affected ? EACCES : 0))
		wrong(why, "mprotect(PROT_NONE): errno %d on a processor that L1TF %s", err[ON],
		      affected ? "affects" : "does not affect");
	if (!is_large(window(ON, PMD_PAGES)))
		wrong(why, "mprotect(PROT_NONE) split an entry");
}

static uint32_t uc = PAGERUN_TEST_UNCACHED, wc = PAGERUN_TEST_WRITE_COMBINE;

MAP_CASE(pieces, run_pieces, &uc)
MAP_CASE(pieces_wc, run_pieces, &wc)
MAP_CASE(types, run_types, NULL)
MAP_CASE(memory, run_memory, NULL)
MAP_CASE(private, run_private, NULL)
MAP_CASE(children, run_children, NULL)
MAP_CASE(high, run_high, NULL)

const struct named map_driver_cases[] = {
	{ "the driver maps and zaps pieces", map_possible, case_pieces },
	{ "the driver maps and zaps pieces, write-combining", map_possible, case_pieces_wc },
	{ "types of memory", map_possible, case_types },
	{ "system memory", map_possible, case_memory },
	{ "a private mapping of the driver", map_possible, case_private },
	{ "taken out of the file, for a child too", map_possible, case_children },
	{ "PROT_NONE of high addresses, without privilege", map_possible, case_high },
};

const unsigned int nr_map_driver_cases = ARRAY_SIZE(map_driver_cases);
