// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of /dev/pagerun, run as root on a machine or guest where
 * pagerun_test.ko is loaded: each documented errno of each ioctl, what the
 * ioctls do, and that nothing stays taken, whoever dies at whatever moment.
 *
 * After each test the reference counts of the shared test memory, the number
 * of entries held and the kernel's own pin statistics must be what they were.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../driver/pagerun_test.h"
#include "../ktap.h"
#include "check.h"

/* Pages of test memory. */
#define NR		64
/* References that one pin of a small folio is. */
#define BIAS		1024
/* An address of the kernel's half on every 64-bit architecture. */
#define KERNEL_ADDR	0xffff888000000000ULL

static int fd;			/* the device */
static char *mem;		/* NR pages of 4 KiB anonymous memory, written to */

static char *map_flags(size_t nr, int prot, int flags)
{
	char *p = mmap(NULL, nr * page_size, prot, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	/* What is tested here is the driver, so the simplest pages will do. */
	madvise(p, nr * page_size, MADV_NOHUGEPAGE);
	return p;
}

static char *map_pages(size_t nr)
{
	char *p = map_flags(nr, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	memset(p, 1, nr * page_size);
	return p;
}

static void unmap_pages(void *p, size_t nr)
{
	if (munmap(p, nr * page_size))
		die("munmap");
}

/* ------------------------------------------------------------------------- */
/* Short forms of the ioctls                                                 */

static struct pagerun_test_time time_arg(void *addr, uint32_t op,
					 uint32_t flags)
{
	return (struct pagerun_test_time) {
		.addr = (uintptr_t)addr,
		.nr_pages = NR,
		.pages_per_call = NR,
		.op = op,
		.flags = flags,
		.rounds = 1,
	};
}

static struct pagerun_test_count count_arg(void *addr, uint32_t flags)
{
	return (struct pagerun_test_count) {
		.addr = (uintptr_t)addr,
		.nr_pages = NR,
		.flags = flags,
	};
}

static struct pagerun_test_hold hold_arg(void *addr, uint32_t nr, uint32_t op,
					 uint32_t flags)
{
	return (struct pagerun_test_hold) {
		.addr = (uintptr_t)addr,
		.nr_pages = nr,
		.op = op,
		.flags = flags,
	};
}

/* Returns what the taking call returned; dies when the ioctl itself failed. */
static int hold(int file, void *addr, uint32_t nr, uint32_t op, uint32_t flags)
{
	struct pagerun_test_hold arg = hold_arg(addr, nr, op, flags);

	if (ioctl(file, PAGERUN_TEST_HOLD, &arg))
		die("PAGERUN_TEST_HOLD");
	return arg.ret;
}

static int report_errno(int file, uint32_t first, uint32_t nr,
			struct pagerun_test_page *pages)
{
	struct pagerun_test_report arg = {
		.pages = (uintptr_t)pages,
		.first = first,
		.nr = nr,
	};

	return call_errno(file, PAGERUN_TEST_REPORT, &arg);
}

static int release_errno(int file, const uint32_t *order, uint32_t nr,
			 uint32_t how)
{
	struct pagerun_test_release arg = {
		.order = (uintptr_t)order,
		.nr = nr,
		.how = how,
	};

	return call_errno(file, PAGERUN_TEST_RELEASE_HELD, &arg);
}

static int release_all(int file)
{
	return release_errno(file, NULL, 0, PAGERUN_TEST_RELEASE);
}

static uint32_t nr_held(int file)
{
	struct pagerun_test_info info;

	if (ioctl(file, PAGERUN_TEST_INFO, &info))
		die("PAGERUN_TEST_INFO");
	return info.held;
}

/* ------------------------------------------------------------------------- */
/* What must be the same before and after                                    */

struct counts {
	uint64_t pfn[NR];
	int refcount[NR];	/* without the one that looks */
	int pincount[NR];
};

/*
 * The kernel parks pages in per-CPU batches, each of which has a reference of
 * its own. mlock() and munlock() empty those of the CPU that they run on.
 */
static void drain_batches(void)
{
	cpu_set_t all, one;
	char *p = map_pages(1);
	int cpu;

	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			die("sched_setaffinity");
		if (mlock(p, page_size) || munlock(p, page_size))
			die("mlock");
	}
	if (sched_setaffinity(0, sizeof(all), &all))
		die("sched_setaffinity");
	unmap_pages(p, 1);
}

static void get_counts(void *addr, struct counts *counts)
{
	struct pagerun_test_page pages[NR];
	int file = open_device();
	int i;

	drain_batches();
	if (hold(file, addr, NR, PAGERUN_TEST_GET, 0) != NR ||
	    report_errno(file, 0, NR, pages) || release_all(file))
		die("cannot count references");
	for (i = 0; i < NR; i++) {
		counts->pfn[i] = pages[i].pfn;
		counts->refcount[i] = pages[i].refcount - 1;
		counts->pincount[i] = pages[i].pincount;
	}
	close(file);
}

/*
 * Compare the counts with earlier ones of the same memory. What another process
 * did may settle a moment after its death, so a difference has to last.
 */
static bool counts_same(void *addr, const struct counts *before)
{
	struct counts now;
	int try, i;

	for (try = 0; try < 100; try++) {
		get_counts(addr, &now);
		for (i = 0; i < NR; i++)
			if (now.refcount[i] != before->refcount[i] ||
			    now.pincount[i] != before->pincount[i])
				break;
		if (i == NR)
			return true;
		usleep(10000);
	}
	ktap_diag("page %d: refcount %d, was %d; pincount %d, was %d", i,
		  now.refcount[i], before->refcount[i], now.pincount[i],
		  before->pincount[i]);
	return false;
}

/*
 * Pins acquired less pins released, of the whole machine. Reading stat_refresh
 * adds up what the CPUs have counted apart.
 */
static long long pins_open(void)
{
	long long acquired = 0, released = 0;
	char line[256];
	FILE *f;

	f = fopen("/proc/sys/vm/stat_refresh", "r");
	if (f) {
		if (fread(line, 1, sizeof(line), f) && ferror(f))
			die("read /proc/sys/vm/stat_refresh");
		fclose(f);
	}
	f = fopen("/proc/vmstat", "r");
	if (!f)
		die("open /proc/vmstat");
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "nr_foll_pin_acquired %lld", &acquired);
		sscanf(line, "nr_foll_pin_released %lld", &released);
	}
	fclose(f);
	return acquired - released;
}

/* ------------------------------------------------------------------------- */
/* The device                                                                */

static enum result test_info(void)
{
	struct pagerun_test_info info;

	memset(&info, 0xff, sizeof(info));
	CHECK_ERRNO(fd, PAGERUN_TEST_INFO, &info, 0);
	CHECK_EQ(info.version, PAGERUN_TEST_VERSION);
	CHECK_EQ(1ULL << info.page_shift, page_size);
	CHECK_EQ(info.held, 0);
	return PASS;
}

static int open_errno(void)
{
	int file = open(DEVICE, O_RDWR);

	if (file < 0)
		return errno;
	close(file);
	return 0;
}

static enum result as_nobody(void)
{
	CHECK(!setgid(65534) && !setuid(65534), "setuid: %s", strerror(errno));
	CHECK_EQ(open_errno(), EACCES);
	return PASS;
}

static enum result as_nobody_mode_0666(void)
{
	CHECK(!setgid(65534) && !setuid(65534), "setuid: %s", strerror(errno));
	CHECK_EQ(open_errno(), EPERM);
	return PASS;
}

static enum result as_root_without_cap(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	CHECK(!syscall(SYS_capget, &head, data), "%s", strerror(errno));
	data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &=
		~CAP_TO_MASK(CAP_SYS_ADMIN);
	CHECK(!syscall(SYS_capset, &head, data), "%s", strerror(errno));
	CHECK_EQ(open_errno(), EPERM);
	return PASS;
}

static enum result test_open(void)
{
	enum result result;
	struct stat st;

