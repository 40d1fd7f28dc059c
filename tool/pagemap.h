/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of our memory there is, by the kernel's own word. */
#ifndef PAGEMAP_H
#define PAGEMAP_H

#include <stddef.h>

#include "why.h"

/**
 * pagemap_count() - how many pages have something in them, in memory or swapped out
 * @addr: start, aligned to a page; need not be mapped
 * @pages: how many to look at
 * @count: filled
 * @why: filled on failure
 *
 * Touches no page.
 * Return: 0, or -1 if that cannot be told.
 */
int pagemap_count(const void *addr, size_t pages, size_t *count, struct why *why);

#endif /* PAGEMAP_H */
