// SPDX-License-Identifier: GPL-2.0-only
/* The table of benchmarks: one benchmark, one file, one line here. */
#include <fnmatch.h>

#include "bench.h"
#include "pagerun.h"

const struct bench *const benches[] = {
	&bench_pin,
	&bench_unpin,
	&bench_nullmap,
	&bench_move,
	&bench_map,
};

const size_t nr_benches = ARRAY_SIZE(benches);

bool bench_wants(const struct bench_options *opt, const char *name)
{
	unsigned int i;

	for (i = 0; i < opt->nr_globs; i++)
		if (!fnmatch(opt->globs[i], name, 0))
			return true;
	return !opt->nr_globs;
}
