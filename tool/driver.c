// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver.h"
#include "pagerun.h"

static int open_failed(int err)
{
	switch (err) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		warnx("no " DRIVER_PATH ": the test driver is not loaded; build and load it: make -C driver && insmod driver/pagerun_test.ko");
		return PR_SKIP;
	case EACCES:
	case EPERM:
		warnx("no permission for " DRIVER_PATH " (it needs CAP_SYS_ADMIN): run as root");
		return PR_SKIP;
	default:
		warnx("cannot open " DRIVER_PATH ": %s", strerror(err));
		return PR_FAIL;
	}
}

int driver_open(int *fd)
{
	struct pagerun_test_info info;

	*fd = open(DRIVER_PATH, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return open_failed(errno);
	if (ioctl(*fd, PAGERUN_TEST_INFO, &info)) {
		warn(DRIVER_PATH " is not the test driver's");
	} else if (info.version != PAGERUN_TEST_VERSION) {
		warnx("the loaded test driver has interface version %u, this program needs %u: build both from one tree",
		      info.version, PAGERUN_TEST_VERSION);
	} else if (info.page_shift != 12) {
		warnx("the pages here have 2^%u bytes; only 4 KiB pages can be measured",
		      info.page_shift);
		close(*fd);
		return PR_SKIP;
	} else {
		return PR_OK;
	}
	close(*fd);
	return PR_FAIL;
}

int driver_time(int fd, const struct take *take, const void *addr,
		uint32_t nr_pages, uint32_t rounds, struct take_time *out)
{
	struct pagerun_test_time time = {
		.addr = (uintptr_t)addr,
		.nr_pages = nr_pages,
		.pages_per_call = take->pages_per_call ? take->pages_per_call :
							 nr_pages,
		.op = take->op,
		.flags = take->flags,
		.rounds = rounds,
	};

	if (ioctl(fd, PAGERUN_TEST_TIME, &time))
		return errno;
	if (time.taken != (uint64_t)nr_pages * rounds)
		return ENODATA;
	*out = (struct take_time) {
		.take_ns = time.take_ns,
		.take_cycles = time.take_cycles,
		.release_ns = time.release_ns,
		.release_cycles = time.release_cycles,
	};
	return 0;
}

int driver_count(int fd, const void *addr, uint32_t nr_pages, uint32_t *taken)
{
	struct pagerun_test_count count = {
		.addr = (uintptr_t)addr,
		.nr_pages = nr_pages,
		.flags = PAGERUN_TEST_WRITE,
	};

	if (ioctl(fd, PAGERUN_TEST_COUNT, &count))
		return errno;
	*taken = count.taken;
	return 0;
}
