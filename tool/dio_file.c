// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "dio_file.h"

int dio_file_open(const char *path, size_t size, struct why *why)
{
	int fd = open(path ? path : DIO_DEFAULT_DEVICE, O_RDONLY | O_DIRECT | O_CLOEXEC);
	off_t end;

	if (fd < 0 && !path)
		return why_set(why, "%s: %s; modprobe null_blk makes it, --device names another one",
			       DIO_DEFAULT_DEVICE, strerror(errno));
	if (fd < 0)
		return why_set(why, "%s cannot be opened for direct reads: %s; name a block device, or a file on a disk, with --device",
			       path, strerror(errno));
	end = lseek(fd, 0, SEEK_END);
	if (end >= 0 && (size_t)end >= size)
		return fd;
	close(fd);
	return why_set(why, "%s has less than %zu MiB: name a larger one with --device",
		       path ? path : DIO_DEFAULT_DEVICE, size >> 20);
}
