// SPDX-License-Identifier: GPL-2.0-only
/*
 * map_answers: with /sys/kernel/mm/pagerun/map on, mappings of a device are what they
 * are with it off, whatever is done to them.
 *
 * The two halves of a BAR hold the same pattern. One is mapped with the switch on, the
 * other with it off, and then the same calls are made on both. After each, every
 * address reads the same (a value, or a signal), a write comes to the same, the entries
 * say the same but for their size, and so does /proc. The halves are disjoint, since
 * the kernel remembers the memory type of what was mapped. Then there are cases with a
 * name, races, in which no reader may miss a page, and allocations that fail.
 *
 * Needs a kernel with CONFIG_PAGERUN_MAP, pagerun_test.ko, an ivshmem device with a
 * BAR of 1 GiB, and root. Settings of the guest that it changes are put back. Output is
 * KTAP; exit code 0: passed, 1: not, 2: bad arguments, 4: nothing could be tested here.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "../ktap.h"
#include "map.h"

struct options options = {
	.seed = 1,
	.cases = 40,
	.calls = 20,
	.seconds = 14,
};

static const char usage[] =
	"Usage: map_answers [--seed N] [--cases N] [--calls N] [--seconds N] [--only WHAT]\n"
	"\n"
	"Are mappings of a device the same with the switch off and on?\n"
	"\n"
	"  --seed N     seed of the first random case, 1 if not given; the next\n"
	"               cases have the seeds N + 1, N + 2 ...\n"
	"  --cases N    random cases, 40 if not given\n"
	"  --calls N    calls in each, 20 if not given\n"
	"  --seconds N  for all races together, 14 if not given\n"
	"  --only WHAT  \"random\" for the random cases alone, or a word of the\n"
	"               names of the cases to run\n"
	"  --help       this text\n";

const char *map_possible(void)
{
	return NULL;
}

static const struct {
	const struct named *cases;
	const unsigned int *nr;
} groups[] = {
	{ map_notice_cases, &nr_map_notice_cases },
	{ map_cases, &nr_map_cases },
	{ map_driver_cases, &nr_map_driver_cases },
	{ map_race_cases, &nr_map_race_cases },
	{ map_fail_cases, &nr_map_fail_cases },
};

/* Else all of it was compared with itself. */
static void check_work(const struct stats *before, uint64_t splits)
{
	struct stats after;

	stats_read(&after);
	splits = vmstat("thp_split_pmd") - splits;
	if (!ktap_ok(after.runs > before->runs && splits, "large entries were made, and split"))
		ktap_diag("made %lu, split %llu", after.runs - before->runs,
			  (unsigned long long)splits);
}

int main(int argc, char **argv)
{
	const char *missing;
	struct stats before;
	uint64_t splits;
	unsigned int nr = 0, i;
	bool named, random;

	options_parse(argc, argv, usage);
	named = !options_only_random();
	random = !options.only || options_only_random();
	missing = sys_open("map");
	if (!missing)
		missing = bar_open();
	if (missing) {
		ktap_plan(1);
		ktap_skip("the same with the switch off and on: %s", missing);
		return ktap_done();
	}
	signals_restore();

	for (i = 0; i < ARRAY_SIZE(groups) && named; i++)
		nr += named_count(groups[i].cases, *groups[i].nr);
	ktap_plan(nr + (random ? options.cases : 0) + !options.only);
	ktap_diag("seed %llu, %u cases of %u calls", (unsigned long long)options.seed,
		  options.cases, options.calls);
	sys_probe_kinds();
	stats_read(&before);
	splits = vmstat("thp_split_pmd");
	for (i = 0; i < ARRAY_SIZE(groups) && named; i++)
		named_run(groups[i].cases, *groups[i].nr);
	for (i = 0; i < options.cases && random; i++)
		map_random(options.seed + i);
	if (!options.only)
		check_work(&before, splits);
	settings_restore();
	return ktap_done();
}
