/* SPDX-License-Identifier: GPL-2.0-only */
/* A file whose mappings are of a device: what bench map maps. */
#ifndef MAP_FILE_H
#define MAP_FILE_H

#include <stddef.h>

#include "why.h"

/**
 * struct map_file - an open file
 * @fd: opened for reading and writing
 * @path: its name, for messages
 */
struct map_file {
	int fd;
	char path[300];
};

/**
 * map_file_open() - open what is to be mapped
 * @path: a file; NULL: BAR 2 of the first ivshmem device (QEMU's ivshmem-plain has
 *	memory there)
 * @why: filled on PR_SKIP
 *
 * What it maps must be the memory of a device, and a PCI device must be enabled.
 *
 * Return: PR_OK, or PR_SKIP with nothing open.
 */
int map_file_open(struct map_file *file, const char *path, struct why *why);

/**
 * map_file_enable() - let the memory of the first ivshmem device be reached
 * @why: filled on failure
 *
 * For the lab's guest. It cannot be taken back.
 * Return: 0, also if there is no such device, or -1.
 */
int map_file_enable(struct why *why);

/**
 * map_file_map() - map the beginning of the file, shared and writable
 * @size: in bytes
 *
 * At a multiple of 1 GiB, so that it does not hang on the kernel's choice what
 * entries can map it, and with the page tables around it empty.
 * Return: the address, or NULL with @why filled.
 */
void *map_file_map(const struct map_file *file, size_t size, struct why *why);

#endif /* MAP_FILE_H */
