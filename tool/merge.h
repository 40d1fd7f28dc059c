/* SPDX-License-Identifier: GPL-2.0-only */
/* Several runs of one kernel as one. */
#ifndef MERGE_H
#define MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "results.h"

/**
 * merge_load() - read runs and join the samples of each case
 * @run: an empty run; filled, and empty on failure. A value is the median of
 *	the samples of all runs.
 * @paths: @nr files, at least one
 * @unite: a case that one of them lacks is taken from the others
 *
 * All must be of the same kernel and tool and, without @unite, have the same cases.
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int merge_load(struct run *run, char *const *paths, size_t nr, bool unite);

#endif /* MERGE_H */
