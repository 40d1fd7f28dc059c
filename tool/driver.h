/* SPDX-License-Identifier: GPL-2.0-only */
/* The test driver's device as the program sees it. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdint.h>

#include "../driver/pagerun_test.h"

#define DRIVER_PATH "/dev/pagerun"

/**
 * driver_open() - one open file of the device, for one thread
 * @fd: filled
 *
 * Return: PR_OK; or PR_SKIP (no driver, no privileges) or PR_FAIL (a driver of
 * another version) after one line on stderr that says what to do.
 */
int driver_open(int *fd);

/**
 * struct take - how to take pages
 * @op: enum pagerun_test_op
 * @flags: PAGERUN_TEST_WRITE, PAGERUN_TEST_LONGTERM
 * @pages_per_call: 0: all in one call
 */
struct take {
	uint32_t op, flags, pages_per_call;
};

/**
 * struct take_time - cost of some rounds, in all
 * @take_ns: of taking, @release_ns of releasing; *_cycles likewise
 */
struct take_time {
	uint64_t take_ns, take_cycles, release_ns, release_cycles;
};

/**
 * driver_time() - take and release a range some times
 * @addr: start of the range
 * @nr_pages: its length
 * @rounds: how often
 * @out: filled
 *
 * Says nothing, so that threads can use it.
 * Return: 0 or an errno; ENODATA if not all pages were taken.
 */
int driver_time(int fd, const struct take *take, const void *addr,
		uint32_t nr_pages, uint32_t rounds, struct take_time *out);

/**
 * driver_count() - how many pages of a range get_user_pages_fast_only() takes
 * @addr: start of the range
 * @nr_pages: its length
 * @taken: filled; taken for writing, and released again
 *
 * Return: 0 or an errno.
 */
int driver_count(int fd, const void *addr, uint32_t nr_pages, uint32_t *taken);

#endif /* DRIVER_H */
