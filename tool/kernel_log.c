// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_log.h"
#include "pagerun.h"

/* More lines than this say nothing more. */
#define MAX_LINES 50

static const char *const bad_words[] = {
	"WARNING:",
	"BUG:",
	"kernel BUG at",
	"Oops",
	"general protection",
	"invalid opcode:",
	"stack segment:",
	"Kernel panic",
	"possible circular locking",
	"possible recursive locking",
	"possible irq lock inversion",
	"inconsistent lock state",
	"inconsistent {",
	"-unsafe lock order detected",
	"lock held when returning to user space",
	"DEBUG_LOCKS_WARN_ON",
	"trying to register non-static key",
	"suspicious RCU usage",
	"Voluntary context switch within RCU",
	"refcount_t:",
	"Bad page state",
	"Bad page map",
	"bad rss-counter",
	"nonzero pgtables_bytes",
	"list_add corruption",
	"list_del corruption",
	"KASAN:",
	"KCSAN:",
	"UBSAN:",
	"KFENCE:",
	"ODEBUG:",
	"kmemleak: ",
	"page_table_check:",
	"soft lockup",
	"hard LOCKUP",
	"detected stall",
	"self-detected stall",
	"blocked for more than",
	"sleeping function called from invalid context",
	"scheduling while atomic",
};

int kernel_log_open(void)
{
	return open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

bool kernel_log_is_bad(const char *line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_words); i++)
		if (strstr(line, bad_words[i]))
			return true;
	return false;
}

/*
 * The text of a record "priority,sequence,time,flags;text\n...", or NULL if it
 * is not the kernel's own: programs write to the log too.
 */
static char *record_text(char *record)
{
	char *end, *text;
	long priority = strtol(record, &end, 10);

	if (end == record || priority < 0 || priority >> 3)
		return NULL;
	text = strchr(record, ';');
	if (!text)
		return NULL;
	text++;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static bool add_line(json_t *lines, const char *text)
{
	if (json_array_size(lines) >= MAX_LINES)
		return true;
	/* The log escapes what is not printable, so this is UTF-8. */
	return !json_array_append_new(lines, json_string(text));
}

json_t *kernel_log_scan(int fd)
{
	json_t *lines = json_array();
	char record[8192 + 1], *text;
	bool ok = lines;
	ssize_t n;

	while (ok) {
		n = read(fd, record, sizeof(record) - 1);
		if (n > 0) {
			record[n] = '\0';
			text = record_text(record);
			if (text && kernel_log_is_bad(text))
				ok = add_line(lines, text);
		} else if (n < 0 && errno == EPIPE) {
			ok = add_line(lines, "pagerun: lines of the kernel log were lost: boot with a larger log_buf_len=");
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else {
			break;	/* EAGAIN: the end */
		}
	}
	if (ok)
		return lines;
	json_decref(lines);
	return NULL;
}
