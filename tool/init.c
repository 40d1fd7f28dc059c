// SPDX-License-Identifier: GPL-2.0-only
/*
 * Process 1 of the lab's guest: makes the system usable, runs one program,
 * tells the host how that ended, and powers off.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "kernel_log.h"
#include "map_file.h"
#include "pagerun.h"
#include "ports.h"
#include "why.h"

#define RESULT_PORT	"pagerun.result"
#define EXIT_PORT	"pagerun.exit"
#define MODULE		"/pagerun_test.ko"

static const struct mount_point {
	const char *type, *path;
	bool make;	/* the folder, first */
	bool optional;	/* kernels without it are fine */
} mount_points[] = {
	{ "proc",     "/proc",		     true,  false },
	{ "sysfs",    "/sys",		     true,  false },
	{ "devtmpfs", "/dev",		     true,  false },
	{ "debugfs",  "/sys/kernel/debug",   false, true },
	{ "tracefs",  "/sys/kernel/tracing", false, true },
	{ "tmpfs",    "/tmp",		     true,  false },
	{ "tmpfs",    "/dev/shm",	     true,  true },
};

static int mount_one(const struct mount_point *m, struct why *why)
{
	if (m->make && mkdir(m->path, 0755) && errno != EEXIST)
		return why_set(why, "cannot make %s: %s", m->path,
			       strerror(errno));
	if (!mount(m->type, m->path, m->type, 0, NULL) || errno == EBUSY)
		return 0;
	if (m->optional && (errno == ENODEV || errno == ENOENT))
		return 0;
	return why_set(why, "cannot mount %s on %s: %s", m->type, m->path,
		       strerror(errno));
}

static int mount_all(struct why *why)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mount_points); i++)
		if (mount_one(&mount_points[i], why))
			return -1;
	return 0;
}

/* The kernel gives us no open files if the initramfs has no /dev/console. */
static int open_console(struct why *why)
{
	int in = open("/dev/null", O_RDONLY);
	int out = open("/dev/console", O_WRONLY | O_NOCTTY);

	if (in < 0 || out < 0 || dup2(out, STDERR_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(in, STDIN_FILENO) < 0)
		return why_set(why, "cannot open the console: %s",
			       strerror(errno));
	if (in > STDERR_FILENO)
		close(in);
	if (out > STDERR_FILENO)
		close(out);
	return 0;
}

static int load_module(struct why *why)
{
	int fd, ret = 0;

	fd = open(MODULE, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return why_set(why, "cannot open " MODULE ": %s",
			       strerror(errno));
	if (syscall(SYS_finit_module, fd, "", 0))
		ret = why_set(why, "cannot load " MODULE ": %s",
			      strerror(errno));
	close(fd);
	return ret;
}

/* In the child: become the program. Does not return. */
static void exec_program(char **args, int result)
{
	/* Nobody reads along, so: no progress lines, no colours. */
	if (setenv("TERM", "dumb", 1) ||
	    setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1) ||
	    dup2(result, STDOUT_FILENO) < 0) {
		warn("cannot prepare the program");
		_exit(127);
	}
	if (args[1][0] == '/') {
		execv(args[1], &args[1]);
		warn("cannot run %s", args[1]);
	} else {
		args[0] = (char *)"pagerun";
		execv("/proc/self/exe", args);
		warn("cannot run pagerun");
	}
	_exit(127);
}

/* Run the program and wait; as pid 1 we get strangers' children as well. */
static int run_program(char **args, int *status, struct why *why)
{
	pid_t child, gone;
	int result;

	if (!args[1])
		return why_set(why, "no program given: put it after -- on the kernel command line");
	result = port_open(RESULT_PORT);
	if (result < 0)
		return why_set(why, "cannot open the port " RESULT_PORT ": %s",
			       strerror(errno));
	child = fork();
	if (!child)
		exec_program(args, result);
	close(result);
	if (child < 0)
		return why_set(why, "cannot fork: %s", strerror(errno));
	do {
		gone = wait(status);
	} while (gone != child && (gone > 0 || errno == EINTR));
	if (gone != child)
		return why_set(why, "lost the program: %s", strerror(errno));
	return 0;
}

/*
 * How it ended, as JSON. A broken kernel outweighs a program that is content
 * (or that had to skip); a program that failed says more itself.
 */
static json_t *ending(int status, int log)
{
	json_t *lines, *json;
	size_t i;

	lines = kernel_log_scan(log);
	for (i = 0; i < json_array_size(lines); i++)
		warnx("kernel log: %s",
		      json_string_value(json_array_get(lines, i)));

	if (WIFSIGNALED(status))
		json = json_pack("{s:s, s:i}", "status", "signal",
				 "code", WTERMSIG(status));
	else if (json_array_size(lines) &&
		 (WEXITSTATUS(status) == PR_OK || WEXITSTATUS(status) == PR_SKIP))
		json = json_pack("{s:s, s:i, s:O}", "status", "dmesg",
				 "code", 1, "lines", lines);
	else
		json = json_pack("{s:s, s:i}", "status", "exited",
				 "code", WEXITSTATUS(status));
	if (!lines) {
		json_decref(json);
		return NULL;
	}
	json_decref(lines);
	return json;
}

static bool write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

/* One line on the port, whole or not at all as far as we can tell. */
static void report(const json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL, *line;
	int fd = port_open(EXIT_PORT), len;

	if (fd < 0)
		warn("cannot open the port " EXIT_PORT);
	len = text ? asprintf(&line, "%s\n", text) : -1;
	if (len < 0)
		warnx("out of memory for the report");
	else if (fd >= 0 && !write_all(fd, line, (size_t)len))
		warn("cannot write to the port " EXIT_PORT);
}

static void __attribute__((noreturn)) power_off(void)
{
	/* The last lines on the console are still on their way. */
	tcdrain(STDERR_FILENO);
	sync();
	reboot(RB_POWER_OFF);
	/* Without power management QEMU's -no-reboot makes an end of this. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static int live(char **argv, json_t **end, struct why *why)
{
	int log, status = 0;

	if (mount_all(why) || open_console(why))
		return -1;
	log = kernel_log_open();
	if (log < 0)
		return why_set(why, "cannot open /dev/kmsg: %s", strerror(errno));
	if (load_module(why) || map_file_enable(why) ||
	    run_program(argv, &status, why))
		return -1;
	*end = ending(status, log);
	return *end ? 0 : why_set(why, "out of memory");
}

void init_main(int argc, char **argv)
{
	struct why why;
	json_t *end = NULL;

	(void)argc;
	program_invocation_short_name = (char *)"init";
	if (live(argv, &end, &why)) {
		warnx("%s", why.text);
		end = json_pack("{s:s, s:s}", "status", "init",
				"message", why.text);
	}
	report(end);
	power_off();
}
