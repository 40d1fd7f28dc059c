// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what /dev/pagerun does with physical memory, run as root on a machine or guest
 * where pagerun_test.ko is loaded: each documented errno, what is mapped and what is not
 * any more, by its values and signals, the entries, and all of it from several threads.
 *
 * Most of it maps BAR 2 of an ivshmem device, each test pages that no other one maps: the
 * kernel may remember what type of memory they were.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../driver/pagerun_test.h"
#include "../ktap.h"
#include "bar.h"
#include "check.h"

#define RW		(PROT_READ | PROT_WRITE)
/* What one entry of the next level maps. */
#define BLOCK		(2ULL << 20)
#define BAR_SIZE	(1ULL << 30)
/* An address of the kernel's half on every 64-bit architecture. */
#define KERNEL_ADDR	0xffff888000000000ULL
/* How long races run. */
#define RACE_MS		2000

/* Indices into the PAT as Linux sets it up. */
enum { WB = 0, WC = 1, UC_MINUS = 2, WT = 7 };

static const uint64_t all_bits[] = {
	0,
	PAGERUN_TEST_PHYS_NOTIFY,
	PAGERUN_TEST_PHYS_MKWRITE,
	PAGERUN_TEST_PHYS_MKWRITE | PAGERUN_TEST_PHYS_NOTIFY,
	PAGERUN_TEST_PHYS_FAULT,
	PAGERUN_TEST_PHYS_FAULT | PAGERUN_TEST_PHYS_NOTIFY,
	PAGERUN_TEST_PHYS_FAULT | PAGERUN_TEST_PHYS_MKWRITE,
	PAGERUN_TEST_PHYS_FAULT | PAGERUN_TEST_PHYS_MKWRITE | PAGERUN_TEST_PHYS_NOTIFY,
};

static struct {
	int fd;			/* resource2 */
	uint64_t phys;
	uint64_t used;		/* by the tests so far, in bytes */
	const char *lacks;	/* why it is not there, or NULL */
} bar;

/* The test that it stands in is for machines with such a device. */
#define NEED_BAR()						\
	do {							\
		if (bar.lacks) {				\
			snprintf(skip_reason, sizeof(skip_reason), "%s", bar.lacks); \
			return SKIP;				\
		}						\
	} while (0)

static void bar_open(void)
{
	char dir[128];

	if (!bar_find_device(dir, sizeof(dir))) {
		bar.lacks = "there is no ivshmem device; boot by lab/boot, or give QEMU one";
		return;
	}
	bar.phys = bar_read_phys(dir);
	bar.fd = bar_open_file(dir, "resource2", O_RDWR);
	if (!bar.phys || bar.fd < 0)
		bar.lacks = "resource2 of the ivshmem device cannot be opened; run as root";
}

/* Where in the BAR there are @size bytes that no test has had; in whole blocks. */
static uint64_t bar_take(uint64_t size)
{
	uint64_t offset = bar.used;

	bar.used += (size + BLOCK - 1) & ~(BLOCK - 1);
	if (bar.used > BAR_SIZE) {
		errno = ENOSPC;
		die("the BAR is too small for all tests");
	}
	return offset;
}

/* ------------------------------------------------------------------------- */
/* Accesses                                                                  */

static __thread sigjmp_buf access_failed;

static void on_signal(int sig)
{
	siglongjmp(access_failed, sig);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	if (sigaction(SIGBUS, &action, NULL) || sigaction(SIGSEGV, &action, NULL))
		die("sigaction");
}

/* The signal that reading @at gave, or 0 with @value filled. */
static int load(const void *at, uint64_t *value)
{
	int sig = sigsetjmp(access_failed, 1);

	if (!sig)
		*value = *(const volatile uint64_t *)at;
	return sig;
}

static int store(void *at, uint64_t value)
{
	int sig = sigsetjmp(access_failed, 1);

	if (!sig)
		*(volatile uint64_t *)at = value;
	return sig;
}

static int load_sig(const void *at)
{
	uint64_t value;

	return load(at, &value);
}

/* Reads @want from @at. */
#define CHECK_VALUE(at, want)						\
	do {								\
		uint64_t value_ = 0;					\
		int sig_ = load(at, &value_);				\
									\
		CHECK(!sig_ && value_ == (want), "signal %d, value %#llx", sig_, \
		      (unsigned long long)value_);			\
	} while (0)

static uint64_t word_of(uint64_t offset)
{
	return 0x7068797300000000ULL | (offset >> 12);
}

/* ------------------------------------------------------------------------- */
/* Short forms                                                               */

/* @size bytes of addresses at a multiple of BLOCK, and nothing behind them. */
static char *find_room(uint64_t size)
{
	char *p = mmap(NULL, size + 2 * BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p, size + 2 * BLOCK))
		die("mmap");
	return (char *)(((uintptr_t)p + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1));
}

/* A mapping in which there is nothing yet; @offset is its place in the file. */
static char *map_phys_at(int file, uint64_t size, int flags, uint64_t offset)
{
	char *p = mmap(find_room(size), size, RW, flags | MAP_FIXED_NOREPLACE, file,
		       (off_t)(PAGERUN_TEST_PHYS_OFFSET | offset));

	if (p == MAP_FAILED)
		die("mmap of " DEVICE);
	return p;
}

static char *map_phys(int file, uint64_t size, uint64_t bits)
{
	return map_phys_at(file, size, MAP_SHARED, bits);
}

static void unmap(void *p, uint64_t size)
{
	if (munmap(p, size))
		die("munmap");
}

static struct pagerun_test_remap remap_arg(void *at, uint64_t size, uint64_t phys,
					   uint32_t cache)
{
	return (struct pagerun_test_remap) {
		.addr = (uintptr_t)at, .size = size, .phys = phys, .cache = cache,
		.ret = 0x5555,
	};
}

/* The errno of the ioctl, or that of remap_pfn_range(). */
static int remap(int file, void *at, uint64_t size, uint64_t phys, uint32_t cache)
{
	struct pagerun_test_remap arg = remap_arg(at, size, phys, cache);
	int err = call_errno(file, PAGERUN_TEST_REMAP, &arg);

	return err ? err : -arg.ret;
}

static int remap_bar(int file, void *at, uint64_t size, uint64_t offset)
{
	return remap(file, at, size, bar.phys + offset, PAGERUN_TEST_UNCACHED);
}

static int zap(int file, void *at, uint64_t size)
{
	struct pagerun_test_range range = { (uintptr_t)at, size };

	return call_errno(file, PAGERUN_TEST_ZAP, &range);
}

/* @offset is the place in the file, as in map_phys_at(). */
static int take_out(int file, uint64_t offset, uint64_t size)
{
	struct pagerun_test_range range = { PAGERUN_TEST_PHYS_OFFSET | offset, size };

	return call_errno(file, PAGERUN_TEST_UNMAP, &range);
}

static struct pagerun_test_entry entry_of(int file, const void *at)
{
	struct pagerun_test_entry entry = { .addr = (uintptr_t)at };

