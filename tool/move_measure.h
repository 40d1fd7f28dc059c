/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking samples of moving memory. */
#ifndef MOVE_MEASURE_H
#define MOVE_MEASURE_H

#include "bench.h"
#include "move_round.h"
#include "why.h"

/**
 * struct move_crew - who is at work
 * @movers: threads that move, each its own part of one piece of memory
 * @spinners: threads of the same process that keep other CPUs busy
 */
struct move_crew {
	unsigned int movers, spinners;
};

/**
 * move_measure_alone() - opt->repeat samples of the calling thread, per page
 * @samples: filled: insn of CLOCK_INSN, ns of CLOCK_WALL
 * @why: filled on PR_SKIP
 *
 * A sample is a round where the clock counts, and the median of some where it tells
 * the time. There is a round before the first, to warm up.
 * Return: PR_OK, PR_SKIP, or PR_FAIL after one line on stderr.
 */
int move_measure_alone(const struct bench_options *opt,
		       const struct move_plan *plan, int uffd, double *samples,
		       struct why *why);

/**
 * move_measure_crew() - the same by threads side by side, by the wall clock
 * @samples: filled: opt->repeat of each mover, as it saw them
 */
int move_measure_crew(const struct bench_options *opt,
		      const struct move_plan *plan, const struct move_crew *crew,
		      int uffd, double *samples, struct why *why);

#endif /* MOVE_MEASURE_H */
