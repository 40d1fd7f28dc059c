// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pagerun bench" on a real kernel: every case is measured, nullmap judges, what move
 * counts is what the kernel does, and the machine's settings are afterwards what they
 * were, however the program ended.
 *
 * usage: bench_test [move]
 *
 * With "move", the cases of move alone, as is right for a kernel without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../ktap.h"

/* The guest's init is the program. */
#define PAGERUN	"/init"
#define JSON	"/tmp/bench_test.json"
#define OUTPUT	"/tmp/bench_test.out"
/* Where files can be read directly. */
#define SMALL	"/dev/bench_test.small"
#define ENABLED	"/sys/kernel/mm/transparent_hugepage/hugepages-*kB/enabled"
#define NULLMAP	"/sys/kernel/mm/pagerun/nullmap"
#define MOVE	"/sys/kernel/mm/pagerun/move"
#define MAP	"/sys/kernel/mm/pagerun/map"
#define INSTANCES	"/sys/kernel/tracing/instances/*"

/*
 * Rows of "bench all": pin, unpin, what nullmap counts, move, map, register and dio; and
 * those by time alone, of threads and of reads.
 */
#define CASES			75
#define MAP_TIME_CASES		4
#define NULLMAP_THREAD_CASES	8
#define MOVE_CASES		12
#define MOVE_THREAD_CASES	4

#define MAX_SETTINGS 32

/* What all settings of huge pages say, file after file. */
struct settings {
	char text[MAX_SETTINGS][64];
	size_t nr;
};

static bool read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n > 0;
}

static bool counts_insns(void)
{
	char line[4096];

	return read_text("/proc/cmdline", line, sizeof(line)) &&
	       strstr(line, "pagerun.clock=insn");
}

static bool settings_get(struct settings *s)
{
	bool ok = true;
	glob_t files;
	size_t i;

	memset(s, 0, sizeof(*s));
	if (glob(ENABLED, 0, NULL, &files))
		return false;
	for (i = 0; i < files.gl_pathc && i < MAX_SETTINGS; i++)
		if (!read_text(files.gl_pathv[i], s->text[i], sizeof(s->text[i])))
			ok = false;
	s->nr = i;
	globfree(&files);
	return ok;
}

