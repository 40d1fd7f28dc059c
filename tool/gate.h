/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Committed figures, which later measurements may not be worse than:
 *	{"schema":1,"keys":{KEY:{"pin:pin/64k":{"base":187.6,"new":25.1}}}}
 * A key names what the figures depend on: the tree's version and the compiler.
 * Only rows of the insn clock are held to them, as only those repeat exactly.
 */
#ifndef GATE_H
#define GATE_H

#include "compare.h"

/**
 * gate_check() - hold a comparison to the figures committed under @key
 *
 * Worse by more than 1 %, on either side, is a failure, as is a committed case
 * that the comparison lacks. A key that is not there is told, with how to add
 * it, and is none.
 * Return: PR_OK, or PR_FAIL after lines on stderr, one a failure.
 */
int gate_check(const char *path, const char *key, const struct comparison *c);

/**
 * gate_update() - write the comparison's figures under @key, for those there
 *
 * Other keys stay. A file that is not there is made.
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int gate_update(const char *path, const char *key, const struct comparison *c);

#endif /* GATE_H */