	CHECK(!stat(DEVICE, &st), "%s", strerror(errno));
	CHECK(S_ISCHR(st.st_mode), "mode is 0%o", st.st_mode);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(st.st_uid, 0);
	CHECK_EQ(in_child(as_nobody), PASS);
	CHECK_EQ(in_child(as_root_without_cap), PASS);

	CHECK(!chmod(DEVICE, 0666), "%s", strerror(errno));
	result = in_child(as_nobody_mode_0666);
	CHECK(!chmod(DEVICE, 0600), "%s", strerror(errno));
	CHECK_EQ(result, PASS);
	return PASS;
}

static enum result test_unload_in_use(void)
{
	int ret = syscall(SYS_delete_module, MODULE, O_NONBLOCK);

	if (ret && (errno == ENOSYS || errno == ENOENT)) {
		snprintf(skip_reason, sizeof(skip_reason), "%s",
			 "modules cannot be unloaded here; needs CONFIG_MODULE_UNLOAD=y");
		return SKIP;
	}
	CHECK(ret == -1, "the module went away under an open file");
	CHECK_EQ(errno, EWOULDBLOCK);
	return PASS;
}

static enum result test_unknown_command(void)
{
	struct pagerun_test_info info;

	CHECK_ERRNO(fd, _IO(PAGERUN_TEST_MAGIC, 6), &info, ENOTTY);
	CHECK_ERRNO(fd, _IOR(PAGERUN_TEST_MAGIC, 255,
			     struct pagerun_test_info), &info, ENOTTY);
	/* The right number with another size or direction */
	CHECK_ERRNO(fd, _IO(PAGERUN_TEST_MAGIC, 0), &info, ENOTTY);
	CHECK_ERRNO(fd, _IOW(PAGERUN_TEST_MAGIC, 0, struct pagerun_test_info),
		    &info, ENOTTY);
	CHECK_ERRNO(fd, _IOR('p', 0, struct pagerun_test_info), &info, ENOTTY);
	CHECK_ERRNO(fd, TIOCGWINSZ, &info, ENOTTY);
	return PASS;
}

static const struct {
	unsigned long cmd;
	size_t size;
} commands[] = {
	{ PAGERUN_TEST_INFO, sizeof(struct pagerun_test_info) },
	{ PAGERUN_TEST_TIME, sizeof(struct pagerun_test_time) },
	{ PAGERUN_TEST_COUNT, sizeof(struct pagerun_test_count) },
	{ PAGERUN_TEST_HOLD, sizeof(struct pagerun_test_hold) },
	{ PAGERUN_TEST_REPORT, sizeof(struct pagerun_test_report) },
	{ PAGERUN_TEST_RELEASE_HELD, sizeof(struct pagerun_test_release) },
	{ PAGERUN_TEST_REMAP, sizeof(struct pagerun_test_remap) },
	{ PAGERUN_TEST_ZAP, sizeof(struct pagerun_test_range) },
	{ PAGERUN_TEST_UNMAP, sizeof(struct pagerun_test_range) },
	{ PAGERUN_TEST_ENTRY, sizeof(struct pagerun_test_entry) },
	{ PAGERUN_TEST_MEMORY, sizeof(struct pagerun_test_memory) },
	{ PAGERUN_TEST_UIO, sizeof(struct pagerun_test_uio) },
};

static enum result test_bad_pointers(void)
{
	char *p = map_pages(2);
	size_t i;

	CHECK(!mprotect(p + page_size, page_size, PROT_NONE), "mprotect");
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		unsigned long cmd = commands[i].cmd;
		size_t half = commands[i].size / 2;

		/* A kernel without UIO says that, whatever the pointer. */
		if (cmd == PAGERUN_TEST_UIO && access("/sys/class/uio", F_OK))
			continue;

		CHECK_ERRNO(fd, cmd, NULL, EFAULT);
		CHECK_ERRNO(fd, cmd, (void *)(uintptr_t)KERNEL_ADDR, EFAULT);
		CHECK_ERRNO(fd, cmd, (void *)-16UL, EFAULT);
		CHECK_ERRNO(fd, cmd, p + page_size, EFAULT);
		CHECK_ERRNO(fd, cmd, p + page_size - half, EFAULT);
	}
	unmap_pages(p, 2);
	return PASS;
}

/* A struct that can be read, but not written back, takes nothing for good. */
static enum result test_read_only_structs(void)
{
	char *p = map_pages(1);

	*(struct pagerun_test_time *)p = time_arg(mem, PAGERUN_TEST_PIN, 0);
	*(struct pagerun_test_count *)(p + 256) = count_arg(mem, 0);
	*(struct pagerun_test_hold *)(p + 512) =
		hold_arg(mem, NR, PAGERUN_TEST_PIN, 0);
	*(struct pagerun_test_hold *)(p + 768) =
		hold_arg(mem, NR, PAGERUN_TEST_GET, 0);
	CHECK(!mprotect(p, page_size, PROT_READ), "mprotect");
	CHECK_ERRNO(fd, PAGERUN_TEST_INFO, p + 1024, EFAULT);
	CHECK_ERRNO(fd, PAGERUN_TEST_TIME, p, EFAULT);
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, p + 256, EFAULT);
	CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, p + 512, EFAULT);
	CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, p + 768, EFAULT);
	CHECK_EQ(nr_held(fd), 0);
	unmap_pages(p, 1);
	return PASS;
}

static enum result test_bad_ranges(void)
{
	const struct {
		uint64_t addr;
		uint32_t nr;
		int err;
	} cases[] = {
		{ (uintptr_t)mem, 0, EINVAL },
		{ (uintptr_t)mem, PAGERUN_TEST_MAX_PAGES + 1, E2BIG },
		{ (uintptr_t)mem, UINT32_MAX, E2BIG },
		{ (uintptr_t)mem + 1, 1, EINVAL },
		{ (uintptr_t)mem + page_size / 2, 1, EINVAL },
		{ (uintptr_t)mem - 1, 1, EINVAL },
		{ KERNEL_ADDR, 1, EFAULT },
		{ 1ULL << 62, 1, EFAULT },
		{ 1ULL << 63, 1, EFAULT },
		/* wraps around, to 0 and further */
		{ -(uint64_t)page_size, 1, EFAULT },
		{ -(uint64_t)page_size, 2, EFAULT },
		{ -(uint64_t)page_size, PAGERUN_TEST_MAX_PAGES, EFAULT },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pagerun_test_time time = time_arg(NULL, PAGERUN_TEST_PIN, 0);
		struct pagerun_test_count count = count_arg(NULL, 0);
		struct pagerun_test_hold held = hold_arg(NULL, 0, PAGERUN_TEST_GET, 0);

		time.addr = count.addr = held.addr = cases[i].addr;
		time.nr_pages = count.nr_pages = held.nr_pages = cases[i].nr;
		time.pages_per_call = 1;
		CHECK_ERRNO(fd, PAGERUN_TEST_TIME, &time, cases[i].err);
		CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, cases[i].err);
		CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, &held, cases[i].err);
	}
	return PASS;
}

static enum result test_bad_flags(void)
{
	struct pagerun_test_time time;
	struct pagerun_test_count count;
	struct pagerun_test_hold held;
	uint32_t op;
	int bit;

	for (bit = 0; bit < 32; bit++) {
		uint32_t flag = 1U << bit;

		for (op = PAGERUN_TEST_GET; op <= PAGERUN_TEST_GET_FAST; op++) {
			bool good = flag == PAGERUN_TEST_WRITE ||
				    (flag == PAGERUN_TEST_LONGTERM &&
				     op == PAGERUN_TEST_PIN);

			time = time_arg(mem, op, flag);
			CHECK_ERRNO(fd, PAGERUN_TEST_TIME, &time, good ? 0 : EINVAL);
			held = hold_arg(mem, 1, op, flag);
			CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, &held, good ? 0 : EINVAL);
			if (good) {
				CHECK_EQ(held.ret, 1);
				CHECK_EQ(release_all(fd), 0);
			}
		}
		count = count_arg(mem, flag);
		CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count,
			    flag == PAGERUN_TEST_WRITE ? 0 : EINVAL);
	}
	for (op = PAGERUN_TEST_GET_FAST + 1; op; op <<= 1) {
		time = time_arg(mem, op, 0);
		CHECK_ERRNO(fd, PAGERUN_TEST_TIME, &time, EINVAL);
		held = hold_arg(mem, 1, op, 0);
		CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, &held, EINVAL);
	}
	return PASS;
}

