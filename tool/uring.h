/* SPDX-License-Identifier: GPL-2.0-only */
/* A ring of io_uring for a benchmark. */
#ifndef URING_H
#define URING_H

#include <liburing.h>

#include "why.h"

/**
 * uring_open() - make a ring
 * @ring: filled, for io_uring_queue_exit()
 * @depth: entries
 * @why: filled if there can be none
 *
 * Return: PR_OK or PR_SKIP.
 */
int uring_open(struct io_uring *ring, unsigned int depth, struct why *why);

#endif /* URING_H */