	if (ioctl(file, PAGERUN_TEST_ENTRY, &entry))
		die("PAGERUN_TEST_ENTRY");
	return entry;
}

/* A block of memory, of the open file. */
static uint64_t get_block(int file, uint64_t size)
{
	struct pagerun_test_memory memory = { .size = size };

	if (ioctl(file, PAGERUN_TEST_MEMORY, &memory))
		die("PAGERUN_TEST_MEMORY");
	return memory.phys;
}

static uint32_t nr_mkwrites(int file)
{
	struct pagerun_test_info info;

	if (ioctl(file, PAGERUN_TEST_INFO, &info))
		die("PAGERUN_TEST_INFO");
	return info.mkwrites;
}

/* Does this kernel map blocks by one entry? */
static bool maps_large(void)
{
	char text[8];

	return bar_read_text("/sys/kernel/mm/pagerun", "map", text, sizeof(text)) &&
	       text[0] == '1';
}

/* ------------------------------------------------------------------------- */
/* Memory                                                                    */

static enum result test_memory(void)
{
	struct pagerun_test_memory memory;
	int file = open_device(), nr = 0;

	for (memory.size = page_size; memory.size <= PAGERUN_TEST_MAX_MEMORY;
	     memory.size *= 2) {
		memory.phys = 1;
		CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, 0);
		CHECK(memory.phys && !(memory.phys % memory.size), "%llu bytes at %#llx",
		      (unsigned long long)memory.size, (unsigned long long)memory.phys);
		nr++;
	}
	CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, EINVAL);
	memory.size = 0;
	CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, EINVAL);
	memory.size = page_size / 2;
	CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, EINVAL);
	memory.size = 3 * page_size;
	CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, EINVAL);
	memory.size = 1ULL << 32;
	CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, EINVAL);
	memory.size = page_size;
	for (; nr < 16; nr++)
		CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, 0);
	CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, ENOSPC);
	close(file);
	return PASS;
}

/* It is zeroed, other files have other blocks, and a mapping keeps it. */
static enum result test_memory_lives(void)
{
	int files[2] = { open_device(), open_device() };
	uint64_t phys[2], offset;
	char *at[2];
	int i;

	for (i = 0; i < 2; i++) {
		phys[i] = get_block(files[i], BLOCK);
		at[i] = map_phys(files[i], BLOCK, 0);
		CHECK_EQ(remap(files[i], at[i], BLOCK, phys[i], PAGERUN_TEST_CACHED), 0);
		for (offset = 0; offset < BLOCK; offset += sizeof(uint64_t))
			if (*(uint64_t *)(at[i] + offset))
				break;
		CHECK_EQ(offset, BLOCK);
		close(files[i]);
	}
	CHECK(phys[0] != phys[1], "both at %#llx", (unsigned long long)phys[0]);
	for (i = 0; i < 2; i++)
		memset(at[i], i + 1, BLOCK);
	for (i = 0; i < 2; i++) {
		for (offset = 0; offset < BLOCK; offset++)
			if (at[i][offset] != i + 1)
				break;
		CHECK_EQ(offset, BLOCK);
		unmap(at[i], BLOCK);
	}
	return PASS;
}

/* ------------------------------------------------------------------------- */
/* Mappings                                                                  */

static enum result test_mmap(void)
{
	static const uint64_t bad[] = {
		PAGERUN_TEST_PHYS_OFFSET << 1, PAGERUN_TEST_PHYS_OFFSET << 2,
		PAGERUN_TEST_PHYS_OFFSET | PAGERUN_TEST_PHYS_OFFSET << 1,
		/* Neither this nor that */
		4096, PAGERUN_TEST_PHYS_FAULT, PAGERUN_TEST_PHYS_OFFSET - 4096,
	};
	int file = open_device(), flags;
	size_t i;
	char *at;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		at = mmap(NULL, page_size, RW, MAP_SHARED, file, (off_t)bad[i]);
		CHECK(at == MAP_FAILED && errno == EINVAL, "offset %#llx",
		      (unsigned long long)bad[i]);
	}
	for (i = 0; i < ARRAY_SIZE(all_bits); i++) {
		for (flags = MAP_SHARED; flags <= MAP_PRIVATE; flags++) {
			at = map_phys_at(file, 2 * page_size, flags, all_bits[i]);
			CHECK_EQ(load_sig(at), SIGBUS);
			CHECK_EQ(store(at + page_size, 1), SIGBUS);
			/* The table is there now. */
			CHECK_EQ(load_sig(at), SIGBUS);
			CHECK(mremap(at, 2 * page_size, 3 * page_size, MREMAP_MAYMOVE) ==
			      MAP_FAILED && errno == EFAULT, "a mapping can grow");
			unmap(at, 2 * page_size);
		}
	}
	/* No limit: more than there is memory. */
	at = map_phys(file, 1ULL << 40, 0);
	CHECK_EQ(load_sig(at + (1ULL << 39)), SIGBUS);
	unmap(at, 1ULL << 40);
	close(file);
	return PASS;
}

static enum result test_remap_errnos(void)
{
	int file = open_device(), other = open_device();
	char *at = map_phys(file, BLOCK, 0), *anon;
	struct pagerun_test_remap good, bad;

	good = remap_arg(at, page_size, get_block(file, page_size), PAGERUN_TEST_CACHED);
	anon = mmap(NULL, page_size, RW, MAP_SHARED, file, 0);
	CHECK(anon != MAP_FAILED, "%s", strerror(errno));

#define BAD(field, value) \
	do { \
		bad = good; \
		bad.field = (value); \
		CHECK_ERRNO(file, PAGERUN_TEST_REMAP, &bad, EINVAL); \
		CHECK_EQ(bad.ret, 0x5555); \
	} while (0)
	BAD(addr, good.addr + 1);
	BAD(addr, good.addr - page_size);
	BAD(addr, good.addr + BLOCK);
	BAD(addr, (uintptr_t)&good & ~(page_size - 1));
	BAD(addr, (uintptr_t)anon);
	BAD(addr, 0);
	BAD(addr, KERNEL_ADDR);
	BAD(addr, -page_size);
	BAD(size, 0);
	BAD(size, page_size + 1);
	BAD(size, BLOCK + page_size);
	BAD(size, -page_size);
	BAD(size, 1ULL << 63);
	BAD(phys, good.phys + 1);
	BAD(phys, -page_size);
	BAD(phys, 1ULL << 60);
	BAD(cache, PAGERUN_TEST_WRITE_THROUGH + 1);
#undef BAD
	/* Another open file's mapping, though of the same device */
	bad = good;
	CHECK_ERRNO(other, PAGERUN_TEST_REMAP, &bad, EINVAL);
	CHECK_EQ(load_sig(at), SIGBUS);
	CHECK_ERRNO(file, PAGERUN_TEST_REMAP, &good, 0);
	CHECK_EQ(good.ret, 0);
	CHECK_VALUE(at, 0);

