// SPDX-License-Identifier: GPL-2.0-only
/*
 * same_answers: with the switches in /sys/kernel/mm/pagerun on, every call gives
 * the answer that it gives with them off. What nullmap alone changes is in
 * same_compare.c.
 *
 * Memory is laid out, pages are taken by get_user_pages_fast(),
 * pin_user_pages_fast() and get_user_pages_fast_only() with the switches off and
 * on, and all there is to see is compared: what the call returns, the page
 * array, refcount and pincount of each page while it is held and afterwards,
 * its flags, nr_foll_pin_acquired and _released, the page map with its
 * soft-dirty bits, what smaps finds dirty, shared, swapped or locked, the
 * content, and how much GUP-fast takes. See same_compare.c for how, same_random.c
 * for the layouts drawn from a seed, same_named.c, same_race.c and same_crowd.c
 * for those with a name.
 *
 * Needs a kernel with CONFIG_PAGERUN_PIN, pagerun_test.ko, and root. Settings of
 * the guest that it changes are put back. Output is KTAP; exit code 0: passed,
 * 1: not, 2: bad arguments, 4: nothing could be tested here.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ktap.h"
#include "same.h"

struct options options = {
	.seed = 1,
	.cases = 60,
	.calls = 12,
};

static const char usage[] =
	"Usage: same_answers [--seed N] [--cases N] [--calls N] [--only WHAT]\n"
	"\n"
	"Does taking pages give the same answers with all switches off and on?\n"
	"\n"
	"  --seed N     seed of the first random case, 1 if not given; the next\n"
	"               cases have the seeds N + 1, N + 2 ...\n"
	"  --cases N    random cases, 60 if not given\n"
	"  --calls N    calls in each, 12 if not given\n"
	"  --only WHAT  \"random\" for the random cases alone, or a word of the\n"
	"               names of the cases to run\n"
	"  --help       this text\n";

/*
 * One random layout. Half of the cases are made as twins and compare what the
 * calls change; after that, or in the other half, the memory is one and the
 * same.
 */
static void run_random(uint64_t seed)
{
	static struct layout lay;
	static struct scene scene;
	struct rng rng = { .state = rng_mix(seed) };
	struct call call = { };
	struct why why = { };
	unsigned long runs = 0;
	unsigned int nr_twins = 0, i;
	char text[200];

	random_layout(&rng, &lay);
	if (rng_chance(&rng, 60))
		nr_twins = rng_chance(&rng, 30) ? options.calls :
						  options.calls / 2;
	scene_make(&scene, &lay, nr_twins ? 2 : 1);
	if (nr_twins)
		twins_alike(&scene, &why);
	for (i = 0; i < options.calls && !why.bad; i++) {
		random_call(&rng, &lay, &call);
		if (i < nr_twins)
			ask_twins(&scene, &call, &why);
		else
			ask_same_memory(&scene.win[0], &call, &why);
		runs += answers[1].stats.runs;
		if (i + 1 == nr_twins && !why.bad)
			twins_content(&scene, &why);
	}
	scene_end(&scene);

	if (ktap_ok(!why.bad, "random case %llu: %u calls, %u of them on twins, %lu runs",
		    (unsigned long long)seed, i, min_u32(i, nr_twins), runs))
		return;
	if (i)
		ktap_diag("call %u: %s", i, call_text(&call, text, sizeof(text)));
	ktap_diag("%s", why.text);
	layout_show(&lay);
	ktap_diag("to repeat: same_answers --only %s --seed %llu --cases 1 --calls %u",
		  ONLY_RANDOM, (unsigned long long)seed, options.calls);
}

int main(int argc, char **argv)
{
	struct pins before, after;
	const char *missing;
	bool named, random;

	options_parse(argc, argv, usage);
	named = !options_only_random();
	random = !options.only || options_only_random();
	missing = sys_open(NULL);
	if (missing) {
		ktap_plan(1);
		ktap_skip("same answers with the switch off and on: %s", missing);
		return ktap_done();
	}

	signals_restore();
	/* One CPU, so that its batches and counters are the only ones. */
	if (!run_on_cpu(0))
		die("cannot run on CPU 0 alone");

	ktap_plan((named ? named_count(named_cases, nr_named_cases) +
			   named_count(race_cases, nr_race_cases) +
			   named_count(crowd_cases, nr_crowd_cases) +
			   named_count(dio_cases, nr_dio_cases) : 0) +
		  (random ? options.cases : 0) + 1);
	ktap_diag("seed %llu, %u cases of %u calls",
		  (unsigned long long)options.seed, options.cases, options.calls);
	sys_probe_kinds();
	switch_set(false);
	pins_read(&before);
	if (named) {
		named_run(named_cases, nr_named_cases);
		named_run(race_cases, nr_race_cases);
		named_run(crowd_cases, nr_crowd_cases);
		named_run(dio_cases, nr_dio_cases);
	}
	if (random)
		for (unsigned int i = 0; i < options.cases; i++)
			run_random(options.seed + i);
	settle();
	pins_read(&after);
	if (!ktap_ok(after.acquired - before.acquired ==
		     after.released - before.released,
		     "all pins that were acquired are released"))
		ktap_diag("acquired %llu, released %llu",
			  (unsigned long long)(after.acquired - before.acquired),
			  (unsigned long long)(after.released - before.released));
	settings_restore();
	return ktap_done();
}
