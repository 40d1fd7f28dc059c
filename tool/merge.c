// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "pagerun.h"
#include "stats.h"

/* Append samples to a row. */
static int join_row(struct row *to, const struct row *from)
{
	size_t nr = to->nr_samples + from->nr_samples;
	struct stats stats;
	double *samples;

	samples = reallocarray(to->samples, nr, sizeof(*samples));
	if (samples) {
		to->samples = samples;
		memcpy(samples + to->nr_samples, from->samples,
		       from->nr_samples * sizeof(*samples));
		to->nr_samples = nr;
	}
	if (!samples || !stats_of(samples, nr, &stats)) {
		warnx("out of memory for the samples");
		return PR_FAIL;
	}
	to->value = stats.median;
	return PR_OK;
}

/* Whether all cases of @a are in @b, unless they may be missing, and alike. */
static int check_cases(const struct run *a, const char *a_path,
		       const struct run *b, const char *b_path, bool unite)
{
	struct row_difference d;
	const struct row *row;
	size_t i;

	for (i = 0; i < a->nr_rows; i++) {
		row = run_find(b, a->rows[i].name);
		if (!row && unite)
			continue;
		if (!row) {
			warnx("%s is in %s, but not in %s: measure both the same way",
			      a->rows[i].name, a_path, b_path);
			return PR_FAIL;
		}
		if (row_differs(&a->rows[i], row, &d)) {
			warnx("%s: its %s is '%s' in %s and '%s' in %s: measure both the same way",
			      row->name, d.what, d.a, a_path, d.b, b_path);
			return PR_FAIL;
		}
	}
	return PR_OK;
}

static int join_case(struct run *to, const struct row *from)
{
	const struct row *row = run_find(to, from->name);

	return row ? join_row(&to->rows[row - to->rows], from) : run_add(to, from);
}

static int join_run(struct run *to, const char *to_path, const struct run *from,
		    const char *from_path, bool unite)
{
	size_t i;
	int ret;

	if (!json_equal(to->kernel, from->kernel)) {
		warnx("%s and %s are of two kernels, or two states of its switches: merge joins runs of one; compare puts two side by side",
		      to_path, from_path);
		return PR_FAIL;
	}
	if (strcmp(to->tool, from->tool)) {
		warnx("%s was measured by %s and %s by %s: measure both by one",
		      to_path, to->tool, from_path, from->tool);
		return PR_FAIL;
	}
	ret = check_cases(to, to_path, from, from_path, unite);
	if (!ret)
		ret = check_cases(from, from_path, to, to_path, unite);
	for (i = 0; i < from->nr_rows && !ret; i++)
		ret = join_case(to, &from->rows[i]);
	return ret;
}

int merge_load(struct run *run, char *const *paths, size_t nr, bool unite)
{
	struct run next = { 0 };
	size_t i;
	int ret;

	ret = run_load(run, paths[0]);
	for (i = 1; i < nr && !ret; i++) {
		ret = run_load(&next, paths[i]);
		if (!ret)
			ret = join_run(run, paths[0], &next, paths[i], unite);
		run_free(&next);
	}
	if (ret)
		run_free(run);
	return ret;
}
