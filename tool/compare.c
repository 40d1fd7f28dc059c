// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "pagerun.h"
#include "stats.h"
#include "table.h"
#include "targets.h"

/* False, after one line on stderr, if the two cannot be put side by side. */
static bool comparable(const struct row *base, const struct row *new)
{
	struct row_difference d;

	if (!row_differs(base, new, &d))
		return true;
	warnx("%s: its %s is '%s' in the base and '%s' in the new file: measure both the same way",
	      base->name, d.what, d.a, d.b);
	return false;
}

static void tell_lonely(const struct row *row, const char *has,
			const char *lacks)
{
	warnx("%s is only in %s, not in %s", row->name, has, lacks);
}

static int match_rows(struct comparison *c, const char *base_path,
		      const char *new_path)
{
	size_t i;

	for (i = 0; i < c->base.nr_rows; i++) {
		const struct row *base = &c->base.rows[i];
		const struct row *new = run_find(&c->new, base->name);
		struct pair *pair = &c->pairs[c->nr_pairs];

		if (!new) {
			tell_lonely(base, base_path, new_path);
			c->lonely++;
			continue;
		}
		if (!comparable(base, new))
			return PR_FAIL;
		pair->base = base;
		pair->new = new;
		pair->has_ratio = stats_ratio(base->value, new->value,
					      base->less, &pair->ratio);
		c->nr_pairs++;
	}
	for (i = 0; i < c->new.nr_rows; i++) {
		if (run_find(&c->base, c->new.rows[i].name))
			continue;
		tell_lonely(&c->new.rows[i], new_path, base_path);
		c->lonely++;
	}
	if (c->nr_pairs)
		return PR_OK;
	warnx("%s and %s have no case in common: nothing to compare", base_path,
	      new_path);
	return PR_FAIL;
}

int comparison_load(struct comparison *c, const char *base_path,
		    const char *new_path)
{
	int ret;

	memset(c, 0, sizeof(*c));
	ret = run_load(&c->base, base_path);
	if (!ret)
		ret = run_load(&c->new, new_path);
	if (ret)
		goto out;
	c->pairs = calloc(c->base.nr_rows, sizeof(*c->pairs));
	if (!c->pairs) {
		warnx("out of memory");
		ret = PR_FAIL;
		goto out;
	}
	ret = match_rows(c, base_path, new_path);
out:
	if (ret)
		comparison_free(c);
	return ret;
}

void comparison_free(struct comparison *c)
{
	free(c->pairs);
	run_free(&c->base);
	run_free(&c->new);
	memset(c, 0, sizeof(*c));
}

const struct pair *comparison_find(const struct comparison *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->nr_pairs; i++)
		if (!strcmp(c->pairs[i].base->name, name))
			return &c->pairs[i];
	return NULL;
}

static json_t *samples_to_json(const struct row *row)
{
	json_t *samples = json_array();
	size_t i;

	for (i = 0; samples && i < row->nr_samples; i++) {
		if (json_array_append_new(samples, json_real(row->samples[i]))) {
			json_decref(samples);
			return NULL;
		}
	}
	return samples;
}

static json_t *pair_to_json(const struct pair *pair)
{
	const struct row *row = pair->base;

	/* "o" takes the reference and fails on NULL. */
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:o, s:{s:o, s:o}}",
			 "bench", row->bench, "case", row->name,
			 "clock", row->clock, "unit", row->unit,
			 "better", row->less ? "less" : "more",
			 "base", pair->base->value, "new", pair->new->value,
			 "ratio", pair->has_ratio ? json_real(pair->ratio) :
						    json_null(),
			 "samples",
			 "base", samples_to_json(pair->base),
			 "new", samples_to_json(pair->new));
}

/* The new kernel's object always says which patches it has, if known. */
static json_t *new_kernel(const struct comparison *c)
{
	json_t *kernel = json_copy(c->new.kernel);

	if (!kernel || json_object_get(kernel, "patchset_sha256"))
		return kernel;
	if (!json_object_set_new(kernel, "patchset_sha256", json_null()))
		return kernel;
	json_decref(kernel);
	return NULL;
}

json_t *comparison_to_json(const struct comparison *c)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; rows && i < c->nr_pairs; i++) {
		if (json_array_append_new(rows, pair_to_json(&c->pairs[i]))) {
			json_decref(rows);
			rows = NULL;
		}
	}
	return json_pack("{s:i, s:O, s:o, s:o}", "schema", RESULTS_SCHEMA,
			 "base", c->base.kernel, "new", new_kernel(c),
			 "rows", rows);
}

static void add_pair(struct table *table, const struct pair *pair)
{
	table_add(table, "%s", pair->base->bench);
	table_add(table, "%s", pair->base->name);
	table_add(table, "%s", pair->base->unit);
	row_add_value(table, pair->base, pair->base->value);
	row_add_value(table, pair->new, pair->new->value);
	if (pair->has_ratio)
		table_add(table, "%.2fx", pair->ratio);
	else
		table_add(table, "-");
}

int comparison_print(const struct comparison *c, const struct targets *targets)
{
	static const char *const head[] = {
		"bench", "case", "unit", "base", "new", "ratio", "goal",
	};
	static const char align[] = "lllrrrl";
	size_t columns = targets ? ARRAY_SIZE(head) : ARRAY_SIZE(head) - 1, i;
	struct table *table = table_new(columns, align);
	bool ok = false;
	char goal[TARGETS_WORD];

	if (table) {
		for (i = 0; i < columns; i++)
			table_add(table, "%s", head[i]);
		for (i = 0; i < c->nr_pairs; i++) {
			add_pair(table, &c->pairs[i]);
			if (targets)
				table_add(table, "%s",
					  targets_word(targets, c, &c->pairs[i],
						       goal));
		}
		kernel_print("base", c->base.kernel);
		kernel_print("new", c->new.kernel);
		ok = table_print(table);
	}
	table_free(table);
	if (ok)
		return PR_OK;
	warnx("out of memory for the table");
	return PR_FAIL;
}
