/* SPDX-License-Identifier: GPL-2.0-only */
/* Wrong usage, told in one line. */
#ifndef USAGE_H
#define USAGE_H

#include <argp.h>

/**
 * usage_error() - say what is wrong and where the help is; exit with PR_USAGE
 *
 * In place of argp_error(), which takes several lines for it.
 */
void usage_error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif /* USAGE_H */
