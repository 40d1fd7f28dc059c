/* SPDX-License-Identifier: GPL-2.0-only */
/* Which kernel runs here. */
#ifndef KERNEL_H
#define KERNEL_H

#include <jansson.h>

/**
 * kernel_describe() - the "kernel" object of a run
 *
 * release and features are the running kernel's own word. The hashes come from
 * KERNEL_JSON where the lab put one, else from the files of the distribution;
 * null where unknown.
 * Return: a new reference, or NULL after one line on stderr.
 */
json_t *kernel_describe(void);

#define KERNEL_JSON "/etc/pagerun/kernel.json"

#endif /* KERNEL_H */
