// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

bool stats_of(const double *samples, size_t nr, struct stats *out)
{
	double *sorted;

	if (!nr)
		return false;
	sorted = calloc(nr, sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, samples, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_value);
	out->min = sorted[0];
	out->max = sorted[nr - 1];
	out->median = sorted[nr / 2];
	if (nr % 2 == 0)
		out->median = (sorted[nr / 2 - 1] + sorted[nr / 2]) / 2;
	free(sorted);
	return true;
}

bool stats_ratio(double base, double new, bool less_is_better, double *out)
{
	if (base == 0 || new == 0)
		return false;
	*out = less_is_better ? base / new : new / base;
	return isfinite(*out);
}
