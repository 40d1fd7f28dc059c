// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the program against good and bad input.
 *
 *	tool_test PATH-TO-PAGERUN
 *
 * Meant for the build with sanitizers (make -C tool SAN=1): a leak or an
 * overrun ends it with a code that no test here expects. Link with -ljansson.
 */
#include <err.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>

#include "../ktap.h"
#include "capture.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NOBODY 65534

static char pagerun[PATH_MAX];	/* absolute, readable by all */
static char dir[] = "/tmp/pagerun-tool-test.XXXXXX";

/* ---- helpers ------------------------------------------------------------ */

/* Whether the running test is good so far. */
static bool good;

/* One more thing that the running test wants; what failed is told. */
#define want(cond, ...)							\
	do {								\
		if (!(cond)) {						\
			good = false;					\
			ktap_diag("line %d: " #cond, __LINE__);		\
			ktap_diag(" " __VA_ARGS__);			\
		}							\
	} while (0)

/* Run pagerun in the test's folder. The arguments end with NULL. */
static void run_list(uid_t uid, struct captured *c, const char *const *args)
{
	const char *argv[CAPTURE_MAX_ARGS] = { pagerun };
	size_t i;

	for (i = 0; args[i] && i + 2 < CAPTURE_MAX_ARGS; i++)
		argv[i + 1] = args[i];
	capture_as(uid, argv, c);
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define run(c, ...) run_list(0, c, ARGS(__VA_ARGS__))

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	if (!f || fputs(text, f) == EOF || fclose(f))
		capture_broken("cannot write a test file");
}

/* The text of a file, for free(); "" if it cannot be read. */
static char *get(const char *name)
{
	FILE *f = fopen(name, "r");

	return f ? capture_text(f) : strdup("");
}

static void replace(char **text, const char *from, const char *to)
{
	char *at = strstr(*text, from), *out;

	if (!at)
		capture_broken("a test replaces what is not there");
	if (asprintf(&out, "%.*s%s%s", (int)(at - *text), *text, to,
		     at + strlen(from)) < 0)
		capture_broken("out of memory");
	free(*text);
	*text = out;
}

/* ---- input -------------------------------------------------------------- */

#define KERNEL \
	"{\"release\":\"6.12.1\",\"config_sha256\":\"c0\"," \
	"\"image_sha256\":null,\"package_sha256\":\"b0\",\"features\":[]}"
#define NEW_KERNEL \
	"{\"release\":\"6.12.1\",\"config_sha256\":\"c1\"," \
	"\"image_sha256\":\"d1\",\"package_sha256\":\"b0\"," \
	"\"patchset_sha256\":\"e1\",\"features\":[\"pin\",\"unpin\"]}"
#define RUN(kernel, rows) \
	"{\"schema\":1,\"kernel\":" kernel ",\"tool\":\"pagerun 0\",\"rows\":[" rows "]}"
#define ROW(bench, name, clock, unit, better, value, samples) \
	"{\"bench\":\"" bench "\",\"case\":\"" name "\",\"clock\":\"" clock \
	"\",\"unit\":\"" unit "\",\"better\":\"" better "\",\"value\":" value \
	",\"samples\":[" samples "]}"
#define ONE_ROW ROW("pin", "pin/64k", "insn", "insn/page", "less", "2.5", "2.5,3,1")
#define GOOD RUN(KERNEL, ONE_ROW)

/* Not in the order of the alphabet, so that the order can be seen. */
#define BASE_ROWS \
	ROW("pin", "pin/64k", "insn", "insn/page", "less", \
	    "187.59375", "187.5,187.59375,188") "," \
	ROW("pin", "get/4k", "insn", "insn/page", "less", "125", "125") "," \
	ROW("dio", "dio/64k", "wall", "GB/s", "more", "2", "1,2,4") "," \
	ROW("move", "move/512", "count", "flushes/call", "less", "512", "512") "," \
	ROW("move", "move/none", "count", "splits", "less", "0", "0")
#define NEW_ROWS \
	ROW("move", "move/none", "count", "splits", "less", "3", "3") "," \
	ROW("move", "move/512", "count", "flushes/call", "less", "0", "0") "," \
	ROW("dio", "dio/64k", "wall", "GB/s", "more", "5", "5") "," \
	ROW("pin", "get/4k", "insn", "insn/page", "less", "250", "250") "," \
	ROW("pin", "pin/64k", "insn", "insn/page", "less", \
	    "25.1", "25,25.1,25.100000000000001")

/* ---- usage -------------------------------------------------------------- */

#define LONG_LIST \
	"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26," \
	"27,28,29,30,31,32,33"

static const struct {
	const char *args[8];
	const char *says;
} usage_cases[] = {
	{ { NULL }, "no command given" },
	{ { "nosuch" }, "there is no command 'nosuch'" },
	{ { "--nosuch" }, "unrecognized option '--nosuch'" },
	{ { "bench", "--nosuch" }, "unrecognized option '--nosuch'" },
	{ { "bench", "nosuch" }, "there is no benchmark 'nosuch'" },
	{ { "bench", "pin", "unpin" }, "one benchmark only: 'unpin' is too much" },
	{ { "bench", "--repeat", "0" }, "--repeat: '0' is not a number from 1 to 1000" },
	{ { "bench", "--repeat", "1001" }, "--repeat: '1001' is not" },
	{ { "bench", "--repeat=-1" }, "--repeat: '-1' is not" },
	{ { "bench", "--repeat", "+1" }, "--repeat: '+1' is not" },
	{ { "bench", "--repeat", " 1" }, "--repeat: ' 1' is not" },
	{ { "bench", "--repeat", "5x" }, "--repeat: '5x' is not" },
	{ { "bench", "--repeat", "" }, "--repeat: '' is not" },
	{ { "bench", "--repeat", "18446744073709551617" }, "is not a number" },
	{ { "bench", "--size", "0" },
	  "--size: '0' is not a multiple of 2M from 2M to 4G" },
	{ { "bench", "--size", "1M" }, "--size: '1M' is not" },
	{ { "bench", "--size", "3M" }, "--size: '3M' is not" },
	{ { "bench", "--size", "4098M" }, "--size: '4098M' is not" },
	{ { "bench", "--size", "2MB" }, "--size: '2MB' is not" },
	{ { "bench", "--size", "17179869186G" }, "--size: '17179869186G' is not" },
	{ { "bench", "--pages-per-call", "0" },
	  "--pages-per-call: '0' is not a number from 1 to 1048576" },
	{ { "bench", "--pages-per-call", "16385" },
	  "--pages-per-call: '16385' is not a number from 1 to 16384" },
	{ { "bench", "--pages-per-call", "513", "--size", "2M" },
	  "--pages-per-call: '513' is not a number from 1 to 512" },
	{ { "bench", "--threads", "" }, "--threads: '' is not a number from 1 to 256" },
	{ { "bench", "--threads", "0" }, "--threads: '0' is not" },
	{ { "bench", "--threads", "257" }, "--threads: '257' is not" },
	{ { "bench", "--threads", "1," }, "--threads: '' is not" },
	{ { "bench", "--threads", ",1" }, "--threads: '' is not" },
	{ { "bench", "--threads", "1;2" }, "--threads: '1;2' is not" },
	{ { "bench", "--threads", "2,1,2" }, "--threads: 2 is there twice" },
	{ { "bench", "--threads", LONG_LIST }, "--threads: more than 32 numbers" },
	{ { "bench", "--clock", "foo" }, "--clock: 'foo' is not auto, insn or wall" },
	{ { "bench", "--clock", "insn", "--threads", "1" },
	  "--clock insn and --threads exclude each other" },
	{ { "bench", "--case", "nosuch" }, "--case: 'nosuch' matches no case" },
	{ { "bench", "unpin", "--case", "pin/*" }, "--case: 'pin/*' matches no case" },
	{ { "bench", "--case", "pin/4k", "--case", "x" }, "--case: 'x' matches no case" },
	{ { "bench", "--json", "" }, "--json: the name of the file is empty" },
	{ { "bench", "--json" }, "requires an argument" },
	{ { "compare" }, "two files are needed" },
	{ { "compare", "a" }, "two files are needed" },
	{ { "compare", "a", "b", "c" }, "two files only: 'c' is too much" },
	{ { "compare", "a", "b", "--gate", "f" }, "--gate needs --key" },
	{ { "compare", "a", "b", "--key", "k" }, "--key needs --gate" },
	{ { "compare", "a", "b", "--gate-update" }, "--gate-update needs --gate" },
	{ { "compare", "a", "b", "--gate", "f", "--key", "" },
	  "--key: its value is empty" },
	{ { "compare", "a", "b", "--targets", "" }, "--targets: its value is empty" },
	{ { "compare", "a", "b", "--json", "" }, "--json: its value is empty" },
	{ { "bench", "nullmap", "--size", "2M" },
	  "nullmap knows no --size or --pages-per-call" },
	{ { "bench", "--pages-per-call", "8", "nullmap" },
	  "nullmap knows no --size or --pages-per-call" },
	{ { "bench", "nullmap", "--case", "pin/4k" }, "--case: 'pin/4k' matches no case" },
	{ { "bench", "move", "--size", "2M" },
	  "move knows no --size or --pages-per-call" },
	{ { "bench", "move", "--pages-per-call", "8" },
	  "move knows no --size or --pages-per-call" },
	{ { "bench", "move", "--threads", "2" },
	  "move knows no --threads: its cases say how many there are" },
	{ { "bench", "move", "--case", "move-spin" }, "--case: 'move-spin' matches no case" },
	{ { "bench", "map", "--size", "2M" },
	  "map knows no --size or --pages-per-call" },
	{ { "bench", "map", "--threads", "2" },
	  "map knows no --threads: its cases say how many there are" },
	{ { "bench", "register", "--size", "2M" },
	  "register knows no --size or --pages-per-call: its memory has one size" },
	{ { "bench", "dio", "--threads", "2" },
	  "dio knows no --threads: its cases say how many there are" },
	{ { "bench", "register", "--device", "x" }, "--device is for map and for dio" },
	{ { "bench", "map", "--device", "" }, "--device: the name of the file is empty" },
	{ { "bench", "pin", "--device", "x" }, "--device is for map and for dio: say bench map or bench dio" },
	{ { "bench", "--device", "x" }, "--device is for map and for dio: say bench map or bench dio" },
	{ { "merge" }, "no file given" },
	{ { "merge", "--json", "out.json" }, "no file given" },
	{ { "merge", "a", "--json", "" }, "--json: the name of the file is empty" },
	{ { "merge", "a", "--nosuch" }, "unrecognized option '--nosuch'" },
	{ { "show" }, "no file given" },
	{ { "show", "a", "b" }, "one file only: 'b' is too much" },
};

static void test_usage(void)
{
	struct captured c;
	unsigned int lines;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usage_cases); i++) {
		run_list(0, &c, usage_cases[i].args);
		/* One line; argp takes one more for the options themselves. */
		lines = strstr(c.err, "Try `") ? 2 : 1;
		if (!ktap_ok(c.code == 2 && !*c.out &&
			     strstr(c.err, usage_cases[i].says) &&
			     !strncmp(c.err, "pagerun", 7) &&
			     strstr(c.err, "--help") &&
			     capture_lines(c.err) == lines,
			     "wrong usage %zu: %s", i, usage_cases[i].says))
			ktap_diag("exit code %d, stderr: %s", c.code, c.err);
		capture_free(&c);
	}
}