	/* Over the end of the mapping, and over a hole */
	CHECK_EQ(remap(file, at + BLOCK - page_size, 2 * page_size, good.phys, 0), EINVAL);
	unmap(at + 4 * page_size, page_size);
	CHECK_EQ(remap(file, at + 3 * page_size, 3 * page_size, good.phys, 0), EINVAL);
	unmap(anon, page_size);
	unmap(at, BLOCK);
	close(file);
	close(other);
	return PASS;
}

static enum result test_zap_unmap_errnos(void)
{
	int file = open_device(), other = open_device();
	char *at = map_phys(file, BLOCK, 0);
	uint64_t bits = PAGERUN_TEST_PHYS_OFFSET;
	struct pagerun_test_range range;

	/* In a mapping that was never filled there is nothing to do. */
	CHECK_EQ(zap(file, at, BLOCK), 0);
	CHECK_EQ(take_out(file, 0, BLOCK), 0);
	CHECK_EQ(remap(file, at, BLOCK, get_block(file, BLOCK), PAGERUN_TEST_CACHED), 0);

	CHECK_EQ(zap(file, at, 0), EINVAL);
	CHECK_EQ(zap(file, at + 1, page_size), EINVAL);
	CHECK_EQ(zap(file, at, page_size - 1), EINVAL);
	CHECK_EQ(zap(file, at, BLOCK + page_size), EINVAL);
	CHECK_EQ(zap(file, at, -page_size), EINVAL);
	CHECK_EQ(zap(file, at - page_size, 2 * page_size), EINVAL);
	CHECK_EQ(zap(file, NULL, page_size), EINVAL);
	CHECK_EQ(zap(file, (void *)(uintptr_t)KERNEL_ADDR, page_size), EINVAL);
	CHECK_EQ(zap(other, at, page_size), EINVAL);

	CHECK_EQ(take_out(file, 0, 0), EINVAL);
	CHECK_EQ(take_out(file, 1, page_size), EINVAL);
	CHECK_EQ(take_out(file, 0, page_size - 1), EINVAL);
	range = (struct pagerun_test_range){ 0, page_size };
	CHECK_ERRNO(file, PAGERUN_TEST_UNMAP, &range, EINVAL);
	range = (struct pagerun_test_range){ bits - page_size, 2 * page_size };
	CHECK_ERRNO(file, PAGERUN_TEST_UNMAP, &range, EINVAL);
	range = (struct pagerun_test_range){ 2 * bits - page_size, 2 * page_size };
	CHECK_ERRNO(file, PAGERUN_TEST_UNMAP, &range, EINVAL);
	range = (struct pagerun_test_range){ bits, -bits };
	CHECK_ERRNO(file, PAGERUN_TEST_UNMAP, &range, EINVAL);

	CHECK_VALUE(at, 0);
	CHECK_VALUE(at + BLOCK - page_size, 0);
	unmap(at, BLOCK);
	close(file);
	close(other);
	return PASS;
}

/* Each page is where it should be, by the driver's mapping, another, and the BAR's. */
static enum result test_remap_values(void)
{
	uint64_t size = 2 * BLOCK, where, offset;
	int file;
	char *one, *two, *sys;

	NEED_BAR();
	file = open_device();
	where = bar_take(size);
	one = map_phys(file, size, 0);
	two = map_phys(file, size, PAGERUN_TEST_PHYS_FAULT);
	sys = mmap(NULL, size, RW, MAP_SHARED, bar.fd, (off_t)where);
	CHECK(sys != MAP_FAILED, "%s", strerror(errno));
	CHECK_EQ(remap_bar(file, one, size, where), 0);
	/* The other one by pieces, backwards, and not congruent */
	for (offset = 0; offset < size - page_size; offset += page_size)
		CHECK_EQ(remap_bar(file, two + size - page_size - offset, page_size,
				   where + offset), 0);

	for (offset = 0; offset < size; offset += page_size)
		CHECK_EQ(store(one + offset, word_of(offset)), 0);
	for (offset = 0; offset < size; offset += page_size) {
		CHECK_VALUE(sys + offset, word_of(offset));
		if (offset < size - page_size)
			CHECK_VALUE(two + size - page_size - offset, word_of(offset));
	}
	CHECK_EQ(load_sig(two), SIGBUS);
	CHECK_EQ(store(two + page_size, 77), 0);
	CHECK_VALUE(one + size - 2 * page_size, 77);
	unmap(sys, size);
	unmap(one, size);
	unmap(two, size);
	close(file);
	return PASS;
}

static enum result test_busy(void)
{
	uint64_t size = BAR_SIZE, where;
	int file;
	char *at;

	NEED_BAR();
	file = open_device();
	where = bar_take(BLOCK);
	/* Mostly without tables, and one page at the very end */
	at = map_phys(file, size, 0);
	CHECK_EQ(remap_bar(file, at + size - page_size, page_size, where), 0);
	CHECK_EQ(remap_bar(file, at, size, 0), EBUSY);
	CHECK_EQ(remap_bar(file, at + size - page_size, page_size, where), EBUSY);
	CHECK_EQ(remap_bar(file, at + size - BLOCK, BLOCK, where), EBUSY);
	CHECK_EQ(remap_bar(file, at + size - BLOCK, BLOCK - page_size, where), 0);
	CHECK_EQ(zap(file, at + size - BLOCK, BLOCK), 0);
	/* The table may still be there; and where it is not, one large entry. */
	CHECK_EQ(remap_bar(file, at + size - BLOCK, BLOCK, where), 0);
	CHECK_EQ(remap_bar(file, at, BLOCK, where), 0);
	CHECK_EQ(remap_bar(file, at + page_size, page_size, where), EBUSY);
	CHECK_EQ(remap_bar(file, at, size, 0), EBUSY);

	/* What mprotect() forbids is mapped all the same. */
	CHECK_EQ(mprotect(at, BLOCK, PROT_NONE), 0);
	CHECK_EQ(remap_bar(file, at, BLOCK, where), EBUSY);
	CHECK_EQ(load_sig(at), SIGSEGV);
	unmap(at, size);
	close(file);
	return PASS;
}

static enum result test_zap(void)
{
	uint64_t where, page;
	char *at, *other;
	int file;

	NEED_BAR();
	file = open_device();
	where = bar_take(2 * BLOCK);
	at = map_phys(file, 2 * BLOCK, PAGERUN_TEST_PHYS_FAULT);
	other = map_phys(file, 2 * BLOCK, PAGERUN_TEST_PHYS_FAULT);
	CHECK_EQ(remap_bar(file, at, 2 * BLOCK, where), 0);
	CHECK_EQ(remap_bar(file, other, 2 * BLOCK, where), 0);
	for (page = 0; page < 1024; page++)
		CHECK_EQ(store(at + page * page_size, word_of(page * page_size)), 0);

