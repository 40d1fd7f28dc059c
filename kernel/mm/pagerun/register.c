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
 *  - Without memory for it the base's search answers, until the set would have been dropped,
 *    or the ring's buffers are unregistered: to try again for each buffer would cost
 *    more than the search.
 *
 * All that is under ->uring_lock: what changes a ring's table or looks for folios in it.
 * Folios in the table are pinned, so that their heads are stable.
 */
#include <linux/bvec.h>
#include <linux/err.h>
#include <linux/io_uring_types.h>
#include <linux/lockdep.h>
#include <linux/mm.h>

#include <trace/events/pagerun.h>

#include "../../io_uring/io_uring.h"
#include "../../io_uring/rsrc.h"
#include "array.h"
#include "register.h"
#include "register_set.h"
#include "switch.h"

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

/* The entries from the first on that hold consecutive pages of its folio. */
static unsigned int page_run(const struct folio *folio, struct page **pages, int nr_pages)
{
	unsigned long max;

	/* So it is where the array has whole folios. */
	if (nr_pages == 1 || !pagerun_array_may_run(pages))
		return 1;

	max = folio_nr_pages(folio) - folio_page_idx(folio, pages[0]);
	return pagerun_array_run(pages, min_t(unsigned long, max, nr_pages));
}

/* Return: false if there was no memory, half-way perhaps. */
static bool account(struct io_ring_ctx *ctx, struct page **pages, int nr_pages,
		    struct io_mapped_ubuf *imu, struct page **last_hpage)
{
	int i, nr, seen = 0;

	for (i = 0; i < nr_pages; i += nr) {
		struct page *head;
		bool same;

		if (!PageCompound(pages[i])) {
			imu->acct_pages++;
			nr = 1;
			continue;
		}
		head = compound_head(pages[i]);
		nr = page_run((struct folio *)head, pages + i, nr_pages - i);

		same = head == *last_hpage;
		if (!same || ctx->pagerun_folios) {
			seen = look_up(ctx, pages, i, nr, nr_pages, head);
			if (seen < 0)
				return false;
		}
		*last_hpage = head;
		if (!same && !seen)
			imu->acct_pages += compound_nr(head);
	}
	return true;
}

/**
 * pagerun_register_account() - count the pages of a new buffer for the limits
 * @ctx: the ring, whose table does not hold the buffer yet
 * @pages: what the buffer's bvecs will hold
 * @nr_pages: so many
 * @imu: the buffer; ->acct_pages is added to
 * @last_hpage: head of the last large folio that was looked at in this call
 *
 * Context: ->uring_lock; may sleep.
 * Return: false if that is left to the base, as the feature is off or has no memory;
 * then @imu and @last_hpage are as they were.
 */
bool pagerun_register_account(struct io_ring_ctx *ctx, struct page **pages, int nr_pages,
			      struct io_mapped_ubuf *imu, struct page **last_hpage)
{
	const unsigned long acct_pages = imu->acct_pages;
	struct page *const last = *last_hpage;

	lockdep_assert_held(&ctx->uring_lock);

	if (!pagerun_on(PAGERUN_REGISTER)) {
		/* What the base accounts now is not noted. */
		pagerun_register_drop(ctx);
		return false;
	}
	if (account(ctx, pages, nr_pages, imu, last_hpage))
		return true;

	pagerun_account(PAGERUN_REGISTER, 0, 0, true);
	imu->acct_pages = acct_pages;
	*last_hpage = last;
	return false;
}

/**
 * pagerun_register_undo() - a buffer that was accounted will not be in the table
 * @ctx: the ring
 * @pages: as given to pagerun_register_account()
 * @nr_pages: so many
 *
 * Done with the switch on or off.
 *
 * Context: ->uring_lock, held since.
 */
void pagerun_register_undo(struct io_ring_ctx *ctx, struct page **pages, int nr_pages)
{
	int i;

	lockdep_assert_held(&ctx->uring_lock);

	if (IS_ERR_OR_NULL(ctx->pagerun_folios))
		return;
	for (i = 0; i < nr_pages; i++) {
		if (PageCompound(pages[i]))
			pagerun_folios_remove(ctx->pagerun_folios, compound_head(pages[i]), 1);
	}
}

