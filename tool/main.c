// SPDX-License-Identifier: GPL-2.0-only
/* pagerun: finds the command and hands over the arguments. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pagerun.h"
#include "usage.h"

const char *argp_program_version = "pagerun " PAGERUN_VERSION;

/* What the top-level parser finds. */
struct chosen {
	const struct command *cmd;
	int argc;
	char **argv;	/* argv[0] is the command's own word */
};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < nr_commands; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static error_t parse_top(int key, char *arg, struct argp_state *state)
{
	struct chosen *chosen = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		chosen->cmd = find_command(arg);
		if (!chosen->cmd)
			usage_error(state, "there is no command '%s'", arg);
		/* The rest is the command's, options included. */
		chosen->argv = &state->argv[state->next - 1];
		chosen->argc = state->argc - (state->next - 1);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_error(state, "no command given");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Put the list of commands before the fixed text at the end of --help. */
static char *add_commands(int key, const char *text, void *input)
{
	char *out = NULL;
	size_t len, i;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = open_memstream(&out, &len);
	if (!f)
		return (char *)text;
	fputs("Commands:\n", f);
	for (i = 0; i < nr_commands; i++)
		fprintf(f, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fprintf(f, "\n%s", text);
	if (fclose(f)) {
		free(out);
		return (char *)text;
	}
	return out;
}

static const char top_doc[] =
	"Says what the running kernel does with runs of pages, measures it, and "
	"compares two kernels.\v"
	"Each command has its own --help.\n\n"
	"Examples:\n"
	"  pagerun bench pin\n"
	"  pagerun bench pin --json base.json\n"
	"  pagerun compare base.json new.json\n\n"
	PR_EXIT_CODES_DOC;

static const struct argp top_argp = {
	.parser = parse_top,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc = top_doc,
	.help_filter = add_commands,
};

/*
 * Output that did not arrive is a failure, also for --help, after which argp
 * calls exit() itself.
 */
static void close_stdout(void)
{
	int had_error = ferror(stdout);

	if (fclose(stdout) == 0 && !had_error)
		return;
	/* Closed by the caller before we ran and never written to: fine. */
	if (!had_error && errno == EBADF)
		return;
	warnx("cannot write the output: %s", strerror(errno));
	_exit(PR_FAIL);
}

int main(int argc, char **argv)
{
	char name[32];
	struct chosen chosen = { 0 };
	const char *base = argc > 0 ? strrchr(argv[0], '/') : NULL;

	/* The kernel of the lab starts us as /init. */
	if (getpid() == 1 && base && !strcmp(base, "/init"))
		init_main(argc, argv);

	program_invocation_short_name = (char *)"pagerun";
	if (argc > 0)
		argv[0] = program_invocation_short_name;
	argp_err_exit_status = PR_USAGE;
	if (atexit(close_stdout)) {
		warnx("cannot prepare the exit: out of memory");
		return PR_FAIL;
	}
	if (argp_parse(&top_argp, argc, argv, ARGP_IN_ORDER, NULL, &chosen))
		return PR_FAIL;
	if (!chosen.cmd)
		return PR_USAGE;

	snprintf(name, sizeof(name), "pagerun %s", chosen.cmd->name);
	chosen.argv[0] = name;
	return chosen.cmd->run(chosen.argc, chosen.argv);
}