static enum result test_reserved_fields(void)
{
	struct pagerun_test_time time = time_arg(mem, PAGERUN_TEST_PIN, 0);
	struct pagerun_test_count count = count_arg(mem, 0);
	struct pagerun_test_hold held = hold_arg(mem, 1, PAGERUN_TEST_PIN, 0);

	time.reserved = 1;
	CHECK_ERRNO(fd, PAGERUN_TEST_TIME, &time, EINVAL);
	count.reserved = 1U << 31;
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, EINVAL);
	held.reserved = UINT32_MAX;
	CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, &held, EINVAL);
	return PASS;
}

/* ------------------------------------------------------------------------- */
/* PAGERUN_TEST_TIME, PAGERUN_TEST_COUNT                                     */

static enum result test_time_bad_numbers(void)
{
	const struct {
		uint32_t per_call, rounds;
	} cases[] = {
		{ 0, 1 }, { NR + 1, 1 }, { UINT32_MAX, 1 },
		{ NR, 0 }, { NR, PAGERUN_TEST_MAX_ROUNDS + 1 }, { NR, UINT32_MAX },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pagerun_test_time time = time_arg(mem, PAGERUN_TEST_GET, 0);

		time.pages_per_call = cases[i].per_call;
		time.rounds = cases[i].rounds;
		CHECK_ERRNO(fd, PAGERUN_TEST_TIME, &time, EINVAL);
	}
	return PASS;
}

static enum result time_once(uint32_t op, uint32_t flags, uint32_t per_call,
			     uint32_t rounds)
{
	struct pagerun_test_time time = time_arg(mem, op, flags);
	const uint64_t unset = UINT64_MAX / 2;

	time.pages_per_call = per_call;
	time.rounds = rounds;
	/* What is in the output fields is of no account. */
	time.taken = unset;
	time.calls = unset;
	time.take_ns = unset;
	time.take_cycles = unset;
	time.release_ns = unset;
	time.release_cycles = unset;
	CHECK_ERRNO(fd, PAGERUN_TEST_TIME, &time, 0);
	CHECK_EQ(time.taken, NR * rounds);
	CHECK_EQ(time.calls, (NR + per_call - 1) / per_call * rounds);
	CHECK(time.take_ns < unset && time.release_ns < unset);
	CHECK(time.take_cycles > 0 && time.take_cycles < unset);
	CHECK(time.release_cycles > 0 && time.release_cycles < unset);
	return PASS;
}

static enum result test_time(void)
{
	const uint32_t per_call[] = { 1, 7, NR / 2, NR };
	const uint32_t ways[][2] = {
		{ PAGERUN_TEST_GET, 0 },
		{ PAGERUN_TEST_GET, PAGERUN_TEST_WRITE },
		{ PAGERUN_TEST_GET_FAST, 0 },
		{ PAGERUN_TEST_GET_FAST, PAGERUN_TEST_WRITE },
		{ PAGERUN_TEST_PIN, 0 },
		{ PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE },
		{ PAGERUN_TEST_PIN, PAGERUN_TEST_LONGTERM },
		{ PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE | PAGERUN_TEST_LONGTERM },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		for (j = 0; j < ARRAY_SIZE(per_call); j++) {
			CHECK_EQ(time_once(ways[i][0], ways[i][1], per_call[j], 1), PASS);
			CHECK_EQ(time_once(ways[i][0], ways[i][1], per_call[j], 3), PASS);
		}
	}
	return PASS;
}

/* Page 20 is missing: calls that reach it are short, one that starts there fails. */
static enum result test_time_hole(void)
{
	const struct {
		uint32_t op, per_call;
		uint64_t taken, calls;
		int err;
	} cases[] = {
		{ PAGERUN_TEST_PIN, NR, 20, 1, 0 },
		{ PAGERUN_TEST_GET, NR, 20, 1, 0 },
		{ PAGERUN_TEST_GET_FAST, NR, 20, 1, 0 },
		{ PAGERUN_TEST_PIN, 8, 60, 8, 0 },
		{ PAGERUN_TEST_GET, 8, 60, 8, 0 },
		{ PAGERUN_TEST_GET_FAST, 8, 60, 8, 0 },
		{ PAGERUN_TEST_GET_FAST, 4, 60, 16, 0 },
		{ PAGERUN_TEST_GET_FAST, 1, 63, 64, 0 },
		{ PAGERUN_TEST_PIN, 4, 0, 0, EFAULT },
		{ PAGERUN_TEST_GET, 4, 0, 0, EFAULT },
		{ PAGERUN_TEST_PIN, 1, 0, 0, EFAULT },
		{ PAGERUN_TEST_GET, 1, 0, 0, EFAULT },
	};
	struct counts before;
	char *p = map_pages(NR);
	char *shared;
	size_t i;

	get_counts(p, &before);
	shared = mremap(p + 20 * page_size, page_size, page_size,
			MREMAP_MAYMOVE | MREMAP_FIXED, map_pages(1));
	CHECK(shared != MAP_FAILED, "mremap: %s", strerror(errno));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pagerun_test_time time = time_arg(p, cases[i].op, PAGERUN_TEST_WRITE);

		time.pages_per_call = cases[i].per_call;
		time.rounds = 2;
		time.taken = 12345;
		CHECK_ERRNO(fd, PAGERUN_TEST_TIME, &time, cases[i].err);
		if (cases[i].err) {
			CHECK_EQ(time.taken, 12345);
			continue;
		}
		CHECK_EQ(time.taken, 2 * cases[i].taken);
		CHECK_EQ(time.calls, 2 * cases[i].calls);
	}
	/* Put the page back, to see that no page has kept a reference. */
	CHECK(mremap(shared, page_size, page_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		     p + 20 * page_size) != MAP_FAILED, "%s", strerror(errno));
	CHECK(counts_same(p, &before));
	unmap_pages(p, NR);
	return PASS;
}

static enum result test_count(void)
{
	struct pagerun_test_count count = count_arg(mem, PAGERUN_TEST_WRITE);
	char *p;

	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	CHECK_EQ(count.taken, NR);

	/* Never touched: the fast path takes nothing and faults nothing in. */
	p = map_flags(NR, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	count = count_arg(p, 0);
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	CHECK_EQ(count.taken, 0);

	/* Every third page, the first and the last but one among them */
	for (int i = 0; i < NR; i += 3)
		p[i * page_size] = 1;
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	CHECK_EQ(count.taken, (NR + 2) / 3);

	/* All but the first and the last */
	memset(p, 1, NR * page_size);
	CHECK(!mprotect(p, page_size, PROT_NONE), "mprotect");
	CHECK(!mprotect(p + (NR - 1) * page_size, page_size, PROT_NONE), "mprotect");
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	CHECK_EQ(count.taken, NR - 2);

	CHECK(!mprotect(p, NR * page_size, PROT_READ), "mprotect");
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	CHECK_EQ(count.taken, NR);
	count = count_arg(p, PAGERUN_TEST_WRITE);
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	CHECK_EQ(count.taken, 0);

	unmap_pages(p, NR);
	count.taken = 12345;
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	CHECK_EQ(count.taken, 0);
	return PASS;
}

/* ------------------------------------------------------------------------- */
/* The held set                                                              */

static enum result test_hold_report(void)
{
	const struct {
		uint32_t op, flags;
	} cases[] = {
		{ PAGERUN_TEST_GET, 0 },
		{ PAGERUN_TEST_GET, PAGERUN_TEST_WRITE },
		{ PAGERUN_TEST_GET_FAST, 0 },
		{ PAGERUN_TEST_GET_FAST, PAGERUN_TEST_WRITE },
		{ PAGERUN_TEST_PIN, 0 },
		{ PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE },
		{ PAGERUN_TEST_PIN, PAGERUN_TEST_LONGTERM },
		{ PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE | PAGERUN_TEST_LONGTERM },
	};
	struct pagerun_test_page page[NR];
	struct counts before;
	uint64_t entry;
	int pagemap;
	size_t i, j;