static void test_help(void)
{
	static const char *const commands[] = {
		NULL, "bench", "compare", "merge", "show",
	};
	static const char *const texts[] = {
		"Usage: pagerun", "Example", "Exit codes:", "0  fine", "1  failed",
		"2  wrong usage", "4  skipped",
	};
	struct captured c;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *const *help = commands[i] ?
			ARGS(commands[i], "--help") : ARGS("--help");

		run_list(0, &c, help);
		want(c.code == 0 && !*c.err, "%s: %s", help[0], c.err);
		for (j = 0; j < ARRAY_SIZE(texts); j++)
			want(strstr(c.out, texts[j]), "%s: %s", help[0], texts[j]);
		if (!commands[i])
			for (j = 1; j < ARRAY_SIZE(commands); j++)
				want(strstr(c.out, commands[j]), "%s", commands[j]);
		capture_free(&c);
	}
}

static void test_version(void)
{
	static const char *const commands[] = {
		NULL, "bench", "compare", "merge", "show",
	};
	struct captured c;
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		run_list(0, &c, commands[i] ? ARGS(commands[i], "--version") :
					      ARGS("--version"));
		n = -1;
		sscanf(c.out, "pagerun %*u.%*u.%*u%n", &n);
		want(c.code == 0 && n > 0 && !strcmp(c.out + n, "\n"), "%s", c.out);
		capture_free(&c);
	}
}

/* Output that is lost is no success. */
static void test_full_disk(void)
{
	static const char *const commands[] = {
		"--help", "bench --list", "show good.json",
		"compare good.json good.json", "compare good.json good.json --json -",
		"merge good.json", "merge good.json --json -",
	};
	char line[PATH_MAX + 100];
	struct captured c;
	size_t i;

	put("good.json", GOOD);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(line, sizeof(line), "exec %s %s >/dev/full", pagerun,
			 commands[i]);
		capture_as(0, ARGS("/bin/sh", "-c", line), &c);
		want(c.code == 1 && strstr(c.err, "No space left"), "%s: %d %s",
		     commands[i], c.code, c.err);
		capture_free(&c);
	}
}

/* ---- bench -------------------------------------------------------------- */

static void test_list(void)
{
	static const char *const kinds[] = { "4k", "64k", "1m", "2m-pte", "2m-pmd" };
	static const char *const forms[] = {
		"get/%s\n", "get/%s/ro\n", "pin/%s\n", "pin/%s/ro\n",
		"pin/%s/longterm\n", "release/%s\n",
	};
	static const char nullmap[] =
		"fast-only/nullmap\nfast-only/anon\npin/nullmap\npin/anon\n";
	static const char move[] =
		"move/1-per-call\nmove/2-per-call\nmove/8-per-call\nmove/32-per-call\n"
		"move/64-per-call\nmove/512-per-call\nmove/64k-folios\nmove/2m-pte\n"
		"copy/512-per-call\nmremap/512-per-call\nflushes/512-per-call\n"
		"splits/64k-folios\nmove-spin/512-per-call\nmove-threads-1/512-per-call\n"
		"move-threads-2/512-per-call\nmove-threads-4/512-per-call\n";
	static const char map[] =
		"mmap/4k\nmmap/64m\nmmap/1g\nfork/1g\npage-tables-kib/1g\n"
		"latency/64m\nlatency/256m\nlatency/1g\nmemcpy/1g\n";
	static const char registers[] =
		"register/4k/64m\nregister/4k/256m\nregister/4k/1g\n"
		"register/64k/64m\nregister/64k/256m\nregister/64k/1g\n"
		"register-many/64k/64m\nregister-many/64k/1g\n"
		"register/1m/64m\nregister/1m/256m\nregister/1m/1g\n"
		"register/2m-pmd/64m\nregister/2m-pmd/256m\nregister/2m-pmd/1g\n";
	static const char dio[] =
		"dio/psync/64k/4k\ndio/psync/1m/4k\ndio/uring/64k/4k\ndio/uring/1m/4k\n"
		"dio/psync/64k/64k\ndio/psync/1m/64k\ndio/uring/64k/64k\ndio/uring/1m/64k\n"
		"dio/psync/64k/2m-pmd\ndio/psync/1m/2m-pmd\ndio/uring/64k/2m-pmd\n"
		"dio/uring/1m/2m-pmd\n";
	char pin[2048] = "", all[sizeof(pin) + sizeof(nullmap) + sizeof(move) + sizeof(map) +
				 sizeof(registers) + sizeof(dio)];
	char unpin[512] = "", name[64];
	struct captured c;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		for (j = 0; j < ARRAY_SIZE(kinds); j++) {
			snprintf(name, sizeof(name), forms[i], kinds[j]);
			strcat(pin, name);
			if (i == ARRAY_SIZE(forms) - 1)
				strcat(unpin, name);
		}
	}
	snprintf(all, sizeof(all), "%s%s%s%s%s%s", pin, nullmap, move, map, registers, dio);
	run(&c, "bench", "pin", "--list");
	want(c.code == 0 && !strcmp(c.out, pin), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "nullmap", "--list");
	want(c.code == 0 && !strcmp(c.out, nullmap), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "move", "--list");
	want(c.code == 0 && !strcmp(c.out, move), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "map", "--list");
	want(c.code == 0 && !strcmp(c.out, map), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "register", "--list");
	want(c.code == 0 && !strcmp(c.out, registers), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "dio", "--list");
	want(c.code == 0 && !strcmp(c.out, dio), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "all", "--list");
	want(c.code == 0 && !strcmp(c.out, all), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "--list");
	want(c.code == 0 && !strcmp(c.out, all), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "unpin", "--list");
	want(c.code == 0 && !strcmp(c.out, unpin), "%s", c.out);
	capture_free(&c);
	run(&c, "bench", "--list", "--case", "get/4*", "--case", "pin/1m");
	want(c.code == 0 && !strcmp(c.out, "get/4k\nget/4k/ro\npin/1m\n"), "%s",
	     c.out);
	capture_free(&c);
}

