// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json_file.h"
#include "pagerun.h"

/* A run has some hundred rows; nothing that is ours comes near this. */
#define MAX_BYTES (64U << 20)

/* The bytes of @path; NULL after one line on stderr. */
static char *read_whole(const char *path, size_t *len)
{
	size_t room = 1U << 16, used = 0;
	char *buf, *more;
	FILE *f;

	f = fopen(path, "re");
	if (!f) {
		warn("%s: cannot open it", path);
		return NULL;
	}
	buf = malloc(room);
	while (buf) {
		used += fread(buf + used, 1, room - used, f);
		if (used < room)
			break;
		if (room >= MAX_BYTES) {
			warnx("%s: larger than %u MiB: not a file of pagerun",
			      path, MAX_BYTES >> 20);
			goto fail;
		}
		room *= 2;
		more = realloc(buf, room);
		if (!more)
			free(buf);
		buf = more;
	}
	if (!buf) {
		warnx("%s: out of memory", path);
		goto fail;
	}
	if (ferror(f)) {
		warn("%s: cannot read it", path);
		goto fail;
	}
	fclose(f);
	*len = used;
	return buf;
fail:
	free(buf);
	fclose(f);
	return NULL;
}

json_t *json_file_load(const char *path)
{
	json_error_t error;
	json_t *json;
	char *text;
	size_t len;

	text = read_whole(path, &len);
	if (!text)
		return NULL;
	json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (json)
		return json;
	if (!len)
		warnx("%s: the file is empty", path);
	else if (json_error_code(&error) == json_error_premature_end_of_input)
		warnx("%s: the JSON ends too early, at line %d: the file is truncated",
		      path, error.line);
	else
		warnx("%s: not valid JSON: line %d, column %d: %s", path,
		      error.line, error.column, error.text);
	return NULL;
}

/* Whether @path is to be replaced whole: a regular file, or not there yet. */
static bool is_replaced(const char *path)
{
	struct stat st;

	return stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

/* The file behind symbolic links, so that a link is followed, not replaced. */
static char *real_target(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

int json_file_check(const char *path)
{
	struct stat st;
	int ret = PR_OK;
	char *target;

	if (!strcmp(path, "-"))
		return PR_OK;
	if (!is_replaced(path)) {
		if (!access(path, W_OK))
			return PR_OK;
		warn("%s: cannot write it", path);
		return PR_FAIL;
	}
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		warnx("%s: cannot write it: it is a folder", path);
		return PR_FAIL;
	}
	target = real_target(path);
	if (!target || access(dirname(target), W_OK)) {
		warn("%s: cannot write into its folder", path);
		ret = PR_FAIL;
	}
	free(target);
	return ret;
}

/* Write to @f and close it; false with errno set if anything was lost. */
static bool dump_and_close(FILE *f, const json_t *json, bool sync)
{
	bool ok;

	errno = EIO;	/* jansson does not say more */
	ok = !json_dumpf(json, f, JSON_INDENT(2)) && putc('\n', f) != EOF &&
	     !fflush(f);
	if (ok && sync && fsync(fileno(f)))
		ok = false;
	if (fclose(f))
		ok = false;
	return ok;
}

static int save_stdout(const json_t *json)
{
	errno = EIO;
	if (json_dumpf(json, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ||
	    fflush(stdout)) {
		warn("cannot write JSON to stdout");
		return PR_FAIL;
	}
	return PR_OK;
}

static int save_as_is(const char *path, const json_t *json)
{
	FILE *f = fopen(path, "we");

	if (!f || !dump_and_close(f, json, false)) {
		warn("%s: cannot write it", path);
		return PR_FAIL;
	}
	return PR_OK;
}

/* mkstemp() makes the file private; give it what open() would have given. */
static bool usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return !fchmod(fd, 0666 & ~mask);
}

static int save_replacing(const char *path, const json_t *json)
{
	char *target, *temp = NULL;
	int fd = -1, err;
	FILE *f;

	target = real_target(path);
	if (!target || asprintf(&temp, "%s.XXXXXX", target) < 0) {
		warnx("%s: out of memory", path);
		free(target);
		return PR_FAIL;
	}
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		goto fail;
	f = usual_mode(fd) ? fdopen(fd, "w") : NULL;
	if (!f) {
		err = errno;
		close(fd);
		errno = err;
		goto fail_unlink;
	}
	if (!dump_and_close(f, json, true) || rename(temp, target))
		goto fail_unlink;
	free(temp);
	free(target);
	return PR_OK;
fail_unlink:
	err = errno;
	unlink(temp);
	errno = err;
fail:
	warn("%s: cannot write it", path);
	free(temp);
	free(target);
	return PR_FAIL;
}

int json_file_save(const char *path, const json_t *json)
{
	if (!strcmp(path, "-"))
		return save_stdout(json);
	if (is_replaced(path))
		return save_replacing(path, json);
	return save_as_is(path, json);
}