/* The same words for all sizes; sizes that refuse a word keep what they had. */
static void settings_set(const char *word)
{
	glob_t files;
	size_t i;
	int fd;

	if (glob(ENABLED, 0, NULL, &files))
		return;
	for (i = 0; i < files.gl_pathc; i++) {
		fd = open(files.gl_pathv[i], O_WRONLY);
		if (fd < 0 || write(fd, word, strlen(word)) < 0)
			ktap_diag("%s: %s", files.gl_pathv[i], strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	globfree(&files);
}

/* Start the program with its output in files. */
static pid_t start(char *const *argv)
{
	pid_t pid = fork();
	int out;

	if (pid)
		return pid;
	out = open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (out < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	execv(PAGERUN, argv);
	_exit(127);
}

/* The exit code, or -1 and what the program said as a remark. */
static int finish(pid_t pid)
{
	char text[900];
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	if (WEXITSTATUS(status) && read_text(OUTPUT, text, sizeof(text)))
		ktap_diag("exit code %d: %s", WEXITSTATUS(status), text);
	return WEXITSTATUS(status);
}

static size_t count(const char *text, const char *word)
{
	size_t nr = 0;

	while ((text = strstr(text, word))) {
		nr++;
		text += strlen(word);
	}
	return nr;
}

static char json[1 << 18];

/* How many rows of threads there are here; a thread that spins wants a second CPU. */
static size_t move_thread_cases(void)
{
	if (counts_insns())
		return 0;
	return MOVE_THREAD_CASES - (sysconf(_SC_NPROCESSORS_ONLN) < 2);
}

static void test_all_cases(void)
{
	char *argv[] = { "pagerun", "bench", "all", "--size", "4M", "--repeat",
			 "1", "--json", JSON, NULL };
	char *show[] = { "pagerun", "show", JSON, NULL };
	size_t cases = CASES + move_thread_cases() +
		       (counts_insns() ? 0 : NULLMAP_THREAD_CASES + MAP_TIME_CASES);
	bool one_cpu = sysconf(_SC_NPROCESSORS_ONLN) < 2;
	char output[16384];

	ktap_ok(finish(start(argv)) == 0, "bench ends well");
	read_text(OUTPUT, output, sizeof(output));
	if (!ktap_ok(count(output, "SKIP") ==
		     count(output, "SKIP move-spin/512-per-call: ") &&
		     (one_cpu || !strstr(output, "SKIP")), "no case is skipped"))
		ktap_diag("%.900s", strstr(output, "SKIP"));
	read_text(JSON, json, sizeof(json));
	if (!ktap_ok(count(json, "\"case\"") == cases, "each case has a row"))
		ktap_diag("%zu rows", count(json, "\"case\""));
	ktap_ok(finish(start(show)) == 0, "the results can be read back");
}

static bool write_switch(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, 1) == 1;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* One verdict: the exit code, what is said, and that JSON makes no failure of it. */
static void test_verdict(const char *state, int code, const char *says)
{
	char *argv[] = { "pagerun", "bench", "nullmap", "--repeat", "1", NULL };
	char *record[] = { "pagerun", "bench", "nullmap", "--repeat", "1",
			   "--json", JSON, NULL };
	size_t cases = 2 + (counts_insns() ? 0 : NULLMAP_THREAD_CASES);
	char output[16384] = "";
	bool good;

	good = write_switch(NULLMAP, state) && finish(start(argv)) == code &&
	       read_text(OUTPUT, output, sizeof(output)) && strstr(output, says);
	if (!ktap_ok(good, "nullmap: the verdict with the switch at %s", state))
		ktap_diag("%.900s", output);
	good = finish(start(record)) == 0 &&
	       read_text(OUTPUT, output, sizeof(output)) && strstr(output, says) &&
	       read_text(JSON, json, sizeof(json)) &&
	       count(json, "\"case\"") == cases;
	if (!ktap_ok(good, "nullmap: its record with the switch at %s", state))
		ktap_diag("%.900s", output);
}

static void test_nullmap(void)
{
	char *pin[] = { "pagerun", "bench", "nullmap", "--repeat", "1", "--case",
			"pin/anon", NULL };
	bool insn = counts_insns();
	char output[4096] = "";
	int code;

	if (access(NULLMAP, F_OK)) {
		ktap_skip("nullmap: its verdicts: no switch here; boot the patched kernel");
	} else {
		test_verdict("0", 1, "FAIL: GUP-fast takes 0 of 512 pages with a NULL mapping (control 512 of 512)");
		test_verdict("1", 0, "PASS: GUP-fast takes 512 of 512 pages with a NULL mapping (control 512 of 512)\n");
	}
	/* Threads asked for where there is no time: nothing is left to measure. */
	code = finish(start(pin));
	read_text(OUTPUT, output, sizeof(output));
	ktap_ok(code == (insn ? KTAP_EXIT_SKIP : 0) &&
		strstr(output, insn ? "SKIP pin/anon: threads are timed" :
				      "pin/anon/threads-128"),
		"nullmap: threads need the wall clock");
}

/* The figure of a case in what the program wrote last, -1 if it is not there. */
static double value_of(const char *name)
{
	char quoted[64];
	const char *at;
	double value;

	snprintf(quoted, sizeof(quoted), "\"case\": \"%s\"", name);
	at = strstr(json, quoted);
	at = at ? strstr(at, "\"value\": ") : NULL;
	return at && sscanf(at, "\"value\": %lf", &value) == 1 ? value : -1;
}

/* Relations that hold whatever the figures are: each case costs less than the next. */
static const char *const dearer[][2] = {
	{ "move/512-per-call", "move/8-per-call" },
	{ "move/8-per-call", "move/2-per-call" },
	{ "move/2-per-call", "move/1-per-call" },
	{ "mremap/512-per-call", "move/1-per-call" },
	{ "move/512-per-call", "copy/512-per-call" },
};

/* On a kernel that moves page by page: what splits costs more. */
static const char *const dearer_by_page[][2] = {
	{ "move/64-per-call", "move/32-per-call" },
	{ "move/512-per-call", "move/64k-folios" },
	{ "move/512-per-call", "move/2m-pte" },
};

static bool in_order(const char *const (*pairs)[2], size_t nr)
{
	bool good = true;
	size_t i;

	for (i = 0; i < nr; i++) {
		double less = value_of(pairs[i][0]), more = value_of(pairs[i][1]);

		if (less > 0 && less < more)
			continue;
		ktap_diag("%s is %g, %s is %g", pairs[i][0], less, pairs[i][1], more);
		good = false;
	}
	return good;
}

/*
 * All cases of move, where the kernel moves by the run (@by_run) or page by page. The
 * wall clock of a busy machine is in no order.
 */
static void test_move(bool by_run)
{
	char *argv[] = { "pagerun", "bench", "move", "--repeat", "1", "--json", JSON,
			 NULL };
	const char *how = by_run ? "by the run" : "page by page";
	double flushes, splits;
	bool good;

	good = finish(start(argv)) == 0;
	read_text(JSON, json, sizeof(json));
	if (!ktap_ok(good && count(json, "\"case\"") ==
		     MOVE_CASES + move_thread_cases(), "move %s: each case has a row", how))
		ktap_diag("%zu rows", count(json, "\"case\""));
	flushes = value_of("flushes/512-per-call");
	splits = value_of("splits/64k-folios");
	if (!ktap_ok(flushes == (by_run ? 1 : 512) && splits == (by_run ? 0 : 128),
		     "move %s: flushes and splits", how))
		ktap_diag("%g flushes, %g splits", flushes, splits);
	if (counts_insns())
		ktap_ok(in_order(dearer, sizeof(dearer) / sizeof(*dearer)) &&
			(by_run || in_order(dearer_by_page, sizeof(dearer_by_page) /
					    sizeof(*dearer_by_page))),
			"move %s: what costs more than what", how);
	else
		ktap_skip("move %s: what costs more than what: needs a clock that counts instructions; boot with --mode insn",
			  how);
}

/* Threads asked for where there is no time: nothing is left to measure. */
static void test_move_threads(void)
{
	char *argv[] = { "pagerun", "bench", "move", "--repeat", "1", "--case",
			 "move-threads-2/*", NULL };
	bool insn = counts_insns();
	int code = finish(start(argv));
	char output[4096] = "";

	read_text(OUTPUT, output, sizeof(output));
	ktap_ok(code == (insn ? KTAP_EXIT_SKIP : 0) &&
		strstr(output, insn ? "SKIP move-threads-2/512-per-call: threads are timed" :
				      "move-threads-2/512-per-call"),
		"move: threads need the wall clock");
}

/* The kernel at hand, both ways if it has a switch. */
static void test_moves(void)
{
	test_move_threads();
	if (access(MOVE, F_OK)) {
		test_move(false);
		return;
	}
	if (!write_switch(MOVE, "0"))
		ktap_diag("the switch cannot be turned off");
	test_move(false);
	if (!write_switch(MOVE, "1"))
		ktap_diag("the switch cannot be turned on");
	test_move(true);
}

/* How many results test_moves() has. */
static unsigned int move_results(void)
{
	return access(MOVE, F_OK) ? 4 : 7;
}

/* The page tables of 1 GiB of the guest's BAR: by large entries, or by PTEs. */
static void test_map_tables(bool large)
{
	char *argv[] = { "pagerun", "bench", "map", "--case", "page-tables-kib/*",
			 "--json", JSON, NULL };
	char *value;
	double kib;

	if (!access(MAP, F_OK))
		write_switch(MAP, large ? "1" : "0");
	if (finish(start(argv)) || !read_text(JSON, json, sizeof(json)))
		json[0] = '\0';
	value = strstr(json, "\"value\":");
	kib = value ? strtod(value + strlen("\"value\":"), NULL) : -1;
	if (!ktap_ok(large ? kib >= 0 && kib <= 16 : kib >= 2048,
		     "map %s: page tables of 1 GiB", large ? "on" : "off"))
		ktap_diag("%g KiB", kib);
}

/* What dio reads has to be there, and large enough; nothing of it is written. */
static void test_dio(void)
{
	char *none[] = { "pagerun", "bench", "dio", "--device", "/nowhere", NULL };
	char *small[] = { "pagerun", "bench", "dio", "--device", SMALL, NULL };
	int fd = open(SMALL, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char output[1024] = "";

	ktap_ok(finish(start(none)) == KTAP_EXIT_SKIP &&
		read_text(OUTPUT, output, sizeof(output)) &&
		strstr(output, "/nowhere cannot be opened for direct reads"),
		"dio: a device that is not there");
	ktap_ok(fd >= 0 && !ftruncate(fd, 1 << 20) &&
		finish(start(small)) == KTAP_EXIT_SKIP &&
		read_text(OUTPUT, output, sizeof(output)) &&
		strstr(output, SMALL " has less than 64 MiB"), "dio: a file that is too small");
	if (fd >= 0)
		close(fd);
	unlink(SMALL);
}

static void test_map(void)
{
	char *argv[] = { "pagerun", "bench", "map", "--device", "/nowhere", NULL };
	char *plain[] = { "pagerun", "bench", "map", "--device", JSON, NULL };
	char output[1024] = "";

	ktap_ok(finish(start(argv)) == 4 && read_text(OUTPUT, output, sizeof(output)) &&
		strstr(output, "cannot open /nowhere"), "map: a device that is not there");
	ktap_ok(finish(start(plain)) == 4 && read_text(OUTPUT, output, sizeof(output)) &&
		strstr(output, "is not the file of a device's memory"),
		"map: a file of no device");
	test_map_tables(false);
	if (access(MAP, F_OK))
		ktap_skip("map on: page tables of 1 GiB: this kernel has no large entries; boot a patched one");
	else
		test_map_tables(true);
}

static bool instance_there(void)
{
	glob_t dirs;

	if (glob(INSTANCES, 0, NULL, &dirs))
		return false;
	globfree(&dirs);
	return true;
}

/* Wait until the program has its trace instance; false if it ends before that is seen. */
static bool wait_for_instance(pid_t pid)
{
	siginfo_t info;

	while (!instance_there()) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
		    info.si_pid)
			return false;
	}
	return true;
}

/* End it while it counts flushes: the trace instance does not stay. */
static void test_trace_signal(int sig)
{
	char *argv[] = { "pagerun", "bench", "move", "--case", "flushes/*", NULL };
	unsigned int seen = 0, ended = 0, left = 0;
	int status, i;
	pid_t pid;

	for (i = 0; i < 10; i++) {
		pid = start(argv);
		seen += wait_for_instance(pid);
		kill(pid, sig);
		if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
			ended++;
		left += instance_there();
	}
	if (!ktap_ok(seen && ended && !left, "no trace instance is left after signal %d",
		     sig))
		ktap_diag("seen %u times of %d, ended by it %u times, left %u times", seen,
			  i, ended, left);
}

static void test_settings(const char *word)
{
	char *argv[] = { "pagerun", "bench", "pin", "--size", "2M", "--repeat",
			 "1", "--case", "pin/*", NULL };
	struct settings before, after;
	int code;

	settings_set(word);
	if (!settings_get(&before))
		ktap_diag("the settings cannot be read");
	code = finish(start(argv));
	ktap_ok(code == 0 && settings_get(&after) &&
		!memcmp(&before, &after, sizeof(before)),
		"settings of '%s' are put back", word);
}

/* End it at many moments, the signal that a Ctrl-C or a kill sends. */
static void test_signal(int sig)
{
	char *argv[] = { "pagerun", "bench", "pin", "--size", "64M",
			 "--case", "pin/64k", NULL };
	struct settings before, after;
	unsigned int ended = 0, wrong = 0;
	struct timespec wait;
	int status, i;
	pid_t pid;

	/* Not what the program sets, so that what is left behind shows. */
	settings_set("always");
	settings_get(&before);
	for (i = 0; i < 60; i++) {
		pid = start(argv);
		wait = (struct timespec){ .tv_nsec = i * 3000000L };
		nanosleep(&wait, NULL);
		kill(pid, sig);
		if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
			ended++;
		if (!settings_get(&after) ||
		    memcmp(&before, &after, sizeof(before)))
			wrong++;
	}
	if (!ktap_ok(ended && !wrong, "settings are put back after signal %d", sig))
		ktap_diag("%u of %d ended by it, %u times not put back", ended, i,
			  wrong);
}

int main(int argc, char **argv)
{
	struct settings settings;

	if (!settings_get(&settings)) {
		ktap_plan(1);
		ktap_skip("no folios of a chosen size here: boot Linux 6.8 or newer with CONFIG_TRANSPARENT_HUGEPAGE");
		return ktap_done();
	}
	if (argc == 2 && !strcmp(argv[1], "move")) {
		ktap_plan(move_results());
		test_moves();
		return ktap_done();
	}
	ktap_plan((access(NULLMAP, F_OK) ? 18 : 21) + move_results());
	test_all_cases();
	test_nullmap();
	test_moves();
	test_dio();
	test_map();
	test_trace_signal(SIGTERM);
	test_settings("inherit");
	test_settings("always");
	test_settings("never");
	test_signal(SIGTERM);
	test_signal(SIGINT);
	return ktap_done();
}
