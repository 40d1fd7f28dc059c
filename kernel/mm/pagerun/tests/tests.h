/* SPDX-License-Identifier: GPL-2.0-only */
/* What the suites share: turning switches, and reading statistics. */
#ifndef _MM_PAGERUN_TESTS_H
#define _MM_PAGERUN_TESTS_H

#include <linux/cpumask.h>

#include "../switch.h"

static inline bool switch_is_on(enum pagerun_feature feature)
{
	return static_key_enabled(&pagerun_switches[feature].key);
}

static inline void set_switch(enum pagerun_feature feature, bool on)
{
	if (on)
		static_branch_enable(&pagerun_switches[feature].key);
	else
		static_branch_disable(&pagerun_switches[feature].key);
}

/* Of all CPUs. */
static inline struct pagerun_count count_now(enum pagerun_feature feature)
{
	struct pagerun_count sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct pagerun_count *count = &per_cpu(pagerun_counts, cpu)[feature];

		sum.runs += count->runs;
		sum.pages += count->pages;
		sum.fallbacks += count->fallbacks;
	}
	return sum;
}

#endif /* _MM_PAGERUN_TESTS_H */
