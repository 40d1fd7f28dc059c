/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's log, looked through for what a kernel says when it is broken. */
#ifndef KERNEL_LOG_H
#define KERNEL_LOG_H

#include <jansson.h>
#include <stdbool.h>

/**
 * kernel_log_open() - keep a place at the start of the log
 *
 * Return: a file descriptor for kernel_log_scan(), or -1 with errno.
 */
int kernel_log_open(void);

/* Whether a line of the kernel's log tells of a broken kernel. */
bool kernel_log_is_bad(const char *line);

/**
 * kernel_log_scan() - the bad lines since kernel_log_open()
 *
 * A log that ran over counts as one more bad line, since what was lost may
 * have been one.
 * Return: a new array of texts, empty if all is well; NULL without memory.
 */
json_t *kernel_log_scan(int fd);

#endif /* KERNEL_LOG_H */
