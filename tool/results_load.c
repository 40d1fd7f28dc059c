// SPDX-License-Identifier: GPL-2.0-only
/* Reads a run from a file and refuses one that is not sound. */
#include <err.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_file.h"
#include "pagerun.h"
#include "results.h"

/* Say what is wrong with the file; always false, for use in a return. */
static bool __attribute__((format(printf, 2, 3)))
bad(const char *path, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	warnx("%s: %s", path, text);
	return false;
}

static bool check_hashes(const char *path, const json_t *kernel)
{
	static const char *const needed[] = {
		"config_sha256", "image_sha256", "package_sha256",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		const json_t *hash = json_object_get(kernel, needed[i]);

		if (!hash)
			return bad(path, "kernel has no member '%s'", needed[i]);
		if (!json_is_string(hash) && !json_is_null(hash))
			return bad(path, "kernel.%s is neither text nor null",
				   needed[i]);
	}
	return true;
}

static bool check_kernel(const char *path, const json_t *kernel)
{
	const json_t *release, *features, *name;
	size_t i;

	if (!kernel)
		return bad(path, "there is no member 'kernel'");
	if (!json_is_object(kernel))
		return bad(path, "'kernel' is not an object");
	release = json_object_get(kernel, "release");
	if (!release)
		return bad(path, "kernel has no member 'release'");
	if (!json_is_string(release))
		return bad(path, "kernel.release is not text");
	features = json_object_get(kernel, "features");
	if (!features)
		return bad(path, "kernel has no member 'features'");
	if (!json_is_array(features))
		return bad(path, "kernel.features is not an array");
	json_array_foreach(features, i, name)
		if (!json_is_string(name))
			return bad(path, "kernel.features[%zu] is not text", i);
	return check_hashes(path, kernel);
}

/* A text member of row @i; NULL after one line on stderr. */
static char *row_text(const char *path, size_t i, const json_t *row,
		      const char *key)
{
	const json_t *text = json_object_get(row, key);

	if (!text)
		bad(path, "rows[%zu] has no member '%s'", i, key);
	else if (!json_is_string(text) || !json_string_length(text))
		bad(path, "rows[%zu].%s is not text", i, key);
	else
		return (char *)json_string_value(text);
	return NULL;
}

static bool one_of(const char *text, const char *const *words, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(text, words[i]))
			return true;
	return false;
}

/* A figure: jansson lets no NaN or infinity in, but it lets negatives in. */
static bool is_figure(const json_t *json)
{
	return json_is_number(json) && json_number_value(json) >= 0;
}

static bool load_samples(const char *path, size_t i, const json_t *json,
			 struct row *row)
{
	const json_t *samples = json_object_get(json, "samples"), *sample;
	size_t j;

	if (!samples)
		return bad(path, "rows[%zu] has no member 'samples'", i);
	if (!json_is_array(samples) || !json_array_size(samples))
		return bad(path, "rows[%zu].samples is not an array with figures", i);
	row->nr_samples = json_array_size(samples);
	row->samples = calloc(row->nr_samples, sizeof(*row->samples));
	if (!row->samples)
		return bad(path, "out of memory");
	json_array_foreach(samples, j, sample) {
		if (!is_figure(sample))
			return bad(path,
				   "rows[%zu].samples[%zu] is not a figure of 0 or more",
				   i, j);
		row->samples[j] = json_number_value(sample);
	}
	return true;
}

static bool load_row(const char *path, size_t i, const json_t *json,
		     struct run *run)
{
	static const char *const clocks[] = { "insn", "count", "wall" };
	static const char *const betters[] = { "less", "more" };
	struct row row = { 0 };
	const json_t *value;
	const char *better;
	bool ok;

	if (!json_is_object(json))
		return bad(path, "rows[%zu] is not an object", i);
	/* run_add() copies, so these may point into @json. */
	row.bench = row_text(path, i, json, "bench");
	row.name = row.bench ? row_text(path, i, json, "case") : NULL;
	row.clock = row.name ? row_text(path, i, json, "clock") : NULL;
	row.unit = row.clock ? row_text(path, i, json, "unit") : NULL;
	better = row.unit ? row_text(path, i, json, "better") : NULL;
	if (!better)
		return false;
	if (!one_of(row.clock, clocks, ARRAY_SIZE(clocks)))
		return bad(path, "rows[%zu].clock is '%s', not insn, count or wall",
			   i, row.clock);
	if (!one_of(better, betters, ARRAY_SIZE(betters)))
		return bad(path, "rows[%zu].better is '%s', not less or more", i,
			   better);
	row.less = !strcmp(better, "less");
	if (run_find(run, row.name))
		return bad(path, "case '%s' is there twice", row.name);
	value = json_object_get(json, "value");
	if (!value)
		return bad(path, "rows[%zu] has no member 'value'", i);
	if (!is_figure(value))
		return bad(path, "rows[%zu].value is not a figure of 0 or more", i);

	ok = load_samples(path, i, json, &row) && run_add(run, &row) == PR_OK;
	free(row.samples);
	/* The file's word counts: it may hold another digest than a median. */
	if (ok)
		run->rows[run->nr_rows - 1].value = json_number_value(value);
	return ok;
}

static bool load_run(const char *path, const json_t *json, struct run *run)
{
	const json_t *schema, *tool, *rows, *row;
	json_t *kernel;
	size_t i;

	if (!json_is_object(json))
		return bad(path, "not the results of pagerun bench: no JSON object");
	schema = json_object_get(json, "schema");
	if (!schema)
		return bad(path, "there is no member 'schema'");
	if (!json_is_integer(schema) ||
	    json_integer_value(schema) != RESULTS_SCHEMA)
		return bad(path, "its schema is not %d, the one that pagerun %s reads",
			   RESULTS_SCHEMA, PAGERUN_VERSION);
	kernel = json_object_get(json, "kernel");
	if (!check_kernel(path, kernel))
		return false;
	tool = json_object_get(json, "tool");
	if (!json_is_string(tool))
		return bad(path, tool ? "'tool' is not text" :
			   "there is no member 'tool'");
	rows = json_object_get(json, "rows");
	if (!rows)
		return bad(path, "there is no member 'rows'");
	if (!json_is_array(rows))
		return bad(path, "'rows' is not an array");
	if (!json_array_size(rows))
		return bad(path, "'rows' is empty: nothing was measured");

	run->kernel = json_incref(kernel);
	run->tool = strdup(json_string_value(tool));
	if (!run->tool)
		return bad(path, "out of memory");
	json_array_foreach(rows, i, row)
		if (!load_row(path, i, row, run))
			return false;
	return true;
}

int run_load(struct run *run, const char *path)
{
	json_t *json = json_file_load(path);
	bool ok;

	if (!json)
		return PR_FAIL;
	ok = load_run(path, json, run);
	json_decref(json);
	if (!ok)
		run_free(run);
	return ok ? PR_OK : PR_FAIL;
}