/* What the limits let pass: the other half of the usage cases. */
static void test_limits(void)
{
	struct captured c;

	run(&c, "bench", "--list", "--size", "4G", "--repeat", "1000",
	    "--pages-per-call", "1048576", "--threads", "1,256", "--clock", "wall");
	want(c.code == 0, "%s", c.err);
	capture_free(&c);
	run(&c, "bench", "--list", "--size", "2048k", "--repeat", "1",
	    "--pages-per-call", "512", "--clock", "insn");
	want(c.code == 0, "%s", c.err);
	capture_free(&c);
}

static void test_no_driver(void)
{
	struct captured c;

	unlink("out.json");
	run(&c, "bench", "pin", "--json", "out.json");
	want(c.code == 4 && !*c.out && capture_lines(c.err) == 1, "%d: %s", c.code,
	     c.err);
	want(strstr(c.err, "/dev/pagerun") && strstr(c.err, "insmod") &&
	     strstr(c.err, "make -C driver"), "%s", c.err);
	want(access("out.json", F_OK), "a file was written");
	capture_free(&c);
	/* One line more: what the kernel's release tells. */
	run(&c, "bench", "nullmap", "--json", "out.json");
	want(c.code == 4 && !*c.out && capture_lines(c.err) == 2 &&
	     strstr(c.err, "insmod") && strstr(c.err, "inferred, not measured: Linux "),
	     "%d: %s", c.code, c.err);
	want(access("out.json", F_OK), "a file was written");
	capture_free(&c);
}

/* Moves memory of this machine, where it can. */
static void test_move_without_driver(void)
{
	struct captured c;

	run(&c, "bench", "move", "--repeat", "1", "--case", "move/8-per-call");
	if (c.code == 4)
		want(!*c.out && capture_lines(c.err) == 1 &&
		     strstr(c.err, "SKIP move/8-per-call: "), "%s", c.err);
	else
		want(c.code == 0 && !*c.err && strstr(c.out, "move/8-per-call"),
		     "%d: %s", c.code, c.err);
	capture_free(&c);
}

static void test_no_root(void)
{
	uid_t uid = geteuid() ? 0 : NOBODY;
	struct captured c;

	run_list(uid, &c, ARGS("bench", "pin"));
	want(c.code == 4 && !*c.out && capture_lines(c.err) == 1 &&
	     strstr(c.err, "run as root"), "%d: %s", c.code, c.err);
	capture_free(&c);
	/* Needs no driver, so it speaks of none. */
	run_list(uid, &c, ARGS("bench", "move"));
	want(c.code == 4 && !*c.out && capture_lines(c.err) == 1 &&
	     strstr(c.err, "needs root, for userfaultfd, devices and /proc/kpageflags: run as root"),
	     "%d: %s", c.code, c.err);
	capture_free(&c);
	run_list(uid, &c, ARGS("bench", "nullmap"));
	want(c.code == 4 && !*c.out && capture_lines(c.err) == 2 &&
	     strstr(c.err, "run as root") &&
	     strstr(c.err, "inferred, not measured: Linux "), "%d: %s", c.code, c.err);
	capture_free(&c);
}

/* Told before anything is measured. */
static void test_no_folder(void)
{
	struct captured c;

	run(&c, "bench", "--json", "no/such/out.json");
	want(c.code == 1 && strstr(c.err, "no/such/out.json: cannot write"), "%s",
	     c.err);
	capture_free(&c);
	run(&c, "bench", "--json", dir);
	want(c.code == 1 && strstr(c.err, "it is a folder"), "%s", c.err);
	capture_free(&c);
}

/* ---- files that are not sound ------------------------------------------- */

/* Made from the sound file by putting @to in place of @from. */
static const struct {
	const char *from, *to, *says;
} bad_files[] = {
	{ GOOD, "", "the file is empty" },
	{ GOOD, "hello", "not valid JSON: line 1" },
	{ GOOD, "[1]", "no JSON object" },
	{ "3,1]}]}", "3,1", "the file is truncated" },
	{ "}]}", "}]} x", "not valid JSON" },
	{ "\"schema\":1,", "\"schema\":1,\"schema\":1,", "not valid JSON" },
	{ "2.5,\"samples\"", "NaN,\"samples\"", "not valid JSON" },
	{ "2.5,\"samples\"", "Infinity,\"samples\"", "not valid JSON" },
	{ "2.5,\"samples\"", "1e999,\"samples\"", "not valid JSON" },
	{ "2.5,\"samples\"", "-1,\"samples\"", "rows[0].value is not a figure" },
	{ "2.5,\"samples\"", "\"2.5\",\"samples\"", "rows[0].value is not a figure" },
	{ "\"value\":2.5,", "", "rows[0] has no member 'value'" },
	{ "\"schema\":1,", "", "no member 'schema'" },
	{ "\"schema\":1", "\"schema\":2", "its schema is not 1" },
	{ "\"schema\":1", "\"schema\":\"1\"", "its schema is not 1" },
	{ "\"kernel\":" KERNEL ",", "", "no member 'kernel'" },
	{ KERNEL, "[]", "'kernel' is not an object" },
	{ "\"release\":\"6.12.1\",", "", "kernel has no member 'release'" },
	{ "\"6.12.1\"", "6", "kernel.release is not text" },
	{ "\"config_sha256\":\"c0\",", "", "kernel has no member 'config_sha256'" },
	{ "\"image_sha256\":null", "\"image_sha256\":5",
	  "kernel.image_sha256 is neither text nor null" },
	{ "\"package_sha256\":\"b0\",", "", "kernel has no member 'package_sha256'" },
	{ ",\"features\":[]", "", "kernel has no member 'features'" },
	{ "\"features\":[]", "\"features\":{}", "kernel.features is not an array" },
	{ "\"features\":[]", "\"features\":[\"pin\",1]",
	  "kernel.features[1] is not text" },
	{ "\"tool\":\"pagerun 0\",", "", "no member 'tool'" },
	{ "\"tool\":\"pagerun 0\"", "\"tool\":0", "'tool' is not text" },
	{ "\"rows\":[" ONE_ROW "]", "\"x\":0", "no member 'rows'" },
	{ "[" ONE_ROW "]", "{}", "'rows' is not an array" },
	{ ONE_ROW, "", "'rows' is empty" },
	{ ONE_ROW, "7", "rows[0] is not an object" },
	{ "\"bench\":\"pin\",", "", "rows[0] has no member 'bench'" },
	{ "\"bench\":\"pin\"", "\"bench\":1", "rows[0].bench is not text" },
	{ "\"case\":\"pin/64k\",", "", "rows[0] has no member 'case'" },
	{ "\"case\":\"pin/64k\"", "\"case\":\"\"", "rows[0].case is not text" },
	{ "\"clock\":\"insn\",", "", "rows[0] has no member 'clock'" },
	{ "\"clock\":\"insn\"", "\"clock\":\"cpu\"", "rows[0].clock is 'cpu'" },
	{ "\"unit\":\"insn/page\",", "", "rows[0] has no member 'unit'" },
	{ "\"unit\":\"insn/page\"", "\"unit\":null", "rows[0].unit is not text" },
	{ "\"better\":\"less\",", "", "rows[0] has no member 'better'" },
	{ "\"better\":\"less\"", "\"better\":\"same\"", "rows[0].better is 'same'" },
	{ ",\"samples\":[2.5,3,1]", "", "rows[0] has no member 'samples'" },
	{ "[2.5,3,1]", "[]", "rows[0].samples is not an array with figures" },
	{ "[2.5,3,1]", "5", "rows[0].samples is not an array with figures" },
	{ "[2.5,3,1]", "[2.5,null]", "rows[0].samples[1] is not a figure" },
	{ "[2.5,3,1]", "[2.5,-3]", "rows[0].samples[1] is not a figure" },
	{ ONE_ROW, ONE_ROW "," ONE_ROW, "case 'pin/64k' is there twice" },
};

