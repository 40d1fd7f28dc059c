/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of a kind that a case asks for, checked to be of that kind. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "why.h"

/* Memory starts at, and its size is a multiple of, this: the largest folio. */
#define MEMORY_STEP (2UL << 20)

/**
 * struct memory_kind - how memory is made of folios, and how it is mapped
 * @name: as in the names of cases
 * @pages: 4 KiB pages a folio
 * @pmd: mapped by PMDs, else by page-table entries
 */
struct memory_kind {
	const char *name;
	unsigned int pages;
	bool pmd;
};

extern const struct memory_kind memory_kinds[];
extern const size_t nr_memory_kinds;

/**
 * struct memory - some anonymous memory, private and writable
 * @addr: start, aligned to MEMORY_STEP
 * @size: bytes
 * @area: the reservation that it lies in; no VMA that touches @addr or its end
 *	is part of anything else
 * @area_size: bytes
 */
struct memory {
	unsigned char *addr;
	size_t size;
	void *area;
	size_t area_size;
};

/**
 * memory_map() - get a piece of memory with no page in it yet
 * @memory: filled, for memory_put(), which is needed on failure as well
 * @size: bytes, a multiple of MEMORY_STEP
 *
 * Return: 0, or -1 with errno set.
 */
int memory_map(struct memory *memory, size_t size);

/**
 * memory_get() - get several pieces of memory of one kind
 * @pieces: @nr of them, filled
 * @size: bytes a piece, a multiple of MEMORY_STEP
 * @why: filled on PR_SKIP
 *
 * Changes settings in /sys for the time of the page faults only.
 * Return: PR_OK; PR_SKIP if such memory cannot be had here; PR_FAIL after one
 * line on stderr. Nothing is held on failure.
 */
int memory_get(const struct memory_kind *kind, struct memory *pieces,
	       unsigned int nr, size_t size, struct why *why);

/**
 * memory_room() - whether there is memory for @nr pieces of @size bytes
 * @why: filled if not
 *
 * Return: PR_OK or PR_SKIP.
 */
int memory_room(unsigned int nr, size_t size, struct why *why);

/* Whether the memory is of that kind (still): 0, or -1 with @why filled. */
int memory_check(const struct memory_kind *kind, const struct memory *memory,
		 struct why *why);

void memory_put(struct memory *pieces, unsigned int nr);

#endif /* MEMORY_H */
