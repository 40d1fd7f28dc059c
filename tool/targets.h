/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goals for cases, of each kind one a case:
 *	{"rows":[{"case":"pin/64k","min_ratio":6},
 *		 {"case":"fast-only/nullmap","min_new":512},
 *		 {"case":"flushes/512-per-call","max_new":1},
 *		 {"case":"pin/nullmap/threads-8",
 *		  "max_of":"pin/anon/threads-8","factor":1.3}]}
 */
#ifndef TARGETS_H
#define TARGETS_H

#include <stddef.h>

#include "compare.h"

/**
 * struct targets - the goals of a file
 * @kind: MIN_RATIO: the ratio is at least @bound; MIN_NEW: the new value is;
 *	MAX_NEW: the new value is at most @bound; MAX_OF: it is at most @bound times
 *	that of the case @other
 * @other: NULL but for MAX_OF
 */
struct targets {
	struct target {
		char *name, *other;
		enum { MIN_RATIO, MIN_NEW, MAX_NEW, MAX_OF } kind;
		double bound;
	} *items;
	size_t nr;
};

/* Return: PR_OK, or PR_FAIL after one line on stderr and @targets empty. */
int targets_load(struct targets *targets, const char *path);

void targets_free(struct targets *targets);

/* Room for what targets_word() writes. */
#define TARGETS_WORD 160

/**
 * targets_word() - what the goal's column says: ">=6x pass", ">=512 MISS",
 *		    "<=1 pass", "<=1.3x pin/anon/threads-8 pass", "-" where there is none. Of
 *		    several: what each asks for, and MISS if one is missed
 * @buf: of TARGETS_WORD bytes
 *
 * Return: @buf.
 */
const char *targets_word(const struct targets *targets,
			 const struct comparison *c, const struct pair *pair,
			 char *buf);

/**
 * targets_check() - whether every goal is there and met
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr for each that is not.
 */
int targets_check(const struct targets *targets, const struct comparison *c);

#endif /* TARGETS_H */
