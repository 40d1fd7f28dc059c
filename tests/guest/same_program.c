// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the same-answers programs have in common as programs: their options, the
 * cases with a name, and that settings are put back when a signal ends them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ktap.h"
#include "same.h"

/* ------------------------------------------------------------------------- */
/* Options                                                                   */

static void bad_usage(const char *arg, const char *what)
{
	fprintf(stderr, "%s: %s%s; see --help\n", program_invocation_short_name,
		arg, what);
	exit(2);
}

static uint64_t number(const char *option, const char *text, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || text[0] == '-' || value > max) {
		fprintf(stderr, "%s: %s: %s is not a number from 0 to %llu; see --help\n",
			program_invocation_short_name, option, text,
			(unsigned long long)max);
		exit(2);
	}
	return value;
}

static bool option(int opt)
{
	switch (opt) {
	case 's':
		options.seed = number("--seed", optarg, UINT64_MAX);
		return true;
	case 'n':
		options.cases = number("--cases", optarg, 1000000);
		return true;
	case 'c':
		options.calls = number("--calls", optarg, 1000000);
		return true;
	case 't':
		if (!options.seconds)
			return false;
		/* 0 would be none; the shortest is what is meant. */
		options.seconds = max_u32(number("--seconds", optarg, 86400), 1);
		return true;
	case 'o':
		options.only = optarg;
		return true;
	default:
		return false;
	}
}

void options_parse(int argc, char **argv, const char *usage)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "cases", required_argument, NULL, 'n' },
		{ "calls", required_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 't' },
		{ "only", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (!option(opt))
			bad_usage(argv[optind - 1],
				  ": no such option, or its value is missing");
	}
	if (optind < argc)
		bad_usage(argv[optind], " is not an option");
}

bool options_only_random(void)
{
	return options.only && !strcmp(options.only, ONLY_RANDOM);
}

/* ------------------------------------------------------------------------- */
/* Cases with a name                                                         */

static bool selected(const struct named *named)
{
	return !options.only || strstr(named->name, options.only);
}

unsigned int named_count(const struct named *named, unsigned int nr)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < nr; i++)
		count += selected(&named[i]);
	return count;
}

void named_run(const struct named *named, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct why why = { };
		const char *missing;

		if (!selected(&named[i]))
			continue;
		missing = named[i].missing();
		if (missing) {
			ktap_skip("%s: %s", named[i].name, missing);
			continue;
		}
		named[i].run(&why);
		if (!ktap_ok(!why.bad, "%s", named[i].name)) {
			ktap_diag("%s", why.text);
			ktap_diag("to repeat: %s --only '%s'",
				  program_invocation_short_name, named[i].name);
		}
	}
}

/* ------------------------------------------------------------------------- */

static void on_signal(int sig)
{
	settings_restore();
	signal(sig, SIG_DFL);
	raise(sig);
}

void signals_restore(void)
{
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
}
