// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "move_count.h"
#include "number.h"
#include "pagerun.h"
#include "sysfile.h"
#include "tlb_trace.h"

static int move_all(const struct move_plan *plan, const struct move_area *area)
{
	uint64_t spent;
	int err = move_part(plan, area, 0, CLOCK_WALL, &spent);

	return err ? move_how_failed(plan->how, err) : PR_OK;
}

static int flushes_of(const struct move_plan *plan, const struct move_area *area,
		      void *data, struct why *why)
{
	struct tlb_trace trace;
	uint64_t flushes = 0;
	int ret, stopped;

	ret = tlb_trace_start(&trace, why);
	if (ret)
		return ret;
	ret = move_all(plan, area);
	stopped = tlb_trace_stop(&trace, &flushes);
	*(double *)data = (double)flushes / (MOVE_PAGES / plan->per_call);
	return ret ? ret : stopped;
}

int move_count_flushes(const struct move_plan *plan, int uffd, double *value,
		       struct why *why)
{
	return move_round(plan, 1, uffd, flushes_of, value, why);
}

/* How often folios of that kind were split since boot. */
static int read_splits(const struct move_plan *plan, uint64_t *splits,
		       struct why *why)
{
	char path[128], text[32];
	int err;

	snprintf(path, sizeof(path),
		 "/sys/kernel/mm/transparent_hugepage/hugepages-%ukB/stats/split",
		 plan->kind->pages * 4);
	err = sysfile_read(path, text, sizeof(text));
	if (!err && number_parse(text, 0, UINT64_MAX, splits))
		return PR_OK;
	why_set(why, "cannot read %s (%s): boot Linux 6.12 or newer with CONFIG_TRANSPARENT_HUGEPAGE",
		path, err ? strerror(err) : "it is no number");
	return PR_SKIP;
}

static int splits_of(const struct move_plan *plan, const struct move_area *area,
		     void *data, struct why *why)
{
	uint64_t before, after;
	int ret;

	ret = read_splits(plan, &before, why);
	if (!ret)
		ret = move_all(plan, area);
	if (!ret)
		ret = read_splits(plan, &after, why);
	if (!ret)
		*(double *)data = (double)(after - before);
	return ret;
}

int move_count_splits(const struct move_plan *plan, int uffd, double *value,
		      struct why *why)
{
	return move_round(plan, 1, uffd, splits_of, value, why);
}
