/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking samples of one call, alone or in threads side by side. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>

#include "bench.h"
#include "driver.h"
#include "memory.h"

/**
 * struct samples - per page: insn of CLOCK_INSN, ns of CLOCK_WALL
 * @take: of taking the pages
 * @release: of releasing them, in the same rounds
 * @nr: in each
 */
struct samples {
	double *take, *release;
	size_t nr;
};

void samples_free(struct samples *samples);

/**
 * measure_alone() - opt->repeat samples of one round each, after a warm-up
 * @memory: to take
 * @samples: filled with opt->repeat samples, for samples_free()
 *
 * Return: PR_OK, or PR_FAIL or PR_SKIP after one line on stderr.
 */
int measure_alone(const struct bench_options *opt, const struct take *take,
		  const struct memory *memory, struct samples *samples);

/**
 * measure_threads() - the same by threads that run side by side
 * @pieces: @nr pieces of memory, one a thread
 * @samples: filled with opt->repeat samples of each thread, as it saw them
 *
 * Each thread has an open file of its own. A sample is the median of many rounds,
 * as many for each thread, and all threads start each sample together.
 */
int measure_threads(const struct bench_options *opt, const struct take *take,
		    const struct memory *pieces, unsigned int nr,
		    struct samples *samples);

#endif /* MEASURE_H */
