// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#include "cpus.h"

unsigned int cpus_usable(unsigned int unknown)
{
	cpu_set_t set;

	/* More than a cpu_set_t holds is an error. */
	return sched_getaffinity(0, sizeof(set), &set) ?
	       unknown : (unsigned int)CPU_COUNT(&set);
}

void cpus_pin(unsigned int i)
{
	cpu_set_t set, one;
	size_t cpu;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	i %= (unsigned int)CPU_COUNT(&set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && !i--)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}
