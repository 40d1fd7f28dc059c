// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands: one command, one file, one line here. */
#include "pagerun.h"

const struct command commands[] = {
	{ "bench",   "measure what the running kernel does", cmd_bench },
	{ "compare", "put the results of two kernels side by side", cmd_compare },
	{ "merge",   "join the results of several runs of one kernel", cmd_merge },
	{ "show",    "print the results of one run as a table", cmd_show },
};

const size_t nr_commands = ARRAY_SIZE(commands);