	/* Over the middle, and the last page */
	CHECK_EQ(zap(file, at + 500 * page_size, 24 * page_size), 0);
	CHECK_EQ(zap(file, at + 1023 * page_size, page_size), 0);
	for (page = 0; page < 1024; page++) {
		if ((page >= 500 && page < 524) || page == 1023)
			CHECK_EQ(load_sig(at + page * page_size), SIGBUS);
		else
			CHECK_VALUE(at + page * page_size, word_of(page * page_size));
		CHECK_VALUE(other + page * page_size, word_of(page * page_size));
	}
	/* And something else in its place */
	CHECK_EQ(remap_bar(file, at + 500 * page_size, page_size, where), 0);
	CHECK_VALUE(at + 500 * page_size, word_of(0));
	unmap(at, 2 * BLOCK);
	unmap(other, 2 * BLOCK);
	close(file);
	return PASS;
}

/* Two mappings of one place in the file; a third of another place. */
static struct {
	int file;
	char *at[3];
	uint64_t where;
	int to_parent[2], to_child[2];	/* pipes */
} shared;

static enum result look_after_unmap(void)
{
	uint64_t page;
	int i;

	for (page = 0; page < 512; page++) {
		bool out = page >= 100 && page < 103;

		for (i = 0; i < 3; i++) {
			if (out && i < 2)
				CHECK_EQ(load_sig(shared.at[i] + page * page_size), SIGBUS);
			else
				CHECK_VALUE(shared.at[i] + page * page_size,
					    word_of(page * page_size));
		}
	}
	return PASS;
}

static enum result child_looks(void)
{
	char byte = 0;

	CHECK_VALUE(shared.at[0] + 100 * page_size, word_of(100 * page_size));
	CHECK_EQ(write(shared.to_parent[1], &byte, 1), 1);
	/* The parent takes it out of this process too. */
	CHECK_EQ(read(shared.to_child[0], &byte, 1), 1);
	return look_after_unmap();
}

static enum result test_unmap(void)
{
	uint64_t places[] = { 0, 0, BLOCK }, page;
	char byte = 0;
	pid_t pid;
	int i, status;

	NEED_BAR();
	shared.file = open_device();
	shared.where = bar_take(BLOCK);
	for (i = 0; i < 3; i++) {
		shared.at[i] = map_phys_at(shared.file, BLOCK, MAP_SHARED,
					   PAGERUN_TEST_PHYS_FAULT | places[i]);
		CHECK_EQ(remap_bar(shared.file, shared.at[i], BLOCK, shared.where), 0);
	}
	for (page = 0; page < 512; page++)
		CHECK_EQ(store(shared.at[2] + page * page_size, word_of(page * page_size)), 0);
	CHECK(!pipe(shared.to_parent) && !pipe(shared.to_child), "%s", strerror(errno));
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid)
		_exit(child_looks());
	/* A child that is gone has closed its end; so does this process. */
	close(shared.to_parent[1]);
	CHECK_EQ(read(shared.to_parent[0], &byte, 1), 1);
	/* Bits are a part of the place: this is another one. */
	CHECK_EQ(take_out(shared.file, 100 * page_size, 3 * page_size), 0);
	CHECK_VALUE(shared.at[0] + 100 * page_size, word_of(100 * page_size));
	CHECK_EQ(take_out(shared.file, PAGERUN_TEST_PHYS_FAULT | 100 * page_size,
			  3 * page_size), 0);
	CHECK_EQ(write(shared.to_child[1], &byte, 1), 1);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the child ended with status 0x%x",
	      status);
	CHECK_EQ(look_after_unmap(), PASS);

	/* Any open file of the device will do. */
	i = open_device();
	CHECK_EQ(take_out(i, PAGERUN_TEST_PHYS_FAULT, BLOCK + page_size), 0);
	close(i);
	CHECK_EQ(load_sig(shared.at[0]), SIGBUS);
	CHECK_EQ(load_sig(shared.at[1] + BLOCK - page_size), SIGBUS);
	CHECK_EQ(load_sig(shared.at[2]), SIGBUS);
	CHECK_VALUE(shared.at[2] + page_size, word_of(page_size));
	for (i = 0; i < 3; i++)
		unmap(shared.at[i], BLOCK);
	close(shared.to_parent[0]);
	close(shared.to_child[0]);
	close(shared.to_child[1]);
	close(shared.file);
	return PASS;
}

static enum result test_private(void)
{
	struct pagerun_test_remap arg;
	uint64_t where, page;
	char *at, *shared_at;
	int file;

	NEED_BAR();
	file = open_device();
	where = bar_take(BLOCK);
	at = map_phys_at(file, BLOCK, MAP_PRIVATE, 0);
	shared_at = map_phys_at(file, BLOCK, MAP_SHARED, BLOCK);

	/* remap_pfn_range() wants all of it; that is its errno, not the ioctl's. */
	arg = remap_arg(at, page_size, bar.phys + where, PAGERUN_TEST_UNCACHED);
	CHECK_ERRNO(file, PAGERUN_TEST_REMAP, &arg, 0);
	CHECK_EQ(arg.ret, -EINVAL);
	CHECK_EQ(load_sig(at), SIGBUS);
	CHECK_EQ(remap_bar(file, at, BLOCK, where), 0);
	CHECK_EQ(remap_bar(file, shared_at, BLOCK, where), 0);
	for (page = 0; page < 512; page++)
		CHECK_EQ(store(shared_at + page * page_size, word_of(page * page_size)), 0);

	/* A write makes a copy of a page, and of no other. */
	CHECK_VALUE(at + 5 * page_size, word_of(5 * page_size));
	CHECK_EQ(store(at + 5 * page_size, 1), 0);
	CHECK_VALUE(at + 5 * page_size, 1);
	CHECK_VALUE(shared_at + 5 * page_size, word_of(5 * page_size));
	CHECK_EQ(store(shared_at + 6 * page_size, 2), 0);
	CHECK_VALUE(at + 6 * page_size, 2);
	CHECK_EQ(remap_bar(file, at, BLOCK, where), EBUSY);

	/* It is still where it was in the file: this takes the copy out as well. */
	CHECK_EQ(take_out(file, 4 * page_size, 3 * page_size), 0);
	CHECK_VALUE(at + 3 * page_size, word_of(3 * page_size));
	for (page = 4; page < 7; page++)
		CHECK_EQ(load_sig(at + page * page_size), SIGBUS);
	CHECK_VALUE(at + 7 * page_size, word_of(7 * page_size));
	CHECK_VALUE(shared_at + 5 * page_size, word_of(5 * page_size));
	CHECK_EQ(take_out(file, BLOCK + 9 * page_size, page_size), 0);
	CHECK_EQ(load_sig(shared_at + 9 * page_size), SIGBUS);
	CHECK_VALUE(at + 9 * page_size, word_of(9 * page_size));

