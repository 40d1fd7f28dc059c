// SPDX-License-Identifier: GPL-2.0-only
/*
 * register: io_uring registers buffers by the run, and linear in folios.
 *
 * A large folio counts whole for RLIMIT_MEMLOCK and ->pinned_vm, and once: with the first
 * buffer of a ring that holds a page of it. To know, the base compares it with all that
 * the new buffer held so far and with all that is in the ring's table.
 *
 * Here a ring has a set of the large folios in its table. The set is not what decides:
 * what does is the table, as in the base, and the set says the same faster:
 *
 *  - It is made when a comparison would become long, out of the table and what the new
 *    buffer held so far. Short ones go without.
 *  - While there is one, it knows each buffer of the table, and of the new buffer what
 *    was looked at so far. A folio is noted as often as bvecs hold it, so that a buffer
 *    that leaves takes away just its own.
 *  - Where that cannot be kept up, it is dropped: a slot that could not be emptied after
 *    all; or the switch off, while the base accounts. A clone begins without. Next time
 *    it is made again.
 *  - Without memory for it the base's search answers, until the ring's buffers are
 *    unregistered: to try again for each buffer would cost more than the search.
 *
 * All that is under ->uring_lock: what changes a ring's table or looks for folios in it.
 * Folios in the table are pinned, so that their heads are stable.
 */
#include <linux/bvec.h>
#include <linux/err.h>
#include <linux/io_uring_types.h>
#include <linux/lockdep.h>
#include <linux/mm.h>

#include "../../io_uring/io_uring.h"
#include "../../io_uring/rsrc.h"
#include "register.h"
#include "register_set.h"

/*
 * Comparisons for one folio before a set is made. To make one costs about as much as
 * some hundred: the memory, and a few instructions a folio.
 */
#define PAGERUN_REGISTER_SCAN	64U

/* As the base does: is a folio in what the new buffer holds so far, or in the table? */
enum scan { SCAN_ABSENT, SCAN_FOUND, SCAN_LONG };

static enum scan scan(const struct io_ring_ctx *ctx, struct page **pages, int nr_pages,
		      const struct page *head)
{
	unsigned int left = PAGERUN_REGISTER_SCAN, i, j;

	for (i = 0; i < nr_pages; i++) {
		if (!left--)
			return SCAN_LONG;
		if (compound_head(pages[i]) == head)
			return SCAN_FOUND;
	}
	for (i = 0; i < ctx->nr_user_bufs; i++) {
		const struct io_mapped_ubuf *imu = ctx->user_bufs[i];

		/* An empty slot is a step, too. */
		if (!left--)
			return SCAN_LONG;
		for (j = 0; j < imu->nr_bvecs; j++) {
			if (!left--)
				return SCAN_LONG;
			if (compound_head(imu->bvec[j].bv_page) == head)
				return SCAN_FOUND;
		}
	}
	return SCAN_ABSENT;
}

/* The bvecs from @i on that hold the folio of the first. Its head, NULL if it is small. */
static unsigned int bvec_run(const struct io_mapped_ubuf *imu, unsigned int i,
			     const struct page **head)
{
	struct page *page = imu->bvec[i].bv_page;
	unsigned int nr = 1;

	*head = NULL;
	if (!PageCompound(page))
		return nr;

	*head = compound_head(page);
	while (i + nr < imu->nr_bvecs && compound_head(imu->bvec[i + nr].bv_page) == *head)
		nr++;
	return nr;
}

