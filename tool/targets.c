// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_file.h"
#include "pagerun.h"
#include "targets.h"

/* The next goal of a case behind @last; NULL: the first. */
static const struct target *next_goal(const struct targets *targets, const char *name,
				      const struct target *last)
{
	size_t i = last ? (size_t)(last - targets->items) + 1 : 0;

	for (; i < targets->nr; i++)
		if (!strcmp(targets->items[i].name, name))
			return &targets->items[i];
	return NULL;
}

static bool has_goal(const struct targets *targets, const char *name, int kind)
{
	const struct target *target = NULL;

	while ((target = next_goal(targets, name, target)))
		if ((int)target->kind == kind)
			return true;
	return false;
}

/*
 * The members that say what kind of goal a row is, and how it is bound. None may be
 * below 0, and 0 is a bound only where less is better.
 */
static const struct {
	const char *kind, *bound;
	bool may_be_0;
} members[] = {
	[MIN_RATIO]	= { "min_ratio", "min_ratio", false },
	[MIN_NEW]	= { "min_new", "min_new", false },
	[MAX_NEW]	= { "max_new", "max_new", true },
	[MAX_OF]	= { "max_of", "factor", false },
};

static bool bound_is_good(int kind, const json_t *bound)
{
	double value = json_number_value(bound);

	return json_is_number(bound) &&
	       (value > 0 || (value == 0 && members[kind].may_be_0));
}

/* The kind of goal, or -1 if there are none or several. */
static int find_kind(const json_t *row)
{
	int kind = -1;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (!json_object_get(row, members[i].kind))
			continue;
		if (kind >= 0)
			return -1;
		kind = (int)i;
	}
	return kind;
}

/* Fill @item but for its strings; the other case's name, if any, to @other. */
static int load_goal(const char *path, size_t i, const json_t *row,
		     struct target *item, const char **other)
{
	int kind = find_kind(row);
	const json_t *bound;

	*other = NULL;
	if (kind < 0) {
		warnx("%s: rows[%zu] has no member, or several, of 'min_ratio', 'min_new', 'max_new' and 'max_of'",
		      path, i);
		return PR_FAIL;
	}
	item->kind = kind;
	bound = json_object_get(row, members[kind].bound);
	if (!bound_is_good(kind, bound)) {
		warnx("%s: rows[%zu] has no member '%s' %s", path, i,
		      members[kind].bound,
		      members[kind].may_be_0 ? "of 0 or above" : "above 0");
		return PR_FAIL;
	}
	item->bound = json_number_value(bound);
	if (kind != MAX_OF)
		return PR_OK;
	*other = json_string_value(json_object_get(row, "max_of"));
	if (*other && **other)
		return PR_OK;
	warnx("%s: rows[%zu].max_of is not the name of a case", path, i);
	return PR_FAIL;
}

static int load_item(struct targets *targets, const char *path, size_t i,
		     const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "case"));
	struct target *item = &targets->items[targets->nr];
	const char *other;

	if (!name || !*name) {
		warnx("%s: rows[%zu] has no member 'case' that is text", path, i);
		return PR_FAIL;
	}
	if (load_goal(path, i, row, item, &other))
		return PR_FAIL;
	if (has_goal(targets, name, item->kind)) {
		warnx("%s: case '%s' is there twice with '%s'", path, name,
		      members[item->kind].kind);
		return PR_FAIL;
	}
	/* Counted from here on, so that it is freed whatever it has. */
	targets->nr++;
	item->name = strdup(name);
	item->other = other ? strdup(other) : NULL;
	if (item->name && (item->other || !other))
		return PR_OK;
	warnx("%s: out of memory", path);
	return PR_FAIL;
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

	for (i = 0; i < targets->nr; i++) {
		free(targets->items[i].name);
		free(targets->items[i].other);
	}
	free(targets->items);
	memset(targets, 0, sizeof(*targets));
}

/* The value that a goal of MAX_OF allows; false if it cannot be told. */
static bool allowed(const struct target *target, const struct comparison *c,
		    double *out)
{
	const struct pair *other = comparison_find(c, target->other);

	if (other)
		*out = target->bound * other->new->value;
	return other;
}

static bool met(const struct target *target, const struct comparison *c,
		const struct pair *pair)
{
	double most;

	switch (target->kind) {
	case MIN_RATIO:
		return pair->has_ratio && pair->ratio >= target->bound;
	case MIN_NEW:
		return pair->new->value >= target->bound;
	case MAX_NEW:
		return pair->new->value <= target->bound;
	case MAX_OF:
		return allowed(target, c, &most) && pair->new->value <= most;
	}
	return false;
}

/* What a goal asks for. Return: how long that is. */
static size_t goal_text(const struct target *target, char *buf, size_t size)
{
	int n;

	if (target->kind == MAX_OF)
		n = snprintf(buf, size, "<=%gx %s ", target->bound, target->other);
	else
		n = snprintf(buf, size, "%s%g%s ", target->kind == MAX_NEW ? "<=" : ">=",
			     target->bound, target->kind == MIN_RATIO ? "x" : "");
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

const char *targets_word(const struct targets *targets,
			 const struct comparison *c, const struct pair *pair,
			 char *buf)
{
	const struct target *target = NULL;
	const char *word = NULL;
	size_t len = 0;

	while ((target = next_goal(targets, pair->base->name, target))) {
		len += goal_text(target, buf + len, TARGETS_WORD - len);
		if (!word || !met(target, c, pair))
			word = met(target, c, pair) ? "pass" : "MISS";
	}
	snprintf(buf + len, TARGETS_WORD - len, "%s", word ? word : "-");
	return buf;
}

static void tell_missed(const struct target *target, const struct comparison *c,
			const struct pair *pair)
{
	double most;

	if (target->kind == MIN_NEW)
		warnx("%s misses its goal of %g: it is %.6g %s", target->name,
		      target->bound, pair->new->value, pair->new->unit);
	else if (target->kind == MAX_NEW)
		warnx("%s misses its goal of at most %g: it is %.6g %s",
		      target->name, target->bound, pair->new->value,
		      pair->new->unit);
	else if (target->kind == MAX_OF && !allowed(target, c, &most))
		warnx("%s has a goal by %s, which was not measured in both",
		      target->name, target->other);
	else if (target->kind == MAX_OF)
		warnx("%s misses its goal of at most %gx %s: it is %.6g %s, and %.6g are allowed",
		      target->name, target->bound, target->other,
		      pair->new->value, pair->new->unit, most);
	else if (!pair->has_ratio)
		warnx("%s misses its goal of %gx: it has no ratio, a side is 0",
		      target->name, target->bound);
	else
		warnx("%s misses its goal of %gx: its ratio is %.6g",
		      target->name, target->bound, pair->ratio);
}

int targets_check(const struct targets *targets, const struct comparison *c)
{
	int ret = PR_OK;
	size_t i;

	for (i = 0; i < targets->nr; i++) {
		const struct target *target = &targets->items[i];
		const struct pair *pair = comparison_find(c, target->name);

		if (pair && met(target, c, pair))
			continue;
		if (pair)
			tell_missed(target, c, pair);
		else
			warnx("%s has a goal but was not measured in both",
			      target->name);
		ret = PR_FAIL;
	}
	return ret;
}
