// SPDX-License-Identifier: GPL-2.0-only
/* pagerun bench: measures the running kernel. */
#include <argp.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "driver.h"
#include "json_file.h"
#include "kernel.h"
#include "memory.h"
#include "number.h"
#include "pagerun.h"
#include "progress.h"
#include "skips.h"
#include "usage.h"

#define PAGE_BYTES 4096

enum {
	OPT_JSON = 256, OPT_THREADS, OPT_REPEAT, OPT_SIZE, OPT_PAGES, OPT_CLOCK,
	OPT_CASE, OPT_LIST, OPT_DEVICE,
};

/* The command line. */
struct bench_args {
	struct bench_options opt;
	const struct bench *bench;	/* NULL: all */
	bool named;			/* all or one of them was named */
	const char *json;
	bool list;
	bool sized;			/* --size or --pages-per-call is there */
};

static const struct argp_option bench_argp_options[] = {
	{ "json", OPT_JSON, "FILE", 0,
	  "Write the results to FILE as JSON, besides the table; to stdout in place of the table if FILE is -", 0 },
	{ "case", OPT_CASE, "GLOB", 0,
	  "Measure only the cases whose names match, e.g. 'pin/*' or get/4k; may be given more than once", 0 },
	{ "list", OPT_LIST, NULL, 0, "List the cases and measure nothing", 0 },
	{ "repeat", OPT_REPEAT, "N", 0,
	  "Samples a case, whose median is told (1 to 1000; default: 5)", 0 },
	{ "size", OPT_SIZE, "S", 0,
	  "Bytes of memory (a thread), with K, M or G: a multiple of 2M, up to 4G (default: 64M)", 0 },
	{ "pages-per-call", OPT_PAGES, "N", 0,
	  "Pages that one call takes (default: all of the memory)", 0 },
	{ "threads", OPT_THREADS, "LIST", 0,
	  "Measure with so many threads side by side, e.g. 1,8 (each 1 to 256; default: the calling thread alone, for nullmap 1,8,32,128)", 0 },
	{ "clock", OPT_CLOCK, "CLOCK", 0,
	  "insn: guest instructions, in QEMU with -icount alone; wall: nanoseconds; auto: insn where it can be proven, else wall (default)", 0 },
	{ "device", OPT_DEVICE, "FILE", 0,
	  "What map maps, from its start: a resource file of a PCI device, /dev/uioN, or the like (default: BAR 2 of the first ivshmem device); or what dio reads: a block device, or a file (default: /dev/nullb0)", 0 },
	{ 0 },
};

static const struct bench *find_bench(const char *name)
{
	size_t i;

	for (i = 0; i < nr_benches; i++)
		if (!strcmp(benches[i]->name, name))
			return benches[i];
	return NULL;
}

static void parse_number(struct argp_state *state, const char *option,
			 const char *text, unsigned int max, unsigned int *out)
{
	uint64_t value;

	if (!number_parse(text, 1, max, &value))
		usage_error(state, "%s: '%s' is not a number from 1 to %u",
			    option, text, max);
	*out = (unsigned int)value;
}

static void parse_threads(struct argp_state *state, const char *arg,
			  struct bench_options *opt)
{
	char part[16];
	unsigned int i, value;
	size_t len;

	opt->nr_threads = 0;
	for (;; arg++) {
		len = strcspn(arg, ",");
		snprintf(part, sizeof(part), "%.*s",
			 (int)(len < sizeof(part) ? len : sizeof(part)), arg);
		parse_number(state, "--threads", part, BENCH_MAX_THREADS, &value);
		for (i = 0; i < opt->nr_threads; i++)
			if (opt->threads[i] == value)
				usage_error(state, "--threads: %u is there twice",
					    value);
		if (opt->nr_threads == BENCH_MAX_LIST)
			usage_error(state, "--threads: more than %u numbers",
				    BENCH_MAX_LIST);
		opt->threads[opt->nr_threads++] = value;
		arg += len;
		if (!*arg)
			return;
	}
}

static enum clock_kind parse_clock(struct argp_state *state, const char *arg)
{
	if (!strcmp(arg, "auto"))
		return CLOCK_AUTO;
	if (!strcmp(arg, "insn"))
		return CLOCK_INSN;
	if (!strcmp(arg, "wall"))
		return CLOCK_WALL;
	usage_error(state, "--clock: '%s' is not auto, insn or wall", arg);
}

