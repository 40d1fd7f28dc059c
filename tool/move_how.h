/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways to get pages from one place to another. */
#ifndef MOVE_HOW_H
#define MOVE_HOW_H

#include <stdbool.h>
#include <stddef.h>

#include "move_area.h"

/**
 * struct move_how - one way
 * @what: what to call it in messages
 * @plain: it wants a destination that userfaultfd knows nothing of
 * @call: moves one part; all of it, or returns an errno
 */
struct move_how {
	const char *what;
	bool plain;
	int (*call)(const struct move_area *area, size_t offset, size_t size);
};

extern const struct move_how move_how_move;
extern const struct move_how move_how_copy;
extern const struct move_how move_how_mremap;

/* Say that it failed, on stderr. Return: PR_FAIL. */
int move_how_failed(const struct move_how *how, int err);

#endif /* MOVE_HOW_H */