/* One clear line that names the file, whichever way the file is read. */
static bool refused(const char *const *args, const char *says)
{
	struct captured c;
	bool ok;

	run_list(0, &c, args);
	ok = c.code == 1 && !*c.out && capture_lines(c.err) == 1 &&
	     !strncmp(c.err, "pagerun: bad.json: ", 19) && strstr(c.err, says);
	if (!ok)
		ktap_diag("exit code %d, stderr: %s", c.code, c.err);
	capture_free(&c);
	return ok;
}

static bool refused_everywhere(const char *says)
{
	return refused(ARGS("compare", "bad.json", "good.json"), says) &&
	       refused(ARGS("merge", "good.json", "bad.json", "--json", "-"), says) &&
	       refused(ARGS("compare", "good.json", "bad.json", "--json", "-"), says) &&
	       refused(ARGS("show", "bad.json"), says);
}

static void test_bad_files(void)
{
	size_t i;

	put("good.json", GOOD);
	for (i = 0; i < ARRAY_SIZE(bad_files); i++) {
		char *text = strdup(GOOD);

		replace(&text, bad_files[i].from, bad_files[i].to);
		put("bad.json", text);
		free(text);
		ktap_ok(refused_everywhere(bad_files[i].says),
			"unsound file %zu: %s", i, bad_files[i].says);
	}
	unlink("bad.json");
}

static void test_unreadable(void)
{
	struct captured c;

	want(refused_everywhere("cannot open it: No such file"), "missing");
	if (mkdir("bad.json", 0755))
		capture_broken("cannot make a folder");
	want(refused_everywhere("cannot read it: Is a directory"), "folder");
	rmdir("bad.json");

	put("bad.json", GOOD);
	if (chmod("bad.json", 0))
		capture_broken("cannot change a mode");
	run_list(geteuid() ? 0 : NOBODY, &c, ARGS("show", "bad.json"));
	want(c.code == 1 &&
	     !strcmp(c.err, "pagerun: bad.json: cannot open it: Permission denied\n"),
	     "%s", c.err);
	capture_free(&c);
	unlink("bad.json");
}

/* A file far too large is not read to its end: /dev/zero has none. */
static void test_too_large(void)
{
	struct captured c;

	run(&c, "show", "/dev/zero");
	want(c.code == 1 && strstr(c.err, "larger than 64 MiB"), "%s", c.err);
	capture_free(&c);
}

/* ---- show --------------------------------------------------------------- */

static void test_show(void)
{
	static const char table[] =
		"kernel: Linux 6.12.1, pagerun: pin, unpin\n"
		"bench  case       clock  unit          value    min    max  samples\n"
		"move   move/none  count  splits            3      3      3        1\n"
		"move   move/512   count  flushes/call      0      0      0        1\n"
		"dio    dio/64k    wall   GB/s           5.00   5.00   5.00        1\n"
		"pin    get/4k     insn   insn/page     250.0  250.0  250.0        1\n"
		"pin    pin/64k    insn   insn/page      25.1   25.0   25.1        3\n";
	struct captured c;

	put("new.json", RUN(NEW_KERNEL, NEW_ROWS));
	run(&c, "show", "new.json");
	want(c.code == 0 && !*c.err && !strcmp(c.out, table), "%s%s", c.out, c.err);
	capture_free(&c);
}

/* ---- compare ------------------------------------------------------------ */

static void put_pair(void)
{
	put("base.json", RUN(KERNEL, BASE_ROWS));
	put("new.json", RUN(NEW_KERNEL, NEW_ROWS));
}

static void test_table(void)
{
	static const char table[] =
		"base: Linux 6.12.1, pagerun: none\n"
		"new: Linux 6.12.1, pagerun: pin, unpin\n"
		"bench  case       unit           base    new  ratio\n"
		"pin    pin/64k    insn/page     187.6   25.1  7.47x\n"
		"pin    get/4k     insn/page     125.0  250.0  0.50x\n"
		"dio    dio/64k    GB/s           2.00   5.00  2.50x\n"
		"move   move/512   flushes/call    512      0      -\n"
		"move   move/none  splits            0      3      -\n";
	struct captured c;

	put_pair();
	run(&c, "compare", "base.json", "new.json");
	want(c.code == 0 && !*c.err && !strcmp(c.out, table), "%s%s", c.out, c.err);
	capture_free(&c);
}

/* Every member, in full precision. */
static void test_json(void)
{
	static const char text[] =
		"{\"schema\":1,\"base\":" KERNEL ",\"new\":" NEW_KERNEL ",\"rows\":["
		"{\"bench\":\"pin\",\"case\":\"pin/64k\",\"clock\":\"insn\","
		"\"unit\":\"insn/page\",\"better\":\"less\",\"base\":187.59375,"
		"\"new\":25.1,\"ratio\":7.4738545816733065,\"samples\":"
		"{\"base\":[187.5,187.59375,188.0],"
		"\"new\":[25.0,25.1,25.100000000000001]}},"
		"{\"bench\":\"pin\",\"case\":\"get/4k\",\"clock\":\"insn\","
		"\"unit\":\"insn/page\",\"better\":\"less\",\"base\":125.0,"
		"\"new\":250.0,\"ratio\":0.5,\"samples\":"
		"{\"base\":[125.0],\"new\":[250.0]}},"
		"{\"bench\":\"dio\",\"case\":\"dio/64k\",\"clock\":\"wall\","
		"\"unit\":\"GB/s\",\"better\":\"more\",\"base\":2.0,"
		"\"new\":5.0,\"ratio\":2.5,\"samples\":"
		"{\"base\":[1.0,2.0,4.0],\"new\":[5.0]}},"
		"{\"bench\":\"move\",\"case\":\"move/512\",\"clock\":\"count\","
		"\"unit\":\"flushes/call\",\"better\":\"less\",\"base\":512.0,"
		"\"new\":0.0,\"ratio\":null,\"samples\":"
		"{\"base\":[512.0],\"new\":[0.0]}},"
		"{\"bench\":\"move\",\"case\":\"move/none\",\"clock\":\"count\","
		"\"unit\":\"splits\",\"better\":\"less\",\"base\":0.0,"
		"\"new\":3.0,\"ratio\":null,\"samples\":"
		"{\"base\":[0.0],\"new\":[3.0]}}]}";
	json_t *expected = json_loads(text, 0, NULL), *json;
	struct captured c;
	char *file;

	put_pair();
	run(&c, "compare", "base.json", "new.json", "--json", "-");
	json = json_loads(c.out, 0, NULL);
	want(expected && json && json_equal(json, expected), "%s", c.out);
	want(c.code == 0 && !*c.err, "%s", c.err);

	/* Into a file, the same; the table goes to stdout then. */
	put("out.json", "old");
	json_decref(json);
	file = c.out;
	c.out = NULL;
	capture_free(&c);
	run(&c, "compare", "base.json", "new.json", "--json", "out.json");
	want(c.code == 0 && strstr(c.out, "7.47x"), "%s", c.out);
	capture_free(&c);
	c.out = get("out.json");
	want(!strcmp(c.out, file), "%s", c.out);
	free(c.out);
	free(file);
	json_decref(expected);
}

