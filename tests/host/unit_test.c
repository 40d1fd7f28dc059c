// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of the parts of the program that need no kernel. They take the
 * source files in whole. Link with -ljansson.
 */
#include <math.h>

#include "../ktap.h"

#include "../../tool/number.c"
#include "../../tool/stats.c"
#include "../../tool/kernel_log.c"
#include "../../tool/sysfile.c"
#include "../../tool/table.c"
#include "../../tool/json_file.c"
#include "../../tool/results.c"
#include "../../tool/nullmap_say.c"
#include "../../tool/signals.c"
#include "../../tool/tlb_trace.c"

static const struct {
	const char *text;
	uint64_t min, max;
	bool ok;
	uint64_t value;
} numbers[] = {
	{ "1", 1, 10, true, 1 },
	{ "10", 1, 10, true, 10 },
	{ "007", 1, 10, true, 7 },
	{ "18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX },
	{ "0", 1, 10, false, 0 },
	{ "11", 1, 10, false, 0 },
	{ "", 0, 10, false, 0 },
	{ " 1", 0, 10, false, 0 },
	{ "1 ", 0, 10, false, 0 },
	{ "+1", 0, 10, false, 0 },
	{ "-1", 0, UINT64_MAX, false, 0 },
	{ "0x1", 0, 10, false, 0 },
	{ "1.0", 0, 10, false, 0 },
	{ "1e1", 0, 10, false, 0 },
	{ "18446744073709551616", 0, UINT64_MAX, false, 0 },
};

#define STEP (2ULL << 20)
#define MOST (4ULL << 30)

static const struct {
	const char *text;
	uint64_t value;	/* 0: refused */
} sizes[] = {
	{ "2097152", STEP },
	{ "2048K", STEP },
	{ "2048k", STEP },
	{ "2M", STEP },
	{ "64m", 64ULL << 20 },
	{ "4G", MOST },
	{ "0", 0 },
	{ "0M", 0 },
	{ "1M", 0 },
	{ "3M", 0 },
	{ "2097153", 0 },
	{ "4098M", 0 },
	{ "5G", 0 },
	{ "2MB", 0 },
	{ "2MM", 0 },
	{ "M", 0 },
	{ "", 0 },
	{ "-2M", 0 },
	{ "2 M", 0 },
	{ "2T", 0 },
	/* 2^64 + 2^31: it would be 2G if the shift overflowed unseen. */
	{ "17179869186G", 0 },
	{ "18446744073709551615G", 0 },
};

static const struct {
	uint64_t bytes;
	const char *text;
} formats[] = {
	{ 0, "0" }, { 1023, "1023" }, { 1024, "1K" }, { 2ULL << 20, "2M" },
	{ 4ULL << 30, "4G" }, { (4ULL << 30) + (2ULL << 20), "4098M" },
};

static const struct {
	double samples[5];
	size_t nr;
	struct stats stats;
} sets[] = {
	{ { 7 }, 1, { 7, 7, 7 } },
	{ { 4, 1 }, 2, { 2.5, 1, 4 } },
	{ { 3, 1, 2 }, 3, { 2, 1, 3 } },
	{ { 9, 1, 1, 9, 5 }, 5, { 5, 1, 9 } },
	{ { 4, 1, 3, 2 }, 4, { 2.5, 1, 4 } },
	{ { 0.1, 0.3, 0.2 }, 3, { 0.2, 0.1, 0.3 } },
};

static const struct {
	double base, new;
	bool less, has;
	double ratio;
} ratios[] = {
	{ 100, 25, true, true, 4 },
	{ 25, 100, true, true, 0.25 },
	{ 2, 5, false, true, 2.5 },
	{ 0, 5, true, false, 0 },
	{ 5, 0, true, false, 0 },
	{ 0, 0, false, false, 0 },
	{ 5, 0, false, false, 0 },
};

static const struct {
	const char *line;
	bool bad;
} log_lines[] = {
	{ "WARNING: CPU: 0 PID: 33 at mm/gup.c:1 f+0x0/0x10", true },
	{ "BUG: kernel NULL pointer dereference, address: 0", true },
	{ "BUG: KASAN: use-after-free in f", true },
	{ "kernel BUG at mm/gup.c:1!", true },
	{ "Oops: 0000 [#1] SMP", true },
	{ "general protection fault, probably for non-canonical address", true },
	{ "WARNING: possible circular locking dependency detected", true },
	{ "refcount_t: underflow; use-after-free.", true },
	{ "BUG: Bad page state in process x", true },
	{ "UBSAN: shift-out-of-bounds in f", true },
	{ "rcu: INFO: rcu_sched self-detected stall on CPU", true },
	{ "Linux version 6.12", false },
	{ "Kernel command line: console=ttyS0 panic=-1 oops=panic", false },
	{ "pagerun_test: loading out-of-tree module taints kernel.", false },
	{ "kasan: KernelAddressSanitizer initialized", false },
};

static const struct {
	const char *release, *state, *text;
} inferences[] = {
	{ "5.15.0-1-generic", NULL, "not affected by f002882ca369" },
	{ "6.9.12", NULL, "not affected by f002882ca369" },
	{ "6.10.0-rc1", NULL, "affected by f002882ca369 unless" },
	{ "6.12.117", NULL, "affected by f002882ca369 unless" },
	{ "6.99", NULL, "affected by f002882ca369 unless" },
	{ "7.2.13-amd64", NULL, "affected by f002882ca369 unless" },
	{ "7.3.0", NULL, "fixed: 7.3" },
	{ "7.10.1", NULL, "fixed: 7.3" },
	{ "10.0.1", NULL, "fixed: 7.3" },
	{ "Linux", NULL, "unknown: 'Linux'" },
	{ "6.12.117", "1", "fixed: the feature nullmap is there and on" },
	{ "6.12.117", "0", "affected unless the kernel has the fix of 7.3: " },
};

/* Counted pages of the case and of the control; below 0: not measured. */
static const struct {
	double nullmap, anon;
	int ret;
	const char *text;
} verdicts[] = {
	{ 512, 512, PR_OK,
	  "PASS: GUP-fast takes 512 of 512 pages with a NULL mapping (control 512 of 512)\n" },
	{ 0, 512, PR_FAIL,
	  "FAIL: GUP-fast takes 0 of 512 pages with a NULL mapping (control 512 of 512): "
	  "each pin takes the slow path and mmap_lock; fix: " },
	{ 511, -1, PR_FAIL,
	  "FAIL: GUP-fast takes 511 of 512 pages with a NULL mapping (no control): " },
	{ 512, 100, PR_FAIL,
	  "PASS: GUP-fast takes 512 of 512 pages with a NULL mapping (control 100 of 512)\n"
	  "FAIL: the control: GUP-fast takes 100 of 512 anonymous pages" },
	{ -1, 100, PR_FAIL, "FAIL: the control: GUP-fast takes 100 of 512" },
	{ -1, 512, PR_OK, "" },
	{ -1, -1, PR_OK, "" },
};

/* What a "stats" file of tracefs says, and what it adds to 1000 and 100. */
static const struct {
	const char *text;
	bool ok;
	uint64_t entries, lost;
} trace_stats[] = {
	{ "entries: 512\noverrun: 0\ncommit overrun: 0\nbytes: 16384\n"
	  "oldest event ts:    12.345678\nnow ts:    13.0\ndropped events: 0\n"
	  "read events: 7", true, 1512, 100 },
	{ "entries: 0\noverrun: 3\ncommit overrun: 20\ndropped events: 400", true,
	  1000, 523 },
	{ "entries: 18446744073709550000", true, 18446744073709551000U, 100 },
	{ "read events: 5\nbytes: 3", false, 1000, 100 },
	{ "entries: none", false, 1000, 100 },
	{ "", false, 1000, 100 },
};

static void test_trace_stats(void)
{
	uint64_t entries, lost;
	size_t i;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(trace_stats); i++) {
		entries = 1000;
		lost = 100;
		ok = tlb_trace_stats(trace_stats[i].text, &entries, &lost);
		ktap_ok(ok == trace_stats[i].ok &&
			entries == trace_stats[i].entries &&
			lost == trace_stats[i].lost, "tlb_trace_stats() %zu", i);
	}
}

