// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs test programs one after the other and adds up what they say in KTAP.
 * Its own output is KTAP: each program is a test, and what it writes is
 * forwarded as it comes, indented by two spaces, before its own result. The
 * last line is "pagerun: N passed, N failed, N skipped", of single tests.
 *
 * A program that does not keep to its word has failed, whatever its tests say:
 * a crash, a time-out, results other than planned, no KTAP at all, or an exit
 * code that does not fit the results; each counts as one more failed test.
 */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT	600
#define MAX_TIMEOUT	86400
/* How long a program that was told to end may take to clean up. */
#define GRACE_MS	5000
/* A longer line is cut; the rest of it is dropped. */
#define LINE_ROOM	8192

#define EXIT_USAGE	2
#define EXIT_SKIPPED	4	/* of a test program: it could test nothing */

struct counts {
	unsigned int passed, failed, skipped;
};

/* A test program: a name, and a command for sh. */
struct test {
	char *name, *command;
};

struct options {
	unsigned int timeout;	/* seconds, of one program */
	struct test *tests;
	size_t nr;
};

/* What a program has said so far. */
struct ktap {
	bool version, plan, skipped_all, bailed, out_of_order;
	unsigned int planned, seen;
	struct counts counts;
};

static volatile sig_atomic_t stop_signal;

static void note_signal(int sig)
{
	stop_signal = sig;
}

/* A number, @text after it; false if there is none. */
static bool take_number(const char **text, unsigned int *out)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	value = strtoul(*text, &end, 10);
	if (errno || value > 1000000)
		return false;
	*out = (unsigned int)value;
	*text = end;
	return true;
}

/* The directive after the first '#' that is not escaped; "" if none. */
static const char *directive(const char *text)
{
	const char *p;

	for (p = text; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '#')
			return p + 1 + strspn(p + 1, " ");
	}
	return "";
}

static void take_plan(struct ktap *k, const char *text)
{
	unsigned int planned;

	if (!take_number(&text, &planned))
		return;
	if (k->plan)
		k->out_of_order = true;
	k->plan = true;
	k->planned = planned;
	if (!planned && !strncasecmp(directive(text), "SKIP", 4)) {
		k->skipped_all = true;
		k->counts.skipped++;
	}
}

static void take_result(struct ktap *k, const char *text, bool ok)
{
	unsigned int number;

	k->seen++;
	if (!take_number(&text, &number) || number != k->seen)
		k->out_of_order = true;
	if (!ok)
		k->counts.failed++;
	else if (!strncasecmp(directive(text), "SKIP", 4))
		k->counts.skipped++;
	else
		k->counts.passed++;
}

/* One line of a program. Indented lines are its own subtests: not counted. */
static void take_line(struct ktap *k, const char *line)
{
	if (!strncmp(line, "KTAP version ", 13) ||
	    !strncmp(line, "TAP version ", 12))
		k->version = true;
	else if (!strncmp(line, "1..", 3))
		take_plan(k, line + 3);
	else if (!strncmp(line, "ok ", 3))
		take_result(k, line + 3, true);
	else if (!strncmp(line, "not ok ", 7))
		take_result(k, line + 7, false);
	else if (!strncmp(line, "Bail out!", 9))
		k->bailed = true;
}

/**
 * struct reader - cuts a program's output into lines
 */
struct reader {
	int fd;
	bool eof, cut;
	char line[LINE_ROOM];
	size_t len;
	struct ktap ktap;
};

static void end_line(struct reader *r)
{
	r->line[r->len] = '\0';
	/* A guest's console ends its lines with CR LF. */
	if (r->len && r->line[r->len - 1] == '\r')
		r->line[r->len - 1] = '\0';
	printf("  %s\n", r->line);
	fflush(stdout);
	take_line(&r->ktap, r->line);
	r->len = 0;
	r->cut = false;
}

/* Take what is there; does not block. */
static void read_some(struct reader *r)
{
	char buf[4096];
	ssize_t n, i;

	n = read(r->fd, buf, sizeof(buf));
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		r->eof = true;
	for (i = 0; i < n; i++) {
		if (buf[i] == '\n')
			end_line(r);
		else if (r->len < sizeof(r->line) - 1)
			r->line[r->len++] = buf[i] ? buf[i] : ' ';
	}
}