/* A new kernel that names no patches gets a null there, and only it. */
static void test_patchset_null(void)
{
	json_t *json, *new;
	struct captured c;

	put("base.json", GOOD);
	run(&c, "compare", "base.json", "base.json", "--json", "-");
	json = json_loads(c.out, 0, NULL);
	new = json_object_get(json, "new");
	want(json_is_null(json_object_get(new, "patchset_sha256")), "%s", c.out);
	want(!json_object_get(json_object_get(json, "base"), "patchset_sha256"),
	     "%s", c.out);
	json_decref(json);
	capture_free(&c);
}

/* A link stays one, the mode is the usual one, nothing is left beside it. */
static void test_replacing(void)
{
	struct captured c;
	struct stat st;
	mode_t mask = umask(022);
	char *text;

	put("base.json", GOOD);
	if (mkdir("sub", 0755))
		capture_broken("cannot make a folder");
	put("sub/target.json", "old");
	if (symlink("sub/target.json", "link.json"))
		capture_broken("cannot make a link");
	run(&c, "compare", "base.json", "base.json", "--json", "link.json");
	want(c.code == 0, "%s", c.err);
	capture_free(&c);
	want(!lstat("link.json", &st) && S_ISLNK(st.st_mode), "the link is gone");
	want(!stat("sub/target.json", &st) && (st.st_mode & 0777) == 0644,
	     "mode %o", st.st_mode);
	text = get("sub/target.json");
	want(strstr(text, "\"schema\": 1"), "%s", text);
	free(text);
	capture_as(0, ARGS("/bin/sh", "-c", "ls sub"), &c);
	want(!strcmp(c.out, "target.json\n"), "%s", c.out);
	capture_free(&c);
	umask(mask);

	run(&c, "compare", "base.json", "base.json", "--json", "no/such.json");
	want(c.code == 1 && strstr(c.err, "no/such.json: cannot write it"), "%s",
	     c.err);
	capture_free(&c);
	/* A device is written as it is. */
	run(&c, "compare", "base.json", "base.json", "--json", "/dev/null");
	want(c.code == 0 && !stat("/dev/null", &st) && S_ISCHR(st.st_mode), "%s",
	     c.err);
	capture_free(&c);
}

static const struct {
	const char *row, *says;
} unlike[] = {
	{ ROW("pin", "pin/64k", "wall", "insn/page", "less", "1", "1"),
	  "pin/64k: its clock is 'insn' in the base and 'wall' in the new file" },
	{ ROW("pin", "pin/64k", "insn", "insn/KiB", "less", "1", "1"),
	  "pin/64k: its unit is 'insn/page' in the base and 'insn/KiB'" },
	{ ROW("dio", "pin/64k", "insn", "insn/page", "less", "1", "1"),
	  "pin/64k: its bench is 'pin' in the base and 'dio'" },
	{ ROW("pin", "pin/64k", "insn", "insn/page", "more", "1", "1"),
	  "pin/64k: its better is 'less' in the base and 'more'" },
};

static void test_unlike(void)
{
	struct captured c;
	char text[1024];
	size_t i;

	put("base.json", GOOD);
	for (i = 0; i < ARRAY_SIZE(unlike); i++) {
		snprintf(text, sizeof(text), "%s%s]}",
			 "{\"schema\":1,\"kernel\":" KERNEL
			 ",\"tool\":\"pagerun 0\",\"rows\":[", unlike[i].row);
		put("new.json", text);
		run(&c, "compare", "base.json", "new.json", "--partial");
		want(c.code == 1 && !*c.out && capture_lines(c.err) == 1 &&
		     strstr(c.err, unlike[i].says), "%s", c.err);
		capture_free(&c);
	}
}

#define A ROW("pin", "a", "insn", "insn/page", "less", "4", "4")
#define B ROW("pin", "b", "insn", "insn/page", "less", "2", "2")
#define C ROW("pin", "c", "insn", "insn/page", "less", "1", "1")

static void test_partial(void)
{
	struct captured c;
	json_t *json;

	put("base.json", RUN(KERNEL, A "," B));
	put("new.json", RUN(KERNEL, C "," A));
	unlink("out.json");
	run(&c, "compare", "base.json", "new.json", "--json", "out.json");
	want(c.code == 1 && strstr(c.out, "pin    a "), "%s", c.out);
	want(strstr(c.err, "b is only in base.json, not in new.json\n") &&
	     strstr(c.err, "c is only in new.json, not in base.json\n") &&
	     strstr(c.err, "--partial"), "%s", c.err);
	want(access("out.json", F_OK), "a comparison with holes was written");
	capture_free(&c);

	run(&c, "compare", "base.json", "new.json", "--partial", "--json",
	    "out.json");
	want(c.code == 0 && strstr(c.err, "b is only in base.json") &&
	     strstr(c.err, "c is only in new.json"), "%s", c.err);
	json = json_load_file("out.json", 0, NULL);
	want(json_array_size(json_object_get(json, "rows")) == 1, "%s", c.out);
	json_decref(json);
	capture_free(&c);

	put("new.json", RUN(KERNEL, C));
	run(&c, "compare", "base.json", "new.json", "--partial");
	want(c.code == 1 && !*c.out && strstr(c.err, "no case in common"), "%s",
	     c.err);
	capture_free(&c);
}

/* ---- merge -------------------------------------------------------------- */

#define WALL(value, samples) \
	ROW("nullmap", "a", "wall", "ns/page", "less", value, samples)
#define COUNT(value, samples) \
	ROW("nullmap", "n", "count", "pages", "more", value, samples)

static void test_merge(void)
{
	static const char table[] =
		"kernel: Linux 6.12.1, pagerun: none\n"
		"bench    case  clock  unit     value   min   max  samples\n"
		"nullmap  a     wall   ns/page   4.00  1.00  10.0        5\n"
		"nullmap  n     count  pages    256.5     1   512        2\n";
	json_t *expected = json_loads(RUN(KERNEL, WALL("4.0", "1.0,10.0,3.0,4.0,5.0") ","
					  COUNT("256.5", "512.0,1.0")), 0, NULL);
	struct captured c;
	json_t *json;

	/* The order of cases is the first file's. */
	put("a.json", RUN(KERNEL, WALL("5.5", "1,10") "," COUNT("512", "512")));
	put("b.json", RUN(KERNEL, COUNT("1", "1") "," WALL("4", "3,4,5")));
	run(&c, "merge", "a.json", "--json", "out.json", "b.json");
	want(c.code == 0 && !*c.err && !strcmp(c.out, table), "%s%s", c.out, c.err);
	capture_free(&c);
	json = json_load_file("out.json", 0, NULL);
	want(expected && json_equal(json, expected), "out.json is not as expected");
	json_decref(json);
	run(&c, "merge", "a.json", "b.json", "--json", "-");
	json = json_loads(c.out, 0, NULL);
	want(c.code == 0 && !*c.err && json_equal(json, expected), "%s", c.out);
	json_decref(json);
	json_decref(expected);
	capture_free(&c);

	run(&c, "merge", "a.json");
	want(c.code == 0 && strstr(c.out, "5.50"), "%s", c.out);
	capture_free(&c);
	run(&c, "merge", "a.json", "a.json", "a.json", "b.json", "--json", "-");
	want(c.code == 0 && strstr(c.out, "\"value\": 4.0"), "%s", c.out);
	capture_free(&c);
}

