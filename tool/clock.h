/* SPDX-License-Identifier: GPL-2.0-only */
/* Which clock a measurement uses. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

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

/* Why a case of several threads is skipped where the clock is CLOCK_INSN. */
#define CLOCK_NO_THREADS \
	"threads are timed by the wall clock, and here it counts instructions: use a machine without -icount"

/* What the clock says, as user space can read it: for differences. */
uint64_t clock_read(enum clock_kind clock);

/**
 * clock_pass_tick() - sleep until right behind a tick of the timer
 *
 * For CLOCK_INSN. A tick's interrupt costs instructions: a sample shall hold as
 * few of them as can be, and as many each time, however long the boot took.
 */
void clock_pass_tick(void);

#endif /* CLOCK_H */
