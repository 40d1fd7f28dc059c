/* SPDX-License-Identifier: GPL-2.0-only */
/* Direct reads of a file into memory, timed. */
#ifndef DIO_MEASURE_H
#define DIO_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "memory.h"

/**
 * struct dio_job - what to read
 * @fd: a file for direct reads that has as much as @memory
 * @memory: each part of it is read into once, in order
 * @request: bytes a read, which divide the size of @memory
 * @clock: CLOCK_INSN or CLOCK_WALL
 */
struct dio_job {
	int fd;
	const struct memory *memory;
	size_t request;
	enum clock_kind clock;
};

/* Requests that io_uring keeps in flight. */
#define DIO_DEPTH 16

/*
 * Each reads it all once, with pread() or through io_uring, and fills @spent by the clock.
 * Return: PR_OK; PR_SKIP with @why filled; PR_FAIL after one line on stderr.
 */
int dio_measure_psync(const struct dio_job *job, uint64_t *spent, struct why *why);
int dio_measure_uring(const struct dio_job *job, uint64_t *spent, struct why *why);

#endif /* DIO_MEASURE_H */
