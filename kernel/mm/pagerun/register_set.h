/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * register: a set of large folios, each with how often it is held.
 */
#ifndef _MM_PAGERUN_REGISTER_SET_H
#define _MM_PAGERUN_REGISTER_SET_H

#include <linux/types.h>

struct page;
struct pagerun_folios;

long pagerun_folios_add(struct pagerun_folios **setp, const struct page *head,
			unsigned long nr, unsigned long more);
void pagerun_folios_remove(struct pagerun_folios *set, const struct page *head,
			   unsigned long nr);
void pagerun_folios_free(struct pagerun_folios *set);
void *pagerun_folios_alloc(size_t size);

#endif /* _MM_PAGERUN_REGISTER_SET_H */
