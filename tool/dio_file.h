/* SPDX-License-Identifier: GPL-2.0-only */
/* The block device that bench dio reads. */
#ifndef DIO_FILE_H
#define DIO_FILE_H

#include <stddef.h>

#include "why.h"

#define DIO_DEFAULT_DEVICE "/dev/nullb0"

/**
 * dio_file_open() - open a device or file for direct reads
 * @path: NULL: DIO_DEFAULT_DEVICE, null_blk's first
 * @size: bytes that must be there
 * @why: filled on failure
 *
 * Return: the file descriptor, or -1.
 */
int dio_file_open(const char *path, size_t size, struct why *why);

#endif /* DIO_FILE_H */
