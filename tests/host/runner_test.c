// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the test runner against programs that behave and that do not.
 *
 *	runner_test PATH-TO-RUNNER
 */
#include <err.h>
#include <limits.h>
#include <time.h>

#include "../ktap.h"
#include "capture.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static char runner[PATH_MAX];

#define PLAN(n) "echo KTAP version 1; echo 1.." #n "; "

/* A program, and how the runner has to judge it. */
static const struct {
	const char *command;
	int code;
	const char *last;	/* line */
	const char *says;	/* somewhere, or NULL */
} cases[] = {
	/* Good ones. */
	{ PLAN(2) "echo ok 1 - a; echo ok 2 - b", 0,
	  "pagerun: 2 passed, 0 failed, 0 skipped", "  ok 1 - a\n  ok 2 - b\n  # x took" },
	{ PLAN(2) "echo ok 1 - a; echo 'ok 2 # SKIP no b'", 0,
	  "pagerun: 1 passed, 0 failed, 1 skipped", "\nok 1 - x\n" },
	{ PLAN(1) "echo '  KTAP version 1'; echo '  1..1'; echo '  not ok 1 - in'; echo ok 1 - a",
	  0, "pagerun: 1 passed, 0 failed, 0 skipped", "    not ok 1 - in\n" },
	{ PLAN(1) "printf 'ok 1 - a # SKIP is escaped: \\\\# SKIP\\r\\n'", 1,
	  "pagerun: 0 passed, 0 failed, 1 skipped", NULL },
	{ PLAN(1) "echo 'ok 1 - a \\# SKIP b'", 0,
	  "pagerun: 1 passed, 0 failed, 0 skipped", NULL },
	{ PLAN(1) "printf ok", 1,
	  "pagerun: 0 passed, 1 failed, 0 skipped", "planned 1 tests and ran 0" },
	{ PLAN(1) "printf 'ok 1 - unfinished line'", 0,
	  "pagerun: 1 passed, 0 failed, 0 skipped", NULL },
	/* Nothing passed: not a success, and not a failure of the program. */
	{ PLAN(1) "echo 'ok 1 # SKIP no a'; exit 4", 1,
	  "pagerun: 0 passed, 0 failed, 1 skipped", "ok 1 - x # SKIP" },
	{ "echo KTAP version 1; echo '1..0 # SKIP no kernel'; exit 4", 1,
	  "pagerun: 0 passed, 0 failed, 1 skipped", "ok 1 - x # SKIP" },
	/* Failed tests. */
	{ PLAN(2) "echo ok 1 - a; echo not ok 2 - b; exit 1", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "\nnot ok 1 - x\n" },
	{ PLAN(1) "echo not ok 1 - a", 1,
	  "pagerun: 0 passed, 1 failed, 0 skipped", NULL },
	{ PLAN(1) "echo 'not ok 1 - a # SKIP no'; exit 1", 1,
	  "pagerun: 0 passed, 1 failed, 0 skipped", NULL },
	/* Programs that do not keep to their word. */
	{ PLAN(2) "echo ok 1 - a", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "planned 2 tests and ran 1" },
	{ PLAN(1) "echo ok 1 - a; echo ok 2 - b", 1,
	  "pagerun: 2 passed, 1 failed, 0 skipped", "planned 1 tests and ran 2" },
	{ PLAN(1) "echo ok 1 - a; exit 3", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "exit code 3 without a failed test" },
	{ PLAN(1) "echo ok 1 - a; exit 4", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "exit code 4 without a failed test" },
	{ PLAN(1) "echo ok 1 - a; kill -SEGV $$", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "killed by signal 11" },
	{ PLAN(2) "echo ok 1 - a; echo ok 1 - b", 1,
	  "pagerun: 2 passed, 1 failed, 0 skipped", "not numbered from 1" },
	{ PLAN(1) "echo 1..1; echo ok 1 - a", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "planned twice" },
	{ PLAN(1) "echo ok 1 - a; echo 'Bail out! no more'", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "it bailed out" },
	{ "echo KTAP version 1; echo ok 1 - a", 1,
	  "pagerun: 1 passed, 1 failed, 0 skipped", "did not write KTAP with a plan" },
	{ "echo KTAP version 1; echo 1..0", 1,
	  "pagerun: 0 passed, 1 failed, 0 skipped", "planned no test" },
	{ "true", 1,
	  "pagerun: 0 passed, 1 failed, 0 skipped", "did not write KTAP" },
	{ "echo hello; exit 4", 1,
	  "pagerun: 0 passed, 1 failed, 0 skipped", "did not write KTAP" },
	{ "/no/such/program", 1,
	  "pagerun: 0 passed, 1 failed, 0 skipped", "did not write KTAP" },
};

static const char *last_line(char *text)
{
	size_t len = strlen(text);
	char *at;

	if (len && text[len - 1] == '\n')
		text[--len] = '\0';
	at = strrchr(text, '\n');
	return at ? at + 1 : text;
}

