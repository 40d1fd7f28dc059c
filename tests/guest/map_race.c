// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers on all pages that stay mapped, against everything that splits the entries they
 * are in: no reader may get a signal, or another page than its own. And fork against
 * what is taken out of a file: no child may keep it.
 *
 * Each round begins with large entries anew, since an entry is split but once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "map.h"

#define RW	(PROT_READ | PROT_WRITE)
#define NR	(4U * PMD_PAGES)
#define BITS	PAGERUN_TEST_PHYS_FAULT
#define READERS	2

/* Pages that are never taken away: all but every 64th and the one behind it. */
static bool stays(uint32_t page)
{
	return page % 64 > 1;
}

struct race {
	_Atomic bool stop, run;
	_Atomic unsigned int resting;	/* readers that look at nothing now */
	_Atomic unsigned long reads;
	_Atomic uint32_t bad_page;	/* plus 1; 0: none */
	bool write;			/* readers write as well */
};

static struct race race;

/*
 * No load() here: its place to jump to is one for all threads. A signal kills, and
 * tells the page.
 */
static __thread uint32_t reading;

static void on_fault(int sig)
{
	static const char text[] = "a reader got a signal\n";

	(void)sig;
	race.bad_page = reading + 1;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(2);
}

static void read_all(void)
{
	volatile uint64_t *word;
	uint32_t page;

	for (page = 0; page < NR && race.run; page++) {
		if (!stays(page))
			continue;
		reading = page;
		word = (volatile uint64_t *)window(ON, page);
		if (*word != bar_word(page))
			race.bad_page = page + 1;
		if (race.write)
			word[1] = page;
		race.reads++;
	}
}

static void *reader(void *data)
{
	(void)data;
	while (!race.stop) {
		if (!race.run) {
			race.resting++;
			while (!race.run && !race.stop)
				sched_yield();
			race.resting--;
			continue;
		}
		read_all();
	}
	return NULL;
}

/* A way to split; @round makes each a little different. */
struct splitter {
	void (*split)(unsigned int round);
	void (*second)(unsigned int round);	/* at the same time, or NULL */
	bool write, read_only;
	uint64_t bits;
};

static const struct splitter *current;
static unsigned int current_round;

static uint32_t victim(unsigned int round, uint32_t entry)
{
	return entry * PMD_PAGES + round % 8 * 64;
}

static void by_zap(unsigned int round)
{
	uint32_t i;

	for (i = 0; i < NR / PMD_PAGES; i++)
		phys_zap(ON, victim(round, i), 2);
}

static void by_unmap(unsigned int round)
{
	uint32_t i;

	for (i = 0; i < NR / PMD_PAGES; i++)
		phys_unmap(ON, current->bits, victim(round, i), 2);
}

static void by_munmap(unsigned int round)
{
	uint32_t i;

	for (i = 0; i < NR / PMD_PAGES; i++)
		munmap(window(ON, victim(round, i)), 2 * PAGE_SIZE);
}

static void by_mprotect(unsigned int round)
{
	uint32_t i;

	for (i = 0; i < NR / PMD_PAGES; i++)
		mprotect(window(ON, victim(round, i)), PAGE_SIZE, PROT_NONE);
}

static void by_madvise(unsigned int round)
{
	uint32_t i;

	for (i = 0; i < NR / PMD_PAGES; i++)
		madvise(window(ON, victim(round, i)), PAGE_SIZE, MADV_RANDOM);
}

static void by_mremap(unsigned int round)
{
	uint32_t i;
	char *to = window(ON, WINDOW_PAGES + 1);

	for (i = 0; i < NR / PMD_PAGES; i++)
		mremap(window(ON, victim(round, i)), 2 * PAGE_SIZE, 2 * PAGE_SIZE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, to);
	munmap(to, 2 * PAGE_SIZE);
}

static void by_fork(unsigned int round)
{
	pid_t pid = fork();

	if (!pid) {
		by_munmap(round);
		_exit(0);
	}
	by_zap(round);
	waitpid(pid, NULL, 0);
}

static void *second_thread(void *data)
{
	(void)data;
	current->second(current_round);
	return NULL;
}

/*
 * In two pieces: of a mapping that is made by one call the kernel finds the memory type
 * by its first page when it is unmapped, and warns, any kernel, if that was taken out.
 */
static bool make_round(void)
{
	int err;

	munmap(windows[ON], WINDOW_PAGES * PAGE_SIZE);
	err = phys_map(ON, NR, RW, MAP_SHARED, current->bits);
	if (!err)
		err = phys_remap(ON, 0, NR / 2, 0, PAGERUN_TEST_UNCACHED);
	if (!err)
		err = phys_remap(ON, NR / 2, NR / 2, NR / 2, PAGERUN_TEST_UNCACHED);
	if (!err && current->read_only) {
		mprotect(windows[ON], NR * PAGE_SIZE, PROT_READ);
		mprotect(windows[ON], NR * PAGE_SIZE, RW);
	}
	return !err && is_large(windows[ON]) && is_large(window(ON, NR - 1));
}

static bool one_round(struct why *why)
{
	struct timespec wait = { .tv_nsec = current_round % 16 * 10000L };
	pthread_t other;

	if (!make_round())
		return wrong(why, "no large entries to begin with");
	race.run = true;
	while (race.resting)
		sched_yield();
	nanosleep(&wait, NULL);
	if (current->second && pthread_create(&other, NULL, second_thread, NULL))
		die("no thread");
	current->split(current_round);
	if (current->second)
		pthread_join(other, NULL);
	race.run = false;
	while (race.resting < READERS)
		sched_yield();
	if (race.bad_page)
		return wrong(why, "round %u: page %u reads otherwise", current_round,
			     race.bad_page - 1);
	return true;
}

