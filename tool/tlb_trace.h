/* SPDX-License-Identifier: GPL-2.0-only */
/* Counting this thread's TLB flushes, by the event tlb:tlb_flush. */
#ifndef TLB_TRACE_H
#define TLB_TRACE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "why.h"

/**
 * struct tlb_trace - a trace instance of our own while it exists
 * @dir: its folder in tracefs
 * @signals: the signal mask of before
 */
struct tlb_trace {
	char dir[80];
	sigset_t signals;
};

/**
 * tlb_trace_start() - count from here on
 * @why: filled on PR_SKIP
 *
 * Signals that end the program are held off until tlb_trace_stop(), so that
 * nothing but a SIGKILL leaves the instance behind.
 * Return: PR_OK; PR_SKIP with nothing changed; or PR_FAIL after one line on stderr.
 */
int tlb_trace_start(struct tlb_trace *trace, struct why *why);

/**
 * tlb_trace_stop() - count no more, and remove the instance
 * @flushes: filled with the number of flushes: those of this process on the CPU
 *	that asked for them; one that goes to other CPUs as well is one
 *
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int tlb_trace_stop(struct tlb_trace *trace, uint64_t *flushes);

/**
 * tlb_trace_stats() - add up what one CPU's "stats" file says
 * @entries: of events that are there; added to
 * @lost: of those that are not any more; added to
 *
 * Return: false if it is no such text.
 */
bool tlb_trace_stats(const char *text, uint64_t *entries, uint64_t *lost);

#endif /* TLB_TRACE_H */
