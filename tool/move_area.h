/* SPDX-License-Identifier: GPL-2.0-only */
/* Fresh memory to move, and a place to move it to. */
#ifndef MOVE_AREA_H
#define MOVE_AREA_H

#include "memory.h"
#include "why.h"

/**
 * struct move_area - two pieces of memory that agree modulo MEMORY_STEP
 * @src: each page stamped
 * @dst: empty; its page tables are there, so that nobody pays for them later
 * @uffd: where @dst is registered, or -1
 */
struct move_area {
	struct memory src, dst;
	int uffd;
};

/**
 * move_area_get() - get a fresh one
 * @kind: of @area->src
 * @size: bytes of each piece, a multiple of MEMORY_STEP
 * @uffd: to register @area->dst with; -1: it stays plain memory
 * @why: filled on PR_SKIP
 *
 * Return: PR_OK, PR_SKIP, or PR_FAIL after one line on stderr; it holds nothing
 * then.
 */
int move_area_get(struct move_area *area, const struct memory_kind *kind,
		  size_t size, int uffd, struct why *why);

/**
 * move_area_check() - whether all pages are in the destination and none is left
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int move_area_check(const struct move_area *area);

void move_area_put(struct move_area *area);

#endif /* MOVE_AREA_H */