static double seconds_each(void)
{
	return (double)options.seconds / (double)nr_map_race_cases;
}

static bool time_left(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) +
		(double)(now.tv_nsec - start->tv_nsec) / 1e9 < seconds_each();
}

static void run_race(void *data, struct why *why)
{
	pthread_t readers[READERS];
	struct timespec start;
	unsigned int i;

	current = data;
	switch_for(ON);
	race = (struct race){ .write = current->write };
	signal(SIGBUS, on_fault);
	signal(SIGSEGV, on_fault);
	for (i = 0; i < READERS; i++)
		if (pthread_create(&readers[i], NULL, reader, NULL))
			die("no thread");
	while (race.resting < READERS)
		sched_yield();
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (current_round = 0; time_left(&start) && !why->bad; current_round++)
		one_round(why);
	race.stop = true;
	for (i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	if (!why->bad && (current_round < 3 || race.reads < 1000))
		wrong(why, "only %u rounds and %lu reads: give it more --seconds", current_round,
		      race.reads);
}

/* ------------------------------------------------------------------------- */

static _Atomic bool go;

static void *unmap_thread(void *data)
{
	uint32_t *first = data;

	while (!go)
		;
	phys_unmap(ON, BITS, first[0], first[1]);
	return NULL;
}

/*
 * The child waits until both are over, then looks: what was taken out must be gone, and
 * what was not must be there.
 */
static int look_around(int start, uint32_t first, uint32_t nr)
{
	char byte;

	if (read(start, &byte, 1) != 1)
		return 10;
	accesses_begin();
	if (load(window(ON, first)).sig != SIGBUS ||
	    load(window(ON, first + nr - 1)).sig != SIGBUS)
		return 11;
	if (load(window(ON, first + nr)).value != bar_word(first + nr) ||
	    load(window(ON, first - 1)).value != bar_word(first - 1))
		return 12;
	return 0;
}

static bool fork_round(unsigned int round, struct why *why)
{
	uint32_t part[2] = { PMD_PAGES * (1 + round % 2) + (round & 4 ? 0 : 3),
			     round & 8 ? PMD_PAGES : 5 };
	int start[2], status;
	pthread_t other;
	pid_t pid;

	if (!make_round())
		return wrong(why, "no large entries to begin with");
	if (pipe(start))
		die("no pipe");
	go = false;
	if (pthread_create(&other, NULL, unmap_thread, part))
		die("no thread");
	go = true;
	pid = fork();
	if (!pid)
		_exit(look_around(start[0], part[0], part[1]));
	pthread_join(other, NULL);
	if (pid < 0 || write(start[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		die("no child");
	close(start[0]);
	close(start[1]);
	return !status || wrong(why, "round %u: %s", round,
				WEXITSTATUS(status) == 11 ? "the child has what was taken away" :
							    "the child lacks what was not");
}

static void run_fork_unmap(void *data, struct why *why)
{
	struct timespec start;
	unsigned int round;

	current = data;
	switch_for(ON);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (round = 0; time_left(&start) && !why->bad; round++)
		fork_round(round, why);
}

/* ------------------------------------------------------------------------- */

#define RACE(name, ...) \
	static const struct splitter splitter_##name = { __VA_ARGS__ }; \
	MAP_CASE(name, run_race, &splitter_##name)

RACE(zap, .split = by_zap, .bits = BITS)
RACE(zap_no_fault, .split = by_zap)
RACE(unmap, .split = by_unmap, .bits = BITS)
RACE(munmap, .split = by_munmap, .bits = BITS)
RACE(mprotect, .split = by_mprotect, .bits = BITS)
RACE(madvise, .split = by_madvise, .bits = BITS)
RACE(mremap, .split = by_mremap, .bits = BITS)
RACE(fork, .split = by_fork, .bits = BITS)
RACE(zap_zap, .split = by_zap, .second = by_zap, .bits = BITS)
RACE(zap_unmap, .split = by_zap, .second = by_unmap, .bits = BITS)
RACE(munmap_unmap, .split = by_munmap, .second = by_unmap, .bits = BITS)
RACE(upgrade, .split = by_zap, .write = true, .read_only = true,
     .bits = BITS | PAGERUN_TEST_PHYS_NOTIFY)
RACE(mkwrite, .split = by_unmap, .write = true, .read_only = true,
     .bits = BITS | PAGERUN_TEST_PHYS_MKWRITE)

static const struct splitter no_splitter = { .bits = BITS };
MAP_CASE(fork_unmap, run_fork_unmap, &no_splitter)

const struct named map_race_cases[] = {
	{ "readers against zap_vma_ptes", map_possible, case_zap },
	{ "readers against zap_vma_ptes, no ->fault", map_possible, case_zap_no_fault },
	{ "readers against unmap_mapping_range", map_possible, case_unmap },
	{ "readers against munmap", map_possible, case_munmap },
	{ "readers against mprotect", map_possible, case_mprotect },
	{ "readers against madvise", map_possible, case_madvise },
	{ "readers against mremap", map_possible, case_mremap },
	{ "readers against fork and zaps", map_possible, case_fork },
	{ "readers against two zaps", map_possible, case_zap_zap },
	{ "readers against zap_vma_ptes and unmap_mapping_range", map_possible, case_zap_unmap },
	{ "readers against munmap and unmap_mapping_range", map_possible, case_munmap_unmap },
	{ "writers that upgrade against zap_vma_ptes", map_possible, case_upgrade },
	{ "writers that split against unmap_mapping_range", map_possible, case_mkwrite },
	{ "fork against unmap_mapping_range", map_possible, case_fork_unmap },
};

const unsigned int nr_map_race_cases = ARRAY_SIZE(map_race_cases);
