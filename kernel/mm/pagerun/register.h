/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * register: io_uring registers buffers by the run, and linear in folios.
 *
 * Included by io_uring/rsrc.c. All of it is out of line: the search of the base that is
 * here to be spared has many steps, and each wants its registers while the switch is off.
 */
#ifndef _MM_PAGERUN_REGISTER_H
#define _MM_PAGERUN_REGISTER_H

#include <linux/errno.h>

struct io_imu_folio_data;
struct io_mapped_ubuf;
struct io_ring_ctx;
struct page;

#ifdef CONFIG_PAGERUN_REGISTER

bool pagerun_register_account(struct io_ring_ctx *ctx, struct page **pages, int nr_pages,
			      struct io_mapped_ubuf *imu, struct page **last_hpage);
void pagerun_register_undo(struct io_ring_ctx *ctx, struct page **pages, int nr_pages);
void pagerun_register_remove(struct io_ring_ctx *ctx, const struct io_mapped_ubuf *imu);
void pagerun_register_drop(struct io_ring_ctx *ctx);
int pagerun_register_whole(struct page **pages, int nr_pages, struct io_imu_folio_data *data);
void pagerun_register_unpin(struct page **pages, unsigned long nr_pages);

#else

static inline bool pagerun_register_account(struct io_ring_ctx *ctx, struct page **pages,
					    int nr_pages, struct io_mapped_ubuf *imu,
					    struct page **last_hpage)
{
	return false;
}

static inline void pagerun_register_undo(struct io_ring_ctx *ctx, struct page **pages,
					 int nr_pages)
{
}

static inline void pagerun_register_remove(struct io_ring_ctx *ctx,
					   const struct io_mapped_ubuf *imu)
{
}

static inline void pagerun_register_drop(struct io_ring_ctx *ctx)
{
}

static inline int pagerun_register_whole(struct page **pages, int nr_pages,
					 struct io_imu_folio_data *data)
{
	return -EOPNOTSUPP;
}

static inline void pagerun_register_unpin(struct page **pages, unsigned long nr_pages)
{
	unpin_user_pages(pages, nr_pages);
}

#endif /* CONFIG_PAGERUN_REGISTER */
#endif /* _MM_PAGERUN_REGISTER_H */
