// SPDX-License-Identifier: GPL-2.0-only
/* Runs in memory, and as tables and JSON; results_load.c reads them. */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_file.h"
#include "pagerun.h"
#include "results.h"
#include "stats.h"
#include "table.h"

static void row_free(struct row *row)
{
	free(row->bench);
	free(row->name);
	free(row->clock);
	free(row->unit);
	free(row->samples);
	memset(row, 0, sizeof(*row));
}

void run_free(struct run *run)
{
	size_t i;

	for (i = 0; i < run->nr_rows; i++)
		row_free(&run->rows[i]);
	free(run->rows);
	free(run->tool);
	json_decref(run->kernel);
	memset(run, 0, sizeof(*run));
}

static bool row_copy(struct row *to, const struct row *from)
{
	struct stats stats;

	*to = (struct row) {
		.bench = strdup(from->bench),
		.name = strdup(from->name),
		.clock = strdup(from->clock),
		.unit = strdup(from->unit),
		.less = from->less,
		.samples = calloc(from->nr_samples, sizeof(*to->samples)),
		.nr_samples = from->nr_samples,
	};
	if (to->bench && to->name && to->clock && to->unit && to->samples &&
	    stats_of(from->samples, from->nr_samples, &stats)) {
		memcpy(to->samples, from->samples,
		       from->nr_samples * sizeof(*to->samples));
		to->value = stats.median;
		return true;
	}
	row_free(to);
	return false;
}

int run_add(struct run *run, const struct row *row)
{
	struct row *rows;

	rows = reallocarray(run->rows, run->nr_rows + 1, sizeof(*rows));
	if (rows)
		run->rows = rows;
	if (!rows || !row_copy(&rows[run->nr_rows], row)) {
		warnx("out of memory for the results");
		return PR_FAIL;
	}
	run->nr_rows++;
	return PR_OK;
}

bool row_differs(const struct row *a, const struct row *b,
		 struct row_difference *out)
{
	if (strcmp(a->clock, b->clock))
		*out = (struct row_difference){ "clock", a->clock, b->clock };
	else if (strcmp(a->unit, b->unit))
		*out = (struct row_difference){ "unit", a->unit, b->unit };
	else if (strcmp(a->bench, b->bench))
		*out = (struct row_difference){ "bench", a->bench, b->bench };
	else if (a->less != b->less)
		*out = (struct row_difference){
			"better", a->less ? "less" : "more",
			b->less ? "less" : "more",
		};
	else
		return false;
	return true;
}

const struct row *run_find(const struct run *run, const char *name)
{
	size_t i;

	for (i = 0; i < run->nr_rows; i++)
		if (!strcmp(run->rows[i].name, name))
			return &run->rows[i];
	return NULL;
}

static json_t *row_to_json(const struct row *row)
{
	json_t *samples = json_array();
	size_t i;

	for (i = 0; samples && i < row->nr_samples; i++) {
		if (json_array_append_new(samples, json_real(row->samples[i]))) {
			json_decref(samples);
			samples = NULL;
		}
	}
	/* "o" takes the reference and fails on NULL. */
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:o}",
			 "bench", row->bench, "case", row->name,
			 "clock", row->clock, "unit", row->unit,
			 "better", row->less ? "less" : "more",
			 "value", row->value, "samples", samples);
}

json_t *run_to_json(const struct run *run)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; rows && i < run->nr_rows; i++) {
		if (json_array_append_new(rows, row_to_json(&run->rows[i]))) {
			json_decref(rows);
			rows = NULL;
		}
	}
	return json_pack("{s:i, s:O, s:s, s:o}", "schema", RESULTS_SCHEMA,
			 "kernel", run->kernel, "tool", run->tool, "rows", rows);
}

void kernel_print(const char *title, const json_t *kernel)
{
	const json_t *features = json_object_get(kernel, "features");
	size_t i, nr = json_array_size(features);

	printf("%s: Linux %s", title,
	       json_string_value(json_object_get(kernel, "release")));
	for (i = 0; i < nr; i++)
		printf("%s%s", i ? ", " : ", pagerun: ",
		       json_string_value(json_array_get(features, i)));
	printf("%s\n", nr ? "" : ", pagerun: none");
}

void row_add_value(struct table *table, const struct row *row, double value)
{
	if (!strcmp(row->clock, "count") && value == floor(value))
		table_add(table, "%.0f", value);
	else
		table_add_value(table, value);
}

int run_print(const struct run *run)
{
	static const char *const head[] = {
		"bench", "case", "clock", "unit", "value", "min", "max", "samples",
	};
	static const char align[] = "llllrrrr";
	struct table *table;
	struct stats stats;
	size_t i;
	int ret = PR_FAIL;

	table = table_new(ARRAY_SIZE(head), align);
	if (!table)
		goto out;
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_add(table, "%s", head[i]);
	for (i = 0; i < run->nr_rows; i++) {
		const struct row *row = &run->rows[i];

		if (!stats_of(row->samples, row->nr_samples, &stats))
			goto out;
		table_add(table, "%s", row->bench);
		table_add(table, "%s", row->name);
		table_add(table, "%s", row->clock);
		table_add(table, "%s", row->unit);
		row_add_value(table, row, row->value);
		row_add_value(table, row, stats.min);
		row_add_value(table, row, stats.max);
		table_add(table, "%zu", row->nr_samples);
	}
	if (table_print(table))
		ret = PR_OK;
out:
	if (ret)
		warnx("out of memory for the table");
	table_free(table);
	return ret;
}

int run_write(const struct run *run, const char *path)
{
	json_t *json;
	int ret = PR_OK;

	if (!path || strcmp(path, "-")) {
		kernel_print("kernel", run->kernel);
		ret = run_print(run);
	}
	if (!path || ret)
		return ret;
	json = run_to_json(run);
	if (!json) {
		warnx("out of memory for the JSON");
		return PR_FAIL;
	}
	ret = json_file_save(path, json);
	json_decref(json);
	return ret;
}
