// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pagerun.h"
#include "signals.h"
#include "sysfile.h"
#include "tlb_trace.h"

#define TRACEFS	"/sys/kernel/tracing"
#define EVENT	"events/tlb/tlb_flush"

/*
 * The reasons "local shootdown" and "local mm shootdown", as the event's format
 * names them. Each flush is one of them, once, on the CPU that asks for it; what
 * other CPUs are sent, and what a task switch flushes, are events of their own.
 */
#define FILTER	"common_pid == %d && (reason == 2 || reason == 3)"

/* "@dir/@file" */
static char *path_of(const struct tlb_trace *trace, const char *file, char *buf,
		     size_t size)
{
	snprintf(buf, size, "%s/%s", trace->dir, file);
	return buf;
}

static int set(const struct tlb_trace *trace, const char *file, const char *text)
{
	char path[160];

	return sysfile_write(path_of(trace, file, path, sizeof(path)), text);
}

static int make_instance(struct tlb_trace *trace)
{
	snprintf(trace->dir, sizeof(trace->dir), TRACEFS "/instances/pagerun-%d",
		 (int)getpid());
	/* One of this name is of a pagerun that was killed. */
	if (!mkdir(trace->dir, 0700) ||
	    (errno == EEXIST && !rmdir(trace->dir) && !mkdir(trace->dir, 0700)))
		return 0;
	return errno;
}

static int remove_instance(const struct tlb_trace *trace)
{
	if (!rmdir(trace->dir))
		return PR_OK;
	warn("cannot remove the trace instance; run: rmdir %s", trace->dir);
	return PR_FAIL;
}

static int look_for_event(struct why *why)
{
	if (access(TRACEFS "/instances", F_OK))
		why_set(why, "there is no " TRACEFS "/instances: boot a kernel with CONFIG_EVENT_TRACING, and run: mount -t tracefs tracefs "
			TRACEFS);
	else if (access(TRACEFS "/" EVENT "/enable", F_OK))
		why_set(why, "this kernel has no event tlb:tlb_flush: boot one for x86 with CONFIG_EVENT_TRACING");
	else
		return PR_OK;
	return PR_SKIP;
}

int tlb_trace_start(struct tlb_trace *trace, struct why *why)
{
	char filter[80];
	int err, ret = PR_SKIP;

	if (look_for_event(why))
		return PR_SKIP;
	signals_hold(&trace->signals);
	err = make_instance(trace);
	if (err) {
		why_set(why, "cannot make %s (%s): run as root where tracefs can be written",
			trace->dir, strerror(err));
		goto release;
	}
	snprintf(filter, sizeof(filter), FILTER, (int)getpid());
	err = set(trace, EVENT "/filter", filter);
	if (!err)
		err = set(trace, EVENT "/enable", "1");
	if (!err)
		return PR_OK;
	why_set(why, "cannot turn on the event tlb:tlb_flush (%s): run as root where tracefs can be written",
		strerror(err));
	if (remove_instance(trace))
		ret = PR_FAIL;
release:
	signals_release(&trace->signals);
	return ret;
}

bool tlb_trace_stats(const char *text, uint64_t *entries, uint64_t *lost)
{
	static const struct {
		const char *name;
		bool lost;
	} fields[] = {
		{ "entries: ", false }, { "overrun: ", true },
		{ "commit overrun: ", true }, { "dropped events: ", true },
	};
	bool found = false;
	uint64_t value;
	size_t i, len;

	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		for (i = 0; i < ARRAY_SIZE(fields); i++) {
			len = strlen(fields[i].name);
			if (strncmp(text, fields[i].name, len) ||
			    sscanf(text + len, "%" SCNu64, &value) != 1)
				continue;
			*(fields[i].lost ? lost : entries) += value;
			found |= !fields[i].lost;
		}
	}
	return found;
}

static int add_up(const struct tlb_trace *trace, uint64_t *entries, uint64_t *lost)
{
	char path[160], text[1024];
	bool good = true;
	glob_t files;
	size_t i;

	*entries = 0;
	*lost = 0;
	if (glob(path_of(trace, "per_cpu/cpu*/stats", path, sizeof(path)), 0, NULL,
		 &files))
		return -1;
	for (i = 0; i < files.gl_pathc && good; i++)
		good = !sysfile_read(files.gl_pathv[i], text, sizeof(text)) &&
		       tlb_trace_stats(text, entries, lost);
	globfree(&files);
	return good ? 0 : -1;
}

int tlb_trace_stop(struct tlb_trace *trace, uint64_t *flushes)
{
	int err = set(trace, EVENT "/enable", "0"), ret = PR_FAIL;
	uint64_t lost;

	if (err)
		warnx("cannot turn off the event tlb:tlb_flush (%s); run: rmdir %s",
		      strerror(err), trace->dir);
	else if (add_up(trace, flushes, &lost))
		warnx("cannot read %s/per_cpu/cpu*/stats: report this, with the kernel's release",
		      trace->dir);
	else if (lost)
		warnx("%" PRIu64 " events were lost: raise the buffer with trace_buf_size=4M on the kernel command line",
		      lost);
	else
		ret = PR_OK;
	if (remove_instance(trace))
		ret = PR_FAIL;
	signals_release(&trace->signals);
	return ret;
}