	get_counts(mem, &before);
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	CHECK(pagemap >= 0, "open /proc/self/pagemap: %s", strerror(errno));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bool pin = cases[i].op == PAGERUN_TEST_PIN;
		struct pagerun_test_hold held =
			hold_arg(mem, NR, cases[i].op, cases[i].flags);

		held.first = 12345;
		CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, &held, 0);
		CHECK_EQ(held.ret, NR);
		CHECK_EQ(held.first, 0);
		CHECK_EQ(nr_held(fd), NR);
		memset(page, 0xff, sizeof(page));
		CHECK_EQ(report_errno(fd, 0, NR, page), 0);
		for (j = 0; j < NR; j++) {
			off_t off = ((uintptr_t)mem / page_size + j) * sizeof(entry);

			CHECK_EQ(pread(pagemap, &entry, sizeof(entry), off), sizeof(entry));
			CHECK_EQ(page[j].pfn, entry & ((1ULL << 55) - 1));
			CHECK_EQ(page[j].order, 0);
			CHECK_EQ(page[j].index, 0);
			CHECK_EQ(page[j].pincount, -1);
			CHECK_EQ(page[j].refcount,
				 before.refcount[j] + (pin ? BIAS : 1));
			CHECK_EQ(page[j].reserved, 0);
			CHECK_EQ(page[j].flags & ~PAGERUN_TEST_PAGE_REFERENCED,
				 PAGERUN_TEST_PAGE_ANON |
				 PAGERUN_TEST_PAGE_EXCLUSIVE |
				 (pin ? PAGERUN_TEST_PAGE_PINNED : 0));
		}
		CHECK_EQ(release_all(fd), 0);
		CHECK_EQ(nr_held(fd), 0);
		CHECK(counts_same(mem, &before));
	}
	close(pagemap);
	return PASS;
}

static enum result test_hold_returns(void)
{
	struct pagerun_test_page page[2];
	char *p = map_pages(NR);
	char *zero;

	unmap_pages(p + 20 * page_size, 1);
	CHECK_EQ(hold(fd, p, NR, PAGERUN_TEST_PIN, 0), 20);
	CHECK_EQ(hold(fd, p + 20 * page_size, 1, PAGERUN_TEST_PIN, 0), -EFAULT);
	CHECK_EQ(hold(fd, p + 20 * page_size, 1, PAGERUN_TEST_GET, 0), -EFAULT);
	CHECK_EQ(hold(fd, p + 20 * page_size, 1, PAGERUN_TEST_GET_FAST, 0), 0);
	CHECK_EQ(nr_held(fd), 20);
	CHECK_EQ(release_all(fd), 0);

	CHECK(!mprotect(p, page_size, PROT_READ), "mprotect");
	CHECK_EQ(hold(fd, p, 1, PAGERUN_TEST_GET, PAGERUN_TEST_WRITE), -EFAULT);
	unmap_pages(p, 20);
	unmap_pages(p + 21 * page_size, NR - 21);

	/* Pages that nobody wrote to may all be one, and need no counting. */
	zero = map_flags(2, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	CHECK_EQ(hold(fd, zero, 2, PAGERUN_TEST_PIN, 0), 2);
	CHECK_EQ(report_errno(fd, 0, 2, page), 0);
	CHECK_EQ(release_all(fd), 0);
	unmap_pages(zero, 2);
	return PASS;
}

/* Maps 2 MiB, as one folio if the kernel can. */
static char *map_huge(void)
{
	size_t size = 2 << 20;
	char *p = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *start;

	if (p == MAP_FAILED)
		die("mmap");
	start = (char *)(((uintptr_t)p + size - 1) & ~(size - 1));
	if (start > p)
		munmap(p, start - p);
	munmap(start + size, p + size - start);
	madvise(start, size, MADV_HUGEPAGE);
	*start = 1;
	return start;
}

static enum result test_large_folio(void)
{
	struct pagerun_test_page page[7];
	char *p = map_huge();
	uint32_t order[] = { 6, 0, 3, 5, 1, 4, 2 };
	int i, base;

	drain_batches();
	CHECK_EQ(hold(fd, p + 100 * page_size, 1, PAGERUN_TEST_GET, 0), 1);
	CHECK_EQ(report_errno(fd, 0, 1, page), 0);
	CHECK_EQ(release_all(fd), 0);
	if (page[0].order != 9) {
		unmap_pages(p, 512);
		snprintf(skip_reason, sizeof(skip_reason), "%s",
			 "no 2 MiB page to be had; echo madvise >/sys/kernel/mm/transparent_hugepage/enabled");
		return SKIP;
	}
	base = page[0].refcount - 1;
	CHECK_EQ(page[0].pincount, 0);

	/* Seven pins, two of them of one page */
	CHECK_EQ(hold(fd, p + 100 * page_size, 6, PAGERUN_TEST_PIN,
		      PAGERUN_TEST_WRITE), 6);
	CHECK_EQ(hold(fd, p + 100 * page_size, 1, PAGERUN_TEST_PIN, 0), 1);
	CHECK_EQ(report_errno(fd, 0, 7, page), 0);
	for (i = 0; i < 7; i++) {
		CHECK_EQ(page[i].order, 9);
		CHECK_EQ(page[i].index, 100 + i % 6);
		CHECK_EQ(page[i].pfn, page[0].pfn + i % 6);
		CHECK_EQ(page[i].refcount, base + 7);
		CHECK_EQ(page[i].pincount, 7);
	}
	CHECK_EQ(release_errno(fd, order, 4, PAGERUN_TEST_RELEASE), 0);
	CHECK_EQ(report_errno(fd, 1, 1, page), 0);
	CHECK_EQ(page[0].refcount, base + 3);
	CHECK_EQ(page[0].pincount, 3);
	/* The pins keep the folio beyond its mapping. */
	unmap_pages(p, 512);
	CHECK_EQ(report_errno(fd, 1, 1, page), 0);
	CHECK_EQ(page[0].pincount, 3);
	CHECK_EQ(release_errno(fd, order + 4, 3, PAGERUN_TEST_RELEASE), 0);
	CHECK_EQ(nr_held(fd), 0);
	return PASS;
}

static enum result test_release_orders(void)
{
	struct pagerun_test_page page[3 * NR], none;
	uint32_t order[3 * NR];
	struct counts before;
	uint32_t i, op;

