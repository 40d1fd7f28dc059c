// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "pagerun.h"
#include "uring.h"

int uring_open(struct io_uring *ring, unsigned int depth, struct why *why)
{
	int err = io_uring_queue_init(depth, ring, 0);

	if (!err)
		return PR_OK;
	why_set(why, "io_uring cannot be used: %s; it needs CONFIG_IO_URING, and kernel.io_uring_disabled at 0",
		strerror(-err));
	return PR_SKIP;
}
