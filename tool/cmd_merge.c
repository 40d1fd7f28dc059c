// SPDX-License-Identifier: GPL-2.0-only
/* pagerun merge: several runs of one kernel as one. */
#include <argp.h>

#include "merge.h"
#include "pagerun.h"
#include "results.h"
#include "usage.h"

enum {
	OPT_JSON = 256,
	OPT_UNITE,
};

/* The command line; the files are a part of argv, as argp moves options up. */
struct merge_args {
	char **paths;
	size_t nr;
	const char *json;
	bool unite;
};

static const struct argp_option merge_argp_options[] = {
	{ "json", OPT_JSON, "FILE", 0,
	  "Write the merged results to FILE as JSON, besides the table; to stdout in place of the table if FILE is -", 0 },
	{ "unite", OPT_UNITE, NULL, 0,
	  "Take a case that a file lacks from the others, rather than fail", 0 },
	{ 0 },
};

static error_t parse_merge(int key, char *arg, struct argp_state *state)
{
	struct merge_args *args = state->input;

	switch (key) {
	case OPT_JSON:
		if (!*arg)
			usage_error(state, "--json: the name of the file is empty");
		args->json = arg;
		return 0;
	case OPT_UNITE:
		args->unite = true;
		return 0;
	case ARGP_KEY_ARGS:
		args->paths = state->argv + state->next;
		args->nr = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_error(state, "no file given");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char merge_doc[] =
	"Join the results of several runs of one kernel, written by pagerun bench "
	"--json.\v"
	"A case gets the samples of all files, and its value is their median. The "
	"files must have the same cases, unless --unite, of one kernel with one "
	"setting of its switches.\n\n"
	"Examples:\n"
	"  pagerun merge first.json second.json --json both.json\n"
	"  pagerun merge --unite insn.json wall.json --json all.json\n\n"
	PR_EXIT_CODES_DOC;

static const struct argp merge_argp = {
	.options = merge_argp_options,
	.parser = parse_merge,
	.args_doc = "A.json...",
	.doc = merge_doc,
};

int cmd_merge(int argc, char **argv)
{
	struct merge_args args = { 0 };
	struct run run = { 0 };
	int ret;

	if (argp_parse(&merge_argp, argc, argv, 0, NULL, &args))
		return PR_FAIL;
	ret = merge_load(&run, args.paths, args.nr, args.unite);
	if (ret)
		return ret;
	ret = run_write(&run, args.json);
	run_free(&run);
	return ret;
}