static int note_buffer(struct pagerun_folios **set, const struct io_mapped_ubuf *imu)
{
	const struct page *head;
	unsigned int i, nr;

	for (i = 0; i < imu->nr_bvecs; i += nr) {
		nr = bvec_run(imu, i, &head);
		if (head && pagerun_folios_add(set, head, nr, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int note_pages(struct pagerun_folios **set, struct page **pages, int nr_pages)
{
	int i;

	for (i = 0; i < nr_pages; i++) {
		if (PageCompound(pages[i]) &&
		    pagerun_folios_add(set, compound_head(pages[i]), 1, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Note what is in the table, and what the new buffer holds so far. */
static int note_all(struct pagerun_folios **set, const struct io_ring_ctx *ctx,
		    struct page **pages, int nr_pages)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_user_bufs; i++) {
		if (note_buffer(set, ctx->user_bufs[i]))
			return -ENOMEM;
	}
	return note_pages(set, pages, nr_pages);
}

/*
 * How many large folios will follow the one whose run begins at @i? Known if the buffer
 * is told by whole folios.
 */
static unsigned long likely_more(struct page **pages, int i, int nr, int nr_pages)
{
	const bool whole = nr == 1 && i + 1 < nr_pages && PageHead(pages[i]) &&
			   PageHead(pages[i + 1]);

	return whole ? nr_pages - i - 1 : 0;
}

/*
 * Is the folio of @pages[@i] in the table, or in what the new buffer holds before? Note
 * that it is held by @nr entries from there on.
 *
 * Return: 1, 0, or -ENOMEM; then there is no set, and will be none.
 */
static int look_up(struct io_ring_ctx *ctx, struct page **pages, int i, int nr, int nr_pages,
		   const struct page *head)
{
	struct pagerun_folios *set = ctx->pagerun_folios;
	enum scan found;
	long before;

	if (IS_ERR(set))
		return PTR_ERR(set);
	if (!set) {
		found = scan(ctx, pages, i, head);
		if (found != SCAN_LONG)
			return found == SCAN_FOUND;
		if (note_all(&set, ctx, pages, i))
			goto drop;
	}
	before = pagerun_folios_add(&set, head, nr, likely_more(pages, i, nr, nr_pages));
	if (before < 0)
		goto drop;
	ctx->pagerun_folios = set;
	return before > 0;
drop:
	pagerun_folios_free(set);
	ctx->pagerun_folios = ERR_PTR(-ENOMEM);
	return -ENOMEM;
}

int __pagerun_register_account(struct io_ring_ctx *ctx, struct page **pages, int nr_pages,
			       struct io_mapped_ubuf *imu, struct page **last_hpage)
{
	int i, nr, seen = 0;

	lockdep_assert_held(&ctx->uring_lock);

	for (i = 0; i < nr_pages; i += nr) {
		struct page *head;
		bool same;

		if (!PageCompound(pages[i])) {
			imu->acct_pages++;
			nr = 1;
			continue;
		}
		head = compound_head(pages[i]);
		nr = pagerun_register_run(page_folio(head), pages + i, nr_pages - i);

		same = head == *last_hpage;
		if (!same || ctx->pagerun_folios) {
			seen = look_up(ctx, pages, i, nr, nr_pages, head);
			if (seen < 0) {
				pagerun_account(PAGERUN_REGISTER, 0, 0, true);
				return i;
			}
		}
		*last_hpage = head;
		if (!same && !seen)
			imu->acct_pages += compound_nr(head);
	}
	return nr_pages;
}

void __pagerun_register_remove(struct io_ring_ctx *ctx, const struct io_mapped_ubuf *imu)
{
	const struct page *head;
	unsigned int i, nr;

	lockdep_assert_held(&ctx->uring_lock);

	if (IS_ERR(ctx->pagerun_folios))
		return;
	for (i = 0; i < imu->nr_bvecs; i += nr) {
		nr = bvec_run(imu, i, &head);
		if (head)
			pagerun_folios_remove(ctx->pagerun_folios, head, nr);
	}
}

void __pagerun_register_undo(struct io_ring_ctx *ctx, struct page **pages, int nr_pages)
{
	int i;

	lockdep_assert_held(&ctx->uring_lock);

	if (IS_ERR(ctx->pagerun_folios))
		return;
	for (i = 0; i < nr_pages; i++) {
		if (PageCompound(pages[i]))
			pagerun_folios_remove(ctx->pagerun_folios, compound_head(pages[i]), 1);
	}
}

void __pagerun_register_drop(struct io_ring_ctx *ctx)
{
	if (!IS_ERR(ctx->pagerun_folios))
		pagerun_folios_free(ctx->pagerun_folios);
	ctx->pagerun_folios = NULL;
}
