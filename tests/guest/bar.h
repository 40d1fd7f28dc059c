/* SPDX-License-Identifier: GPL-2.0-only */
/* The ivshmem device of the lab's guests, whose BAR 2 is memory. */
#ifndef BAR_H
#define BAR_H

#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a file of @dir from its beginning; whether there was anything. */
static inline bool bar_read_text(const char *dir, const char *name, char *buf,
				 size_t size)
{
	char path[200];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static inline bool bar_has_id(const char *dir, const char *name, const char *id)
{
	char text[16];

	return bar_read_text(dir, name, text, sizeof(text)) &&
	       !strncmp(text, id, strlen(id));
}

/* Finds the device's folder in sysfs; whether there is one. */
static inline bool bar_find_device(char *dir, size_t size)
{
	bool found = false;
	glob_t dirs;
	size_t i;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &dirs))
		return false;
	for (i = 0; i < dirs.gl_pathc && !found; i++) {
		found = bar_has_id(dirs.gl_pathv[i], "vendor", "0x1af4") &&
			bar_has_id(dirs.gl_pathv[i], "device", "0x1110");
		if (found)
			snprintf(dir, size, "%s", dirs.gl_pathv[i]);
	}
	globfree(&dirs);
	return found;
}

/* Where BAR 2 is: line 3 of the file "resource". 0 if that cannot be read. */
static inline uint64_t bar_read_phys(const char *dir)
{
	char text[1024], *line = text;
	int i;

	if (!bar_read_text(dir, "resource", text, sizeof(text)))
		return 0;
	for (i = 0; i < 2 && line; i++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line ? strtoull(line, NULL, 0) : 0;
}

static inline int bar_open_file(const char *dir, const char *name, int flags)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, flags | O_CLOEXEC);
}

#endif /* BAR_H */
