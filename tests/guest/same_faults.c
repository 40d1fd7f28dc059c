// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "faults.h"
#include "same.h"

#define FAULTS	"/sys/kernel/debug/"
#define NTH	"/proc/thread-self/fail-nth"

const char *no_faults(void)
{
	return access(NTH, F_OK) || access(FAULTS "failslab", F_OK) ||
	       access(FAULTS "fail_page_alloc", F_OK) ?
		"no allocation can be made to fail here; boot a kernel with CONFIG_FAULT_INJECTION, FAILSLAB and FAIL_PAGE_ALLOC, as lab/kernel patched --mode debug" :
		NULL;
}

static int nth_fd = -1;

void faults_begin(void)
{
	static const char *const values[][2] = {
		{ "failslab/ignore-gfp-wait", "N" }, { "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" }, { "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
	};
	char path[100];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		snprintf(path, sizeof(path), FAULTS "%s", values[i][0]);
		if (!setting_set(path, values[i][1]))
			die("cannot set %s", path);
	}
}

void faults_open(void)
{
	if (nth_fd >= 0)
		close(nth_fd);
	nth_fd = open(NTH, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die(NTH);
}

void faults_set(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(nth_fd, text, (size_t)n, 0) != n)
		die(NTH);
}

unsigned int faults_left(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		die(NTH);
	return (unsigned int)strtoul(text, NULL, 10);
}
