/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * register: io_uring registers buffers by the run, and linear in folios.
 *
 * Included by io_uring/rsrc.c. See register.c.
 */
#ifndef _MM_PAGERUN_REGISTER_H
#define _MM_PAGERUN_REGISTER_H

struct io_mapped_ubuf;
struct io_ring_ctx;

#ifdef CONFIG_PAGERUN_REGISTER

#include <trace/events/pagerun.h>

#include "array.h"
#include "switch.h"

int __pagerun_register_account(struct io_ring_ctx *ctx, struct page **pages, int nr_pages,
			       struct io_mapped_ubuf *imu, struct page **last_hpage);
void __pagerun_register_remove(struct io_ring_ctx *ctx, const struct io_mapped_ubuf *imu);
void __pagerun_register_undo(struct io_ring_ctx *ctx, struct page **pages, int nr_pages);
void __pagerun_register_drop(struct io_ring_ctx *ctx);

/**
 * pagerun_register_drop() - forget which folios a ring's buffers hold
 * @ctx: the ring
 *
 * To be called when a ring's table of buffers goes away, or holds other buffers than was
 * noted. What is needed again is found in the table.
 *
 * Context: ->uring_lock.
 */
static inline void pagerun_register_drop(struct io_ring_ctx *ctx)
{
	if (ctx->pagerun_folios)
		__pagerun_register_drop(ctx);
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
 * Return: how many of @pages were looked at. The base has to look at the others.
 */
static inline int pagerun_register_account(struct io_ring_ctx *ctx, struct page **pages,
					   int nr_pages, struct io_mapped_ubuf *imu,
					   struct page **last_hpage)
{
	if (pagerun_on(PAGERUN_REGISTER))
		return __pagerun_register_account(ctx, pages, nr_pages, imu, last_hpage);

	/* What the base accounts now is not noted. */
	pagerun_register_drop(ctx);
	return 0;
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
static inline void pagerun_register_undo(struct io_ring_ctx *ctx, struct page **pages,
					 int nr_pages)
{
	if (ctx->pagerun_folios)
		__pagerun_register_undo(ctx, pages, nr_pages);
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
static inline void pagerun_register_remove(struct io_ring_ctx *ctx,
					   const struct io_mapped_ubuf *imu)
{
	if (ctx->pagerun_folios)
		__pagerun_register_remove(ctx, imu);
}

/* The entries from the first on that hold consecutive pages of its folio. */
static __always_inline unsigned int pagerun_register_run(const struct folio *folio,
							 struct page **pages, int nr_pages)
{
	unsigned long max;

	/* So it is behind each folio's end, and where the array has whole folios. */
	if (nr_pages == 1 || !pagerun_array_may_run(pages))
		return 1;

	max = folio_nr_pages(folio) - folio_page_idx(folio, pages[0]);
	return pagerun_array_run(pages, min_t(unsigned long, max, nr_pages));
}

/**
 * pagerun_register_rest() - how many entries go on with a run?
 * @folio: the folio of the entry in front of @i
 * @pages: an array of pinned pages
 * @i: an entry, not the first
 * @nr_pages: length of the array
 *
 * Return: how many entries from @i on hold the pages of @folio that follow; 0 too if the
 * feature is off.
 */
static __always_inline int pagerun_register_rest(const struct folio *folio,
						 struct page **pages, int i, int nr_pages)
{
	unsigned int nr;

	if (!pagerun_on(PAGERUN_REGISTER))
		return 0;

	nr = pagerun_register_run(folio, pages + i - 1, nr_pages - i + 1);
	if (nr > 1) {
		trace_pagerun_register(page_to_pfn(pages[i - 1]), folio_order(folio), nr);
		pagerun_account(PAGERUN_REGISTER, 1, nr, false);
	}
	return nr - 1;
}

/**
 * pagerun_register_unpin() - release what need not be held for each page of a run
 * @pages: consecutive pages of one folio, pinned
 * @nr_pages: so many, at least 1
 */
static inline void pagerun_register_unpin(struct page **pages, unsigned long nr_pages)
{
	if (pagerun_on(PAGERUN_REGISTER))
		unpin_user_folio(page_folio(pages[0]), nr_pages);
	else
		unpin_user_pages(pages, nr_pages);
}

#else

static inline void pagerun_register_drop(struct io_ring_ctx *ctx)
{
}

static inline int pagerun_register_account(struct io_ring_ctx *ctx, struct page **pages,
					   int nr_pages, struct io_mapped_ubuf *imu,
					   struct page **last_hpage)
{
	return 0;
}

static inline void pagerun_register_undo(struct io_ring_ctx *ctx, struct page **pages,
					 int nr_pages)
{
}

static inline void pagerun_register_remove(struct io_ring_ctx *ctx,
					   const struct io_mapped_ubuf *imu)
{
}

static inline int pagerun_register_rest(const struct folio *folio, struct page **pages,
					int i, int nr_pages)
{
	return 0;
}

static inline void pagerun_register_unpin(struct page **pages, unsigned long nr_pages)
{
	unpin_user_pages(pages, nr_pages);
}

#endif /* CONFIG_PAGERUN_REGISTER */
#endif /* _MM_PAGERUN_REGISTER_H */
