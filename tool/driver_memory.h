/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that the test driver maps: order-0 pages whose ->mapping is NULL. */
#ifndef DRIVER_MEMORY_H
#define DRIVER_MEMORY_H

#include <stddef.h>

#include "memory.h"

/**
 * driver_memory_get() - map several pieces of the driver's memory
 * @pieces: @nr of them, filled, for memory_put()
 * @size: bytes a piece
 * @why: filled on PR_SKIP
 *
 * Return: PR_OK; PR_SKIP if there is not that much memory; PR_FAIL after one
 * line on stderr. Nothing is held on failure.
 */
int driver_memory_get(struct memory *pieces, unsigned int nr, size_t size,
		      struct why *why);

#endif /* DRIVER_MEMORY_H */
