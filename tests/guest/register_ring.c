// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings, limits, and what can be seen of them. What counts for the limit of a user is in
 * no file; it is found by trying how small a limit still lets one more page in.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "register.h"

/* Linux 6.12; older headers do not know it. */
#define REGISTER_CLONE_BUFFERS	30

struct clone_buffers {
	uint32_t src_fd, flags, pad[6];
};

static struct io_uring probe;
static void *probe_page;
static int pattern = -1;

/* Of this thread, effective. */
static void may_lock(bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		die("capget");
	if (on)
		data[0].effective |= 1U << CAP_IPC_LOCK;
	else
		data[0].effective &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &header, data))
		die("capset");
}

void ring_make(struct io_uring *ring, bool capable)
{
	int err;

	may_lock(capable);
	err = io_uring_queue_init(8, ring, 0);
	may_lock(true);
	if (err)
		die("no ring: %s", strerror(-err));
}

void ring_end(struct io_uring *ring)
{
	io_uring_queue_exit(ring);
}

uint32_t pattern_word(uint64_t off)
{
	return (uint32_t)rng_mix(off / PAGE_SIZE + 1) | 1;
}

static void pattern_make(void)
{
	static uint32_t words[PAGE_SIZE / sizeof(uint32_t)];
	uint64_t off;
	size_t i;

	pattern = memfd_create("pattern", MFD_CLOEXEC);
	for (off = 0; off < PATTERN_SIZE; off += PAGE_SIZE) {
		for (i = 0; i < ARRAY_SIZE(words); i++)
			words[i] = pattern_word(off) + (uint32_t)i;
		if (pwrite(pattern, words, PAGE_SIZE, (off_t)off) != PAGE_SIZE)
			die("cannot write a pattern");
	}
}

const char *rings_open(void)
{
	int err = io_uring_queue_init(8, &probe, 0);

	if (err)
		return "io_uring cannot be used; boot a kernel with CONFIG_IO_URING";
	io_uring_queue_exit(&probe);
	ring_make(&probe, false);
	probe_page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (probe_page == MAP_FAILED || madvise(probe_page, PAGE_SIZE, MADV_NOHUGEPAGE))
		die("no page to try limits with");
	memset(probe_page, 1, PAGE_SIZE);
	pattern_make();
	limit_set(~0UL);
	return NULL;
}

int ring_register(struct io_uring *ring, const struct iovec *buffers, unsigned int nr)
{
	return io_uring_register_buffers(ring, buffers, nr);
}

int ring_update(struct io_uring *ring, unsigned int slot, const struct iovec *buffers,
		unsigned int nr)
{
	return io_uring_register_buffers_update_tag(ring, slot, buffers, NULL, nr);
}

int ring_clone(struct io_uring *ring, const struct io_uring *from)
{
	struct clone_buffers clone = { .src_fd = (uint32_t)from->ring_fd };

	return syscall(SYS_io_uring_register, ring->ring_fd, REGISTER_CLONE_BUFFERS, &clone, 1) ?
		-errno : 0;
}

int ring_unregister(struct io_uring *ring)
{
	return io_uring_unregister_buffers(ring);
}

int ring_read(struct io_uring *ring, unsigned int slot, void *addr, unsigned int len,
	      uint64_t off)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	int ret;

	if (!sqe)
		die("no room in the ring");
	io_uring_prep_read_fixed(sqe, pattern, addr, len, off, (int)slot);
	ret = io_uring_submit_and_wait(ring, 1);
	if (ret != 1 || io_uring_peek_cqe(ring, &cqe))
		die("a read was not done: %d", ret);
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret;
}

void limit_set(unsigned long pages)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };

	limit.rlim_cur = pages == ~0UL ? RLIM_INFINITY : pages * PAGE_SIZE;
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("setrlimit");
}

static bool fits(unsigned long pages)
{
	const struct iovec page = { .iov_base = probe_page, .iov_len = PAGE_SIZE };
	int err;

	limit_set(pages);
	err = ring_register(&probe, &page, 1);
	if (!err)
		ring_unregister(&probe);
	else if (err != -ENOMEM)
		die("the page to try limits with cannot be registered: %s", strerror(-err));
	return !err;
}

unsigned long locked_now(void)
{
	unsigned long low = 0, high = 1UL << 23, mid;
	struct rlimit before;

	if (getrlimit(RLIMIT_MEMLOCK, &before))
		die("getrlimit");
	while (high - low > 1) {
		mid = (low + high) / 2;
		if (fits(mid))
			high = mid;
		else
			low = mid;
	}
	if (setrlimit(RLIMIT_MEMLOCK, &before))
		die("setrlimit");
	return low;
}

unsigned long pinned_now(void)
{
	return status_kb("VmPin") / (PAGE_SIZE / 1024);
}

bool locked_back(unsigned long locked, unsigned long pinned)
{
	for (int i = 0; i < 500; i++) {
		if (pinned_now() == pinned && locked_now() == locked)
			return true;
		usleep(10000);
	}
	return false;
}