	/* Emptied and filled once more */
	CHECK_EQ(zap(file, at, BLOCK), 0);
	CHECK_EQ(load_sig(at), SIGBUS);
	CHECK_EQ(remap_bar(file, at, BLOCK, where), 0);
	CHECK_VALUE(at + 5 * page_size, word_of(5 * page_size));
	unmap(at, BLOCK);
	unmap(shared_at, BLOCK);
	close(file);
	return PASS;
}

/* Each first write is asked about, where there is one to be asked. */
static enum result test_mkwrite(void)
{
	uint64_t where, page;
	uint32_t before;
	size_t i;
	char *at;
	int file;

	NEED_BAR();
	file = open_device();
	where = bar_take(BLOCK);
	for (i = 0; i < ARRAY_SIZE(all_bits); i++) {
		bool asks = all_bits[i] & PAGERUN_TEST_PHYS_MKWRITE;

		at = map_phys(file, 4 * page_size, all_bits[i]);
		CHECK_EQ(remap_bar(file, at, 4 * page_size, where), 0);
		before = nr_mkwrites(file);
		for (page = 0; page < 4; page++) {
			CHECK_EQ(load_sig(at + page * page_size), 0);
			CHECK_EQ(nr_mkwrites(file), before + (asks ? page : 0));
			CHECK_EQ(store(at + page * page_size, 100 * i + page), 0);
			CHECK_EQ(store(at + page * page_size, 100 * i + page), 0);
			CHECK_EQ(nr_mkwrites(file), before + (asks ? page + 1 : 0));
			CHECK_VALUE(at + page * page_size, 100 * i + page);
		}
		unmap(at, 4 * page_size);
	}
	close(file);
	return PASS;
}

static bool writable(int file, const void *at)
{
	return entry_of(file, at).flags & PAGERUN_TEST_ENTRY_WRITE;
}

/* With ->page_mkwrite or ->pfn_mkwrite, an entry is read-only until it is written to. */
static enum result test_notify(void)
{
	uint64_t where;
	size_t i;
	char *at;
	int file;

	NEED_BAR();
	file = open_device();
	where = bar_take(BLOCK);
	for (i = 0; i < ARRAY_SIZE(all_bits); i++) {
		bool waits = all_bits[i] & (PAGERUN_TEST_PHYS_NOTIFY |
					    PAGERUN_TEST_PHYS_MKWRITE);

		at = map_phys(file, page_size, all_bits[i]);
		CHECK_EQ(remap_bar(file, at, page_size, where), 0);
		CHECK(writable(file, at) == !waits, "bits %zu", i);
		CHECK_EQ(mprotect(at, page_size, PROT_READ), 0);
		CHECK(!writable(file, at), "bits %zu", i);
		CHECK_EQ(store(at, 2), SIGSEGV);
		CHECK_EQ(mprotect(at, page_size, RW), 0);
		CHECK(writable(file, at) == !waits, "bits %zu", i);
		CHECK_EQ(store(at, 3), 0);
		CHECK(writable(file, at), "bits %zu", i);
		CHECK_VALUE(at, 3);
		unmap(at, page_size);
	}
	close(file);
	return PASS;
}

/* By the kernel for another process, as ptrace() does it. */
static enum result test_proc_mem(void)
{
	uint64_t where, value = 0x1122334455667788ULL;
	int file, proc;
	char *at;

	NEED_BAR();
	file = open_device();
	where = bar_take(BLOCK);
	at = map_phys(file, BLOCK, 0);
	CHECK_EQ(remap_bar(file, at, BLOCK - page_size, where), 0);
	proc = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	CHECK(proc >= 0, "%s", strerror(errno));
	CHECK_EQ(store(at + 7 * page_size + 8, word_of(7)), 0);
	CHECK_EQ(pwrite(proc, &value, 8, (off_t)(uintptr_t)at + 9 * page_size), 8);
	CHECK_VALUE(at + 9 * page_size, value);
	CHECK_EQ(pread(proc, &value, 8, (off_t)(uintptr_t)at + 7 * page_size + 8), 8);
	CHECK(value == word_of(7), "%#llx", (unsigned long long)value);
	CHECK_EQ(pread(proc, &value, 8, (off_t)(uintptr_t)at + BLOCK - page_size), -1);
	CHECK_EQ(errno, EIO);
	CHECK_EQ(zap(file, at + 7 * page_size, page_size), 0);
	CHECK_EQ(pread(proc, &value, 8, (off_t)(uintptr_t)at + 7 * page_size), -1);
	close(proc);
	unmap(at, BLOCK);
	close(file);
	return PASS;
}

/* ------------------------------------------------------------------------- */
/* Entries                                                                   */

#define PAGE_FLAGS	(PAGERUN_TEST_ENTRY_PRESENT | PAGERUN_TEST_ENTRY_WRITE | \
			 PAGERUN_TEST_ENTRY_DIRTY | PAGERUN_TEST_ENTRY_YOUNG)

static enum result check_empty(const struct pagerun_test_entry *entry, uint32_t level)
{
	CHECK_EQ(entry->level, level);
	CHECK_EQ(entry->value, 0);
	CHECK_EQ(entry->pfn, 0);
	CHECK_EQ(entry->flags, 0);
	CHECK_EQ(entry->cache, 0);
	return PASS;
}

static enum result test_entry(void)
{
	struct pagerun_test_entry entry, bad = { };
	struct pagerun_test_page page;
	struct pagerun_test_hold hold = { .nr_pages = 1 };
	struct pagerun_test_report report = { .pages = (uintptr_t)&page, .nr = 1 };
	int file = open_device();
	char *room = find_room(BLOCK), *p;

	bad.reserved = 1;
	CHECK_ERRNO(file, PAGERUN_TEST_ENTRY, &bad, EINVAL);
	bad = (struct pagerun_test_entry){ .addr = KERNEL_ADDR };
	CHECK_ERRNO(file, PAGERUN_TEST_ENTRY, &bad, EFAULT);
	bad.addr = -1;
	CHECK_ERRNO(file, PAGERUN_TEST_ENTRY, &bad, EFAULT);

