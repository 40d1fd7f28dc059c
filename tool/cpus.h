/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPUs that this process may use. */
#ifndef CPUS_H
#define CPUS_H

/**
 * cpus_usable() - how many there are
 * @unknown: what to answer where the kernel has more than can be told
 */
unsigned int cpus_usable(unsigned int unknown);

/*
 * Keep the calling thread on one of them, its number @i taken modulo how many there
 * are. Where that cannot be done the thread stays free: it only runs less well.
 */
void cpus_pin(unsigned int i);

#endif /* CPUS_H */
