/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP version 1 for test programs: one header, no library.
 *
 *	int main(void)
 *	{
 *		ktap_plan(2);
 *		if (!ktap_ok(one() == 1, "one() is 1"))
 *			ktap_diag("it is %d", one());
 *		if (can_do_it())
 *			ktap_ok(do_it() == 0, "doing it");
 *		else
 *			ktap_skip("doing it: no /dev/x here; run: modprobe x");
 *		return ktap_done();
 *	}
 *
 * Each line leaves the program at once, so what was said before a crash is not
 * lost and fork() doubles nothing. Only one thread of one process may call
 * these functions; a forked child reports through its exit status. Lines are
 * at most KTAP_LINE bytes and cut after that. A newline in a text becomes a
 * space. In results, '#' and '\' get a '\' before them, so that no text can be
 * taken for a directive.
 */
#ifndef PAGERUN_KTAP_H
#define PAGERUN_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KTAP_LINE 1024

/* What ktap_done() returns, for use as exit code. */
#define KTAP_EXIT_PASS	0
#define KTAP_EXIT_FAIL	1
#define KTAP_EXIT_SKIP	4	/* nothing failed, nothing passed either */

struct ktap_state {
	unsigned int planned, run, failed, skipped;
	bool has_plan, misused;
};

/* One for the whole program, of however many files it is. */
struct ktap_state ktap_the_state __attribute__((weak));

static inline struct ktap_state *ktap_state(void)
{
	return &ktap_the_state;
}

/* Print @head, then the formatted text on one line, escaped if asked to. */
static inline void ktap_vline(const char *head, bool escape, const char *fmt,
			      va_list ap)
{
	char text[KTAP_LINE];
	const char *p;

	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		strcpy(text, "(text cannot be formatted)");
	fputs(head, stdout);
	for (p = text; *p; p++) {
		if (escape && (*p == '#' || *p == '\\'))
			putchar('\\');
		putchar(*p == '\n' || *p == '\r' ? ' ' : *p);
	}
	putchar('\n');
	fflush(stdout);
}

/*
 * ktap_plan() - say how many results follow
 *
 * Must come first, once. ktap_done() takes a different number of results for a
 * failure.
 */
static inline void ktap_plan(unsigned int nr)
{
	struct ktap_state *st = ktap_state();

	if (st->has_plan) {
		st->misused = true;
		printf("# ktap_plan() called twice\n");
	} else {
		printf("KTAP version 1\n1..%u\n", nr);
	}
	fflush(stdout);
	st->has_plan = true;
	st->planned = nr;
}

/*
 * ktap_ok() - report one result
 * @ok: whether the test passed
 * @fmt: the test's name, no newline
 *
 * Return: @ok, so that a caller can add a ktap_diag() to a failure.
 */
static inline bool __attribute__((format(printf, 2, 3)))
ktap_ok(bool ok, const char *fmt, ...)
{
	struct ktap_state *st = ktap_state();
	char head[32];
	va_list ap;

	st->run++;
	if (!ok)
		st->failed++;
	snprintf(head, sizeof(head), "%s %u - ", ok ? "ok" : "not ok", st->run);
	va_start(ap, fmt);
	ktap_vline(head, true, fmt, ap);
	va_end(ap);
	return ok;
}

/*
 * ktap_skip() - report one test as not possible here
 * @fmt: what is missing and the remedy
 */
static inline void __attribute__((format(printf, 1, 2)))
ktap_skip(const char *fmt, ...)
{
	struct ktap_state *st = ktap_state();
	char head[32];
	va_list ap;

	st->run++;
	st->skipped++;
	snprintf(head, sizeof(head), "ok %u # SKIP ", st->run);
	va_start(ap, fmt);
	ktap_vline(head, true, fmt, ap);
	va_end(ap);
}

/* ktap_diag() - print a line of explanation; it changes no result */
static inline void __attribute__((format(printf, 1, 2)))
ktap_diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ktap_vline("# ", false, fmt, ap);
	va_end(ap);
}

/*
 * ktap_done() - add up
 *
 * Return: KTAP_EXIT_FAIL if a test failed, was missing or was not planned, or
 * if the output was lost; KTAP_EXIT_SKIP if there were only skips; else
 * KTAP_EXIT_PASS.
 */
static inline int ktap_done(void)
{
	struct ktap_state *st = ktap_state();
	bool bad = st->failed || st->misused;

	if (!st->has_plan) {
		printf("# no plan: call ktap_plan() first\n");
		bad = true;
	} else if (st->run != st->planned) {
		printf("# planned %u tests, ran %u\n", st->planned, st->run);
		bad = true;
	}
	printf("# Totals: pass:%u fail:%u skip:%u\n",
	       st->run - st->failed - st->skipped, st->failed, st->skipped);
	if (fflush(stdout) || ferror(stdout))
		bad = true;
	if (bad)
		return KTAP_EXIT_FAIL;
	return st->run && st->run == st->skipped ? KTAP_EXIT_SKIP : KTAP_EXIT_PASS;
}

#endif /* PAGERUN_KTAP_H */