	/* Where nothing is, also far from all that is */
	entry = entry_of(file, (void *)0x200000000000);
	CHECK_EQ(check_empty(&entry, PAGERUN_TEST_NO_TABLE), PASS);
	p = mmap(room, BLOCK, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(p == room, "%s", strerror(errno));
	madvise(p, BLOCK, MADV_NOHUGEPAGE);
	entry = entry_of(file, p);
	CHECK_EQ(check_empty(&entry, PAGERUN_TEST_NO_TABLE), PASS);

	/* The table comes with the first page. */
	memset(p + 3 * page_size, 1, page_size);
	entry = entry_of(file, p);
	CHECK_EQ(check_empty(&entry, PAGERUN_TEST_PTE), PASS);
	entry = entry_of(file, p + 3 * page_size + 123);
	CHECK_EQ(entry.level, PAGERUN_TEST_PTE);
	CHECK_EQ(entry.flags & ~PAGERUN_TEST_ENTRY_SOFT_DIRTY, PAGE_FLAGS);
	CHECK_EQ(entry.cache, WB);
	CHECK(entry.value, "the entry is empty");
	hold.addr = (uintptr_t)p + 3 * page_size;
	CHECK_ERRNO(file, PAGERUN_TEST_HOLD, &hold, 0);
	CHECK_ERRNO(file, PAGERUN_TEST_REPORT, &report, 0);
	CHECK_EQ(entry.pfn, page.pfn);

	/* Forbidden, but there; then gone */
	CHECK_EQ(mprotect(p, BLOCK, PROT_NONE), 0);
	entry = entry_of(file, p + 3 * page_size);
	CHECK_EQ(entry.pfn, page.pfn);
	CHECK_EQ(entry.flags & (PAGERUN_TEST_ENTRY_PRESENT | PAGERUN_TEST_ENTRY_WRITE),
		 PAGERUN_TEST_ENTRY_PRESENT);
	CHECK_EQ(madvise(p, BLOCK, MADV_DONTNEED), 0);
	entry = entry_of(file, p + 3 * page_size);
	CHECK(!entry.flags && !entry.pfn, "flags %#x, pfn %#llx", entry.flags,
	      (unsigned long long)entry.pfn);
	unmap(p, BLOCK);
	entry = entry_of(file, p + 3 * page_size);
	CHECK(!entry.flags && !entry.pfn, "flags %#x, pfn %#llx", entry.flags,
	      (unsigned long long)entry.pfn);
	close(file);
	return PASS;
}

static enum result test_entry_thp(void)
{
	struct pagerun_test_entry first, entry;
	int file = open_device();
	char *p;

	p = mmap(find_room(BLOCK), BLOCK, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		 -1, 0);
	CHECK(p != MAP_FAILED, "%s", strerror(errno));
	madvise(p, BLOCK, MADV_HUGEPAGE);
	*p = 1;
	first = entry_of(file, p);
	if (first.level != PAGERUN_TEST_PMD) {
		unmap(p, BLOCK);
		close(file);
		snprintf(skip_reason, sizeof(skip_reason), "%s",
			 "no 2 MiB page to be had; echo madvise >/sys/kernel/mm/transparent_hugepage/enabled");
		return SKIP;
	}
	CHECK_EQ(first.flags & ~PAGERUN_TEST_ENTRY_SOFT_DIRTY, PAGE_FLAGS);
	CHECK_EQ(first.pfn % 512, 0);
	CHECK_EQ(first.cache, WB);
	entry = entry_of(file, p + 300 * page_size + 5);
	CHECK_EQ(entry.level, PAGERUN_TEST_PMD);
	CHECK_EQ(entry.pfn, first.pfn + 300);
	CHECK(entry.value == first.value, "two values of one entry");

	CHECK_EQ(mprotect(p, BLOCK, PROT_NONE), 0);
	entry = entry_of(file, p + page_size);
	CHECK_EQ(entry.level, PAGERUN_TEST_PMD);
	CHECK_EQ(entry.pfn, first.pfn + 1);
	/* Split, it is the same pages. */
	CHECK_EQ(mprotect(p, 7 * page_size, RW), 0);
	entry = entry_of(file, p + 300 * page_size);
	CHECK_EQ(entry.level, PAGERUN_TEST_PTE);
	CHECK_EQ(entry.pfn, first.pfn + 300);
	unmap(p, BLOCK);
	close(file);
	return PASS;
}

/* Of the BAR: large where the kernel makes such, and the page frame at each level. */
static enum result test_entry_phys(void)
{
	struct pagerun_test_entry entry;
	uint64_t where, pfn;
	char *at;
	int file;

	NEED_BAR();
	file = open_device();
	where = bar_take(BLOCK);
	pfn = (bar.phys + where) / page_size;
	at = map_phys(file, BLOCK, PAGERUN_TEST_PHYS_FAULT);
	CHECK_EQ(remap_bar(file, at, BLOCK, where), 0);
	entry = entry_of(file, at + 77 * page_size);
	CHECK_EQ(entry.level, maps_large() ? PAGERUN_TEST_PMD : PAGERUN_TEST_PTE);
	CHECK_EQ(entry.pfn, pfn + 77);
	CHECK_EQ(entry.flags & (PAGERUN_TEST_ENTRY_PRESENT | PAGERUN_TEST_ENTRY_WRITE |
				PAGERUN_TEST_ENTRY_SPECIAL),
		 PAGERUN_TEST_ENTRY_PRESENT | PAGERUN_TEST_ENTRY_WRITE |
		 PAGERUN_TEST_ENTRY_SPECIAL);
	CHECK_EQ(zap(file, at, page_size), 0);
	entry = entry_of(file, at + 77 * page_size);
	CHECK_EQ(entry.level, PAGERUN_TEST_PTE);
	CHECK_EQ(entry.pfn, pfn + 77);
	CHECK(entry.flags & PAGERUN_TEST_ENTRY_SPECIAL, "flags %#x", entry.flags);
	entry = entry_of(file, at);
	CHECK_EQ(check_empty(&entry, PAGERUN_TEST_PTE), PASS);
	unmap(at, BLOCK);
	close(file);
	return PASS;
}

#if defined(__x86_64__)
/* Each mapping is filled by one call: others do not get the type that they ask for. */
static enum result check_type(int file, uint64_t phys, uint64_t size, uint32_t cache,
			      uint32_t index)
{
	char *at = map_phys(file, size, 0);
	struct pagerun_test_entry entry;

	CHECK_EQ(remap(file, at, size, phys, cache), 0);
	entry = entry_of(file, at + page_size);
	CHECK_EQ(entry.level, maps_large() && size == BLOCK ? PAGERUN_TEST_PMD :
		 PAGERUN_TEST_PTE);
	CHECK(entry.cache == index, "type %u: index %u, not %u", cache, entry.cache, index);
	CHECK_EQ(store(at + page_size, cache), 0);
	CHECK_VALUE(at + page_size, cache);
	unmap(at, size);
	return PASS;
}
#endif

static enum result test_cache(void)
{
#if defined(__x86_64__)
	static const struct {
		uint32_t cache, index;
	} types[] = {
		{ PAGERUN_TEST_UNCACHED, UC_MINUS },
		{ PAGERUN_TEST_WRITE_COMBINE, WC },
		{ PAGERUN_TEST_WRITE_THROUGH, WT },
		/* The MTRRs say for a BAR that it is not to be cached. */
		{ PAGERUN_TEST_CACHED, UC_MINUS },
	};
	const uint64_t sizes[] = { 3 * page_size, BLOCK };
	uint64_t phys;
	size_t i, j;
	int file;

	NEED_BAR();
	file = open_device();
	phys = get_block(file, BLOCK);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			CHECK_EQ(check_type(file, bar.phys + bar_take(sizes[j]), sizes[j],
					    types[i].cache, types[i].index), PASS);
			/* Memory is as the kernel has it mapped itself, whatever is asked. */
			CHECK_EQ(check_type(file, phys, sizes[j], types[i].cache, WB), PASS);
		}
	}
	close(file);
	return PASS;