	memset(&none, 0, sizeof(none));
	none.flags = PAGERUN_TEST_PAGE_RELEASED;
	get_counts(mem, &before);
	for (op = PAGERUN_TEST_GET; op <= PAGERUN_TEST_GET_FAST; op++) {
		int each = op == PAGERUN_TEST_PIN ? BIAS : 1;

		/* Each page three times; entries i, i + NR, i + 2 NR are alike. */
		for (i = 0; i < 3; i++)
			CHECK_EQ(hold(fd, mem, NR, op, 0), NR);
		CHECK_EQ(nr_held(fd), 3 * NR);
		CHECK_EQ(report_errno(fd, 0, 3 * NR, page), 0);
		for (i = 0; i < 3 * NR; i++) {
			CHECK_EQ(page[i].pfn, before.pfn[i % NR]);
			CHECK_EQ(page[i].refcount,
				 before.refcount[i % NR] + 3 * each);
		}

		/* One entry; it stays empty and the others keep their numbers. */
		order[0] = NR + 5;
		CHECK_EQ(release_errno(fd, order, 1, PAGERUN_TEST_RELEASE), 0);
		CHECK_EQ(nr_held(fd), 3 * NR - 1);
		CHECK_EQ(report_errno(fd, NR + 4, 2, page), 0);
		CHECK_EQ(page[0].refcount, before.refcount[4] + 3 * each);
		CHECK(!memcmp(&page[1], &none, sizeof(none)), "not shown as released");
		CHECK_EQ(release_errno(fd, order, 1, PAGERUN_TEST_RELEASE), EINVAL);

		/* Backwards and page by page: the same page thrice in a row */
		for (i = 0; i < NR; i++) {
			order[3 * i] = NR - 1 - i;
			order[3 * i + 1] = 2 * NR - 1 - i;
			order[3 * i + 2] = 3 * NR - 1 - i;
		}
		i = 3 * (NR - 1 - 5) + 1;
		CHECK_EQ(order[i], NR + 5);
		memmove(order + i, order + i + 1, (3 * NR - 1 - i) * sizeof(*order));
		CHECK_EQ(release_errno(fd, order, 3 * NR - 1, PAGERUN_TEST_RELEASE), 0);
		CHECK_EQ(nr_held(fd), 0);
		CHECK(counts_same(mem, &before));

		/* Numbers start at 0 again; what is left goes by "all". */
		for (i = 0; i < 2; i++) {
			struct pagerun_test_hold held = hold_arg(mem, NR, op, 0);

			CHECK_ERRNO(fd, PAGERUN_TEST_HOLD, &held, 0);
			CHECK_EQ(held.first, i * NR);
		}
		for (i = 0; i < NR; i++)
			order[i] = 2 * i;
		CHECK_EQ(release_errno(fd, order, NR, PAGERUN_TEST_RELEASE), 0);
		CHECK_EQ(nr_held(fd), NR);
		CHECK_EQ(release_all(fd), 0);
		CHECK_EQ(nr_held(fd), 0);
		CHECK_EQ(release_all(fd), 0);
		CHECK(counts_same(mem, &before));
	}
	return PASS;
}

static enum result test_release_nulls(void)
{
	const uint32_t null = PAGERUN_TEST_NULL;
	const uint32_t nulls[] = { null, null, null };
	const uint32_t front[] = { null, null, 1, 0, 2 };
	const uint32_t behind[] = { 0, 1, null };
	const uint32_t between[] = { null, 0, null, 1 };
	struct counts before;

	get_counts(mem, &before);
	if (release_errno(fd, nulls, 3, PAGERUN_TEST_RELEASE) == EOPNOTSUPP) {
		snprintf(skip_reason, sizeof(skip_reason), "%s",
			 "this kernel's unpin_user_pages() takes no NULLs; needs 6.12.5 or later");
		return SKIP;
	}
	CHECK_EQ(release_errno(fd, nulls, 3, PAGERUN_TEST_RELEASE), 0);
	CHECK_EQ(release_errno(fd, nulls, 3, PAGERUN_TEST_RELEASE_DIRTY), EINVAL);

