/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures about samples. */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct stats - what is told about a set of samples, in the samples' unit
 * @median: of an even number, the mean of the two in the middle
 */
struct stats {
	double median, min, max;
};

/**
 * stats_of() - figures of @nr samples, in any order, which stay as they are
 *
 * Return: false without memory or for no samples.
 */
bool stats_of(const double *samples, size_t nr, struct stats *out);

/**
 * stats_ratio() - how much better @new is than @base
 * @less_is_better: of the values
 * @out: above 1 where @new is better
 *
 * Return: false, and no ratio, where a side is 0.
 */
bool stats_ratio(double base, double new, bool less_is_better, double *out);

#endif /* STATS_H */
