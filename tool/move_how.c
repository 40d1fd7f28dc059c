// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "move_how.h"
#include "pagerun.h"
#include "uffd.h"

static int call_move(const struct move_area *area, size_t offset, size_t size)
{
	return uffd_move(area->uffd, area->dst.addr + offset,
			 area->src.addr + offset, size);
}

const struct move_how move_how_move = {
	.what = "UFFDIO_MOVE", .call = call_move,
};

/* What programs do that cannot move: the source is to be empty after both. */
static int call_copy(const struct move_area *area, size_t offset, size_t size)
{
	int err = uffd_copy(area->uffd, area->dst.addr + offset,
			    area->src.addr + offset, size);

	if (err)
		return err;
	return madvise(area->src.addr + offset, size, MADV_DONTNEED) ? errno : 0;
}

const struct move_how move_how_copy = {
	.what = "UFFDIO_COPY and MADV_DONTNEED", .call = call_copy,
};

static int call_mremap(const struct move_area *area, size_t offset, size_t size)
{
	void *to = area->dst.addr + offset;

	return mremap(area->src.addr + offset, size, size,
		      MREMAP_MAYMOVE | MREMAP_FIXED, to) == to ? 0 : errno;
}

const struct move_how move_how_mremap = {
	.what = "mremap()", .plain = true, .call = call_mremap,
};

int move_how_failed(const struct move_how *how, int err)
{
	warnx("%s did not move all that it was to: %s: stop what pins, merges or reclaims memory here, look into the kernel log, and measure again",
	      how->what, strerror(err));
	return PR_FAIL;
}