static void parse_name(struct argp_state *state, const char *arg,
		       struct bench_args *args)
{
	if (args->named)
		usage_error(state, "one benchmark only: '%s' is too much", arg);
	args->named = true;
	args->bench = find_bench(arg);
	if (!args->bench && strcmp(arg, "all"))
		usage_error(state, "there is no benchmark '%s'", arg);
}

/**
 * struct glob_use - which of the patterns match a case
 */
struct glob_use {
	const struct bench_options *opt;
	bool used[BENCH_MAX_LIST];
};

static void note_use(const char *name, void *data)
{
	struct glob_use *use = data;
	struct bench_options one = { .nr_globs = 1 };
	unsigned int i;

	for (i = 0; i < use->opt->nr_globs; i++) {
		one.globs[0] = use->opt->globs[i];
		if (bench_wants(&one, name))
			use->used[i] = true;
	}
}

static bool bench_chosen(const struct bench_args *args, size_t i)
{
	return args->bench ? args->bench == benches[i] : benches[i]->in_all;
}

/* What can be checked only once all of the line is known. */
static void check_together(struct argp_state *state,
			   const struct bench_args *args)
{
	struct glob_use use = { .opt = &args->opt };
	uint64_t pages = args->opt.size / PAGE_BYTES;
	unsigned int i;

	if (args->sized && args->bench && args->bench->fixed_size)
		usage_error(state, "%s knows no --size or --pages-per-call: its memory has one size",
			    args->bench->name);
	if (args->opt.nr_threads && args->bench && args->bench->fixed_threads)
		usage_error(state, "%s knows no --threads: its cases say how many there are",
			    args->bench->name);
	if (args->opt.pages_per_call > pages)
		usage_error(state, "--pages-per-call: '%u' is not a number from 1 to %u, the pages of --size",
			    args->opt.pages_per_call, (unsigned int)pages);
	if (args->opt.device && !(args->bench && args->bench->takes_device))
		usage_error(state, "--device is for map and for dio: say bench map or bench dio");
	if (args->opt.nr_threads && args->opt.clock == CLOCK_INSN)
		usage_error(state, "--clock insn and --threads exclude each other: the clock that counts instructions has one CPU");
	for (i = 0; i < nr_benches; i++)
		if (bench_chosen(args, i))
			benches[i]->each_case(note_use, &use);
	for (i = 0; i < args->opt.nr_globs; i++)
		if (!use.used[i])
			usage_error(state, "--case: '%s' matches no case of the benchmark; see --list",
				    args->opt.globs[i]);
}

