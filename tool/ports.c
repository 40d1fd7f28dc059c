// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ports.h"
#include "sysfile.h"

#define PORTS_DIR "/sys/class/virtio-ports"

/* The host announces ports once the driver is up: not at once. */
#define WAIT_STEPS	1000
#define STEP_NS		10000000L

static bool find_port(const char *name, char *path, size_t size)
{
	char attr[PATH_MAX], text[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	dir = opendir(PORTS_DIR);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(attr, sizeof(attr), PORTS_DIR "/%s/name",
			 entry->d_name);
		if (sysfile_read(attr, text, sizeof(text)) || strcmp(text, name))
			continue;
		snprintf(path, size, "/dev/%s", entry->d_name);
		found = true;
	}
	closedir(dir);
	return found;
}

int port_open(const char *name)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	char path[PATH_MAX];
	int i, fd;

	for (i = 0; i < WAIT_STEPS; i++) {
		if (find_port(name, path, sizeof(path))) {
			fd = open(path, O_WRONLY | O_CLOEXEC);
			if (fd >= 0 || errno != ENOENT)
				return fd;
		}
		nanosleep(&step, NULL);
	}
	errno = ENODEV;
	return -1;
}
