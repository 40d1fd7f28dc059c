// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the kernel takes away or merges: an area to swap to, and KSM.
 *
 * There is no disk in the guest, and a file of a tmpfs cannot be swapped to. A
 * null_blk device keeps what is written to it if it is told to.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <time.h>
#include <unistd.h>

#include "../ktap.h"
#include "same.h"

#define NAME	"same_answers"
#define DEVICE	"/dev/" NAME
/* Half of it full, and the kernel treats what it swaps in another way. */
#define AREA_MB	"256"

static char config_dir[] = "/tmp/" NAME ".XXXXXX";
/* The device, in there, and what turns it on. */
static char item_path[sizeof(config_dir) + 40], power_path[sizeof(item_path) + 10];
static bool mounted, area_on;

/* ------------------------------------------------------------------------- */
/* The area                                                                  */

static bool file_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 &&
		  write(fd, value, strlen(value)) == (ssize_t)strlen(value);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool config_write(const char *name, const char *value)
{
	char path[sizeof(item_path) + 20];

	snprintf(path, sizeof(path), "%s/%s", item_path, name);
	return file_write(path, value);
}

static bool device_make(void)
{
	snprintf(item_path, sizeof(item_path), "%s/nullb/" NAME, config_dir);
	snprintf(power_path, sizeof(power_path), "%s/power", item_path);
	if (mkdir(item_path, 0700))
		return false;
	/*
	 * What is written is there when the call returns: no queue, no interrupt
	 * to wait for. Otherwise the next step finds it written, or not yet.
	 */
	return config_write("size", AREA_MB) &&
	       config_write("blocksize", "4096") &&
	       config_write("memory_backed", "1") &&
	       config_write("irqmode", "0") &&
	       config_write("no_sched", "1") &&
	       file_write(power_path, "1");
}

/* The first page of an area, as mkswap writes it. */
static bool device_label(void)
{
	static union {
		struct {
			char boot[1024];
			uint32_t version, last_page, nr_bad;
		} info;
		struct {
			char all[PAGE_SIZE - 10];
			char magic[10];
		} end;
	} label;
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	label.info.version = 1;
	label.info.last_page = (atoi(AREA_MB) << (20 - PAGE_SHIFT)) - 1;
	memcpy(label.end.magic, "SWAPSPACE2", sizeof(label.end.magic));
	ok = pwrite(fd, &label, sizeof(label), 0) == sizeof(label) && !fsync(fd);
	close(fd);
	return ok;
}

bool swap_begin(void)
{
	if (!mkdtemp(config_dir))
		return false;
	if (mount("none", config_dir, "configfs", 0, NULL)) {
		rmdir(config_dir);
		return false;
	}
	mounted = true;
	if (device_make() && device_label())
		area_on = !swapon(DEVICE, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK);
	/* One page is read where one page is asked for. */
	if (area_on)
		setting_set("/proc/sys/vm/page-cluster", "0");
	else
		swap_end();
	return area_on;
}

/* Callable from a signal handler, as settings_restore(). */
void swap_end(void)
{
	static const char failed[] = NAME ": cannot swapoff " DEVICE "; do it by hand\n";

	if (area_on && swapoff(DEVICE) &&
	    write(STDERR_FILENO, failed, sizeof(failed) - 1))
		return;
	area_on = false;
	if (!mounted)
		return;
	mounted = false;
	file_write(power_path, "0");
	rmdir(item_path);
	umount2(config_dir, MNT_DETACH);
	rmdir(config_dir);
}

/*
 * Should the system call sleep, another thread sends off what waits to be written,
 * on any CPU: it may be under way when the call returns, or have ended there and
 * still be in a batch of that CPU. A fault would find that, or not.
 */
static void pageout(void *addr, uint32_t nr)
{
	static uint64_t map[WINDOW_MAX];

	pagemap_read(addr, nr, map);
	madvise(addr, (size_t)nr << PAGE_SHIFT, MADV_PAGEOUT);
	for (uint32_t i = 0; i < nr; i++)
		while (map[i] & PM_PRESENT && under_writeback(map[i] & PM_PFN))
			sched_yield();
	settle_all();
}

void swap_out(void *addr, uint32_t nr, bool keep)
{
	static uint64_t map[WINDOW_MAX];

	if (!sys.swap)
		return;
	/*
	 * Written, and out of the page tables; but the folios are still there, in
	 * the swap cache, since the writes were waiting while reclaim looked.
	 */
	pageout(addr, nr);
	if (keep)
		return;
	/* In again, clean: then nothing has to be written, and they are freed. */
	pagemap_read(addr, nr, map);
	for (uint32_t i = 0; i < nr; i++)
		if (map[i] & PM_SWAP)
			peek((char *)addr + ((size_t)i << PAGE_SHIFT));
	pageout(addr, nr);
}

/* ------------------------------------------------------------------------- */
/* KSM                                                                       */

#define KSM	"/sys/kernel/mm/ksm/"

static unsigned long ksm_scans(void)
{
	char buf[32] = "";
	int fd = open(KSM "full_scans", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, buf, sizeof(buf) - 1) <= 0)
		die("cannot read %sfull_scans", KSM);
	close(fd);
	return strtoul(buf, NULL, 10);
}

bool ksm_begin(void)
{
	/*
	 * A page that stays, and is like no other: where nothing is mergeable, ksmd
	 * sleeps and its scans are not to be waited for.
	 */
	char *page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		die("cannot map a page");
	memset(page, 0x5a, PAGE_SIZE);
	if (madvise(page, PAGE_SIZE, MADV_MERGEABLE))
		return false;
	/* All of it at once, without a rest, and no page passed over. */
	setting_set(KSM "smart_scan", "0");
	return setting_set(KSM "pages_to_scan", "20000") &&
	       setting_set(KSM "sleep_millisecs", "0");
}

void ksm_run(bool on)
{
	if (!setting_set(KSM "run", on ? "1" : "0"))
		die("cannot write %srun", KSM);
}

/*
 * A scan notes what a page holds, the next merges it if that is still so. The one
 * under way when this begins may have passed the pages already.
 */
void ksm_merge(void)
{
	const struct timespec wait = { .tv_nsec = 1000000 };
	const unsigned long first = ksm_scans();

	ksm_run(true);
	for (int i = 0; ksm_scans() < first + 3; i++) {
		if (i == 20000)
			die("ksmd makes no progress");
		nanosleep(&wait, NULL);
	}
	ksm_run(false);
}