static void test_numbers(void)
{
	uint64_t value;
	size_t i;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		value = 0;
		ok = number_parse(numbers[i].text, numbers[i].min,
				  numbers[i].max, &value);
		ktap_ok(ok == numbers[i].ok && value == numbers[i].value,
			"number_parse('%s')", numbers[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		value = 0;
		ok = size_parse(sizes[i].text, STEP, STEP, MOST, &value);
		ktap_ok(ok == (sizes[i].value != 0) && value == sizes[i].value,
			"size_parse('%s')", sizes[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		char buf[24];

		ktap_ok(!strcmp(size_format(formats[i].bytes, buf),
				formats[i].text),
			"size_format() of %s", formats[i].text);
	}
}

static void test_stats(void)
{
	double samples[5], ratio;
	struct stats s;
	size_t i;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		memcpy(samples, sets[i].samples, sizeof(samples));
		ok = stats_of(samples, sets[i].nr, &s);
		ktap_ok(ok && s.median == sets[i].stats.median &&
			s.min == sets[i].stats.min && s.max == sets[i].stats.max &&
			!memcmp(samples, sets[i].samples, sizeof(samples)),
			"stats_of() set %zu", i);
	}
	ktap_ok(!stats_of(samples, 0, &s), "stats_of() no samples");
	for (i = 0; i < ARRAY_SIZE(ratios); i++) {
		ratio = 0;
		ok = stats_ratio(ratios[i].base, ratios[i].new, ratios[i].less,
				 &ratio);
		ktap_ok(ok == ratios[i].has && (!ok || ratio == ratios[i].ratio),
			"stats_ratio(%g, %g, %s)", ratios[i].base, ratios[i].new,
			ratios[i].less ? "less" : "more");
	}
}

static void add_count(struct run *run, const char *name, double value)
{
	struct row row = {
		.bench = "nullmap", .name = (char *)name, .clock = "count",
		.unit = "pages", .samples = &value, .nr_samples = 1,
	};

	if (value >= 0)
		run_add(run, &row);
}

/* What nullmap_verdict() writes to stderr, and its return value. */
static int verdict_of(const struct run *run, char *text, size_t size)
{
	FILE *file = tmpfile();
	int old = dup(STDERR_FILENO), ret;

	dup2(fileno(file), STDERR_FILENO);
	ret = nullmap_verdict(run);
	dup2(old, STDERR_FILENO);
	close(old);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
	return ret;
}

static void test_nullmap(void)
{
	char text[1024];
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(inferences); i++) {
		nullmap_infer_text(inferences[i].release, inferences[i].state, text,
				   sizeof(text));
		if (!ktap_ok(!strncmp(text, inferences[i].text,
				      strlen(inferences[i].text)),
			     "nullmap_infer_text(%s, %s)", inferences[i].release,
			     inferences[i].state ? inferences[i].state : "NULL"))
			ktap_diag("%s", text);
	}
	for (i = 0; i < ARRAY_SIZE(verdicts); i++) {
		struct run run = { 0 };

		add_count(&run, NULLMAP_CASE, verdicts[i].nullmap);
		add_count(&run, NULLMAP_CONTROL, verdicts[i].anon);
		ret = verdict_of(&run, text, sizeof(text));
		if (!ktap_ok(ret == verdicts[i].ret &&
			     !strncmp(text, verdicts[i].text,
				      strlen(verdicts[i].text)) &&
			     !*verdicts[i].text == !*text,
			     "nullmap_verdict() of %g and %g", verdicts[i].nullmap,
			     verdicts[i].anon))
			ktap_diag("%d: %s", ret, text);
		run_free(&run);
	}
}

/* Records as the kernel's documentation describes them (ABI/testing/dev-kmsg). */
static const char records[] =
	"6,1,10,-;Linux version 6.12\n SUBSYSTEM=x\n DEVICE=BUG: not a line\n";
static const char user_record[] = "12,2,20,-;BUG: said by a program\n";

static void test_log(void)
{
	char record[sizeof(records)], user[sizeof(user_record)], *text;
	char none[] = "no record";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(log_lines); i++)
		ktap_ok(kernel_log_is_bad(log_lines[i].line) == log_lines[i].bad,
			"kernel_log_is_bad('%s')", log_lines[i].line);
	strcpy(record, records);
	text = record_text(record);
	ktap_ok(text && !strcmp(text, "Linux version 6.12"),
		"the text of a kernel log record ends with its line");
	strcpy(user, user_record);
	ktap_ok(!record_text(user), "what a program wrote to the log is not the kernel's");
	ktap_ok(!record_text(none), "no record has no text");
}

int main(void)
{
	ktap_plan(ARRAY_SIZE(numbers) + ARRAY_SIZE(sizes) + ARRAY_SIZE(formats) +
		  ARRAY_SIZE(sets) + 1 + ARRAY_SIZE(ratios) +
		  ARRAY_SIZE(log_lines) + 3 + ARRAY_SIZE(inferences) +
		  ARRAY_SIZE(verdicts) + ARRAY_SIZE(trace_stats));
	test_numbers();
	test_stats();
	test_log();
	test_nullmap();
	test_trace_stats();
	return ktap_done();
}
