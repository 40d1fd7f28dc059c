/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of register_answers share:
 *
 *	register_answers.c	options, and what all of it adds up to
 *	register_ring.c		rings, limits, and what can be seen of them
 *	register_random.c	random buffers and operations from a seed
 *	register_named.c	cases with a name
 *	register_fail.c		each allocation failing
 *
 * and those of same.h that are marked there.
 */
#ifndef REGISTER_H
#define REGISTER_H

#include <liburing.h>

#include "same.h"

/* As in the kernel: buffers of a ring. */
#define MAX_BUFFERS	16384U

/* ------------------------------------------------------------------------- */
/* register_ring.c                                                           */

/* Why no ring can be had, or NULL; opens what the functions below need. */
const char *rings_open(void);

/*
 * A ring whose memory counts for the limit of the user, or, @capable, one of a user who
 * has none.
 */
void ring_make(struct io_uring *ring, bool capable);
void ring_end(struct io_uring *ring);

/* Each returns what the system call does: 0, a count, or a negative errno. */
int ring_register(struct io_uring *ring, const struct iovec *buffers, unsigned int nr);
int ring_update(struct io_uring *ring, unsigned int slot, const struct iovec *buffers,
		unsigned int nr);
int ring_clone(struct io_uring *ring, const struct io_uring *from);
int ring_unregister(struct io_uring *ring);
/* Read what the pattern has at @off into a part of the buffer in @slot. */
int ring_read(struct io_uring *ring, unsigned int slot, void *addr, unsigned int len,
	      uint64_t off);
/* The first word of a page that ring_read() filled from @off on. */
uint32_t pattern_word(uint64_t off);
#define PATTERN_SIZE	(16UL << 20)

/* RLIMIT_MEMLOCK in pages; ~0UL: none. */
void limit_set(unsigned long pages);
/* Pages that count for the limit now. */
unsigned long locked_now(void);
/* The pages that VmPin says. */
unsigned long pinned_now(void);
/* Wait until both are what they were; false if they do not get there. */
bool locked_back(unsigned long locked, unsigned long pinned);

/* ------------------------------------------------------------------------- */

void register_random(uint64_t seed);

extern const struct named register_named_cases[];
extern const unsigned int nr_register_named_cases;
extern const struct named register_fail_cases[];
extern const unsigned int nr_register_fail_cases;

#endif /* REGISTER_H */
