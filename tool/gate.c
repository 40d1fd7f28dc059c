// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate.h"
#include "json_file.h"
#include "pagerun.h"

#define GATE_SCHEMA 1

/* What is let pass as not worse. */
#define SLACK 0.01

/* The file's JSON, sound down to "keys"; NULL after one line on stderr. */
static json_t *load(const char *path)
{
	json_t *json = json_file_load(path);
	const json_t *schema;

	if (!json)
		return NULL;
	schema = json_object_get(json, "schema");
	if (!json_is_integer(schema) ||
	    json_integer_value(schema) != GATE_SCHEMA)
		warnx("%s: its schema is not %d, the one of committed figures",
		      path, GATE_SCHEMA);
	else if (!json_is_object(json_object_get(json, "keys")))
		warnx("%s: there is no object 'keys'", path);
	else
		return json;
	json_decref(json);
	return NULL;
}

static bool is_gated(const struct row *row)
{
	return !strcmp(row->clock, "insn");
}

static char *figure_name(const struct row *row)
{
	char *name;

	if (asprintf(&name, "%s:%s", row->bench, row->name) >= 0)
		return name;
	warnx("out of memory");
	return NULL;
}

/**
 * struct figure - one side of a case, measured and committed
 */
struct figure {
	const char *name, *side;
	const struct row *row;
	double committed;
};

static int check_figure(const char *path, const struct figure *f)
{
	double measured = f->row->value;
	double bound = f->row->less ? f->committed * (1 + SLACK) :
				      f->committed * (1 - SLACK);

	if (f->row->less ? measured <= bound : measured >= bound)
		return PR_OK;
	warnx("%s: %s is %.6g %s, worse by more than 1 %% than the %.6g committed in %s",
	      f->name, f->side, measured, f->row->unit, f->committed, path);
	return PR_FAIL;
}

static int check_pair(const char *path, const char *name,
		      const struct pair *pair, const json_t *committed)
{
	const json_t *base = json_object_get(committed, "base");
	const json_t *new = json_object_get(committed, "new");
	struct figure f = { .name = name };
	int ret;

	if (!json_is_number(base) || !json_is_number(new)) {
		warnx("%s: '%s' has no figures 'base' and 'new'", path, name);
		return PR_FAIL;
	}
	f.side = "base";
	f.row = pair->base;
	f.committed = json_number_value(base);
	ret = check_figure(path, &f);
	f.side = "new";
	f.row = pair->new;
	f.committed = json_number_value(new);
	return check_figure(path, &f) ? PR_FAIL : ret;
}

/* The measured pair that a committed figure is about, or NULL. */
static const struct pair *find_pair(const struct comparison *c,
				    const char *name)
{
	const char *colon = strchr(name, ':');
	const struct pair *pair;
	size_t len;

	if (!colon)
		return NULL;
	len = (size_t)(colon - name);
	pair = comparison_find(c, colon + 1);
	if (!pair || !is_gated(pair->base) || strlen(pair->base->bench) != len ||
	    strncmp(pair->base->bench, name, len))
		return NULL;
	return pair;
}

static int check_committed(const char *path, json_t *figures,
			   const struct comparison *c)
{
	const struct pair *pair;
	int ret = PR_OK;
	const char *name;
	json_t *committed;

	json_object_foreach(figures, name, committed) {
		pair = find_pair(c, name);
		if (!pair) {
			warnx("%s: committed in %s, but not measured by the insn clock in both",
			      name, path);
			ret = PR_FAIL;
		} else if (check_pair(path, name, pair, committed)) {
			ret = PR_FAIL;
		}
	}
	return ret;
}

/* A case that is new since the figures were committed is held to nothing. */
static int tell_uncommitted(const char *path, const json_t *figures,
			    const struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->nr_pairs; i++) {
		char *name;

		if (!is_gated(c->pairs[i].base))
			continue;
		name = figure_name(c->pairs[i].base);
		if (!name)
			return PR_FAIL;
		if (!json_object_get(figures, name))
			warnx("%s: not in %s yet; --gate-update adds it", name,
			      path);
		free(name);
	}
	return PR_OK;
}

static bool any_gated(const struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->nr_pairs; i++)
		if (is_gated(c->pairs[i].base))
			return true;
	warnx("no case was measured by the insn clock in both: there is nothing to hold to committed figures");
	return false;
}

int gate_check(const char *path, const char *key, const struct comparison *c)
{
	json_t *json, *figures;
	int ret = PR_OK;

	if (!any_gated(c))
		return PR_FAIL;
	json = load(path);
	if (!json)
		return PR_FAIL;
	figures = json_object_get(json_object_get(json, "keys"), key);
	if (!figures) {
		warnx("%s has no figures for '%s' yet; to add them, repeat the command with --gate-update",
		      path, key);
	} else if (!json_is_object(figures)) {
		warnx("%s: '%s' is not an object", path, key);
		ret = PR_FAIL;
	} else {
		ret = check_committed(path, figures, c);
		if (tell_uncommitted(path, figures, c))
			ret = PR_FAIL;
	}
	json_decref(json);
	return ret;
}

/* The measured figures as an object; NULL after one line on stderr. */
static json_t *measured_figures(const struct comparison *c)
{
	json_t *figures = json_object();
	size_t i;

	for (i = 0; i < c->nr_pairs; i++) {
		const struct pair *pair = &c->pairs[i];
		json_t *figure;
		char *name;
		int bad;

		if (!is_gated(pair->base))
			continue;
		name = figure_name(pair->base);
		figure = json_pack("{s:f, s:f}", "base", pair->base->value,
				   "new", pair->new->value);
		bad = !name || json_object_set_new(figures, name, figure);
		if (!name)
			json_decref(figure);
		free(name);
		if (bad) {
			warnx("out of memory");
			json_decref(figures);
			return NULL;
		}
	}
	return figures;
}

int gate_update(const char *path, const char *key, const struct comparison *c)
{
	json_t *json, *figures;
	int ret = PR_FAIL;

	if (!any_gated(c))
		return PR_FAIL;
	if (access(path, F_OK))
		json = json_pack("{s:i, s:{}}", "schema", GATE_SCHEMA, "keys");
	else
		json = load(path);
	if (!json)
		return PR_FAIL;
	figures = measured_figures(c);
	if (figures &&
	    !json_object_set_new(json_object_get(json, "keys"), key, figures))
		ret = json_file_save(path, json);
	json_decref(json);
	return ret;
}
