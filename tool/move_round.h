/* SPDX-License-Identifier: GPL-2.0-only */
/* One round of moving: fresh memory, moved and checked. */
#ifndef MOVE_ROUND_H
#define MOVE_ROUND_H

#include <stdint.h>

#include "clock.h"
#include "memory.h"
#include "move_area.h"
#include "move_how.h"
#include "why.h"

/* Pages that a mover moves in a round. */
#define MOVE_PAGES 2048U

/**
 * struct move_plan - what a case does
 * @kind: of the memory
 * @per_call: pages a call; divides 512
 */
struct move_plan {
	const struct move_how *how;
	const struct memory_kind *kind;
	unsigned int per_call;
};

/**
 * move_round() - get memory, have it moved, check where it went
 * @movers: parts of MOVE_PAGES, one after another in one VMA
 * @uffd: see uffd_open()
 * @work: moves all of it; returns PR_OK, PR_SKIP with @why filled, or PR_FAIL after
 *	one line on stderr
 * @why: filled on PR_SKIP
 *
 * Return: PR_OK, or what @work or something else here failed with.
 */
int move_round(const struct move_plan *plan, unsigned int movers, int uffd,
	       int (*work)(const struct move_plan *plan,
			   const struct move_area *area, void *data, struct why *why),
	       void *data, struct why *why);

/**
 * move_part() - move one mover's pages, nothing else being timed than the calls
 * @mover: whose part
 * @spent: filled with what @clock says that they took
 *
 * Return: 0 or errno.
 */
int move_part(const struct move_plan *plan, const struct move_area *area,
	      unsigned int mover, enum clock_kind clock, uint64_t *spent);

#endif /* MOVE_ROUND_H */