static void test_merge_unite(void)
{
	json_t *expected = json_loads(RUN(KERNEL, WALL("2.0", "1.0,3.0") ","
					  COUNT("512.0", "512.0")), 0, NULL);
	struct captured c;
	json_t *json;

	put("a.json", RUN(KERNEL, WALL("1", "1")));
	put("b.json", RUN(KERNEL, COUNT("512", "512") "," WALL("3", "3")));
	run(&c, "merge", "--unite", "a.json", "b.json", "--json", "-");
	json = json_loads(c.out, 0, NULL);
	want(expected && c.code == 0 && !*c.err && json_equal(json, expected), "%s", c.out);
	json_decref(json);
	json_decref(expected);
	capture_free(&c);

	/* What both have must be alike nevertheless. */
	put("b.json", RUN(KERNEL, ROW("nullmap", "a", "insn", "ns/page", "less", "1", "1")));
	run(&c, "merge", "--unite", "a.json", "b.json");
	want(c.code == 1 && strstr(c.err, "a: its clock is 'wall' in a.json"), "%s", c.err);
	capture_free(&c);
}

static const struct {
	const char *b, *says;
} unmergeable[] = {
	{ RUN(NEW_KERNEL, WALL("1", "1")), "a.json and b.json are of two kernels" },
	{ "{\"schema\":1,\"kernel\":" KERNEL ",\"tool\":\"pagerun 1\",\"rows\":["
	  WALL("1", "1") "]}", "a.json was measured by pagerun 0 and b.json by pagerun 1" },
	{ RUN(KERNEL, COUNT("1", "1")), "a is in a.json, but not in b.json" },
	{ RUN(KERNEL, WALL("1", "1") "," COUNT("1", "1")),
	  "n is in b.json, but not in a.json" },
	{ RUN(KERNEL, ROW("nullmap", "a", "insn", "ns/page", "less", "1", "1")),
	  "a: its clock is 'wall' in a.json and 'insn' in b.json" },
};

static void test_unmergeable(void)
{
	struct captured c;
	size_t i;

	put("a.json", RUN(KERNEL, WALL("1", "1")));
	unlink("out.json");
	for (i = 0; i < ARRAY_SIZE(unmergeable); i++) {
		put("b.json", unmergeable[i].b);
		run(&c, "merge", "a.json", "b.json", "--json", "out.json");
		want(c.code == 1 && !*c.out && capture_lines(c.err) == 1 &&
		     strstr(c.err, unmergeable[i].says), "%s", c.err);
		capture_free(&c);
	}
	want(access("out.json", F_OK), "a file was written");
}

/* ---- targets ------------------------------------------------------------ */

static void test_targets(void)
{
	struct captured c;

	put_pair();
	put("goals.json",
	    "{\"rows\":[{\"case\":\"pin/64k\",\"min_ratio\":6},"
	    "{\"case\":\"dio/64k\",\"min_ratio\":2.5}]}");
	run(&c, "compare", "base.json", "new.json", "--targets", "goals.json");
	want(c.code == 0 && !*c.err, "%s", c.err);
	want(strstr(c.out, "  ratio  goal\n") && strstr(c.out, "7.47x  >=6x pass\n") &&
	     strstr(c.out, "2.50x  >=2.5x pass\n") && strstr(c.out, "0.50x  -\n"),
	     "%s", c.out);
	capture_free(&c);

	/* Two for one case: each is told, and one that is missed misses. */
	put("goals.json",
	    "{\"rows\":[{\"case\":\"pin/64k\",\"min_ratio\":6},"
	    "{\"case\":\"pin/64k\",\"max_of\":\"pin/64k\",\"factor\":1},"
	    "{\"case\":\"get/4k\",\"max_new\":1},"
	    "{\"case\":\"get/4k\",\"min_ratio\":0.5}]}");
	run(&c, "compare", "base.json", "new.json", "--targets", "goals.json");
	want(c.code == 1 && capture_lines(c.err) == 1 &&
	     strstr(c.err, "get/4k misses its goal of at most 1"), "%s", c.err);
	want(strstr(c.out, ">=6x <=1x pin/64k pass\n") &&
	     strstr(c.out, "<=1 >=0.5x MISS\n"), "%s", c.out);
	capture_free(&c);

	put("goals.json",
	    "{\"rows\":[{\"case\":\"pin/64k\",\"min_ratio\":7.48},"
	    "{\"case\":\"move/512\",\"min_ratio\":1},"
	    "{\"case\":\"get/4k\",\"min_ratio\":0.5},"
	    "{\"case\":\"pin/1m\",\"min_ratio\":1}]}");
	run(&c, "compare", "base.json", "new.json", "--targets", "goals.json",
	    "--json", "out.json");
	want(c.code == 1 && capture_lines(c.err) == 3, "%s", c.err);
	want(strstr(c.err, "pin/64k misses its goal of 7.48x: its ratio is 7.47385\n") &&
	     strstr(c.err, "move/512 misses its goal of 1x: it has no ratio") &&
	     strstr(c.err, "pin/1m has a goal but was not measured in both\n"),
	     "%s", c.err);
	want(strstr(c.out, "7.47x  >=7.48x MISS\n") &&
	     strstr(c.out, "    -  >=1x MISS\n") &&
	     strstr(c.out, "0.50x  >=0.5x pass\n"), "%s", c.out);
	capture_free(&c);
}

/* Goals for the new value: of itself, and relative to another case. */
static void test_new_targets(void)
{
	struct captured c;

	put("base.json", RUN(KERNEL, COUNT("0", "0") "," WALL("300", "300") ","
			     ROW("nullmap", "b", "wall", "ns/page", "less", "100", "100")));
	put("new.json", RUN(KERNEL, COUNT("512", "512") "," WALL("130", "130") ","
			    ROW("nullmap", "b", "wall", "ns/page", "less", "100", "100")));
	put("goals.json",
	    "{\"rows\":[{\"case\":\"n\",\"min_new\":512},"
	    "{\"case\":\"a\",\"max_of\":\"b\",\"factor\":1.3}]}");
	run(&c, "compare", "base.json", "new.json", "--targets", "goals.json", "--json",
	    "out.json");
	want(c.code == 0 && !*c.err, "%s", c.err);
	want(strstr(c.out, " 512      -  >=512 pass\n") &&
	     strstr(c.out, "2.31x  <=1.3x b pass\n") && strstr(c.out, "1.00x  -\n"),
	     "%s", c.out);
	capture_free(&c);
	c.out = get("out.json");
	want(strstr(c.out, "\"ratio\": null"), "%s", c.out);
	free(c.out);

	put("goals.json",
	    "{\"rows\":[{\"case\":\"n\",\"min_new\":513},"
	    "{\"case\":\"a\",\"max_of\":\"b\",\"factor\":1.29},"
	    "{\"case\":\"b\",\"max_of\":\"gone\",\"factor\":9}]}");
	run(&c, "compare", "base.json", "new.json", "--targets", "goals.json");
	want(c.code == 1 && capture_lines(c.err) == 3 &&
	     strstr(c.err, "n misses its goal of 513: it is 512 pages\n") &&
	     strstr(c.err, "a misses its goal of at most 1.29x b: it is 130 ns/page, and 129 are allowed\n") &&
	     strstr(c.err, "b has a goal by gone, which was not measured in both\n"),
	     "%s", c.err);
	want(strstr(c.out, "  >=513 MISS\n") && strstr(c.out, "  <=1.29x b MISS\n") &&
	     strstr(c.out, "  <=9x gone MISS\n"), "%s", c.out);
	capture_free(&c);
}

