/* SPDX-License-Identifier: GPL-2.0-only */
/* What every part of the program knows: its version, exit codes, commands. */
#ifndef PAGERUN_H
#define PAGERUN_H

#include <stddef.h>

#define PAGERUN_VERSION "0.1.0"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Exit codes, and what functions that report their own errors return: each
 * code other than PR_OK means that one line on stderr said why.
 */
enum pr_exit {
	PR_OK		= 0,
	PR_FAIL		= 1,	/* broke, or measured worse than asked */
	PR_USAGE	= 2,
	PR_SKIP		= 4,	/* not possible here, the remedy was named */
};

/* The part of each --help that tells the exit codes. */
#define PR_EXIT_CODES_DOC \
	"Exit codes:\n" \
	"  0  fine\n" \
	"  1  failed, measured worse than asked, or something broke\n" \
	"  2  wrong usage\n" \
	"  4  skipped: not possible here (the message says what is missing)\n"

/**
 * struct command - one word after "pagerun"
 * @name: the word
 * @summary: one line for the list in pagerun --help
 * @run: takes the arguments, argv[0] being "pagerun NAME"; returns pr_exit
 */
struct command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

extern const struct command commands[];
extern const size_t nr_commands;

int cmd_bench(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_show(int argc, char **argv);

/* The life of process 1 in the lab's guest; does not return. */
void init_main(int argc, char **argv) __attribute__((noreturn));

#endif /* PAGERUN_H */
