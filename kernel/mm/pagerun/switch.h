/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every feature of pagerun shares: its switch and its statistics.
 */
#ifndef _MM_PAGERUN_SWITCH_H
#define _MM_PAGERUN_SWITCH_H

#include <linux/jump_label.h>
#include <linux/kobject.h>
#include <linux/percpu.h>

/* The features, a line each here and a line each in switch.c. */
enum pagerun_feature {
	PAGERUN_PIN,
	PAGERUN_NULLMAP,
	PAGERUN_MOVE,
	PAGERUN_MAP,
	PAGERUN_UNPIN,
	PAGERUN_REGISTER,
	PAGERUN_NR_FEATURES
};

/**
 * struct pagerun_switch - the switch of a feature
 * @name:	the feature's name, that of its file in sysfs
 * @built:	is the feature in this kernel?
 * @key:	on or off
 * @attr:	the file
 */
struct pagerun_switch {
	const char *name;
	bool built;
	struct static_key_true key;
	struct kobj_attribute attr;
};

extern struct pagerun_switch pagerun_switches[PAGERUN_NR_FEATURES];

/**
 * pagerun_on() - is a feature switched on?
 * @feature: the feature
 *
 * A nop while it is on, a jump while it is off. To be asked where state is made,
 * never where it is split, copied or released: what a feature made while it was
 * on must be undone correctly after it was switched off.
 */
#define pagerun_on(feature) static_branch_likely(&pagerun_switches[feature].key)

/**
 * struct pagerun_count - what one feature did on one CPU since boot
 * @runs:	runs taken
 * @pages:	pages in those runs
 * @fallbacks:	times the feature ended before its range did: at an entry that
 *		it leaves to the base's path, or that the fast path does not take
 */
struct pagerun_count {
	unsigned long runs;
	unsigned long pages;
	unsigned long fallbacks;
};

DECLARE_PER_CPU(struct pagerun_count[PAGERUN_NR_FEATURES], pagerun_counts);

/**
 * pagerun_account() - add to the statistics of a feature
 * @feature:	the feature
 * @runs:	runs taken since the last call
 * @pages:	pages in them
 * @fallback:	the feature ended before its range did
 *
 * To be called once a table or a call, not in a loop over entries.
 *
 * Context: any, NMI included. On architectures without a one-instruction
 * this_cpu_add(), an NMI that accounts in the middle of another call can lose
 * its own addition; nothing but these statistics depends on it.
 */
static inline void pagerun_account(enum pagerun_feature feature,
				   unsigned int runs, unsigned int pages,
				   bool fallback)
{
	if (runs) {
		this_cpu_add(pagerun_counts[feature].runs, runs);
		this_cpu_add(pagerun_counts[feature].pages, pages);
	}
	if (fallback)
		this_cpu_inc(pagerun_counts[feature].fallbacks);
}

#endif /* _MM_PAGERUN_SWITCH_H */
