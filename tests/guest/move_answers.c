// SPDX-License-Identifier: GPL-2.0-only
/*
 * move_answers: with /sys/kernel/mm/pagerun/move on, UFFDIO_MOVE gives the answers
 * that it gives with it off.
 *
 * Memory is laid out twice, alike, and moved: in one window with the switch off, in
 * the other with it on. All there is to see is compared: what the call returns, errno
 * and .move; of each page the content, the page map with its soft-dirty and
 * write-protect bits, counts and flags; what smaps finds dirty, shared, swapped or
 * locked; page tables. What a large folio that stayed large changes is masked, and
 * nothing else; see move_call.c. Then there are cases with a name, and races, in which
 * nothing may be lost.
 *
 * Needs a kernel with CONFIG_PAGERUN_MOVE, pagerun_test.ko, and root. Settings of the
 * guest that it changes are put back. Output is KTAP; exit code 0: passed, 1: not,
 * 2: bad arguments, 4: nothing could be tested here.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "../ktap.h"
#include "move.h"

struct options options = {
	.seed = 1,
	.cases = 40,
	.calls = 8,
	.seconds = 8,
};

static const char usage[] =
	"Usage: move_answers [--seed N] [--cases N] [--calls N] [--seconds N] [--only WHAT]\n"
	"\n"
	"Does UFFDIO_MOVE give the same answers with its switch off and on?\n"
	"\n"
	"  --seed N     seed of the first random case, 1 if not given; the next\n"
	"               cases have the seeds N + 1, N + 2 ...\n"
	"  --cases N    random cases, 40 if not given\n"
	"  --calls N    calls in each, 8 if not given; one that ends early goes on\n"
	"  --seconds N  for all races together, 8 if not given\n"
	"  --only WHAT  \"random\" for the random cases alone, or a word of the\n"
	"               names of the cases to run\n"
	"  --help       this text\n";

static void check_pins(const struct pins *before)
{
	struct pins after;

	settle();
	pins_forget();
	pins_read(&after);
	if (!ktap_ok(after.acquired - before->acquired ==
		     after.released - before->released,
		     "all pins that were acquired are released"))
		ktap_diag("acquired %llu, released %llu",
			  (unsigned long long)(after.acquired - before->acquired),
			  (unsigned long long)(after.released - before->released));
}

static unsigned int plan(bool named, bool random)
{
	unsigned int nr = 1;

	if (named)
		nr += named_count(notice_cases, nr_notice_cases) +
		      named_count(move_cases, nr_move_cases) +
		      named_count(wake_cases, nr_wake_cases) +
		      named_count(move_race_cases, nr_move_race_cases);
	return nr + (random ? options.cases : 0);
}

static void run(bool named, bool random)
{
	if (named) {
		named_run(notice_cases, nr_notice_cases);
		named_run(move_cases, nr_move_cases);
		named_run(wake_cases, nr_wake_cases);
		named_run(move_race_cases, nr_move_race_cases);
	}
	for (unsigned int i = 0; random && i < options.cases; i++)
		move_random(options.seed + i);
}

int main(int argc, char **argv)
{
	struct pins before;
	const char *missing;
	bool named, random;

	options_parse(argc, argv, usage);
	named = !options_only_random();
	random = !options.only || options_only_random();
	missing = sys_open("move");
	if (missing) {
		ktap_plan(1);
		ktap_skip("same answers with the switch off and on: %s", missing);
		return ktap_done();
	}
	signals_restore();
	/* One CPU, so that its batches and counters are the only ones. */
	if (!run_on_cpu(0))
		die("cannot run on CPU 0 alone");

	ktap_plan(plan(named, random));
	ktap_diag("seed %llu, %u cases of %u calls",
		  (unsigned long long)options.seed, options.cases, options.calls);
	sys_probe_kinds();
	move_begin();
	switch_set(false);
	pins_read(&before);
	run(named, random);
	check_pins(&before);
	settings_restore();
	return ktap_done();
}
