// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends in one of the ways that lab/boot must not take for success. For the tests
 * of the lab.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Make the kernel itself write a line with @text in it, as what a program writes
 * to /dev/kmsg is marked as such: the kernel tells of a program that was started
 * without any argument, by its path.
 */
static void kernel_says(const char *text)
{
	char path[128], *none[] = { NULL };
	pid_t pid;

	snprintf(path, sizeof(path), "/tmp/%s", text);
	if (symlink("/proc/self/exe", path))
		err(1, "%s", path);
	pid = fork();
	if (!pid) {
		execve(path, none, none);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		err(1, "cannot start a program");
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (!strcmp(how, "warning")) {
		kernel_says("WARNING: a test of the log guard");
	} else if (!strcmp(how, "bug")) {
		kernel_says("BUG: a test of the log guard");
	} else if (!strcmp(how, "lockdep")) {
		kernel_says("possible circular locking dependency detected");
	} else if (!strcmp(how, "hang")) {
		for (;;)
			pause();
	} else if (!strcmp(how, "vanish")) {
		/* The machine goes off and init never says how it ended. */
		reboot(RB_POWER_OFF);
	} else if (!strcmp(how, "signal")) {
		raise(SIGSEGV);
	} else if (!strcmp(how, "code")) {
		return 7;
	} else {
		errx(2, "usage: misbehave warning|bug|lockdep|hang|vanish|signal|code");
	}
	puts("done");
	return 0;
}