#else
	snprintf(skip_reason, sizeof(skip_reason), "%s",
		 "the index is told on x86-64 alone; run it there");
	return SKIP;
#endif
}

/* ------------------------------------------------------------------------- */
/* UIO                                                                       */

static int open_uio(unsigned int minor)
{
	char name[32];

	snprintf(name, sizeof(name), "/dev/uio%u", minor);
	return open(name, O_RDWR | O_CLOEXEC);
}

static enum result test_uio(void)
{
	struct pagerun_test_uio uio = { .size = 2 * BLOCK }, bad;
	uint64_t where, page;
	char *all, *rest, *sys;
	int file, dev;

	NEED_BAR();
	file = open_device();
	where = bar_take(uio.size);
	uio.phys = bar.phys + where;
	if (access("/sys/class/uio", F_OK)) {
		CHECK_ERRNO(file, PAGERUN_TEST_UIO, &uio, EOPNOTSUPP);
		close(file);
		snprintf(skip_reason, sizeof(skip_reason), "%s",
			 "the kernel has no UIO; boot one with CONFIG_UIO");
		return SKIP;
	}
#define BAD(field, value) \
	do { \
		bad = uio; \
		bad.field = (value); \
		CHECK_ERRNO(file, PAGERUN_TEST_UIO, &bad, EINVAL); \
	} while (0)
	BAD(phys, uio.phys + 1);
	BAD(phys, -page_size);
	BAD(phys, 1ULL << 60);
	BAD(size, 0);
	BAD(size, page_size);
	BAD(size, 2 * page_size + 1);
	BAD(size, -page_size);
	BAD(reserved, 1);
#undef BAD
	CHECK_ERRNO(file, PAGERUN_TEST_UIO, &uio, 0);
	CHECK_ERRNO(file, PAGERUN_TEST_UIO, &uio, EBUSY);
	dev = open_uio(uio.minor);
	CHECK(dev >= 0, "uio%u: %s", uio.minor, strerror(errno));

	all = mmap(NULL, uio.size, RW, MAP_SHARED, dev, 0);
	rest = mmap(NULL, uio.size - page_size, RW, MAP_SHARED, dev, (off_t)page_size);
	sys = mmap(NULL, uio.size, RW, MAP_SHARED, bar.fd, (off_t)where);
	CHECK(all != MAP_FAILED && rest != MAP_FAILED && sys != MAP_FAILED, "%s",
	      strerror(errno));
	CHECK(mmap(NULL, uio.size, RW, MAP_SHARED, dev, (off_t)page_size) == MAP_FAILED &&
	      errno == EINVAL, "map 1 has a page too many");
	CHECK(mmap(NULL, page_size, RW, MAP_SHARED, dev, 2 * (off_t)page_size) == MAP_FAILED &&
	      errno == EINVAL, "there is a map 2");
	for (page = 0; page < uio.size / page_size; page++)
		CHECK_EQ(store(sys + page * page_size, word_of(page * page_size)), 0);
	for (page = 0; page < uio.size / page_size; page++) {
		CHECK_VALUE(all + page * page_size, word_of(page * page_size));
		if (page)
			CHECK_VALUE(rest + (page - 1) * page_size, word_of(page * page_size));
	}
	CHECK_EQ(store(rest, 9), 0);
	CHECK_VALUE(sys + page_size, 9);

	/* It goes with the file; who has it open, or mapped, keeps that and gets no more. */
	close(file);
	CHECK(open_uio(uio.minor) < 0, "uio%u is still there", uio.minor);
	CHECK(mmap(NULL, page_size, RW, MAP_SHARED, dev, 0) == MAP_FAILED && errno == EINVAL,
	      "a device that is gone can be mapped");
	CHECK_VALUE(all + page_size, 9);
	CHECK_VALUE(rest, 9);
	/* And the module stays until that is over. */
	if (syscall(SYS_delete_module, MODULE, O_NONBLOCK))
		CHECK(errno == EWOULDBLOCK || errno == ENOSYS || errno == ENOENT, "%s",
		      strerror(errno));
	else
		CHECK(false, "the module went away under an open UIO device");
	unmap(all, uio.size);
	unmap(rest, uio.size - page_size);
	unmap(sys, uio.size);
	close(dev);

	/* Each file has its own. */
	file = open_device();
	dev = open_device();
	CHECK_ERRNO(file, PAGERUN_TEST_UIO, &uio, 0);
	bad = uio;
	CHECK_ERRNO(dev, PAGERUN_TEST_UIO, &bad, 0);
	CHECK(uio.minor != bad.minor, "both are uio%u", uio.minor);
	close(file);
	close(dev);
	return PASS;
}

/* A struct that cannot be written back: what was taken for it is given back. */
static enum result test_read_only_structs(void)
{
	struct pagerun_test_uio uio = { .phys = bar.phys, .size = BLOCK };
	struct pagerun_test_memory memory = { .size = page_size };
	int file = open_device(), i;
	char *p;

	p = mmap(NULL, page_size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED, "%s", strerror(errno));
	memcpy(p, &memory, sizeof(memory));
	memcpy(p + 256, &uio, sizeof(uio));
	*(struct pagerun_test_entry *)(p + 512) = (struct pagerun_test_entry){ };
	CHECK(!mprotect(p, page_size, PROT_READ), "mprotect");
	for (i = 0; i < 20; i++)
		CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, p, EFAULT);
	for (i = 0; i < 16; i++)
		CHECK_ERRNO(file, PAGERUN_TEST_MEMORY, &memory, 0);
	CHECK_ERRNO(file, PAGERUN_TEST_ENTRY, p + 512, EFAULT);
	if (!bar.lacks && !access("/sys/class/uio", F_OK)) {
		CHECK_ERRNO(file, PAGERUN_TEST_UIO, p + 256, EFAULT);
		CHECK_ERRNO(file, PAGERUN_TEST_UIO, &uio, 0);
	}
	unmap(p, page_size);
	close(file);
	return PASS;
}

/* ------------------------------------------------------------------------- */
/* Races                                                                     */

static struct race {
	int file;
	char *at;		/* of the driver, RACE_SIZE */
	char *churned;		/* addresses where anonymous memory comes and goes */
	uint64_t where;
	volatile bool stop;
} race;

#define RACE_SIZE	(2 * BLOCK)

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Ends the thread with the line at which an answer was not one that can be. */
#define RACE_CHECK(cond) \
	do { \
		if (!(cond)) \
			return (void *)(intptr_t)__LINE__; \
	} while (0)

static void *fill_and_zap(void *arg)
{
	uint32_t rng = (uintptr_t)arg;

	while (!race.stop) {
		uint64_t first = next_random(&rng) % 1000, nr = 1 + next_random(&rng) % 600;
		int err;

		if (first + nr > RACE_SIZE / page_size)
			nr = RACE_SIZE / page_size - first;
		if (next_random(&rng) % 2) {
			err = remap_bar(race.file, race.at + first * page_size, nr * page_size,
					race.where + first * page_size);
			RACE_CHECK(!err || err == EBUSY);
		} else {
			RACE_CHECK(!zap(race.file, race.at + first * page_size,
					nr * page_size));
		}
	}
	return NULL;
}