static void test_cases(void)
{
	struct captured c;
	char *arg;
	size_t i;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (asprintf(&arg, "x=%s", cases[i].command) < 0)
			capture_broken("out of memory");
		capture_as(0, (const char *const[]){ runner, arg, NULL }, &c);
		ok = c.code == cases[i].code &&
		     !strncmp(c.out, "KTAP version 1\n1..1\n", 20) &&
		     (!cases[i].says || strstr(c.out, cases[i].says)) &&
		     !strcmp(last_line(c.out), cases[i].last);
		if (!ktap_ok(ok, "%s", cases[i].command))
			ktap_diag("exit code %d, output: %s", c.code, c.out);
		capture_free(&c);
		free(arg);
	}
}

static const struct {
	const char *args[4];
	const char *says;
} usage_cases[] = {
	{ { NULL }, "no tests given" },
	{ { "x" }, "'x' is not NAME=COMMAND" },
	{ { "=true" }, "'=true' is not NAME=COMMAND" },
	{ { "x=" }, "'x=' has no command" },
	{ { "a b=true" }, "has a name with other than letters" },
	{ { "x=true", "x=true" }, "has a name that was used before" },
	{ { "--timeout", "0", "x=true" }, "--timeout: '0' is not a number" },
	{ { "--timeout", "5s", "x=true" }, "--timeout: '5s' is not a number" },
	{ { "--timeout", "-1", "x=true" }, "--timeout: '-1' is not a number" },
	{ { "--timeout", "86401", "x=true" }, "--timeout: '86401' is not a number" },
	{ { "--table", "/no/such/file" }, "/no/such/file: No such file" },
	{ { "--nosuch" }, "unrecognized option" },
};

static void test_usage(void)
{
	const char *argv[6];
	struct captured c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usage_cases); i++) {
		argv[0] = runner;
		memcpy(&argv[1], usage_cases[i].args, sizeof(usage_cases[i].args));
		argv[5] = NULL;
		capture_as(0, argv, &c);
		if (!ktap_ok(c.code == 2 && !*c.out &&
			     strstr(c.err, usage_cases[i].says),
			     "wrong usage: %s", usage_cases[i].says))
			ktap_diag("exit code %d, stderr: %s", c.code, c.err);
		capture_free(&c);
	}
}

static long seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* A program that hangs is killed with all that it started. */
static void test_timeout(void)
{
	long began = seconds();
	struct captured c;
	bool ok;

	capture_as(0, (const char *const[]){ runner, "--timeout", "1",
		"x=" PLAN(1) "sleep 50 & sleep 50", NULL }, &c);
	ok = c.code == 1 && strstr(c.out, "did not end within 1 s") &&
	     !strcmp(last_line(c.out), "pagerun: 0 passed, 2 failed, 0 skipped") &&
	     seconds() - began < 20;
	if (!ktap_ok(ok, "a program that hangs is killed"))
		ktap_diag("exit code %d, output: %s", c.code, c.out);
	capture_free(&c);
}

/* What a program leaves behind holds the pipe open, and holds nothing up. */
static void test_leftover(void)
{
	long began = seconds();
	struct captured c;
	bool ok;

	capture_as(0, (const char *const[]){ runner,
		"x=" PLAN(1) "echo ok 1 - a; sleep 50 & exit 0", NULL }, &c);
	ok = c.code == 0 && seconds() - began < 20 &&
	     !strcmp(last_line(c.out), "pagerun: 1 passed, 0 failed, 0 skipped");
	if (!ktap_ok(ok, "what a program leaves running is not waited for"))
		ktap_diag("exit code %d, output: %s", c.code, c.out);
	capture_free(&c);
}

static void test_table(void)
{
	char path[] = "/tmp/pagerun-runner-test.XXXXXX";
	int fd = mkstemp(path);
	struct captured c;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool ok;

	if (!f || fputs("# remarks\n\n  a=" PLAN(1) "echo ok 1 - t\n"
			"b=" PLAN(1) "echo not ok 1 - t; exit 1\n", f) == EOF ||
	    fclose(f))
		capture_broken("cannot write a test file");
	capture_as(0, (const char *const[]){ runner, "--table", path, NULL }, &c);
	ok = c.code == 1 && strstr(c.out, "\nok 1 - a\n") &&
	     strstr(c.out, "\nnot ok 2 - b\n") &&
	     !strcmp(last_line(c.out), "pagerun: 1 passed, 1 failed, 0 skipped");
	if (!ktap_ok(ok, "tests from a table"))
		ktap_diag("exit code %d, output: %s", c.code, c.out);
	capture_free(&c);
	unlink(path);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: %s PATH-TO-RUNNER", argv[0]);
	if (!realpath(argv[1], runner) || access(runner, X_OK))
		err(2, "%s: build tests/runner.c first", argv[1]);
	ktap_plan(ARRAY_SIZE(cases) + ARRAY_SIZE(usage_cases) + 3);
	test_cases();
	test_usage();
	test_timeout();
	test_leftover();
	test_table();
	return ktap_done();
}
