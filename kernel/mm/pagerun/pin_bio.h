/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pin: what was pinned by the run is put into a bio by the run.
 *
 * Included by block/bio.c alone.
 */
#ifndef _MM_PAGERUN_PIN_BIO_H
#define _MM_PAGERUN_PIN_BIO_H

#ifdef CONFIG_PAGERUN_PIN

#include "array.h"
#include "switch.h"

/**
 * pagerun_pin_contig() - how much of a folio lies in one piece in a page array?
 * @num_pages: entries to look at, at least 1; neither the array nor the folio of
 *	the first entry may end before. Set to those in one piece
 * @pages: the array; its pages are pinned, or kept otherwise
 * @left: bytes that are asked for, from @offset on
 * @offset: where they begin in the first page
 * @len: set to the bytes of @left in those pages
 *
 * Consecutive pages up to the folio's end are of that folio: there is no need to ask
 * each of them.
 *
 * Return: false if nothing was done, as the feature is off.
 */
static __always_inline bool pagerun_pin_contig(unsigned int *num_pages,
					       struct page **pages, size_t left,
					       size_t offset, size_t *len)
{
	if (!pagerun_on(PAGERUN_PIN))
		return false;

	VM_WARN_ON_ONCE(offset >= PAGE_SIZE);
	*num_pages = pagerun_array_run(pages, *num_pages);
	*len = min_t(size_t, left, *num_pages * PAGE_SIZE - offset);
	return true;
}

#else

static __always_inline bool pagerun_pin_contig(unsigned int *num_pages,
					       struct page **pages, size_t left,
					       size_t offset, size_t *len)
{
	return false;
}

#endif /* CONFIG_PAGERUN_PIN */
#endif /* _MM_PAGERUN_PIN_BIO_H */
