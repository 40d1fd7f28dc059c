/* SPDX-License-Identifier: GPL-2.0-only */
/* What "pagerun bench nullmap" says in words. */
#ifndef NULLMAP_SAY_H
#define NULLMAP_SAY_H

#include <stddef.h>

#include "results.h"

/* Pages that each case is about, and the cases that a verdict needs. */
#define NULLMAP_PAGES	512
#define NULLMAP_CASE	"fast-only/nullmap"
#define NULLMAP_CONTROL	"fast-only/anon"

/**
 * nullmap_verdict() - PASS or FAIL on stderr, from the rows of a run
 *
 * A control that failed is a line of its own. Nothing is said if the case was
 * not measured.
 * Return: PR_OK, or PR_FAIL if a line says FAIL.
 */
int nullmap_verdict(const struct run *run);

/* What can be told about the running kernel without measuring: a line on stderr. */
void nullmap_infer(void);

/**
 * nullmap_infer_text() - the same as text
 * @release: of the kernel, as uname() has it
 * @state: what the switch of the feature reads as, NULL if there is none
 *
 * Return: @buf.
 */
const char *nullmap_infer_text(const char *release, const char *state, char *buf,
			       size_t size);

#endif /* NULLMAP_SAY_H */
