// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs selftests of the kernel in the lab's guest, which has no shell: the
 * commands in /selftest/runs, one a line, words between blanks, each a program
 * of that folder and its arguments; after making swap on a disk that null_blk keeps in memory.
 *
 * Between what the programs write stand two lines of ours for each run:
 *
 *	# selftest: run: cow
 *	# selftest: ended with 0
 *
 * The first argument may be limit=S: each run gets so many seconds, then SIGALRM, which
 * ends it unless it has an alarm of its own. The others are files of the guest, whose lines
 * are written after all runs, each behind the name of its file:
 *
 *	# selftest: shows /sys/kernel/mm/pagerun/stats: pin runs 1 pages 2 fallbacks 0
 *
 * The exit code is that of the program; of several, 1 if one failed, else 4
 * (kselftest's word for skipped) if one skipped. A signal that ends a program
 * counts as its failure; a lone program hands it on.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS		"/selftest/runs"
#define FOLDER		"/selftest/"	/* of the programs */
#define SWAP_DISK	"/dev/nullb0"
#define PAGE		4096

enum { PASS = 0, FAIL = 1, SKIP = 4 };

/* The first page of a swap area: what mkswap would write. */
struct swap_header {
	char boot_block[1024];
	uint32_t version;
	uint32_t last_page;
	uint32_t nr_bad_pages;
	char names_and_padding[PAGE - 1024 - 3 * sizeof(uint32_t) - 10];
	char magic[10];
} __attribute__((packed));

_Static_assert(sizeof(struct swap_header) == PAGE, "the header is one page");

static void make_swap(void)
{
	static struct swap_header header = { .version = 1 };
	int fd = open(SWAP_DISK, O_RDWR | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (size < 0)
		err(FAIL, "cannot open " SWAP_DISK " (is CONFIG_BLK_DEV_NULL_BLK on?)");
	header.last_page = (uint32_t)(size / PAGE - 1);
	memcpy(header.magic, "SWAPSPACE2", sizeof(header.magic));
	if (pwrite(fd, &header, sizeof(header), 0) != sizeof(header) || fsync(fd))
		err(FAIL, "cannot write to " SWAP_DISK);
	close(fd);
	if (swapon(SWAP_DISK, 0))
		err(FAIL, "cannot swap to " SWAP_DISK);
}

/* Seconds a run may take; 0: any. */
static unsigned int limit;

static pid_t start(char *line)
{
	char *args[128], *next = NULL, path[256];
	size_t nr = 0;
	pid_t child;

	for (args[0] = strtok_r(line, " ", &next); args[nr];
	     args[nr] = strtok_r(NULL, " ", &next))
		if (++nr == sizeof(args) / sizeof(args[0]))
			errx(FAIL, "%s: more than %zu words", RUNS, nr - 1);
	if (!nr)
		errx(FAIL, "%s: an empty line", RUNS);
	child = fork();
	if (child)
		return child;
	snprintf(path, sizeof(path), FOLDER "%s", args[0]);
	alarm(limit);
	execv(path, args);
	warn("cannot run %s", path);
	_exit(127);
}

/* Returns the status as wait() gives it. */
static int run(char *line)
{
	int status;
	pid_t child;

	printf("# selftest: run: %s\n", line);
	child = start(line);
	if (child < 0 || waitpid(child, &status, 0) != child)
		err(FAIL, "cannot fork and wait");
	if (WIFSIGNALED(status))
		printf("# selftest: ended by signal %d\n", WTERMSIG(status));
	else
		printf("# selftest: ended with %d\n", WEXITSTATUS(status));
	return status;
}

/* A file that is not there has no lines; a kernel without a feature is not broken. */
static void show(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (!file) {
		if (errno != ENOENT)
			err(FAIL, "%s", path);
		return;
	}
	while ((len = getline(&line, &room, file)) > 0)
		printf("# selftest: shows %s: %.*s\n", path,
		       (int)strcspn(line, "\n"), line);
	if (ferror(file))
		err(FAIL, "%s", path);
	fclose(file);
	free(line);
}

int main(int argc, char **argv)
{
	int status = 0, skipped = 0, failed = 0, nr = 0, len_limit = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	FILE *file;

	/* One stream, as their own runner has it; and ours before theirs. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		return FAIL;
	if (argc > 1 && sscanf(argv[1], "limit=%u%n", &limit, &len_limit) == 1) {
		if (argv[1][len_limit])
			errx(FAIL, "%s is no number of seconds", argv[1]);
		argc--;
		argv++;
	}
	make_swap();
	file = fopen(RUNS, "re");
	if (!file)
		err(FAIL, "%s", RUNS);
	while ((len = getline(&line, &room, file)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		status = run(line);
		nr++;
		if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP)
			skipped++;
		else if (status)
			failed++;
	}
	if (ferror(file) || !nr)
		errx(FAIL, "%s cannot be read, or is empty", RUNS);
	fclose(file);
	free(line);
	for (; argc > 1; argc--)
		show(*++argv);

	if (nr > 1)
		return failed ? FAIL : skipped ? SKIP : PASS;
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	return WEXITSTATUS(status);
}
