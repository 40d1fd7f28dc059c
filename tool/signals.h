/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals that end the program, held off while it has something to put back. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/**
 * signals_hold() - hold them off until signals_release()
 * @before: filled with the signal mask of before
 *
 * Nothing that blocks for long and no exit() may come in between.
 */
void signals_hold(sigset_t *before);

/* Those that came in the meantime end the program in here. */
void signals_release(const sigset_t *before);

#endif /* SIGNALS_H */
