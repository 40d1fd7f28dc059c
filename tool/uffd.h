/* SPDX-License-Identifier: GPL-2.0-only */
/* userfaultfd(2): memory whose missing pages are put in by ioctls. */
#ifndef UFFD_H
#define UFFD_H

#include <stddef.h>

#include "why.h"

/**
 * uffd_open() - a userfaultfd of a kernel that has UFFDIO_MOVE
 * @fd: filled, to be closed
 * @why: filled on PR_SKIP
 *
 * Return: PR_OK or PR_SKIP.
 */
int uffd_open(int *fd, struct why *why);

/* From here on, touching a missing page of this memory waits for an ioctl. */
int uffd_register(int fd, void *addr, size_t size);

/*
 * Put pages into missing ones: the source's own, which is empty then, or copies.
 * All of them or it is an error, even if the kernel did a part. Return: 0 or errno.
 */
int uffd_move(int fd, void *dst, void *src, size_t size);
int uffd_copy(int fd, void *dst, void *src, size_t size);

#endif /* UFFD_H */
