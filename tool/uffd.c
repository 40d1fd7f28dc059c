// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pagerun.h"
#include "uffd.h"

#define DEVICE "/dev/userfaultfd"

/* What system headers older than the kernel lack. */
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif
#ifndef UFFDIO_MOVE
#define UFFD_FEATURE_MOVE (1 << 16)
struct uffdio_move {
	uint64_t dst, src, len, mode;
	int64_t move;
};
#define UFFDIO_MOVE _IOWR(UFFDIO, 0x05, struct uffdio_move)
#endif

/* The device has its own permissions; the system call wants root. */
static int new_fd(void)
{
	int device = open(DEVICE, O_RDWR | O_CLOEXEC), fd, err;

	if (device < 0)
		return (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	fd = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC);
	err = errno;
	close(device);
	errno = err;
	return fd;
}

int uffd_open(int *fd, struct why *why)
{
	struct uffdio_api api = {
		.api = UFFD_API, .features = UFFD_FEATURE_MOVE,
	};

	*fd = new_fd();
	if (*fd < 0) {
		if (errno == ENOSYS)
			why_set(why, "this kernel has no userfaultfd: boot one with CONFIG_USERFAULTFD");
		else
			why_set(why, "no userfaultfd (%s): run as root, or get access to "
				DEVICE, strerror(errno));
		return PR_SKIP;
	}
	if (!ioctl(*fd, UFFDIO_API, &api))
		return PR_OK;
	why_set(why, "this kernel's userfaultfd has no UFFDIO_MOVE (%s): boot Linux 6.8 or newer",
		strerror(errno));
	close(*fd);
	return PR_SKIP;
}

int uffd_register(int fd, void *addr, size_t size)
{
	struct uffdio_register arg = {
		.range = { .start = (uintptr_t)addr, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return ioctl(fd, UFFDIO_REGISTER, &arg) ? errno : 0;
}

int uffd_move(int fd, void *dst, void *src, size_t size)
{
	struct uffdio_move arg = {
		.dst = (uintptr_t)dst, .src = (uintptr_t)src, .len = size,
	};
	int err;

	if (!ioctl(fd, UFFDIO_MOVE, &arg))
		return arg.move == (int64_t)size ? 0 : EPROTO;
	err = errno;
	if (arg.move <= 0 || arg.move >= (int64_t)size)
		return err;
	/* A part was moved; why no more, only another call tells. */
	err = uffd_move(fd, (char *)dst + arg.move, (char *)src + arg.move,
			size - (size_t)arg.move);
	return err ? err : EAGAIN;
}

int uffd_copy(int fd, void *dst, void *src, size_t size)
{
	struct uffdio_copy arg = {
		.dst = (uintptr_t)dst, .src = (uintptr_t)src, .len = size,
	};

	if (ioctl(fd, UFFDIO_COPY, &arg))
		return errno;
	return arg.copy == (int64_t)size ? 0 : EPROTO;
}
