// SPDX-License-Identifier: GPL-2.0-only
/*
 * register_answers: with the switch /sys/kernel/mm/pagerun/register on, io_uring registers
 * buffers with the answers that it gives with it off: what the calls return, what counts
 * for RLIMIT_MEMLOCK and VmPin, the counts of all pages, what is read into the buffers,
 * and that all of it is given back.
 *
 * Needs a kernel with CONFIG_PAGERUN_REGISTER, pagerun_test.ko, and root. Output is KTAP;
 * exit code 0: passed, 1: not, 2: bad arguments, 4: nothing could be tested here.
 */
#define _GNU_SOURCE
#include "../ktap.h"
#include "register.h"

struct options options = {
	.seed = 1,
	.cases = 40,
	.calls = 24,
};

static const char usage[] =
	"Usage: register_answers [--seed N] [--cases N] [--calls N] [--only WHAT]\n"
	"\n"
	"Does registering buffers give the same answers with the switch off and on?\n"
	"\n"
	"  --seed N     seed of the first random case, 1 if not given; the next\n"
	"               cases have the seeds N + 1, N + 2 ...\n"
	"  --cases N    random cases, 40 if not given\n"
	"  --calls N    operations in each, 24 if not given, 40 at most\n"
	"  --only WHAT  \"random\" for the random cases alone, or a word of the\n"
	"               names of the cases to run\n"
	"  --help       this text\n";

static const struct {
	const struct named *cases;
	const unsigned int *nr;
} groups[] = {
	{ register_named_cases, &nr_register_named_cases },
	{ register_fail_cases, &nr_register_fail_cases },
};

int main(int argc, char **argv)
{
	struct stats before, after;
	const char *missing;
	unsigned int nr = 0, i;
	bool named, random;

	options_parse(argc, argv, usage);
	named = !options_only_random();
	random = !options.only || options_only_random();
	missing = sys_open("register");
	if (!missing)
		missing = rings_open();
	if (missing) {
		ktap_plan(1);
		ktap_skip("the same with the switch off and on: %s", missing);
		return ktap_done();
	}
	signals_restore();
	/* One CPU, so that its batches and counters are the only ones. */
	if (!run_on_cpu(0))
		die("cannot run on CPU 0 alone");

	for (i = 0; i < ARRAY_SIZE(groups) && named; i++)
		nr += named_count(groups[i].cases, *groups[i].nr);
	ktap_plan(nr + (random ? options.cases : 0) + !options.only);
	ktap_diag("seed %llu, %u cases of %u operations", (unsigned long long)options.seed,
		  options.cases, options.calls);
	sys_probe_kinds();
	stats_read(&before);
	for (i = 0; i < ARRAY_SIZE(groups) && named; i++)
		named_run(groups[i].cases, *groups[i].nr);
	for (i = 0; i < options.cases && random; i++)
		register_random(options.seed + i);
	stats_read(&after);
	/* Else all of it was compared with itself. */
	if (!options.only)
		ktap_ok(after.runs > before.runs, "buffers were registered by the run");
	settings_restore();
	return ktap_done();
}
