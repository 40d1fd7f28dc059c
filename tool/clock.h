/* SPDX-License-Identifier: GPL-2.0-only */
/* Which clock a measurement uses. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>

enum clock_kind {
	CLOCK_AUTO,	/* only as a wish */
	CLOCK_INSN,	/* the cycle counter counts guest instructions */
	CLOCK_WALL,	/* nanoseconds of ktime */
};

/* "insn" or "wall" */
const char *clock_name(enum clock_kind clock);

/* "insn/page" or "ns/page" */
const char *clock_page_unit(enum clock_kind clock);

/**
 * clock_choose() - settle the clock, with proof
 * @wish: what the user asked for
 * @threads: whether several threads are to be timed side by side
 * @clock: filled with CLOCK_INSN or CLOCK_WALL
 *
 * CLOCK_INSN only if a loop of known length takes as many ticks as it has
 * instructions. Such a clock never goes for CLOCK_WALL: it knows no time.
 * Return: PR_OK, or PR_FAIL or PR_SKIP after one line on stderr.
 */
int clock_choose(enum clock_kind wish, bool threads, enum clock_kind *clock);

#endif /* CLOCK_H */
