/* SPDX-License-Identifier: GPL-2.0-only */
/* What memory is made of, by the kernel's own word. */
#ifndef FOLIO_CHECK_H
#define FOLIO_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "why.h"

/**
 * folio_check() - whether memory is anonymous folios of one size, each whole
 * @addr: start, aligned to the folio size
 * @size: bytes, a multiple of the folio size
 * @pages: 4 KiB pages a folio; 1: small folios only
 * @why: filled if not
 *
 * Asks /proc/self/pagemap and /proc/kpageflags, which takes CAP_SYS_ADMIN.
 * Return: 0, or -1 if it is not, or if that cannot be told.
 */
int folio_check(const void *addr, size_t size, unsigned int pages,
		struct why *why);

/**
 * folio_check_mapping() - whether memory is mapped by PMDs
 * @pmd: true: all of it must be; false: none of it may be
 *
 * Asks /proc/self/smaps. @addr to @addr + @size must be whole VMAs.
 * Return: as folio_check().
 */
int folio_check_mapping(const void *addr, size_t size, bool pmd,
			struct why *why);

#endif /* FOLIO_CHECK_H */
