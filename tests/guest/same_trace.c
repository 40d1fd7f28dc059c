// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoints of pagerun, in a trace instance of the test's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "same.h"

#define TRACING "/sys/kernel/tracing/instances"
#define TRACE	TRACING "/pagerun_same"

const char *no_tracefs(void)
{
	return access(TRACING, W_OK) ?
	       "no " TRACING "; mount tracefs on /sys/kernel/tracing, boot with CONFIG_FTRACE=y" :
	       NULL;
}

static void trace_write(const char *name, const char *value)
{
	char path[120];
	int fd;

	snprintf(path, sizeof(path), TRACE "/%s", name);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		die("cannot write %s", path);
	close(fd);
}

static void trace_enable(const char *event, const char *value)
{
	char name[80];

	snprintf(name, sizeof(name), "events/pagerun/%s/enable", event);
	trace_write(name, value);
}

void trace_begin(const char *event)
{
	if (mkdir(TRACE, 0700) && errno != EEXIST)
		die("cannot make %s", TRACE);
	trace_enable(event, "1");
}

void trace_clear(void)
{
	trace_write("trace", "");
}

bool trace_read(const char *event, char *line, size_t size)
{
	FILE *file = fopen(TRACE "/trace", "re");
	char head[80];
	bool got = false;

	if (!file)
		die("cannot open %s", TRACE "/trace");
	snprintf(head, sizeof(head), "%s: ", event);
	while (!got && fgets(line, size, file))
		got = strstr(line, head);
	fclose(file);
	return got;
}

void trace_end(const char *event)
{
	trace_enable(event, "0");
	rmdir(TRACE);
}