static void *take_out_of_file(void *arg)
{
	uint32_t rng = (uintptr_t)arg;
	int file = open_device();

	while (!race.stop) {
		uint64_t first = next_random(&rng) % 1024;

		RACE_CHECK(!take_out(file, PAGERUN_TEST_PHYS_FAULT | first * page_size,
				     (1 + first % 5) * page_size));
	}
	close(file);
	return NULL;
}

/* What is read is the page's own, or nothing is there. */
static void *read_pages(void *arg)
{
	uint32_t rng = (uintptr_t)arg;

	while (!race.stop) {
		uint64_t page = next_random(&rng) % 1024, value;
		struct pagerun_test_entry entry;
		int sig = load(race.at + page * page_size, &value);

		RACE_CHECK(sig ? sig == SIGBUS : value == word_of(page * page_size));
		entry = entry_of(race.file, race.at + page * page_size);
		RACE_CHECK(!(entry.flags & PAGERUN_TEST_ENTRY_PRESENT) ||
			   entry.pfn == (bar.phys + race.where) / page_size + page);
		RACE_CHECK(entry.flags & PAGERUN_TEST_ENTRY_PRESENT || !entry.pfn);
	}
	return NULL;
}

/* munmap() frees tables with the mmap lock for reading. */
static void *churn(void *arg)
{
	uint64_t offset;
	char *p;

	(void)arg;
	while (!race.stop) {
		p = mmap(race.churned, 8 * BLOCK, RW,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		RACE_CHECK(p == race.churned);
		for (offset = 0; offset < 8 * BLOCK; offset += BLOCK)
			p[offset] = 1;
		RACE_CHECK(!munmap(p, 8 * BLOCK));
	}
	return NULL;
}

static void *read_churned(void *arg)
{
	uint32_t rng = (uintptr_t)arg;

	while (!race.stop) {
		struct pagerun_test_entry entry;

		entry = entry_of(race.file, race.churned + next_random(&rng) % 8 * BLOCK);
		RACE_CHECK(entry.level <= PAGERUN_TEST_PMD);
		if (entry.flags & PAGERUN_TEST_ENTRY_PRESENT)
			RACE_CHECK(entry.pfn && entry.value &&
				   !(entry.flags & PAGERUN_TEST_ENTRY_SPECIAL));
		else
			RACE_CHECK(!entry.pfn);
	}
	return NULL;
}

static enum result run_race(void *(*const threads[])(void *), size_t nr)
{
	pthread_t ids[8];
	intptr_t failed = 0;
	void *line;
	size_t i;

	race.stop = false;
	for (i = 0; i < nr; i++)
		if (pthread_create(&ids[i], NULL, threads[i], (void *)(uintptr_t)(i + 1)))
			die("pthread_create");
	for (i = 0; i < RACE_MS / 10; i++)
		usleep(10000);
	race.stop = true;
	for (i = 0; i < nr; i++) {
		pthread_join(ids[i], &line);
		if (line)
			failed = (intptr_t)line;
	}
	CHECK(!failed, "at line %ld", (long)failed);
	return PASS;
}

static enum result test_race(void)
{
	static void *(*const threads[])(void *) = {
		fill_and_zap, fill_and_zap, take_out_of_file, read_pages, read_pages,
	};
	uint64_t page;

	NEED_BAR();
	race.file = open_device();
	race.where = bar_take(RACE_SIZE);
	race.at = map_phys(race.file, RACE_SIZE, PAGERUN_TEST_PHYS_FAULT);
	CHECK_EQ(remap_bar(race.file, race.at, RACE_SIZE, race.where), 0);
	for (page = 0; page < RACE_SIZE / page_size; page++)
		CHECK_EQ(store(race.at + page * page_size, word_of(page * page_size)), 0);
	CHECK_EQ(run_race(threads, ARRAY_SIZE(threads)), PASS);

	CHECK_EQ(zap(race.file, race.at, RACE_SIZE), 0);
	CHECK_EQ(remap_bar(race.file, race.at, RACE_SIZE, race.where), 0);
	for (page = 0; page < RACE_SIZE / page_size; page++)
		CHECK_VALUE(race.at + page * page_size, word_of(page * page_size));
	unmap(race.at, RACE_SIZE);
	close(race.file);
	return PASS;
}

static enum result test_race_tables(void)
{
	static void *(*const threads[])(void *) = { churn, read_churned, read_churned };

	race.file = open_device();
	race.churned = (char *)0x210000000000;
	CHECK_EQ(run_race(threads, ARRAY_SIZE(threads)), PASS);
	close(race.file);
	return PASS;
}

/* ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum result (*run)(void);
} tests[] = {
	{ "memory: sizes and numbers", test_memory },
	{ "memory: zeroed, and kept by mappings", test_memory_lives },
	{ "mmap: offsets, and nothing in it", test_mmap },
	{ "remap: what is refused", test_remap_errnos },
	{ "remap: each page in its place", test_remap_values },
	{ "remap: where something is mapped", test_busy },
	{ "zap and unmap: what is refused", test_zap_unmap_errnos },
	{ "zap: that part, in that mapping", test_zap },
	{ "unmap: that place, in two processes", test_unmap },
	{ "a private mapping", test_private },
	{ "pfn_mkwrite is asked and counted", test_mkwrite },
	{ "entries that wait for the first write", test_notify },
	{ "/proc/self/mem", test_proc_mem },
	{ "entries: pages, empty ones, no table", test_entry },
	{ "entries: a large page", test_entry_thp },
	{ "entries: physical memory", test_entry_phys },
	{ "entries: types of memory", test_cache },
	{ "a UIO device", test_uio },
	{ "structs that cannot be written back", test_read_only_structs },
	{ "threads that fill, zap, unmap and read", test_race },
	{ "threads that read entries of tables that go", test_race_tables },
};

int main(void)
{
	enum result result;
	size_t i;
	int file;

	page_size = sysconf(_SC_PAGESIZE);
	ktap_plan(ARRAY_SIZE(tests));
	file = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (file < 0) {
		const char *remedy = errno == ENOENT || errno == ENODEV ?
			"load pagerun_test.ko" : "run as root";

		for (i = 0; i < ARRAY_SIZE(tests); i++)
			ktap_skip("phys: %s: cannot open " DEVICE ": %s; %s", tests[i].name,
				  strerror(errno), remedy);
		return ktap_done();
	}
	close(file);
	bar_open();
	catch_signals();
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		result = tests[i].run();
		if (result == SKIP)
			ktap_skip("phys: %s: %s", tests[i].name, skip_reason);
		else
			ktap_ok(result == PASS, "phys: %s", tests[i].name);
	}
	return ktap_done();
}
