/* SPDX-License-Identifier: GPL-2.0-only */
/* The one-value files of /proc and /sys. */
#ifndef SYSFILE_H
#define SYSFILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * sysfile_read() - the text of a small file, without newlines at its end
 * @buf: filled with a string, cut at @size
 *
 * Return: 0, or an errno.
 */
int sysfile_read(const char *path, char *buf, size_t size);

/**
 * sysfile_write() - write @text to a file that exists, in one write
 *
 * Return: 0, or an errno.
 */
int sysfile_write(const char *path, const char *text);

#endif /* SYSFILE_H */
