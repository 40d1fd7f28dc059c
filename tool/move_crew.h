/* SPDX-License-Identifier: GPL-2.0-only */
/* One round of moving by threads side by side. */
#ifndef MOVE_CREW_H
#define MOVE_CREW_H

#include "move_measure.h"

/**
 * move_crew_round() - each mover moves its part
 * @spent: filled with the ns of each
 *
 * Threads keep to one CPU each, as far as there are enough.
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int move_crew_round(const struct move_plan *plan, const struct move_area *area,
		    const struct move_crew *crew, uint64_t *spent);

#endif /* MOVE_CREW_H */
