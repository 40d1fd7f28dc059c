// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_file.h"
#include "pagerun.h"
#include "targets.h"

static const struct target *find(const struct targets *targets,
				 const char *name)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		if (!strcmp(targets->items[i].name, name))
			return &targets->items[i];
	return NULL;
}

static int load_item(struct targets *targets, const char *path, size_t i,
		     const json_t *row)
{
	const json_t *ratio = json_object_get(row, "min_ratio");
	const char *name = json_string_value(json_object_get(row, "case"));
	struct target *item = &targets->items[targets->nr];

	if (!name || !*name) {
		warnx("%s: rows[%zu] has no member 'case' that is text", path, i);
		return PR_FAIL;
	}
	if (!json_is_number(ratio) || json_number_value(ratio) <= 0) {
		warnx("%s: rows[%zu] has no member 'min_ratio' above 0", path, i);
		return PR_FAIL;
	}
	if (find(targets, name)) {
		warnx("%s: case '%s' is there twice", path, name);
		return PR_FAIL;
	}
	item->name = strdup(name);
	if (!item->name) {
		warnx("%s: out of memory", path);
		return PR_FAIL;
	}
	item->min_ratio = json_number_value(ratio);
	targets->nr++;
	return PR_OK;
}

int targets_load(struct targets *targets, const char *path)
{
	json_t *json = json_file_load(path);
	const json_t *rows, *row;
	int ret = PR_OK;
	size_t i;

	memset(targets, 0, sizeof(*targets));
	if (!json)
		return PR_FAIL;
	rows = json_object_get(json, "rows");
	if (!json_is_array(rows) || !json_array_size(rows)) {
		warnx("%s: there is no array 'rows' with goals in it", path);
		json_decref(json);
		return PR_FAIL;
	}
	targets->items = calloc(json_array_size(rows), sizeof(*targets->items));
	if (!targets->items) {
		warnx("%s: out of memory", path);
		ret = PR_FAIL;
	}
	for (i = 0; i < json_array_size(rows) && !ret; i++) {
		row = json_array_get(rows, i);
		ret = load_item(targets, path, i, row);
	}
	json_decref(json);
	if (ret)
		targets_free(targets);
	return ret;
}

void targets_free(struct targets *targets)
{
	size_t i;

	for (i = 0; i < targets->nr; i++)
		free(targets->items[i].name);
	free(targets->items);
	memset(targets, 0, sizeof(*targets));
}

static bool met(const struct target *target, const struct pair *pair)
{
	return pair->has_ratio && pair->ratio >= target->min_ratio;
}

const char *targets_word(const struct targets *targets, const struct pair *pair,
			 char *buf, size_t size)
{
	const struct target *target = find(targets, pair->base->name);

	if (target)
		snprintf(buf, size, ">=%gx %s", target->min_ratio,
			 met(target, pair) ? "pass" : "MISS");
	else
		snprintf(buf, size, "-");
	return buf;
}

int targets_check(const struct targets *targets, const struct comparison *c)
{
	int ret = PR_OK;
	size_t i;

	for (i = 0; i < targets->nr; i++) {
		const struct target *target = &targets->items[i];
		const struct pair *pair = comparison_find(c, target->name);

		if (pair && met(target, pair))
			continue;
		if (!pair)
			warnx("%s has a goal but was not measured in both",
			      target->name);
		else if (!pair->has_ratio)
			warnx("%s misses its goal of %gx: it has no ratio, a side is 0",
			      target->name, target->min_ratio);
		else
			warnx("%s misses its goal of %gx: its ratio is %.6g",
			      target->name, target->min_ratio, pair->ratio);
		ret = PR_FAIL;
	}
	return ret;
}