static void read_rest(struct reader *r)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };

	while (!r->eof && poll(&p, 1, 0) > 0)
		read_some(r);
	if (r->len)
		end_line(r);
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* In the child: become the command. Does not return. */
static void exec_command(const char *command, int out)
{
	int in = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		err(127, "cannot prepare the command");
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	err(127, "cannot run /bin/sh");
}

/* Forward output until the program ends. Return: false if time ran out. */
static bool follow(struct reader *r, int pidfd, long long deadline)
{
	struct pollfd p[2] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = r->fd, .events = POLLIN },
	};
	long long left;

	for (;;) {
		left = deadline - now_ms();
		if (left <= 0 || stop_signal)
			return false;
		p[1].fd = r->eof ? -1 : r->fd;
		if (poll(p, 2, left > 1000 ? 1000 : (int)left) < 0)
			continue;
		if (p[1].revents)
			read_some(r);
		if (p[0].revents)
			return true;
	}
}

static pid_t start(const char *command, int *out)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid)
		exec_command(command, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -1;
	}
	/* Both sides do it, so that it is done when either needs it. */
	setpgid(pid, pid);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*out = fds[0];
	return pid;
}

/* Everything the program did not do as it should, one failure each. */
static void judge(struct ktap *k, int status, bool timed_out,
		  const struct options *opt)
{
	unsigned int before = k->counts.failed;

#define fault(...) (k->counts.failed++, printf("  # " __VA_ARGS__), putchar('\n'))
	if (timed_out)
		fault("it did not end within %u s and was killed", opt->timeout);
	else if (WIFSIGNALED(status))
		fault("it was killed by signal %d (%s)", WTERMSIG(status),
		      strsignal(WTERMSIG(status)));
	if (!k->version || !k->plan)
		fault("it did not write KTAP with a plan");
	else if (k->seen != k->planned)
		fault("it planned %u tests and ran %u", k->planned, k->seen);
	else if (k->out_of_order)
		fault("its results are not numbered from 1, or planned twice");
	else if (!k->planned && !k->skipped_all)
		fault("it planned no test and gave no reason");
	if (k->bailed)
		fault("it bailed out");
	/* A failure that is told above explains the exit code too. */
	if (k->counts.failed == before && !timed_out && WIFEXITED(status)) {
		int code = WEXITSTATUS(status);
		bool only_skips = k->counts.skipped && !k->counts.passed;

		if (code && !before && !(code == EXIT_SKIPPED && only_skips))
			fault("it ended with exit code %d without a failed test",
			      code);
	}
#undef fault
}

/* Kill what is left of the program's process group; quickly if it is gone. */
static void end_group(pid_t pid, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (poll(&p, 1, 0) == 0) {
		kill(-pid, SIGTERM);
		poll(&p, 1, GRACE_MS);
	}
	kill(-pid, SIGKILL);
}

static int run_test(const struct test *test, const struct options *opt,
		    struct counts *counts)
{
	struct reader reader = { 0 };
	long long began = now_ms();
	int pidfd, status = 0;
	bool ended;
	pid_t pid;

