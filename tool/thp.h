/* SPDX-License-Identifier: GPL-2.0-only */
/* The system's settings for transparent huge pages, borrowed for a moment. */
#ifndef THP_H
#define THP_H

#include <signal.h>
#include <stddef.h>

#include "why.h"

#define THP_MAX_SETTINGS 24

/**
 * struct thp_settings - what to put back
 * @old: the files that were changed and what they held
 * @lock: keeps a second pagerun from borrowing at the same time
 * @signals: the signal mask of before
 */
struct thp_settings {
	struct {
		char path[128];
		char value[32];
	} old[THP_MAX_SETTINGS];
	size_t nr;
	int lock;
	sigset_t signals;
};

/**
 * thp_borrow() - make page faults in MADV_HUGEPAGE memory give folios of @kb
 * @settings: filled, for thp_give_back()
 * @kb: size of a folio in KiB, a size that the kernel may have
 * @why: filled on failure
 *
 * Signals that end the program are held off until thp_give_back(), so nothing
 * but a SIGKILL in between can leave the machine changed. Nothing that blocks
 * for long and no exit() may come in between.
 * Return: 0, or -1 with nothing changed.
 */
int thp_borrow(struct thp_settings *settings, unsigned int kb, struct why *why);

/**
 * thp_give_back() - put everything back
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr for each setting that
 * could not be put back.
 */
int thp_give_back(struct thp_settings *settings);

#endif /* THP_H */
