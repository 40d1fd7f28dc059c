/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of move_answers share. See move_answers.c for what it does; these
 * are its parts:
 *
 *	move_call.c	one call with the switch off and on, compared
 *	move_random.c	random layouts and calls from a seed
 *	move_named.c	the named cases: obstacles, overlaps, folios
 *	move_wake.c	those with a second thread: who is woken, who waits
 *	move_notice.c	does the comparison notice what is wrong?
 *	move_race.c	movers against everything else
 *
 * and those of same.h that are marked there. Memory is always made as twins: a move
 * cannot be made twice on the same memory.
 */
#ifndef MOVE_H
#define MOVE_H

#include "same.h"

#define HOLES	UFFDIO_MOVE_MODE_ALLOW_SRC_HOLES

/* ------------------------------------------------------------------------- */
/* move_call.c                                                               */

struct move_call {
	uint32_t dst, src, nr;	/* pages of the window */
	uint64_t mode;		/* UFFDIO_MOVE_MODE_* */
	bool on_first;		/* the window that is asked with the switch on */
};

struct move_answer {
	int err;		/* errno of the call; 0: it returned 0 */
	int64_t moved;		/* its .move, in bytes or a negative errno */
	long tables_kb;		/* how far VmPTE went */
	struct stats stats;	/* how far the statistics went */
	uint64_t *map;		/* of the window, WINDOW_MAX entries */
	/* by move_look() */
	uint32_t *stamps;
	struct pagerun_test_page *obs;
	struct smaps smaps;
	bool lazy;		/* some of it is after MADV_FREE */
};

/* Of the last call: off, on. */
extern struct move_answer move_answers[2];

void move_begin(void);

/* One call on each window, off and on; its answers and both page maps compared. */
bool move_twins(const struct scene *scene, const struct move_call *call,
		struct why *why);

/*
 * The same until all of the range is done with, as callers do: they go on behind
 * what was moved, and pass over the page that an error is about. All there is to see
 * is compared in the end.
 */
bool move_chain(const struct scene *scene, const struct move_call *call,
		struct why *why);

/* Calls made, and what the statistics of the feature rose by, since move_begin(). */
struct move_totals {
	unsigned long calls, runs, pages;
};

extern struct move_totals move_totals;

/* Look at all there is to see of both windows, and compare. */
bool move_look(const struct scene *scene, struct why *why);

/* What move_twins() and move_look() compare. */
bool same_move(const struct move_answer *off, const struct move_answer *on,
	       uint32_t nr, struct why *why);
bool same_look(const struct move_answer *off, const struct move_answer *on,
	       uint32_t nr, struct why *why);

/* The call alone, on one window, whichever way the switch stands. */
int move_ioctl(const struct scene *scene, const struct window *win,
	       const struct move_call *call, int64_t *moved);

/*
 * The end of both windows: what is swapped out can be, comes back, and holds the
 * same; all references are explained by mappings.
 */
bool move_epilogue(struct scene *scene, bool swap, bool leaks, struct why *why);

const char *move_text(const struct move_call *call, char *buf, size_t size);

/*
 * Who does not come back within @seconds is told of and ends the program: the call
 * never gives up by itself, and no signal but a fatal one ends it. 0: it did.
 */
void watch(unsigned int seconds, const char *what);

/* ------------------------------------------------------------------------- */
/* move_random.c                                                             */

void move_random(uint64_t seed);

/* ------------------------------------------------------------------------- */
/* The cases                                                                 */

extern const struct named move_cases[], wake_cases[], notice_cases[],
			  move_race_cases[];
extern const unsigned int nr_move_cases, nr_wake_cases, nr_notice_cases,
			  nr_move_race_cases;

/* Why something cannot be done here, or NULL. */
const char *no_move(void);
const char *no_move_64k(void);
const char *no_move_2m(void);

#endif /* MOVE_H */
