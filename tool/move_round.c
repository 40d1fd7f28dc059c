// SPDX-License-Identifier: GPL-2.0-only
#include "move_round.h"
#include "pagerun.h"

#define PAGE_BYTES 4096UL
#define PART_BYTES (MOVE_PAGES * PAGE_BYTES)

int move_round(const struct move_plan *plan, unsigned int movers, int uffd,
	       int (*work)(const struct move_plan *plan,
			   const struct move_area *area, void *data, struct why *why),
	       void *data, struct why *why)
{
	struct move_area area;
	int ret;

	ret = move_area_get(&area, plan->kind, movers * PART_BYTES,
			    plan->how->plain ? -1 : uffd, why);
	if (ret)
		return ret;
	ret = work(plan, &area, data, why);
	if (!ret)
		ret = move_area_check(&area);
	move_area_put(&area);
	return ret;
}

int move_part(const struct move_plan *plan, const struct move_area *area,
	      unsigned int mover, enum clock_kind clock, uint64_t *spent)
{
	size_t off = mover * PART_BYTES, end = off + PART_BYTES, stop;
	size_t step = plan->per_call * PAGE_BYTES;
	uint64_t start;
	int err = 0;

	*spent = 0;
	/* In pieces that end before the next tick of the timer. */
	while (off < end && !err) {
		stop = off + MEMORY_STEP;
		if (clock == CLOCK_INSN)
			clock_pass_tick();
		start = clock_read(clock);
		for (; off < stop && !err; off += step)
			err = plan->how->call(area, off, step);
		*spent += clock_read(clock) - start;
	}
	return err;
}