/**
 * pagerun_register_remove() - a buffer is about to leave the table
 * @ctx: the ring
 * @imu: the buffer, still in the table
 *
 * Done with the switch on or off.
 *
 * Context: ->uring_lock.
 */
void pagerun_register_remove(struct io_ring_ctx *ctx, const struct io_mapped_ubuf *imu)
{
	const struct page *head;
	unsigned int i, nr;

	lockdep_assert_held(&ctx->uring_lock);

	if (IS_ERR_OR_NULL(ctx->pagerun_folios))
		return;
	for (i = 0; i < imu->nr_bvecs; i += nr) {
		nr = bvec_run(imu, i, &head);
		if (head)
			pagerun_folios_remove(ctx->pagerun_folios, head, nr);
	}
}

/**
 * pagerun_register_drop() - forget which folios a ring's buffers hold
 * @ctx: the ring
 *
 * To be called when a ring's table of buffers goes away, or holds other buffers than was
 * noted. What is needed again is found in the table.
 *
 * Context: ->uring_lock.
 */
void pagerun_register_drop(struct io_ring_ctx *ctx)
{
	if (!IS_ERR(ctx->pagerun_folios))
		pagerun_folios_free(ctx->pagerun_folios);
	ctx->pagerun_folios = NULL;
}

/* A run of a buffer whose folios are being counted. */
static unsigned int counted_run(const struct folio *folio, struct page **pages, int nr_pages)
{
	unsigned int nr = page_run(folio, pages, nr_pages);

	if (nr > 1) {
		trace_pagerun_register(page_to_pfn(pages[0]), folio_order(folio), nr);
		pagerun_account(PAGERUN_REGISTER, 1, nr, false);
	}
	return nr;
}

/**
 * pagerun_register_whole() - can a buffer be told by whole folios?
 * @pages: its pages, pinned, more than one
 * @nr_pages: so many
 * @data: ->nr_pages_mid and ->first_folio_page_idx are those of the first page's folio,
 *	which is large. ->nr_pages_head is set
 *
 * It can if all folios have one size, and lie in it whole but for the first, of which it
 * may have the end, and the last, of which it may have the beginning.
 *
 * Context: process context.
 * Return: how many folios; 0 if it cannot; -EOPNOTSUPP if the feature is off.
 */
int pagerun_register_whole(struct page **pages, int nr_pages, struct io_imu_folio_data *data)
{
	struct folio *folio = page_folio(pages[0]);
	int i, nr, nr_folios = 1;

	if (!pagerun_on(PAGERUN_REGISTER))
		return -EOPNOTSUPP;

	VM_WARN_ON_ONCE(nr_pages < 2 || data->nr_pages_mid != folio_nr_pages(folio));

	nr = counted_run(folio, pages, nr_pages);
	data->nr_pages_head = nr;
	if (nr < nr_pages && data->first_folio_page_idx + nr != data->nr_pages_mid)
		return 0;

	for (i = nr; i < nr_pages; i += nr) {
		folio = page_folio(pages[i]);
		if (pages[i] != &folio->page || folio_nr_pages(folio) != data->nr_pages_mid)
			return 0;
		nr = counted_run(folio, pages + i, nr_pages - i);
		if (nr != data->nr_pages_mid && i + nr != nr_pages)
			return 0;
		nr_folios++;
	}
	return nr_folios;
}

/**
 * pagerun_register_unpin() - release what need not be held for each page of a run
 * @pages: consecutive pages of one folio, pinned
 * @nr_pages: so many, at least 1
 */
void pagerun_register_unpin(struct page **pages, unsigned long nr_pages)
{
	if (pagerun_on(PAGERUN_REGISTER))
		unpin_user_folio(page_folio(pages[0]), nr_pages);
	else
		unpin_user_pages(pages, nr_pages);
}
