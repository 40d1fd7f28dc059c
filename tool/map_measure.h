/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking samples of mappings of a device. */
#ifndef MAP_MEASURE_H
#define MAP_MEASURE_H

#include "clock.h"
#include "map_file.h"

/**
 * struct map_job - what a sample is taken of
 * @file: what is mapped
 * @size: how much of it, in bytes
 * @clock: CLOCK_INSN or CLOCK_WALL
 */
struct map_job {
	const struct map_file *file;
	size_t size;
	enum clock_kind clock;
};

/*
 * Each takes one sample. @why is filled on PR_SKIP.
 * Return: PR_OK, PR_SKIP, or PR_FAIL after one line on stderr.
 */

/* mmap() and munmap(), per page. */
int map_measure_mmap(const struct map_job *job, double *sample, struct why *why);

/*
 * fork(), exit and wait() with the mapping less the same without it, per page; 0 if that
 * is less than by how much two of them differ.
 */
int map_measure_fork(const struct map_job *job, double *sample, struct why *why);

/* VmPTE with the mapping less VmPTE without it, in KiB. */
int map_measure_tables(const struct map_job *job, double *sample, struct why *why);

/* A read at a place that depends on what the last one read, in ns. Reads the device. */
int map_measure_latency(const struct map_job *job, double *sample, struct why *why);

/* memcpy() to ordinary memory, in GB/s. Reads the device. */
int map_measure_memcpy(const struct map_job *job, double *sample, struct why *why);

#endif /* MAP_MEASURE_H */
