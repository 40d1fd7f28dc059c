/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs a program for a test and keeps what it wrote. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that takes longer than this is killed: no test waits for ever. */
#define CAPTURE_SECONDS 60

#define CAPTURE_MAX_ARGS 24

/**
 * struct captured - how a program ended
 * @code: its exit code, or 128 and the signal that killed it
 * @out: what it wrote to stdout, @err to stderr
 */
struct captured {
	int code;
	char *out, *err;
};

static inline void capture_broken(const char *what)
{
	printf("Bail out! %s\n", what);
	fflush(stdout);
	_exit(1);
}

/* All of @f as a string. */
static inline char *capture_text(FILE *f)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t len;

	rewind(f);
	len = getdelim(&text, &room, '\0', f);
	if (len < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	if (!text)
		capture_broken("out of memory");
	return text;
}

static inline void capture_free(struct captured *c)
{
	free(c->out);
	free(c->err);
	c->out = NULL;
	c->err = NULL;
}

/**
 * capture_as() - run a program to its end
 * @uid: the user to run it as; 0: no change
 * @argv: its arguments, NULL at the end
 * @c: filled, for capture_free()
 */
static inline void capture_as(uid_t uid, const char *const *argv,
			      struct captured *c)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int status;
	pid_t pid;

	if (!out || !err)
		capture_broken("cannot make a temporary file");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		capture_broken("cannot fork");
	if (!pid) {
		alarm(CAPTURE_SECONDS);
		if (dup2(fileno(out), STDOUT_FILENO) < 0 ||
		    dup2(fileno(err), STDERR_FILENO) < 0 ||
		    (uid && (setgid(uid) || setuid(uid))))
			_exit(126);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		capture_broken("lost a program");
	c->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
					WEXITSTATUS(status);
	c->out = capture_text(out);
	c->err = capture_text(err);
}

/* How many lines @text has; an unfinished one counts. */
static inline unsigned int capture_lines(const char *text)
{
	unsigned int nr = 0;

	while (*text) {
		nr++;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return nr;
}

#endif /* CAPTURE_H */