/* A case of counted events, where less is better. */
#define EVENTS(name, value) ROW("move", name, "count", "splits", "less", value, value)

/* Goals for a new value that is to be small, down to none. */
static void test_max_new(void)
{
	struct captured c;

	put("base.json", RUN(KERNEL, EVENTS("f", "512") "," EVENTS("s", "128")));
	put("new.json", RUN(KERNEL, EVENTS("f", "1") "," EVENTS("s", "0")));
	put("goals.json",
	    "{\"rows\":[{\"case\":\"f\",\"max_new\":1},{\"case\":\"s\",\"max_new\":0}]}");
	run(&c, "compare", "base.json", "new.json", "--targets", "goals.json");
	want(c.code == 0 && !*c.err && strstr(c.out, "512.00x  <=1 pass\n") &&
	     strstr(c.out, " 0        -  <=0 pass\n"), "%s%s", c.out, c.err);
	capture_free(&c);

	put("goals.json",
	    "{\"rows\":[{\"case\":\"f\",\"max_new\":0.5},{\"case\":\"s\",\"max_new\":0}]}");
	run(&c, "compare", "new.json", "base.json", "--targets", "goals.json");
	want(c.code == 1 && capture_lines(c.err) == 2 &&
	     strstr(c.err, "f misses its goal of at most 0.5: it is 512 splits\n") &&
	     strstr(c.err, "s misses its goal of at most 0: it is 128 splits\n") &&
	     strstr(c.out, "  <=0.5 MISS\n") && strstr(c.out, "  <=0 MISS\n"),
	     "%s%s", c.out, c.err);
	capture_free(&c);
}

static const struct {
	const char *text, *says;
} bad_targets[] = {
	{ "{}", "no array 'rows'" },
	{ "{\"rows\":[]}", "no array 'rows' with goals in it" },
	{ "[]", "no array 'rows'" },
	{ "{\"rows\":[1]}", "rows[0] has no member 'case'" },
	{ "{\"rows\":[{\"case\":\"a\"}]}",
	  "rows[0] has no member, or several, of 'min_ratio', 'min_new', 'max_new' and 'max_of'" },
	{ "{\"rows\":[{\"case\":\"a\",\"min_ratio\":1,\"min_new\":1}]}",
	  "rows[0] has no member, or several, of" },
	{ "{\"rows\":[{\"case\":\"a\",\"min_new\":0}]}", "'min_new' above 0" },
	{ "{\"rows\":[{\"case\":\"a\",\"max_new\":-1}]}", "'max_new' of 0 or above" },
	{ "{\"rows\":[{\"case\":\"a\",\"max_new\":\"1\"}]}", "'max_new' of 0 or above" },
	{ "{\"rows\":[{\"case\":\"a\",\"max_new\":1,\"max_of\":\"b\",\"factor\":1}]}",
	  "rows[0] has no member, or several, of" },
	{ "{\"rows\":[{\"case\":\"a\",\"max_of\":\"b\"}]}", "'factor' above 0" },
	{ "{\"rows\":[{\"case\":\"a\",\"max_of\":\"\",\"factor\":1}]}",
	  "rows[0].max_of is not the name of a case" },
	{ "{\"rows\":[{\"case\":\"a\",\"max_of\":5,\"factor\":1}]}",
	  "rows[0].max_of is not the name of a case" },
	{ "{\"rows\":[{\"case\":\"a\",\"min_ratio\":0}]}", "'min_ratio' above 0" },
	{ "{\"rows\":[{\"case\":\"a\",\"min_ratio\":\"6\"}]}", "'min_ratio' above 0" },
	{ "{\"rows\":[{\"min_ratio\":1}]}", "rows[0] has no member 'case'" },
	{ "{\"rows\":[{\"case\":\"a\",\"min_ratio\":1},"
	  "{\"case\":\"a\",\"min_ratio\":2}]}", "case 'a' is there twice" },
	{ "{\"rows\":", "truncated" },
};

static void test_bad_targets(void)
{
	size_t i;

	put("good.json", GOOD);
	for (i = 0; i < ARRAY_SIZE(bad_targets); i++) {
		put("bad.json", bad_targets[i].text);
		want(refused(ARGS("compare", "good.json", "good.json", "--targets",
				  "bad.json"), bad_targets[i].says),
		     "%s", bad_targets[i].text);
	}
	unlink("bad.json");
}

/* ---- gate --------------------------------------------------------------- */

#define GATE(base, new) \
	"{\"schema\":1,\"keys\":{\"k\":{\"pin:pin/64k\":{\"base\":" base \
	",\"new\":" new "},\"pin:get/4k\":{\"base\":125,\"new\":250}}," \
	"\"other\":{\"pin:x\":{\"base\":1,\"new\":1}}}}"

static void run_gate(struct captured *c, const char *key, const char *more)
{
	run(c, "compare", "base.json", "new.json", "--gate", "gate.json", "--key",
	    key, more);
}

static void test_gate(void)
{
	struct captured c;

	put_pair();
	put("gate.json", GATE("187.59375", "25.1"));
	run_gate(&c, "k", NULL);
	want(c.code == 0 && !*c.err, "%s", c.err);
	capture_free(&c);

	/* 187.59375 and 25.1 are within 1 % of these, and better. */
	put("gate.json", GATE("185.8", "24.9"));
	run_gate(&c, "k", NULL);
	want(c.code == 0, "%s", c.err);
	capture_free(&c);
	put("gate.json", GATE("1000", "1000"));
	run_gate(&c, "k", NULL);
	want(c.code == 0, "%s", c.err);
	capture_free(&c);

	put("gate.json", GATE("185", "25.1"));
	run_gate(&c, "k", NULL);
	want(c.code == 1 && capture_lines(c.err) == 1 &&
	     strstr(c.err, "pin:pin/64k: base is 187.594 insn/page") &&
	     strstr(c.err, "than the 185 committed in gate.json"), "%s", c.err);
	capture_free(&c);

	put("gate.json", GATE("187.59375", "24.8"));
	run_gate(&c, "k", NULL);
	want(c.code == 1 && capture_lines(c.err) == 1 &&
	     strstr(c.err, "pin:pin/64k: new is 25.1 insn/page") &&
	     strstr(c.err, "than the 24.8 committed in gate.json"), "%s", c.err);
	capture_free(&c);

	/* Both sides bad: both are told. */
	put("gate.json", GATE("1", "1"));
	run_gate(&c, "k", NULL);
	want(c.code == 1 && capture_lines(c.err) == 2, "%s", c.err);
	capture_free(&c);
}

static void test_gate_rows(void)
{
	struct captured c;

	put_pair();
	/* A row that the file does not have yet is told, no more. */
	put("gate.json", "{\"schema\":1,\"keys\":{\"k\":{\"pin:pin/64k\":"
	    "{\"base\":187.59375,\"new\":25.1}}}}");
	run_gate(&c, "k", NULL);
	want(c.code == 0 && capture_lines(c.err) == 1 &&
	     strstr(c.err, "pin:get/4k: not in gate.json yet"), "%s", c.err);
	capture_free(&c);

	/* A committed row that is not measured any more is a failure. */
	put("gate.json", "{\"schema\":1,\"keys\":{\"k\":{\"pin:gone\":"
	    "{\"base\":1,\"new\":1}}}}");
	run_gate(&c, "k", NULL);
	want(c.code == 1 && strstr(c.err, "pin:gone: committed in gate.json, but not measured"),
	     "%s", c.err);
	capture_free(&c);

	/* So is one of another benchmark or another clock. */
	put("gate.json", "{\"schema\":1,\"keys\":{\"k\":{\"dio:pin/64k\":"
	    "{\"base\":1000,\"new\":1000},\"dio:dio/64k\":"
	    "{\"base\":1,\"new\":1}}}}");
	run_gate(&c, "k", NULL);
	want(c.code == 1 && strstr(c.err, "dio:pin/64k: committed") &&
	     strstr(c.err, "dio:dio/64k: committed"), "%s", c.err);
	capture_free(&c);
}

