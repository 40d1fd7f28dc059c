/* SPDX-License-Identifier: GPL-2.0-only */
/* Cases that are not possible here, told once everything is measured. */
#ifndef SKIPS_H
#define SKIPS_H

#include <stddef.h>

/**
 * struct skips - cases, grouped by the reason that they share
 */
struct skips {
	struct {
		char *cases, *reason;
	} *items;
	size_t nr;
};

/* Return: PR_OK, or PR_FAIL after one line on stderr. */
int skips_add(struct skips *skips, const char *name, const char *reason);

/* One line on stderr for each reason. */
void skips_print(const struct skips *skips);

void skips_free(struct skips *skips);

#endif /* SKIPS_H */
