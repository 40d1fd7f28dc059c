// SPDX-License-Identifier: GPL-2.0-only
/* pagerun show: the results of one run as a table. */
#include <argp.h>

#include "pagerun.h"
#include "results.h"
#include "usage.h"

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
	const char **path = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*path)
			usage_error(state, "one file only: '%s' is too much", arg);
		*path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_error(state, "no file given");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char show_doc[] =
	"Print the results that pagerun bench --json wrote as a table.\v"
	"The value of a case is the median of its samples.\n\n"
	"Example:\n"
	"  pagerun show base.json\n\n"
	PR_EXIT_CODES_DOC;

static const struct argp show_argp = {
	.parser = parse_show,
	.args_doc = "FILE.json",
	.doc = show_doc,
};

int cmd_show(int argc, char **argv)
{
	const char *path = NULL;
	struct run run = { 0 };
	int ret;

	if (argp_parse(&show_argp, argc, argv, 0, NULL, &path))
		return PR_FAIL;
	ret = run_load(&run, path);
	if (ret)
		return ret;
	kernel_print("kernel", run.kernel);
	ret = run_print(&run);
	run_free(&run);
	return ret;
}
