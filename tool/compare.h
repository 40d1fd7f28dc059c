/* SPDX-License-Identifier: GPL-2.0-only */
/* Two runs side by side. */
#ifndef COMPARE_H
#define COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results.h"

/**
 * struct pair - one case in both runs
 * @base, @new: its rows; they agree in bench, clock, unit and what is better
 * @has_ratio: false where a side is 0
 * @ratio: above 1: new is better
 */
struct pair {
	const struct row *base, *new;
	bool has_ratio;
	double ratio;
};

/**
 * struct comparison - two runs and the cases that both have
 * @pairs: in the order of @base
 * @lonely: how many cases only one of them has
 */
struct comparison {
	struct run base, new;
	struct pair *pairs;
	size_t nr_pairs, lonely;
};

/**
 * comparison_load() - read two runs and match their rows
 * @c: filled, for comparison_free(), which is needed on success alone
 *
 * Cases that only one has are told on stderr.
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int comparison_load(struct comparison *c, const char *base_path,
		    const char *new_path);

void comparison_free(struct comparison *c);

/* The pair of case @name, or NULL. */
const struct pair *comparison_find(const struct comparison *c, const char *name);

/* The comparison as JSON: a new reference, NULL without memory. */
json_t *comparison_to_json(const struct comparison *c);

struct targets;

/**
 * comparison_print() - as a table on stdout
 * @targets: for a column with goals, or NULL
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int comparison_print(const struct comparison *c, const struct targets *targets);

#endif /* COMPARE_H */
