// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sysfile.h"

int sysfile_read(const char *path, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n = 0;
	int fd, err = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	while (used < size - 1) {
		n = read(fd, buf + used, size - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (n < 0)
		err = errno;
	close(fd);
	while (used && buf[used - 1] == '\n')
		used--;
	buf[used] = '\0';
	return err;
}

int sysfile_write(const char *path, const char *text)
{
	size_t len = strlen(text);
	ssize_t n;
	int fd, err = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	n = write(fd, text, len);
	if (n < 0)
		err = errno;
	else if ((size_t)n != len)
		err = EIO;
	if (close(fd) && !err)
		err = errno;
	return err;
}
