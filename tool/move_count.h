/* SPDX-License-Identifier: GPL-2.0-only */
/* Counting what the kernel does while memory is moved. */
#ifndef MOVE_COUNT_H
#define MOVE_COUNT_H

#include "move_round.h"
#include "why.h"

/*
 * Each moves MOVE_PAGES once, in the calling thread.
 * Return: PR_OK with @value filled, PR_SKIP with @why filled, or PR_FAIL after one
 * line on stderr.
 */

/* TLB flushes a call. */
int move_count_flushes(const struct move_plan *plan, int uffd, double *value,
		       struct why *why);

/* Splits of folios of the plan's kind, in all. */
int move_count_splits(const struct move_plan *plan, int uffd, double *value,
		      struct why *why);

#endif /* MOVE_COUNT_H */