static error_t parse_bench(int key, char *arg, struct argp_state *state)
{
	struct bench_args *args = state->input;
	struct bench_options *opt = &args->opt;

	switch (key) {
	case OPT_JSON:
		if (!*arg)
			usage_error(state, "--json: the name of the file is empty");
		args->json = arg;
		return 0;
	case OPT_THREADS:
		parse_threads(state, arg, opt);
		return 0;
	case OPT_REPEAT:
		parse_number(state, "--repeat", arg, BENCH_MAX_REPEAT,
			     &opt->repeat);
		return 0;
	case OPT_SIZE:
		if (!size_parse(arg, MEMORY_STEP, MEMORY_STEP, BENCH_MAX_SIZE,
				&opt->size))
			usage_error(state, "--size: '%s' is not a multiple of 2M from 2M to 4G",
				    arg);
		args->sized = true;
		return 0;
	case OPT_PAGES:
		parse_number(state, "--pages-per-call", arg,
			     PAGERUN_TEST_MAX_PAGES, &opt->pages_per_call);
		args->sized = true;
		return 0;
	case OPT_CLOCK:
		opt->clock = parse_clock(state, arg);
		return 0;
	case OPT_CASE:
		if (opt->nr_globs == BENCH_MAX_LIST)
			usage_error(state, "--case: given more than %u times",
				    BENCH_MAX_LIST);
		opt->globs[opt->nr_globs++] = arg;
		return 0;
	case OPT_DEVICE:
		if (!*arg)
			usage_error(state, "--device: the name of the file is empty");
		opt->device = arg;
		return 0;
	case OPT_LIST:
		args->list = true;
		return 0;
	case ARGP_KEY_ARG:
		parse_name(state, arg, args);
		return 0;
	case ARGP_KEY_END:
		check_together(state, args);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Put the list of benchmarks before the fixed text at the end of --help. */
static char *add_benches(int key, const char *text, void *input)
{
	char *out = NULL;
	size_t len, i;
	FILE *f;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	f = open_memstream(&out, &len);
	if (!f)
		return (char *)text;
	fputs("Benchmarks:\n", f);
	for (i = 0; i < nr_benches; i++)
		fprintf(f, "  %-9s %s\n", benches[i]->name, benches[i]->summary);
	fprintf(f, "  %-9s %s\n\n%s", "all", "all of them (default)", text);
	if (fclose(f)) {
		free(out);
		return (char *)text;
	}
	return out;
}

static const char bench_doc[] =
	"Measure what the running kernel does.\v"
	"Needs root and, but for move, map, register and dio, the test driver (/dev/pagerun). Without options a case "
	"takes 64 MiB in one call of 16384 pages; a row is a cost per page. "
	"/ro: without FOLL_WRITE; /longterm: with FOLL_WRITE and FOLL_LONGTERM. "
	"Another --size or --pages-per-call shows in the names of the cases, as "
	"do --threads. A case whose kind of memory cannot be had here is skipped; "
	"the reason and what to do is told on stderr.\n\n"
	"nullmap counts how many of 512 pages get_user_pages_fast_only() takes, and "
	"times pin_user_pages_fast() of them in threads, where the clock is wall: "
	"pages that the driver mapped, whose ->mapping is NULL, and anonymous ones as "
	"the control. What that means is told on stderr, PASS or FAIL; FAIL of "
	"\"bench nullmap\" is exit code 1, but with --json, which records a run, the "
	"verdict is in the rows and the exit code is 0. Where it cannot measure, it "
	"tells what the kernel's release says.\n\n"
	"move gives a case 2048 fresh pages a round: N-per-call moves small ones, N in a "
	"call of UFFDIO_MOVE, 64k-folios and 2m-pte large folios that page-table entries "
	"map, 512 pages a call; copy is UFFDIO_COPY and MADV_DONTNEED, mremap moves whole "
	"page tables. flushes counts TLB flushes a call, splits the folios that were split. "
	"move-spin and move-threads, where the clock is wall, have a second thread spin, "
	"or threads move parts of one mapping. Its cases are of one size and say how many "
	"threads they have.\n\n"
	"map maps a BAR of a PCI device, or the file of --device: mmap is mmap() and "
	"munmap(), fork is fork(), exit and wait() less the same without the mapping, "
	"page-tables-kib what VmPTE grows by. latency reads 8 bytes at random places, one "
	"after the other, memcpy copies the BAR; both need the wall clock, under an emulator "
	"they say nothing of hardware, and they read the device: leave them out by --case "
	"where a read does more than read. Large entries can be expected where the physical "
	"address is a multiple of 2 MiB.\n\n"
	"register registers 64m, 256m or 1g of memory with io_uring as one buffer, "
	"register-many as buffers of 64 KiB; a row is a cost per page of the call that "
	"registers. Of 1g two samples have to do where instructions are counted.\n\n"
	"dio reads 64 MiB of null_blk's first device, or of --device, into as much memory: psync by "
	"pread(), uring with 16 reads in flight, 64 KiB or 1 MiB a read. A row is "
	"instructions per KiB or, by the wall clock and with /wall behind its name, GB/s.\n\n"
	"Examples:\n"
	"  pagerun bench pin\n"
	"  pagerun bench pin --json base.json\n"
	"  pagerun bench pin --case 'pin/*' --threads 1,8 --repeat 9\n"
	"  pagerun bench unpin --size 1G --json -\n"
	"  pagerun bench nullmap --threads 1,16\n"
	"  pagerun bench move --case 'move/*'\n"
	"  pagerun bench map --device /sys/bus/pci/devices/0000:01:00.0/resource2 --case 'mmap/*'\n"
	"  pagerun bench dio --case 'dio/uring/*'\n\n"
	PR_EXIT_CODES_DOC;

static const struct argp bench_argp = {
	.options = bench_argp_options,
	.parser = parse_bench,
	.args_doc = "[BENCHMARK]",
	.doc = bench_doc,
	.help_filter = add_benches,
};

/**
 * struct list - for print_case(): the benchmark and which cases are wanted
 */
struct list {
	const struct bench *bench;
	const struct bench_options *opt;
};

static void print_case(const char *name, void *data)
{
	const struct list *list = data;

	if (bench_wants(list->opt, name))
		printf("%s\n", name);
}

static int list_cases(const struct bench_args *args)
{
	size_t i;

	for (i = 0; i < nr_benches; i++) {
		struct list list = { benches[i], &args->opt };

		if (bench_chosen(args, i))
			benches[i]->each_case(print_case, &list);
	}
	return PR_OK;
}

static bool driver_needed(const struct bench_args *args)
{
	size_t i;

	for (i = 0; i < nr_benches; i++)
		if (bench_chosen(args, i) && !benches[i]->driverless)
			return true;
	return false;
}

/* Whether we may do what is asked for, and the driver is there if it takes that. */
static int check_driver(const struct bench_args *args)
{
	bool needed = driver_needed(args);
	int ret, fd;

	if (geteuid()) {
		warnx("bench needs root, for %s and /proc/kpageflags: run as root",
		      needed ? DRIVER_PATH : "userfaultfd, devices");
		return PR_SKIP;
	}
	if (!needed)
		return PR_OK;
	ret = driver_open(&fd);
	if (!ret)
		close(fd);
	return ret;
}

/* Whether all that measuring needs is here, and which clock it uses. */
static int check_system(struct bench_args *args)
{
	int ret = check_driver(args);

	if (ret == PR_SKIP && args->bench && args->bench->infer)
		args->bench->infer();
	if (ret)
		return ret;
	if (sysconf(_SC_PAGESIZE) != PAGE_BYTES) {
		warnx("only 4 KiB pages can be measured: boot a kernel that has them");
		return PR_SKIP;
	}
	return clock_choose(args->opt.clock, args->opt.nr_threads,
			    &args->opt.clock);
}

/*
 * Say what the rows mean. It is the answer where that benchmark was named, and
 * not where rows are recorded.
 */
static int judge(const struct bench_args *args, const struct run *run)
{
	int ret = PR_OK;
	size_t i;

	/* stdout first, as a terminal shows both. */
	fflush(stdout);
	for (i = 0; i < nr_benches; i++)
		if (bench_chosen(args, i) && benches[i]->verdict &&
		    benches[i]->verdict(run) && args->bench && !args->json)
			ret = PR_FAIL;
	return ret;
}

static int run_benches(const struct bench_args *args, struct run *run)
{
	struct skips skips = { 0 };
	struct progress progress;
	const struct bench_env env = {
		.opt = &args->opt, .run = run, .skips = &skips,
		.progress = &progress,
	};
	int ret = PR_OK;
	size_t i;

	/* Terminal output costs instructions, at its own time. */
	progress_init(&progress, args->opt.clock == CLOCK_INSN);
	for (i = 0; i < nr_benches && !ret; i++)
		if (bench_chosen(args, i))
			ret = benches[i]->run(&env);
	skips_print(&skips);
	if (!ret && !run->nr_rows)
		ret = PR_SKIP;
	skips_free(&skips);
	return ret;
}

int cmd_bench(int argc, char **argv)
{
	struct bench_args args = {
		.opt = {
			.size = BENCH_DEFAULT_SIZE,
			.repeat = BENCH_DEFAULT_REPEAT,
		},
	};
	struct run run = { 0 };
	int ret;

	if (argp_parse(&bench_argp, argc, argv, 0, NULL, &args))
		return PR_FAIL;
	if (args.list)
		return list_cases(&args);
	/* All pages in one call is the usual geometry, said or not. */
	if (args.opt.pages_per_call == args.opt.size / PAGE_BYTES)
		args.opt.pages_per_call = 0;
	if (args.json && json_file_check(args.json))
		return PR_FAIL;
	ret = check_system(&args);
	if (ret)
		return ret;

	run.tool = strdup("pagerun " PAGERUN_VERSION);
	run.kernel = run.tool ? kernel_describe() : NULL;
	ret = run.kernel ? run_benches(&args, &run) : PR_FAIL;
	if (!ret)
		ret = run_write(&run, args.json);
	if (!ret)
		ret = judge(&args, &run);
	run_free(&run);
	return ret;
}
