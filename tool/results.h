/* SPDX-License-Identifier: GPL-2.0-only */
/* The results of one run: what "pagerun bench --json" writes. */
#ifndef RESULTS_H
#define RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RESULTS_SCHEMA 1

/**
 * struct row - one measured case
 * @bench: the benchmark it belongs to, e.g. "pin"
 * @name: the case, e.g. "pin/64k/ro"; unique in a run
 * @clock: "insn", "count" or "wall"
 * @unit: of @value and @samples, e.g. "insn/page"
 * @less: whether less is better
 * @value: the median of @samples
 */
struct row {
	char *bench, *name, *clock, *unit;
	bool less;
	double value;
	double *samples;
	size_t nr_samples;
};

/**
 * struct run - all results of one run
 * @kernel: JSON object that says which kernel ran
 * @tool: what measured, e.g. "pagerun 1.2.3"
 */
struct run {
	json_t *kernel;
	char *tool;
	struct row *rows;
	size_t nr_rows;
};

/* All zero is an empty run; run_free() makes it one again. */
void run_free(struct run *run);

/**
 * run_add() - append a copy of a row
 * @row: its @value is not read but computed from the samples
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int run_add(struct run *run, const struct row *row);

/* What two rows of one case differ in, and what it is in each. */
struct row_difference {
	const char *what, *a, *b;
};

/* Whether two rows of one case differ in more than figures; fills @out if so. */
bool row_differs(const struct row *a, const struct row *b,
		 struct row_difference *out);

/* The row of case @name, or NULL. */
const struct row *run_find(const struct run *run, const char *name);

/* The run as JSON: a new reference, NULL without memory. */
json_t *run_to_json(const struct run *run);

/**
 * run_load() - read and check a file that run_to_json() made
 * @run: an empty run; stays one on failure
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr that names the file and
 * what is wrong with it.
 */
int run_load(struct run *run, const char *path);

struct table;

/* Add a figure of a row to a table: a count that is whole without decimals. */
void row_add_value(struct table *table, const struct row *row, double value);

/**
 * run_print() - the run as a table on stdout
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int run_print(const struct run *run);

/**
 * run_write() - as a table on stdout, and as JSON into a file
 * @path: NULL: no JSON; "-": JSON to stdout in place of the table
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int run_write(const struct run *run, const char *path);

/**
 * kernel_print() - one line about a kernel object on stdout
 * @title: what the line begins with
 */
void kernel_print(const char *title, const json_t *kernel);

#endif /* RESULTS_H */
