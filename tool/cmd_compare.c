// SPDX-License-Identifier: GPL-2.0-only
/* pagerun compare: the results of two kernels side by side. */
#include <argp.h>
#include <err.h>
#include <string.h>

#include "compare.h"
#include "gate.h"
#include "json_file.h"
#include "pagerun.h"
#include "targets.h"
#include "usage.h"

enum {
	OPT_JSON = 256, OPT_PARTIAL, OPT_TARGETS, OPT_GATE, OPT_KEY, OPT_UPDATE,
};

/* The command line. */
struct compare_args {
	const char *base, *new;
	const char *json, *targets, *gate, *key;
	bool partial, update;
};

static const struct argp_option compare_argp_options[] = {
	{ "json", OPT_JSON, "FILE", 0,
	  "Write the comparison to FILE as JSON, besides the table; to stdout in place of the table if FILE is -", 0 },
	{ "partial", OPT_PARTIAL, NULL, 0,
	  "Cases that only one file has are no failure", 0 },
	{ "targets", OPT_TARGETS, "FILE", 0,
	  "Add a column with the goals in FILE; one that is missed or not measured is a failure", 0 },
	{ "gate", OPT_GATE, "FILE", 0,
	  "A figure of the insn clock that is worse by more than 1 % than the one committed in FILE under --key is a failure", 0 },
	{ "key", OPT_KEY, "STRING", 0,
	  "What the committed figures depend on, e.g. version and compiler", 0 },
	{ "gate-update", OPT_UPDATE, NULL, 0,
	  "Write the measured figures into the --gate file, in place of those under --key", 0 },
	{ 0 },
};

static void check_together(struct argp_state *state,
			   const struct compare_args *args)
{
	if (!args->new)
		usage_error(state, "two files are needed, A.json (base) and B.json (new)");
	if (args->gate && !args->key)
		usage_error(state, "--gate needs --key");
	if (!args->gate && (args->key || args->update))
		usage_error(state, "%s needs --gate",
			    args->key ? "--key" : "--gate-update");
}

static const char *not_empty(struct argp_state *state, const char *option,
			     const char *arg)
{
	if (!*arg)
		usage_error(state, "%s: its value is empty", option);
	return arg;
}

static error_t parse_compare(int key, char *arg, struct argp_state *state)
{
	struct compare_args *args = state->input;

	switch (key) {
	case OPT_JSON:
		args->json = not_empty(state, "--json", arg);
		return 0;
	case OPT_PARTIAL:
		args->partial = true;
		return 0;
	case OPT_TARGETS:
		args->targets = not_empty(state, "--targets", arg);
		return 0;
	case OPT_GATE:
		args->gate = not_empty(state, "--gate", arg);
		return 0;
	case OPT_KEY:
		args->key = not_empty(state, "--key", arg);
		return 0;
	case OPT_UPDATE:
		args->update = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->new)
			usage_error(state, "two files only: '%s' is too much", arg);
		*(args->base ? &args->new : &args->base) = arg;
		return 0;
	case ARGP_KEY_END:
		check_together(state, args);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char compare_doc[] =
	"Put the results of two kernels, written by pagerun bench --json, side by "
	"side.\v"
	"ratio is base/new where less is better and new/base where more is: above "
	"1, B.json is better. Cases that only one file has are told on stderr and "
	"are a failure without --partial; no JSON is written then.\n\n"
	"Examples:\n"
	"  pagerun compare base.json new.json\n"
	"  pagerun compare base.json new.json --json compare.json\n"
	"  pagerun compare base.json new.json --targets targets.json\n"
	"  pagerun compare base.json new.json --gate figures.json --key 6.12/gcc-12\n\n"
	"--targets reads {\"rows\":[{\"case\":\"pin/64k\",\"min_ratio\":6}]}; in place "
	"of min_ratio, \"min_new\":512 is a goal for the new value, and "
	"\"max_of\":\"pin/4k\",\"factor\":1.3 one relative to the new value of "
	"another case.\n\n"
	PR_EXIT_CODES_DOC;

static const struct argp compare_argp = {
	.options = compare_argp_options,
	.parser = parse_compare,
	.args_doc = "A.json B.json",
	.doc = compare_doc,
};

static int write_comparison(const struct compare_args *args,
			    const struct comparison *c,
			    const struct targets *targets)
{
	json_t *json;
	int ret = PR_OK;

	if (!args->json || strcmp(args->json, "-"))
		ret = comparison_print(c, targets);
	if (!args->json || ret || (c->lonely && !args->partial))
		return ret;
	json = comparison_to_json(c);
	if (!json) {
		warnx("out of memory for the JSON");
		return PR_FAIL;
	}
	ret = json_file_save(args->json, json);
	json_decref(json);
	return ret;
}

static int judge(const struct compare_args *args, const struct comparison *c,
		 const struct targets *targets)
{
	int ret = PR_OK;

	if (c->lonely && !args->partial) {
		warnx("the files do not have the same cases: measure both the same way, or use --partial");
		ret = PR_FAIL;
	}
	if (targets && targets_check(targets, c))
		ret = PR_FAIL;
	if (!args->gate)
		return ret;
	/* A comparison with a hole in it is nothing to commit. */
	if (args->update && ret)
		warnx("%s is left as it is", args->gate);
	else if (args->update ? gate_update(args->gate, args->key, c) :
				gate_check(args->gate, args->key, c))
		ret = PR_FAIL;
	return ret;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_args args = { 0 };
	struct targets targets = { 0 };
	struct comparison c;
	int ret;

	if (argp_parse(&compare_argp, argc, argv, 0, NULL, &args))
		return PR_FAIL;
	if (args.targets) {
		ret = targets_load(&targets, args.targets);
		if (ret)
			return ret;
	}
	ret = comparison_load(&c, args.base, args.new);
	if (!ret) {
		const struct targets *goals = args.targets ? &targets : NULL;

		ret = write_comparison(&args, &c, goals);
		if (judge(&args, &c, goals))
			ret = PR_FAIL;
		comparison_free(&c);
	}
	targets_free(&targets);
	return ret;
}