static void test_gate_key(void)
{
	struct captured c;

	put_pair();
	put("gate.json", GATE("1", "1"));
	run_gate(&c, "nosuch", NULL);
	want(c.code == 0 && capture_lines(c.err) == 1 &&
	     strstr(c.err, "no figures for 'nosuch' yet") &&
	     strstr(c.err, "--gate-update"), "%s", c.err);
	capture_free(&c);
}

static void test_gate_update(void)
{
	static const char expected_text[] =
		"{\"schema\":1,\"keys\":{\"k\":{\"pin:pin/64k\":{\"base\":187.59375,"
		"\"new\":25.1},\"pin:get/4k\":{\"base\":125.0,\"new\":250.0}},"
		"\"other\":{\"pin:x\":{\"base\":1,\"new\":1}}}}";
	json_t *expected = json_loads(expected_text, 0, NULL), *json;
	struct captured c;

	put_pair();
	put("gate.json", GATE("1", "1"));
	run_gate(&c, "k", "--gate-update");
	want(c.code == 0 && !*c.err, "%s", c.err);
	capture_free(&c);
	json = json_load_file("gate.json", 0, NULL);
	want(expected && json_equal(json, expected), "gate.json is not as expected");
	json_decref(json);
	run_gate(&c, "k", NULL);
	want(c.code == 0 && !*c.err, "%s", c.err);
	capture_free(&c);

	/* Made where there is none. */
	unlink("gate.json");
	run_gate(&c, "k", NULL);
	want(c.code == 1 && strstr(c.err, "gate.json: cannot open it"), "%s", c.err);
	capture_free(&c);
	run_gate(&c, "k", "--gate-update");
	want(c.code == 0, "%s", c.err);
	capture_free(&c);
	json = json_load_file("gate.json", 0, NULL);
	json_object_del(json_object_get(expected, "keys"), "other");
	want(json_equal(json, expected), "gate.json is not as expected");
	json_decref(json);
	json_decref(expected);
}

/* What failed otherwise is not committed. */
static void test_gate_no_update(void)
{
	struct captured c;
	char *text;

	put("base.json", RUN(KERNEL, A "," B));
	put("new.json", RUN(KERNEL, A));
	put("gate.json", GATE("1", "1"));
	run_gate(&c, "k", "--gate-update");
	want(c.code == 1 && strstr(c.err, "gate.json is left as it is"), "%s", c.err);
	capture_free(&c);
	text = get("gate.json");
	want(!strcmp(text, GATE("1", "1")), "%s", text);
	free(text);

	put("base.json", RUN(KERNEL, ROW("dio", "a", "wall", "GB/s", "more", "1", "1")));
	run(&c, "compare", "base.json", "base.json", "--gate", "gate.json", "--key",
	    "k");
	want(c.code == 1 && strstr(c.err, "no case was measured by the insn clock"),
	     "%s", c.err);
	capture_free(&c);
}

static const struct {
	const char *text, *says;
} bad_gates[] = {
	{ "[]", "its schema is not 1" },
	{ "{\"schema\":2,\"keys\":{}}", "its schema is not 1" },
	{ "{\"schema\":1}", "no object 'keys'" },
	{ "{\"schema\":1,\"keys\":{\"k\":[]}}", "'k' is not an object" },
	{ "{\"schema\":1,\"keys\":{\"k\":{\"pin:pin/64k\":{\"base\":3}}}}",
	  "'pin:pin/64k' has no figures 'base' and 'new'" },
	{ "{\"schema\":1,\"keys\":", "truncated" },
	{ "", "the file is empty" },
};

static void test_bad_gates(void)
{
	struct captured c;
	size_t i;

	put("good.json", GOOD);
	for (i = 0; i < ARRAY_SIZE(bad_gates); i++) {
		put("gate.json", bad_gates[i].text);
		run(&c, "compare", "good.json", "good.json", "--gate", "gate.json",
		    "--key", "k");
		want(c.code == 1 && capture_lines(c.err) == 1 &&
		     strstr(c.err, "gate.json: ") && strstr(c.err, bad_gates[i].says),
		     "%s: %s", bad_gates[i].text, c.err);
		capture_free(&c);
	}
}

/* ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*test)(void);
} tests[] = {
	{ "each --help tells its exit codes and examples", test_help },
	{ "each --version", test_version },
	{ "lost output is a failure", test_full_disk },
	{ "bench --list", test_list },
	{ "bench accepts its limits", test_limits },
	{ "bench without privileges is skipped", test_no_root },
	{ "bench with nowhere to write fails at once", test_no_folder },
	{ "unreadable files", test_unreadable },
	{ "a file without an end", test_too_large },
	{ "show prints the table", test_show },
	{ "compare prints the table", test_table },
	{ "compare writes the JSON", test_json },
	{ "compare without a patch set", test_patchset_null },
	{ "files are replaced whole, devices written", test_replacing },
	{ "rows that cannot be compared", test_unlike },
	{ "rows in one file only", test_partial },
	{ "merge joins samples", test_merge },
	{ "merge joins different cases if told", test_merge_unite },
	{ "runs that cannot be merged", test_unmergeable },
	{ "targets", test_targets },
	{ "targets for the new value", test_new_targets },
	{ "targets for a new value down to 0", test_max_new },
	{ "unsound targets", test_bad_targets },
	{ "gate: figures", test_gate },
	{ "gate: rows that come and go", test_gate_rows },
	{ "gate: a new key", test_gate_key },
	{ "gate: update", test_gate_update },
	{ "gate: nothing to commit", test_gate_no_update },
	{ "unsound gate files", test_bad_gates },
};

/* A copy that nobody can run: a checkout may lie where only root can look. */
static void copy_program(const char *path)
{
	struct captured c;

	snprintf(pagerun, sizeof(pagerun), "%s/pagerun", dir);
	capture_as(0, ARGS("/bin/cp", path, pagerun), &c);
	if (c.code || chmod(pagerun, 0755))
		errx(2, "cannot copy %s: %s", path, c.err);
	capture_free(&c);
}

static void remove_dir(void)
{
	struct captured c;

	capture_as(0, ARGS("/bin/rm", "-rf", dir), &c);
	capture_free(&c);
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	size_t i;

	if (argc != 2)
		errx(2, "usage: %s PATH-TO-PAGERUN", argv[0]);
	if (!realpath(argv[1], path) || access(path, X_OK))
		err(2, "%s: build it with: make -C tool SAN=1", argv[1]);
	if (!mkdtemp(dir) || chmod(dir, 0755))
		err(2, "%s", dir);
	copy_program(path);
	if (chdir(dir))
		err(2, "%s", dir);

	ktap_plan(ARRAY_SIZE(usage_cases) + ARRAY_SIZE(bad_files) +
		  ARRAY_SIZE(tests) + 2);
	test_usage();
	test_bad_files();
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		good = true;
		tests[i].test();
		ktap_ok(good, "%s", tests[i].name);
	}
	if (geteuid()) {
		ktap_skip("bench without the driver: needs root; run the tests as root");
		ktap_skip("bench move without the driver: needs root; run the tests as root");
	} else if (!access("/dev/pagerun", F_OK)) {
		ktap_skip("bench without the driver: it is loaded here; run: rmmod pagerun_test");
		ktap_skip("bench move without the driver: it is loaded here; run: rmmod pagerun_test");
	} else {
		good = true;
		test_no_driver();
		ktap_ok(good, "bench without the driver is skipped");
		good = true;
		test_move_without_driver();
		ktap_ok(good, "bench move does without the driver");
	}
	remove_dir();
	return ktap_done();
}
