/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the driver share: their results, and what makes one fail. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"

#define DEVICE		"/dev/pagerun"
#define MODULE		"pagerun_test"
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum result { PASS, FAIL, SKIP };

static size_t page_size;	/* set by main() */
static char skip_reason[256];	/* set by a test that returns SKIP */

/* Says what did not hold and, after it, what else there is to say. */
static inline void __attribute__((format(printf, 3, 4)))
failed_at(int line, const char *cond, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ktap_diag("line %d: not so: %s%s", line, cond, text);
}

/* Fails the test that it stands in; what follows is for ktap_diag(). */
#define CHECK(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			failed_at(__LINE__, #cond, " " __VA_ARGS__);	\
			return FAIL;					\
		}							\
	} while (0)

#define CHECK_EQ(got, want)						\
	do {								\
		long long got_ = (got), want_ = (want);			\
									\
		if (got_ != want_) {					\
			failed_at(__LINE__, #got " == " #want,		\
				  " but %lld", got_);			\
			return FAIL;					\
		}							\
	} while (0)

static inline int call_errno(int file, unsigned long cmd, void *arg)
{
	return ioctl(file, cmd, arg) ? errno : 0;
}

/* The errno of an ioctl, 0 for none. */
#define CHECK_ERRNO(file, cmd, arg, want)				\
	do {								\
		int got_ = call_errno(file, cmd, arg);			\
		int want_ = (want);					\
									\
		if (got_ != want_) {					\
			failed_at(__LINE__, #cmd, " gives '%s', not '%s'", \
				  strerror(got_), strerror(want_));	\
			return FAIL;					\
		}							\
	} while (0)

static inline void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

static inline int open_device(void)
{
	int file = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (file < 0)
		die("open " DEVICE);
	return file;
}

/* Runs @fn in a child; its result is the child's exit status. */
static inline enum result in_child(enum result (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(fn());
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	CHECK(WIFEXITED(status), "the child ended with status 0x%x", status);
	return WEXITSTATUS(status);
}

#endif /* CHECK_H */