	CHECK_EQ(hold(fd, mem, 3, PAGERUN_TEST_GET, PAGERUN_TEST_WRITE), 3);
	CHECK_EQ(release_errno(fd, front, 5, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(nr_held(fd), 3);
	CHECK_EQ(release_all(fd), 0);

	CHECK_EQ(hold(fd, mem, 3, PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE), 3);
	CHECK_EQ(release_errno(fd, front, 5, PAGERUN_TEST_RELEASE_DIRTY), EINVAL);
	/* An unpatched kernel would read the NULL. */
	CHECK_EQ(release_errno(fd, behind, 3, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(release_errno(fd, between, 4, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(release_errno(fd, nulls, 3, PAGERUN_TEST_RELEASE), 0);
	CHECK_EQ(nr_held(fd), 3);
	CHECK_EQ(release_errno(fd, front, 5, PAGERUN_TEST_RELEASE), 0);
	CHECK_EQ(nr_held(fd), 0);
	CHECK(counts_same(mem, &before));
	return PASS;
}

static enum result test_release_errnos(void)
{
	const uint32_t twice[] = { 0, 1, 2, 1 };
	const uint32_t outside[] = { 0, 1, 2 * NR };
	const uint32_t far_outside[] = { 0, PAGERUN_TEST_NULL - 1 };
	const uint32_t mixed[] = { 0, NR };
	const uint32_t mixed_back[] = { NR, 0 };
	const uint32_t good[] = { 1 };
	struct pagerun_test_page before[2 * NR], after[2 * NR];
	uint32_t *bad = (uint32_t *)(uintptr_t)KERNEL_ADDR;

	CHECK_EQ(hold(fd, mem, NR, PAGERUN_TEST_PIN, 0), NR);
	CHECK_EQ(hold(fd, mem, NR, PAGERUN_TEST_GET, 0), NR);
	drain_batches();
	CHECK_EQ(report_errno(fd, 0, 2 * NR, before), 0);

	CHECK_EQ(release_errno(fd, twice, 4, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(release_errno(fd, outside, 3, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(release_errno(fd, far_outside, 2, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(release_errno(fd, mixed, 2, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(release_errno(fd, mixed_back, 2, PAGERUN_TEST_RELEASE), EINVAL);
	/* All of them are of both kinds, too. */
	CHECK_EQ(release_all(fd), EINVAL);
	CHECK_EQ(release_errno(fd, good, 1, 2), EINVAL);
	CHECK_EQ(release_errno(fd, good, 1, UINT32_MAX), EINVAL);
	CHECK_EQ(release_errno(fd, good, 0, PAGERUN_TEST_RELEASE), EINVAL);
	CHECK_EQ(release_errno(fd, good, PAGERUN_TEST_MAX_PAGES + 1,
			       PAGERUN_TEST_RELEASE), E2BIG);
	CHECK_EQ(release_errno(fd, good, UINT32_MAX, PAGERUN_TEST_RELEASE), E2BIG);
	CHECK_EQ(release_errno(fd, NULL, 1, PAGERUN_TEST_RELEASE), EFAULT);
	CHECK_EQ(release_errno(fd, bad, 1, PAGERUN_TEST_RELEASE), EFAULT);
	/* Pinned to read only, and taken by get */
	CHECK_EQ(release_errno(fd, good, 1, PAGERUN_TEST_RELEASE_DIRTY), EINVAL);
	CHECK_EQ(release_errno(fd, mixed_back, 1, PAGERUN_TEST_RELEASE_DIRTY), EINVAL);

	CHECK_EQ(nr_held(fd), 2 * NR);
	drain_batches();
	CHECK_EQ(report_errno(fd, 0, 2 * NR, after), 0);
	CHECK(!memcmp(before, after, sizeof(before)), "something was released");

	/* No entry has kept a mark that it was named once. */
	for (uint32_t i = 0; i < 2 * NR; i++)
		CHECK_EQ(release_errno(fd, &i, 1, PAGERUN_TEST_RELEASE), 0);
	CHECK_EQ(nr_held(fd), 0);
	CHECK_EQ(release_errno(fd, good, 1, PAGERUN_TEST_RELEASE), EINVAL);
	return PASS;
}

static enum result test_release_dirty(void)
{
	const uint32_t order[] = { 3, 1, 2, 0 };
	char *shared = map_flags(NR, PROT_READ | PROT_WRITE, MAP_SHARED);
	struct counts before;

	memset(shared, 1, NR * page_size);
	get_counts(shared, &before);
	CHECK_EQ(hold(fd, shared, NR, PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE), NR);
	CHECK_EQ(release_errno(fd, order, 4, PAGERUN_TEST_RELEASE_DIRTY), 0);
	CHECK_EQ(nr_held(fd), NR - 4);
	CHECK_EQ(release_errno(fd, NULL, 0, PAGERUN_TEST_RELEASE_DIRTY), 0);
	CHECK(counts_same(shared, &before));
	unmap_pages(shared, NR);

	CHECK_EQ(hold(fd, mem, NR, PAGERUN_TEST_PIN,
		      PAGERUN_TEST_WRITE | PAGERUN_TEST_LONGTERM), NR);
	CHECK_EQ(release_errno(fd, NULL, 0, PAGERUN_TEST_RELEASE_DIRTY), 0);
	return PASS;
}

static enum result test_report_errnos(void)
{
	struct pagerun_test_page page[NR + 1];

	CHECK_EQ(report_errno(fd, 0, 1, page), ERANGE);
	CHECK_EQ(hold(fd, mem, NR, PAGERUN_TEST_GET, 0), NR);
	CHECK_EQ(report_errno(fd, 0, 0, page), EINVAL);
	CHECK_EQ(report_errno(fd, 0, PAGERUN_TEST_MAX_PAGES + 1, page), E2BIG);
	CHECK_EQ(report_errno(fd, 0, UINT32_MAX, page), E2BIG);
	CHECK_EQ(report_errno(fd, 0, NR + 1, page), ERANGE);
	CHECK_EQ(report_errno(fd, 1, NR, page), ERANGE);
	CHECK_EQ(report_errno(fd, NR, 1, page), ERANGE);
	CHECK_EQ(report_errno(fd, UINT32_MAX, 1, page), ERANGE);
	CHECK_EQ(report_errno(fd, UINT32_MAX, 2, page), ERANGE);
	CHECK_EQ(report_errno(fd, 0, NR, NULL), EFAULT);
	CHECK_EQ(report_errno(fd, 0, NR, (void *)(uintptr_t)KERNEL_ADDR), EFAULT);
	/* Also when it is the kernel that would be written to */
	CHECK_EQ(report_errno(fd, 0, NR, (void *)-32UL), EFAULT);
	CHECK_EQ(report_errno(fd, NR - 1, 1, page), 0);
	CHECK_EQ(release_all(fd), 0);
	return PASS;
}

static enum result test_full_set(void)
{
	const uint32_t chunk = 1024;
	/*
	 * Above what is mapped next, so that as many pages as a set can hold,
	 * counted from there, end within user space.
	 */
	const size_t above = PAGERUN_TEST_MAX_PAGES * page_size;
	char *room = mmap(NULL, above, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct pagerun_test_hold held;
	struct pagerun_test_page page;
	char *p = map_pages(chunk);
	int file = open_device();
	uint32_t i, last;
	int base;

	CHECK(room != MAP_FAILED && room > p);
	drain_batches();
	CHECK_EQ(hold(file, p, 1, PAGERUN_TEST_GET, 0), 1);
	CHECK_EQ(report_errno(file, 0, 1, &page), 0);
	base = page.refcount - 1;
	held = hold_arg(p, PAGERUN_TEST_MAX_PAGES, PAGERUN_TEST_GET, 0);
	CHECK_ERRNO(file, PAGERUN_TEST_HOLD, &held, ENOSPC);
	/* What is asked for counts, taken or not. */
	unmap_pages(p + (chunk - 1) * page_size, 1);
	CHECK_EQ(hold(file, p, PAGERUN_TEST_MAX_PAGES - 1, PAGERUN_TEST_GET, 0),
		 chunk - 1);
	CHECK_EQ(release_all(file), 0);

	for (i = 0; i < PAGERUN_TEST_MAX_PAGES; i += chunk / 2)
		CHECK_EQ(hold(file, p, chunk / 2, PAGERUN_TEST_GET, 0), chunk / 2);
	CHECK_EQ(nr_held(file), PAGERUN_TEST_MAX_PAGES);
	last = PAGERUN_TEST_MAX_PAGES - 1;
	CHECK_EQ(report_errno(file, last, 1, &page), 0);
	CHECK_EQ(report_errno(file, last, 2, &page), ERANGE);
	held = hold_arg(p, 1, PAGERUN_TEST_GET, 0);
	CHECK_ERRNO(file, PAGERUN_TEST_HOLD, &held, ENOSPC);
	/* A released entry keeps its number, so it makes no room. */
	CHECK_EQ(release_errno(file, &last, 1, PAGERUN_TEST_RELEASE), 0);
	CHECK_ERRNO(file, PAGERUN_TEST_HOLD, &held, ENOSPC);
	CHECK_EQ(report_errno(file, 0, 1, &page), 0);
	CHECK_EQ(page.refcount, base + (int)(PAGERUN_TEST_MAX_PAGES / (chunk / 2)));
	close(file);

	drain_batches();
	CHECK_EQ(hold(fd, p, 1, PAGERUN_TEST_GET, 0), 1);
	CHECK_EQ(report_errno(fd, 0, 1, &page), 0);
	CHECK_EQ(page.refcount, base + 1);
	CHECK_EQ(release_all(fd), 0);
	unmap_pages(p, chunk - 1);
	munmap(room, above);
	return PASS;
}

/* Closing releases entries of all kinds that lie side by side, and gaps. */
static enum result test_close_mixed(void)
{
	const uint32_t gaps[] = { 0, NR - 1, 5, 6, 7 };
	struct counts before;
	int file = open_device();
	int i;

	get_counts(mem, &before);
	CHECK_EQ(hold(file, mem, NR, PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE), NR);
	for (i = 0; i < 20; i++) {
		CHECK_EQ(hold(file, mem + i * page_size, 1, PAGERUN_TEST_GET, 0), 1);
		CHECK_EQ(hold(file, mem + i * page_size, 2, PAGERUN_TEST_PIN, 0), 2);
	}
	CHECK_EQ(hold(file, mem, NR, PAGERUN_TEST_GET_FAST, 0), NR);
	CHECK_EQ(release_errno(file, gaps, ARRAY_SIZE(gaps), PAGERUN_TEST_RELEASE), 0);
	close(file);
	CHECK(counts_same(mem, &before));
	return PASS;
}

/* ------------------------------------------------------------------------- */
/* Threads, children, deaths                                                 */

struct worker {
	pthread_t thread;
	uint32_t op;
	const char *error;
};

/* Own file, common memory. */
static void *work(void *data)
{
	struct worker *w = data;
	struct pagerun_test_page page[NR];
	int file = open(DEVICE, O_RDWR | O_CLOEXEC);
	int i;

	if (file < 0) {
		w->error = "open";
		return NULL;
	}
	for (i = 0; i < 300 && !w->error; i++) {
		struct pagerun_test_time time = time_arg(mem, w->op, 0);
		struct pagerun_test_hold held = hold_arg(mem, NR, w->op, PAGERUN_TEST_WRITE);
		uint32_t order[] = { i % NR, (i + 1) % NR };

		time.pages_per_call = 1 + i % NR;
		if (ioctl(file, PAGERUN_TEST_TIME, &time) || time.taken != NR)
			w->error = "time";
		else if (ioctl(file, PAGERUN_TEST_HOLD, &held) || held.ret != NR || held.first)
			w->error = "hold";
		else if (release_errno(file, order, 2, PAGERUN_TEST_RELEASE))
			w->error = "release";
		else if (report_errno(file, 0, NR, page) ||
			 page[i % NR].flags != PAGERUN_TEST_PAGE_RELEASED ||
			 page[(i + 2) % NR].flags == PAGERUN_TEST_PAGE_RELEASED)
			w->error = "report";
		/* Leave the last set for close(). */
		else if (i < 299 && release_all(file))
			w->error = "release all";
	}
	close(file);
	return NULL;
}

static enum result test_threads(void)
{
	struct worker workers[] = {
		{ .op = PAGERUN_TEST_PIN },
		{ .op = PAGERUN_TEST_GET },
	};
	struct counts before;
	size_t i;

	get_counts(mem, &before);
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		CHECK(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		CHECK(!workers[i].error, "thread %zu: %s", i, workers[i].error);
	CHECK(counts_same(mem, &before));
	return PASS;
}

/* Threads of one file take turns. */
static void *work_one_file(void *data)
{
	struct worker *w = data;
	int i;

	for (i = 0; i < 300 && !w->error; i++) {
		struct pagerun_test_hold held = hold_arg(mem, 2, PAGERUN_TEST_PIN, 0);
		uint32_t order[2];

		if (ioctl(fd, PAGERUN_TEST_HOLD, &held) || held.ret != 2) {
			w->error = "hold";
			break;
		}
		order[0] = held.first;
		order[1] = held.first + 1;
		if (release_errno(fd, order, 2, PAGERUN_TEST_RELEASE))
			w->error = "release";
	}
	return NULL;
}

static enum result test_threads_one_file(void)
{
	struct worker workers[2] = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(workers); i++)
		CHECK(!pthread_create(&workers[i].thread, NULL, work_one_file, &workers[i]));
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		CHECK(!workers[i].error, "thread %zu: %s", i, workers[i].error);
	CHECK_EQ(nr_held(fd), 0);
	return PASS;
}

/* Starts a child that runs @fn(@data), and waits until it writes to its pipe. */
static pid_t start_child(void (*fn)(void *data, int ready), void *data)
{
	int ends[2];
	char byte;
	pid_t pid;

	fflush(NULL);
	if (pipe(ends))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(ends[0]);
		fn(data, ends[1]);
		_exit(1);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1) {
		errno = 0;
		die("the child did not start");
	}
	close(ends[0]);
	return pid;
}

static bool kill_child(pid_t pid)
{
	int status;

	if (kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid)
		die("kill");
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void ready(int pipe_end)
{
	if (write(pipe_end, "r", 1) != 1)
		_exit(1);
}

struct child_arg {
	char *addr;
	uint32_t op;
	int file;		/* -1: a file of its own */
};

/* Times for ever, or near enough. */
static void child_times(void *data, int pipe_end)
{
	struct child_arg *c = data;
	struct pagerun_test_time time = time_arg(c->addr, c->op, PAGERUN_TEST_WRITE);
	int file = c->file >= 0 ? c->file : open_device();

	time.pages_per_call = 16;
	time.rounds = PAGERUN_TEST_MAX_ROUNDS;
	ready(pipe_end);
	for (;;)
		ioctl(file, PAGERUN_TEST_TIME, &time);
}

static void child_holds(void *data, int pipe_end)
{
	struct child_arg *c = data;
	int file = open_device();
	int i;

	for (i = 0; i < 10; i++)
		if (hold(file, c->addr, NR, c->op, PAGERUN_TEST_WRITE) != NR)
			_exit(1);
	ready(pipe_end);
	for (;;)
		pause();
}

/* Holds and releases for ever. */
static void child_churns(void *data, int pipe_end)
{
	struct child_arg *c = data;
	int file = open_device();

	ready(pipe_end);
	for (;;) {
		if (hold(file, c->addr, NR, c->op, 0) != NR)
			_exit(1);
		if (nr_held(file) > 20 * NR)
			release_all(file);
	}
}

static enum result kill_each(void (*fn)(void *data, int ready))
{
	char *shared = map_flags(NR, PROT_READ | PROT_WRITE, MAP_SHARED);
	struct counts before;
	long long pins;
	uint32_t op;
	int i;

	memset(shared, 1, NR * page_size);
	get_counts(shared, &before);
	pins = pins_open();
	for (op = PAGERUN_TEST_GET; op <= PAGERUN_TEST_PIN; op++) {
		/* Each time at another moment */
		for (i = 0; i < 5; i++) {
			struct child_arg arg = { .addr = shared, .op = op, .file = -1 };
			pid_t pid = start_child(fn, &arg);

			usleep(1000 + 3777 * i);
			CHECK(kill_child(pid), "the child ended by itself");
		}
		CHECK(counts_same(shared, &before));
		CHECK_EQ(pins_open(), pins);
	}
	unmap_pages(shared, NR);
	return PASS;
}

static enum result test_killed_holding(void)
{
	return kill_each(child_holds);
}

static enum result test_killed_timing(void)
{
	return kill_each(child_times);
}

static enum result test_killed_churning(void)
{
	return kill_each(child_churns);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* While another process is in an ioctl of the same file, a signal ends the wait. */
static enum result test_wait_interrupted(void)
{
	struct child_arg arg = {
		.addr = mem,
		.op = PAGERUN_TEST_PIN,
		.file = open_device(),
	};
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value = { .tv_usec = 50000 } };
	struct pagerun_test_info info;
	pid_t pid = start_child(child_times, &arg);
	int try, err = 0;

	sigaction(SIGALRM, &action, NULL);
	/* The child may not have got into its ioctl yet. */
	for (try = 0; try < 20 && !err; try++) {
		setitimer(ITIMER_REAL, &timer, NULL);
		err = call_errno(arg.file, PAGERUN_TEST_INFO, &info);
		if (!err)
			usleep(60000);
	}
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	signal(SIGALRM, SIG_DFL);
	CHECK(kill_child(pid), "the child ended by itself");
	CHECK_EQ(err, EINTR);
	/* And its death ends its ioctl. */
	CHECK_EQ(nr_held(arg.file), 0);
	close(arg.file);
	return PASS;
}

static void child_holds_for_parent(void *data, int pipe_end)
{
	struct child_arg *c = data;

	if (hold(c->file, c->addr, NR, c->op, 0) != NR)
		_exit(1);
	ready(pipe_end);
	for (;;)
		pause();
}

/* Pages of a dead process can be described and released: that needs no mm. */
static enum result test_release_for_dead(void)
{
	char *shared = map_flags(NR, PROT_READ | PROT_WRITE, MAP_SHARED);
	struct child_arg arg = {
		.addr = shared,
		.op = PAGERUN_TEST_PIN,
		.file = fd,
	};
	struct pagerun_test_page page[NR];
	struct counts before;
	pid_t pid;
	int i;

	memset(shared, 1, NR * page_size);
	get_counts(shared, &before);
	pid = start_child(child_holds_for_parent, &arg);
	CHECK(kill_child(pid), "the child ended by itself");
	CHECK_EQ(nr_held(fd), NR);
	drain_batches();
	CHECK_EQ(report_errno(fd, 0, NR, page), 0);
	for (i = 0; i < NR; i++) {
		CHECK_EQ(page[i].pfn, before.pfn[i]);
		CHECK_EQ(page[i].refcount, before.refcount[i] + BIAS);
		CHECK_EQ(page[i].flags & ~PAGERUN_TEST_PAGE_REFERENCED,
			 PAGERUN_TEST_PAGE_PINNED);
	}
	CHECK_EQ(release_all(fd), 0);
	CHECK(counts_same(shared, &before));
	unmap_pages(shared, NR);
	return PASS;
}

/* ------------------------------------------------------------------------- */
/* mmap()                                                                    */

static char *map_device(int file, size_t nr, int prot, int flags, off_t offset)
{
	return mmap(NULL, nr * page_size, prot, flags, file, offset);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static enum result test_mmap(void)
{
	const size_t nr = 600;	/* more than one page table */
	struct pagerun_test_page *page = calloc(nr, sizeof(*page));
	uint64_t *pfn = calloc(nr, sizeof(*pfn));
	char *p = map_device(fd, nr, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	char *want = malloc(page_size);
	size_t i;

	CHECK(page && pfn && want, "no memory");
	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	memset(want, 0, page_size);
	for (i = 0; i < nr; i++)
		CHECK(!memcmp(p + i * page_size, want, page_size), "page %zu is not zeroed", i);
	for (i = 0; i < nr; i++)
		memset(p + i * page_size, i % 251 + 1, page_size);
	for (i = 0; i < nr; i++) {
		memset(want, i % 251 + 1, page_size);
		CHECK(!memcmp(p + i * page_size, want, page_size), "page %zu lost its contents", i);
	}

	CHECK_EQ(hold(fd, p, nr, PAGERUN_TEST_PIN, PAGERUN_TEST_WRITE), nr);
	CHECK_EQ(report_errno(fd, 0, nr, page), 0);
	for (i = 0; i < nr; i++) {
		CHECK_EQ(page[i].order, 0);
		CHECK_EQ(page[i].refcount, 1 + BIAS);
		CHECK_EQ(page[i].flags & PAGERUN_TEST_PAGE_ANON, 0);
		pfn[i] = page[i].pfn;
	}
	CHECK_EQ(release_errno(fd, NULL, 0, PAGERUN_TEST_RELEASE_DIRTY), 0);
	qsort(pfn, nr, sizeof(*pfn), by_number);
	for (i = 1; i < nr; i++)
		CHECK(pfn[i] != pfn[i - 1], "a page is there twice");

	/* A reference outlives the mapping; after that it is the only one. */
	CHECK_EQ(hold(fd, p, nr, PAGERUN_TEST_GET, 0), nr);
	unmap_pages(p, nr);
	CHECK_EQ(report_errno(fd, 0, nr, page), 0);
	for (i = 0; i < nr; i++)
		CHECK_EQ(page[i].refcount, 1);
	CHECK_EQ(release_all(fd), 0);
	free(want);
	free(pfn);
	free(page);
	return PASS;
}

static enum result test_mmap_errnos(void)
{
	const int rw = PROT_READ | PROT_WRITE;
	int file;
	char *p;

	CHECK(map_device(fd, 1, rw, MAP_PRIVATE, 0) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	CHECK(map_device(fd, 1, PROT_READ, MAP_PRIVATE, 0) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	CHECK(map_device(fd, 1, rw, MAP_SHARED, page_size) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	CHECK(map_device(fd, PAGERUN_TEST_MAX_PAGES + 1, rw, MAP_SHARED, 0) == MAP_FAILED);
	CHECK_EQ(errno, E2BIG);

	p = map_device(fd, 2, rw, MAP_SHARED, 0);
	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	CHECK(mremap(p, 2 * page_size, 4 * page_size, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK_EQ(errno, EFAULT);
	/* Part by part */
	unmap_pages(p, 1);
	p[page_size] = 1;
	unmap_pages(p + page_size, 1);

	/* Opened for reading, it can be read, and no more. */
	file = open(DEVICE, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0, "open: %s", strerror(errno));
	CHECK(map_device(file, 1, rw, MAP_SHARED, 0) == MAP_FAILED);
	CHECK_EQ(errno, EACCES);
	p = map_device(file, 1, PROT_READ, MAP_SHARED, 0);
	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	close(file);
	/* The mapping outlives its file. */
	CHECK_EQ(*p, 0);
	CHECK(mprotect(p, page_size, rw) == -1 && errno == EACCES, "made writable");
	unmap_pages(p, 1);
	return PASS;
}

static char *device_pages;

static enum result child_writes(void)
{
	CHECK_EQ(device_pages[0], 1);
	device_pages[page_size] = 2;
	return PASS;
}

static enum result test_mmap_fork(void)
{
	struct counts before;

	device_pages = map_device(fd, NR, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	CHECK(device_pages != MAP_FAILED, "mmap: %s", strerror(errno));
	get_counts(device_pages, &before);
	device_pages[0] = 1;
	CHECK_EQ(in_child(child_writes), PASS);
	CHECK_EQ(device_pages[page_size], 2);
	CHECK(counts_same(device_pages, &before));
	unmap_pages(device_pages, NR);
	return PASS;
}

static bool nullmap_is_on(void)
{
	int file = open("/sys/kernel/mm/pagerun/nullmap", O_RDONLY);
	char on = '0';

	if (file < 0)
		return false;
	if (read(file, &on, 1) != 1)
		on = '0';
	close(file);
	return on == '1';
}

/* Does this kernel keep pages without a mapping out of the fast path? */
static bool null_mapping_is_slow(void)
{
	struct utsname uts;
	int file;

	if (uname(&uts) || strncmp(uts.release, "6.12.", 5) || nullmap_is_on())
		return false;
	/* It does so where there may be secret memory. */
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
	file = syscall(SYS_memfd_secret, 0);
	if (file < 0)
		return false;
	close(file);
	return true;
}

static enum result test_mmap_count(void)
{
	struct pagerun_test_count count;
	char *p = map_device(fd, NR, PROT_READ | PROT_WRITE, MAP_SHARED, 0);

	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	count = count_arg(p, PAGERUN_TEST_WRITE);
	CHECK_ERRNO(fd, PAGERUN_TEST_COUNT, &count, 0);
	ktap_diag("%u of %u pages without a mapping in the fast path", count.taken, NR);
	if (nullmap_is_on())
		CHECK_EQ(count.taken, NR);
	else if (null_mapping_is_slow())
		CHECK_EQ(count.taken, 0);
	unmap_pages(p, NR);
	return PASS;
}

/* ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum result (*run)(void);
} tests[] = {
	{ "info", test_info },
	{ "open is for CAP_SYS_ADMIN", test_open },
	{ "the module stays while a file is open", test_unload_in_use },
	{ "unknown commands", test_unknown_command },
	{ "bad pointers to structs", test_bad_pointers },
	{ "structs that cannot be written back", test_read_only_structs },
	{ "bad ranges", test_bad_ranges },
	{ "bad ops and flags", test_bad_flags },
	{ "reserved fields", test_reserved_fields },
	{ "time: bad numbers", test_time_bad_numbers },
	{ "time: counts and clocks", test_time },
	{ "time: a hole in the range", test_time_hole },
	{ "count", test_count },
	{ "hold and report", test_hold_report },
	{ "hold: short and failing calls, zero page", test_hold_returns },
	{ "a large folio", test_large_folio },
	{ "release: orders and repeats", test_release_orders },
	{ "release: NULLs", test_release_nulls },
	{ "release: bad orders release nothing", test_release_errnos },
	{ "release: dirty", test_release_dirty },
	{ "report: bad ranges", test_report_errnos },
	{ "a full set", test_full_set },
	{ "close releases what is held", test_close_mixed },
	{ "two threads, two files", test_threads },
	{ "two threads, one file", test_threads_one_file },
	{ "killed while it holds pages", test_killed_holding },
	{ "killed while it times", test_killed_timing },
	{ "killed while it holds and releases", test_killed_churning },
	{ "a signal ends the wait for the file", test_wait_interrupted },
	{ "pages of a dead process", test_release_for_dead },
	{ "mmap: pages", test_mmap },
	{ "mmap: what is refused", test_mmap_errnos },
	{ "mmap: a child shares the pages", test_mmap_fork },
	{ "mmap: the fast path", test_mmap_count },
};

int main(void)
{
	size_t i;

	page_size = sysconf(_SC_PAGESIZE);
	ktap_plan(ARRAY_SIZE(tests));
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		const char *remedy = errno == ENOENT || errno == ENODEV ?
			"load pagerun_test.ko" : "run as root";

		for (i = 0; i < ARRAY_SIZE(tests); i++)
			ktap_skip("driver: %s: cannot open " DEVICE ": %s; %s",
				  tests[i].name, strerror(errno), remedy);
		return ktap_done();
	}
	mem = map_pages(NR);

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		struct counts before;
		long long pins;
		enum result result;

		get_counts(mem, &before);
		pins = pins_open();
		result = tests[i].run();
		if (nr_held(fd)) {
			ktap_diag("%u entries are still held", nr_held(fd));
			result = FAIL;
			close(fd);
			fd = open_device();
		}
		if (!counts_same(mem, &before))
			result = FAIL;
		if (pins_open() != pins) {
			ktap_diag("%lld pins were not released", pins_open() - pins);
			result = FAIL;
		}
		if (result == SKIP)
			ktap_skip("driver: %s: %s", tests[i].name, skip_reason);
		else
			ktap_ok(result == PASS, "driver: %s", tests[i].name);
	}
	return ktap_done();
}
