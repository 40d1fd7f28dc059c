/* SPDX-License-Identifier: GPL-2.0-only */
/* Goals for ratios: {"rows":[{"case":"pin/64k","min_ratio":6}]} */
#ifndef TARGETS_H
#define TARGETS_H

#include <stddef.h>

#include "compare.h"

/**
 * struct targets - the goals of a file
 */
struct targets {
	struct target {
		char *name;
		double min_ratio;
	} *items;
	size_t nr;
};

/* Return: PR_OK, or PR_FAIL after one line on stderr and @targets empty. */
int targets_load(struct targets *targets, const char *path);

void targets_free(struct targets *targets);

/**
 * targets_word() - what the goal's column says: ">=6x pass", ">=6x MISS", "-"
 *
 * Return: @buf.
 */
const char *targets_word(const struct targets *targets, const struct pair *pair,
			 char *buf, size_t size);

/**
 * targets_check() - whether every goal is there and met
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr for each that is not.
 */
int targets_check(const struct targets *targets, const struct comparison *c);

#endif /* TARGETS_H */