	pid = start(test->command, &reader.fd);
	if (pid < 0) {
		warn("%s: cannot start it", test->name);
		return -1;
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		warn("%s: cannot watch it", test->name);
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(reader.fd);
		return -1;
	}
	ended = follow(&reader, pidfd, began + opt->timeout * 1000LL);
	/* Before the wait: until then no one else can have the group's id. */
	end_group(pid, pidfd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	read_rest(&reader);
	close(reader.fd);
	close(pidfd);
	if (stop_signal)
		return -1;
	judge(&reader.ktap, status, !ended, opt);
	printf("  # %s took %.1f s\n", test->name,
	       (double)(now_ms() - began) / 1000);
	*counts = reader.ktap.counts;
	return 0;
}

static bool run_all(const struct options *opt)
{
	struct counts all = { 0 }, counts;
	size_t i;

	printf("KTAP version 1\n1..%zu\n", opt->nr);
	for (i = 0; i < opt->nr; i++) {
		printf("  # Subtest: %s\n", opt->tests[i].name);
		fflush(stdout);
		if (run_test(&opt->tests[i], opt, &counts)) {
			if (!stop_signal)
				return false;
			printf("Bail out! stopped by signal %d\n",
			       (int)stop_signal);
			return false;
		}
		printf("%s %zu - %s%s\n", counts.failed ? "not ok" : "ok", i + 1,
		       opt->tests[i].name,
		       !counts.failed && !counts.passed ?
		       " # SKIP all of it was skipped" : "");
		all.passed += counts.passed;
		all.failed += counts.failed;
		all.skipped += counts.skipped;
	}
	printf("pagerun: %u passed, %u failed, %u skipped\n", all.passed,
	       all.failed, all.skipped);
	return !all.failed && all.passed;
}

/* Add "NAME=COMMAND". Return: NULL, or what is wrong with it. */
static const char *add_test(struct options *opt, const char *text)
{
	size_t len = strcspn(text, "="), i;
	struct test *tests;

	if (!len || text[len] != '=')
		return "is not NAME=COMMAND";
	if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != len)
		return "has a name with other than letters, digits and _.-";
	if (!text[len + 1 + strspn(text + len + 1, " \t")])
		return "has no command";
	for (i = 0; i < opt->nr; i++)
		if (strlen(opt->tests[i].name) == len &&
		    !strncmp(opt->tests[i].name, text, len))
			return "has a name that was used before";
	tests = reallocarray(opt->tests, opt->nr + 1, sizeof(*tests));
	if (!tests)
		return "cannot be kept: out of memory";
	opt->tests = tests;
	tests[opt->nr].name = strndup(text, len);
	tests[opt->nr].command = strdup(text + len + 1);
	if (!tests[opt->nr].name || !tests[opt->nr].command)
		return "cannot be kept: out of memory";
	opt->nr++;
	return NULL;
}

static void read_table(struct argp_state *state, struct options *opt,
		       const char *path)
{
	char *line = NULL, *text;
	unsigned int nr = 0;
	const char *wrong;
	size_t room = 0;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		argp_failure(state, EXIT_USAGE, errno, "%s", path);
	while (getline(&line, &room, f) > 0) {
		nr++;
		line[strcspn(line, "\n")] = '\0';
		text = line + strspn(line, " \t");
		if (!*text || *text == '#')
			continue;
		wrong = add_test(opt, text);
		if (wrong)
			argp_error(state, "%s, line %u: '%s' %s", path, nr, text,
				   wrong);
	}
	if (ferror(f))
		argp_failure(state, EXIT_USAGE, errno, "%s", path);
	free(line);
	fclose(f);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;
	const char *wrong, *text = arg;

	switch (key) {
	case 't':
		if (!take_number(&text, &opt->timeout) || *text ||
		    !opt->timeout || opt->timeout > MAX_TIMEOUT)
			argp_error(state, "--timeout: '%s' is not a number from 1 to %d",
				   arg, MAX_TIMEOUT);
		return 0;
	case 'f':
		read_table(state, opt, arg);
		return 0;
	case ARGP_KEY_ARG:
		wrong = add_test(opt, arg);
		if (wrong)
			argp_error(state, "'%s' %s", arg, wrong);
		return 0;
	case ARGP_KEY_END:
		if (!opt->nr)
			argp_error(state, "no tests given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{ "timeout", 't', "S", 0,
	  "Seconds that one program may take (1 to 86400; default: 600)", 0 },
	{ "table", 'f', "FILE", 0,
	  "Read tests from FILE: one NAME=COMMAND a line, # for remarks", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "[NAME=COMMAND...]",
	.doc = "Run test programs that write KTAP and add up their results.\v"
	       "Exit codes: 0 at least one test passed and none failed; 1 otherwise; "
	       "2 wrong usage.",
};

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = note_signal };
	struct options opt = { .timeout = DEFAULT_TIMEOUT };
	bool good;
	size_t i;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &opt))
		return EXIT_USAGE;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);

	good = run_all(&opt);
	for (i = 0; i < opt.nr; i++) {
		free(opt.tests[i].name);
		free(opt.tests[i].command);
	}
	free(opt.tests);
	if (fflush(stdout) || ferror(stdout)) {
		warnx("cannot write the output");
		return 1;
	}
	return good ? 0 : 1;
}
