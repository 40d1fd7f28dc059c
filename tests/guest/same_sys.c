// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest as the same-answers test sees it: settings that are put back,
 * counters, the page map, and the driver.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kernel-page-flags.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../ktap.h"
#include "same.h"

#define DIR_PAGERUN	"/sys/kernel/mm/pagerun"
#define STATS		DIR_PAGERUN "/stats"
#define DEVICE		"/dev/pagerun"
#define THP	"/sys/kernel/mm/transparent_hugepage/"

/* The feature under test, and whether its switch alone is switched. */
static const char *feature = "pin";
static bool feature_alone;

struct sys sys = { .dev = -1, .observer = -1, .tmpfs = -1, .ramfs = -1 };

bool wrong(struct why *why, const char *fmt, ...)
{
	va_list ap;

	if (why->bad)
		return false;
	why->bad = true;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return false;
}

void die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (errno %d: %s)\n", err, strerror(err));
	settings_restore();
	exit(KTAP_EXIT_FAIL);
}

/* ------------------------------------------------------------------------- */
/* Settings                                                                  */

#define MAX_SETTINGS	64

/* A file of sysfs or procfs that was written to, and what it held before. */
static struct setting {
	char path[120];
	char before[64];
	char now[64];
} settings[MAX_SETTINGS];
static unsigned int nr_settings;

static bool file_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, buf, size - 1);
	close(fd);
	if (len < 0)
		return false;
	buf[len] = '\0';
	return true;
}

static bool file_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = write(fd, value, strlen(value));
	close(fd);
	return len == (ssize_t)strlen(value);
}

bool setting_exists(const char *path)
{
	return access(path, W_OK) == 0;
}

/* The value of a setting: "a [b] c" holds b. */
static bool setting_get(const char *path, char *value, size_t size)
{
	char buf[256], *from = buf, *to;

	if (!file_read(path, buf, sizeof(buf)))
		return false;
	to = strchr(buf, '[');
	if (to) {
		from = to + 1;
		to = strchr(from, ']');
	} else {
		to = strchr(buf, '\n');
	}
	if (to)
		*to = '\0';
	if (strlen(from) >= size)
		return false;
	strcpy(value, from);
	return true;
}

/* The entry of a setting, made if it is new; NULL if there is none such. */
static struct setting *setting_remember(const char *path)
{
	struct setting *set;
	unsigned int i;

	for (i = 0; i < nr_settings; i++)
		if (!strcmp(settings[i].path, path))
			return &settings[i];
	set = &settings[i];
	if (nr_settings == MAX_SETTINGS || strlen(path) >= sizeof(set->path))
		die("no room to remember the setting %s", path);
	if (!setting_get(path, set->before, sizeof(set->before)))
		return NULL;
	strcpy(set->path, path);
	strcpy(set->now, set->before);
	nr_settings++;
	return set;
}

/*
 * Set it, remembering what it held before. Writes nothing when it was set so
 * last.
 */
bool setting_set(const char *path, const char *value)
{
	struct setting *set = setting_remember(path);

	if (!set)
		return false;
	if (!strcmp(set->now, value))
		return true;
	if (!file_write(path, value))
		return false;
	snprintf(set->now, sizeof(set->now), "%s", value);
	return true;
}

/* Callable from a signal handler: system calls alone. */
void settings_restore(void)
{
	while (nr_settings > 0) {
		const struct setting *set = &settings[--nr_settings];

		if (strcmp(set->now, set->before))
			file_write(set->path, set->before);
	}
	swap_end();
}

static void thp_path(char *path, size_t size, unsigned int order,
		     const char *name)
{
	snprintf(path, size, THP "hugepages-%lukB/%s",
		 (PAGE_SIZE << order) / 1024, name);
}

static bool thp_set(unsigned int order, const char *name, const char *value)
{
	char path[120];

	thp_path(path, sizeof(path), order, name);
	return setting_set(path, value);
}

void thp_none(void)
{
	unsigned int order;

	for (order = 1; order <= PMD_ORDER; order++) {
		if (sys.orders & (1U << order))
			thp_set(order, "enabled", "never");
		if (sys.shmem_orders & (1U << order))
			thp_set(order, "shmem_enabled", "never");
	}
	thp_memfd(false);
}

bool thp_anon(unsigned int order)
{
	if (!(sys.orders & (1U << order)))
		return false;
	if (!thp_set(order, "enabled", "madvise"))
		die("cannot enable folios of order %u", order);
	return true;
}

void khugepaged_hurry(bool on)
{
	setting_set(THP "khugepaged/max_ptes_none", on ? "511" : "0");
	if (!setting_set(THP "khugepaged/scan_sleep_millisecs", on ? "1" : "10000") ||
	    !setting_set(THP "khugepaged/alloc_sleep_millisecs", on ? "1" : "60000"))
		die("cannot set up khugepaged");
}

bool thp_shmem(unsigned int order)
{
	if (!(sys.shmem_orders & (1U << order)))
		return false;
	if (!thp_set(order, "shmem_enabled", "always"))
		die("cannot enable shmem folios of order %u", order);
	return true;
}

void thp_memfd(bool on)
{
	if (sys.shmem_huge && !setting_set(THP "shmem_enabled",
					   on ? "always" : "never"))
		die("cannot set %sshmem_enabled", THP);
}

/*
 * The switches: all files of the folder but the statistics, so that a feature
 * that this program does not know is off and on like the others. They are set so
 * often that the files stay open.
 */
#define MAX_SWITCHES	16

static struct {
	struct setting *setting;	/* what it held before */
	int fd;
} switches[MAX_SWITCHES];
static unsigned int nr_switches;
static int switch_state = -1;

static void switch_add(const char *name)
{
	char path[sizeof(settings[0].path)];
	struct stat st;
	int fd;

	if (snprintf(path, sizeof(path), DIR_PAGERUN "/%s", name) >=
	    (int)sizeof(path))
		die("the name of the switch %s is too long", name);
	if (stat(path, &st))
		die("cannot look at %s", path);
	if (!S_ISREG(st.st_mode) || !strcmp(path, STATS))
		return;
	if (nr_switches == MAX_SWITCHES)
		die("no room for the switch %s", path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die("cannot open %s", path);
	switches[nr_switches].setting = setting_remember(path);
	if (!switches[nr_switches].setting)
		die("cannot read %s", path);
	switches[nr_switches++].fd = fd;
	sys.nullmap |= !strcmp(name, "nullmap");
}

static void switches_open(void)
{
	DIR *dir = opendir(DIR_PAGERUN);
	struct dirent *entry;

	if (!dir)
		die("cannot open %s", DIR_PAGERUN);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    (!feature_alone || !strcmp(entry->d_name, feature)))
			switch_add(entry->d_name);
	closedir(dir);
}

static void switch_write(unsigned int i, bool on)
{
	const char *value = on ? "1" : "0";

	if (pwrite(switches[i].fd, value, 1, 0) != 1)
		die("cannot write %s", switches[i].setting->path);
	/* What settings_restore() compares with has to be right too. */
	strcpy(switches[i].setting->now, value);
}

void switch_set(bool on)
{
	if (switch_state == on)
		return;
	for (unsigned int i = 0; i < nr_switches; i++)
		switch_write(i, on);
	switch_state = on;
}

void switch_forget(void)
{
	switch_state = -1;
}

void switch_flip(struct rng *rng)
{
	switch_state = -1;
	switch_write(rng_below(rng, nr_switches), rng_chance(rng, 50));
}

/* ------------------------------------------------------------------------- */
/* Counters                                                                  */

/* Where a line begins so, or NULL; other lines may hold the same words. */
static char *line_of(char *text, const char *start)
{
	while (text && strncmp(text, start, strlen(start))) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return text;
}

void stats_read(struct stats *stats)
{
	char buf[1024], start[64], *line;

	if (!file_read(STATS, buf, sizeof(buf)))
		die("cannot read %s", STATS);
	snprintf(start, sizeof(start), "%s ", feature);
	line = line_of(buf, start);
	if (!line || sscanf(line + strlen(start), "runs %lu pages %lu fallbacks %lu",
			    &stats->runs, &stats->pages,
			    &stats->fallbacks) != 3)
		die("%s has no line of %s that can be understood", STATS, feature);
}

static uint64_t vmstat_field(char *text, const char *name)
{
	char start[64];
	const char *at;

	snprintf(start, sizeof(start), "%s ", name);
	at = line_of(text, start);
	if (!at)
		die("/proc/vmstat has no %s", name);
	return strtoull(at + strlen(start), NULL, 10);
}

static void vmstat_text(char *buf, size_t size)
{
	static int fd = -1;
	ssize_t len;

	if (fd < 0)
		fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	len = pread(fd, buf, size - 1, 0);
	if (len <= 0)
		die("cannot read /proc/vmstat");
	buf[len] = '\0';
}

uint64_t vmstat(const char *name)
{
	char buf[16384];

	vmstat_text(buf, sizeof(buf));
	return vmstat_field(buf, name);
}

/* The last values, and whether anything was pinned or unpinned since. */
static struct pins last_pins;
static bool pins_stale = true;

void pins_forget(void)
{
	pins_stale = true;
}

/*
 * The counters are kept per CPU and added up now and then; writing stat_refresh
 * adds up at once. It waits for every CPU, which takes longer than all the rest
 * of a comparison: hence the memory.
 */
void pins_read(struct pins *pins)
{
	static int refresh = -1;
	char buf[16384];

	if (!pins_stale) {
		*pins = last_pins;
		return;
	}
	if (refresh < 0)
		refresh = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);
	/* It may find a negative counter elsewhere and say EINVAL. */
	if (refresh < 0 || (pwrite(refresh, "1", 1, 0) != 1 && errno != EINVAL))
		die("cannot write /proc/sys/vm/stat_refresh");
	vmstat_text(buf, sizeof(buf));
	pins->acquired = vmstat_field(buf, "nr_foll_pin_acquired");
	pins->released = vmstat_field(buf, "nr_foll_pin_released");
	last_pins = *pins;
	pins_stale = false;
}

/* A file of /proc/self, kept open: by a child anew, since it is of who opened it. */
struct self_file {
	int fd;
	pid_t pid;		/* 0: not open yet */
};

static int self_fd(struct self_file *file, const char *path, int flags)
{
	if (file->pid != getpid()) {
		if (file->pid)
			close(file->fd);
		file->fd = open(path, flags | O_CLOEXEC);
		if (file->fd < 0)
			die("cannot open %s", path);
		file->pid = getpid();
	}
	return file->fd;
}

void pagemap_read(const void *addr, uint32_t nr, uint64_t *entries)
{
	static struct self_file file;
	size_t size = (size_t)nr * sizeof(*entries);
	int fd = self_fd(&file, "/proc/self/pagemap", O_RDONLY);

	if (pread(fd, entries, size, ((uintptr_t)addr >> PAGE_SHIFT) *
		  sizeof(*entries)) != (ssize_t)size)
		die("cannot read /proc/self/pagemap");
}

void device_pages(const void *addr, uint32_t nr, bool *device)
{
	const uintptr_t first = (uintptr_t)addr;
	const uintptr_t last = first + (uintptr_t)nr * PAGE_SIZE;
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512];

	if (!file)
		die("cannot open /proc/self/maps");
	memset(device, 0, nr * sizeof(*device));
	while (fgets(line, sizeof(line), file)) {
		unsigned long at, end;

		if (sscanf(line, "%lx-%lx", &at, &end) != 2)
			die("/proc/self/maps cannot be understood: %s", line);
		if (!strstr(line, " " DEVICE "\n"))
			continue;
		/* Shared and never copied: all in there is the driver's. */
		at = at > first ? at : first;
		end = end < last ? end : last;
		for (; at < end; at += PAGE_SIZE)
			device[(at - first) >> PAGE_SHIFT] = true;
	}
	fclose(file);
}

static void smaps_line(struct smaps *smaps, const char *line)
{
	char name[sizeof(smaps->names[0])], unit[4];
	unsigned long kb;
	uint32_t i;

	if (sscanf(line, "%23[A-Za-z_]: %lu %3s", name, &kb, unit) != 3 ||
	    strcmp(unit, "kB"))
		return;
	/*
	 * What the mapping is, and not its pages: it may reach further. And what
	 * was accessed, which differs from one call to the next with the same
	 * setting: it counts a flag of the folio too. That entries are left alone
	 * is looked at in KUnit.
	 */
	if (strstr(name, "Size") || !strcmp(name, "Referenced"))
		return;
	for (i = 0; i < smaps->nr && strcmp(smaps->names[i], name); i++)
		;
	if (i == SMAPS_FIELDS)
		die("/proc/self/smaps has too many fields");
	if (i == smaps->nr) {
		strcpy(smaps->names[i], name);
		smaps->kb[smaps->nr++] = 0;
	}
	smaps->kb[i] += kb;
}

void smaps_read(const void *addr, uint32_t nr, struct smaps *smaps)
{
	const uintptr_t first = (uintptr_t)addr;
	const uintptr_t last = first + (uintptr_t)nr * PAGE_SIZE;
	FILE *file = fopen("/proc/self/smaps", "re");
	bool inside = false;
	char line[512];

	if (!file)
		die("cannot open /proc/self/smaps");
	smaps->nr = 0;
	while (fgets(line, sizeof(line), file)) {
		unsigned long at, end;

		if (sscanf(line, "%lx-%lx ", &at, &end) == 2)
			inside = at < last && end > first;
		else if (inside)
			smaps_line(smaps, line);
	}
	fclose(file);
}

unsigned long status_kb(const char *name)
{
	char buf[4096], start[40], *line;

	if (!file_read("/proc/self/status", buf, sizeof(buf)))
		die("cannot read /proc/self/status");
	snprintf(start, sizeof(start), "%s:", name);
	line = line_of(buf, start);
	if (!line)
		die("/proc/self/status has no %s", name);
	return strtoul(line + strlen(start), NULL, 10);
}

unsigned long number_read(const char *path)
{
	char buf[64];

	if (!file_read(path, buf, sizeof(buf)))
		die("cannot read %s", path);
	return strtoul(buf, NULL, 10);
}

/* The entry of a page frame in one of the files that have one each. */
static uint64_t per_frame(int *fd, const char *path, uint64_t pfn)
{
	uint64_t value;

	if (*fd < 0)
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || pread(*fd, &value, sizeof(value), pfn * sizeof(value)) !=
	    sizeof(value))
		die("cannot read %s", path);
	return value;
}

uint64_t kpagecount(uint64_t pfn)
{
	static int fd = -1;

	return per_frame(&fd, "/proc/kpagecount", pfn);
}

static bool frame_flag(uint64_t pfn, int flag)
{
	static int fd = -1;

	return per_frame(&fd, "/proc/kpageflags", pfn) & (1ULL << flag);
}

bool in_swap_cache(uint64_t pfn)
{
	return frame_flag(pfn, KPF_SWAPCACHE);
}

bool under_writeback(uint64_t pfn)
{
	return frame_flag(pfn, KPF_WRITEBACK);
}

void clear_refs(int what)
{
	static struct self_file file;
	char digit = '0' + what;
	int fd = self_fd(&file, "/proc/self/clear_refs", O_WRONLY);

	if (pwrite(fd, &digit, 1, 0) != 1)
		die("cannot write /proc/self/clear_refs");
}

/* Unmapping anything drains the batches of the CPU. */
void settle(void)
{
	void *addr = mmap(NULL, PAGE_SIZE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED || munmap(addr, PAGE_SIZE))
		die("cannot map and unmap a page");
}

void settle_all(void)
{
	for (int cpu = 1; run_on_cpu(cpu); cpu++)
		settle();
	if (!run_on_cpu(0))
		die("cannot run on CPU 0 alone");
	settle();
}

bool run_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	else
		for (int i = 0; i < CPU_SETSIZE; i++)
			CPU_SET(i, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* ------------------------------------------------------------------------- */
/* Accesses that cannot kill                                                 */

/* A file of the numbers 0, 1, 2 …: reading it writes to user memory. */
#define NUMBERS		65536U

static int numbers_fd(void)
{
	static int fd = -1;

	if (fd < 0) {
		uint32_t *numbers = malloc(NUMBERS * sizeof(*numbers));

		fd = memfd_create("numbers", MFD_CLOEXEC);
		if (!numbers || fd < 0)
			die("cannot make a memfd");
		for (uint32_t i = 0; i < NUMBERS; i++)
			numbers[i] = i;
		if (write(fd, numbers, NUMBERS * sizeof(*numbers)) !=
		    (ssize_t)(NUMBERS * sizeof(*numbers)))
			die("cannot fill a memfd");
		free(numbers);
	}
	return fd;
}

static int sink_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("sink", MFD_CLOEXEC);
	if (fd < 0)
		die("cannot make a memfd");
	return fd;
}

bool poke(void *addr, uint32_t stamp)
{
	return pread(numbers_fd(), addr, sizeof(stamp),
		     (off_t)(stamp % NUMBERS) * sizeof(stamp)) == sizeof(stamp);
}

bool peek(const void *addr)
{
	uint32_t stamp;

	return pwrite(sink_fd(), addr, sizeof(stamp), 0) == sizeof(stamp);
}

/*
 * Those of up to STAMPS pages in one write, which ends where a page cannot be read.
 * Return: pages done with.
 */
#define STAMPS	1024

static uint32_t stamps_batch(const char *addr, uint32_t nr,
			     const uint64_t *entries, uint32_t *stamps)
{
	static struct iovec iov[STAMPS];
	static uint32_t which[STAMPS], got[STAMPS];
	uint32_t i, n = 0;
	ssize_t len;

	for (i = 0; i < nr && n < STAMPS; i++) {
		stamps[i] = NO_STAMP;
		if (!(entries[i] & PM_PRESENT))
			continue;
		iov[n].iov_base = (void *)(addr + (size_t)i * PAGE_SIZE);
		iov[n].iov_len = sizeof(*stamps);
		which[n++] = i;
	}
	if (!n)
		return i;
	len = pwritev(sink_fd(), iov, n, 0);
	len = len < 0 ? 0 : len / (ssize_t)sizeof(*stamps);
	if (len && pread(sink_fd(), got, len * sizeof(*got), 0) !=
	    len * (ssize_t)sizeof(*got))
		die("cannot read a memfd");
	for (ssize_t k = 0; k < len; k++)
		stamps[which[k]] = got[k];
	return len < n ? which[len] + 1 : i;
}

void stamps_read(const void *addr, uint32_t nr, const uint64_t *entries,
		 uint32_t *stamps)
{
	for (uint32_t at = 0; at < nr;)
		at += stamps_batch((const char *)addr + (size_t)at * PAGE_SIZE,
				   nr - at, entries + at, stamps + at);
}

/* ------------------------------------------------------------------------- */
/* The driver                                                                */

int dev_hold(int fd, const void *addr, uint32_t nr, uint32_t op,
	     uint32_t flags, uint32_t *first)
{
	struct pagerun_test_hold hold = {
		.addr = (uintptr_t)addr,
		.nr_pages = nr,
		.op = op,
		.flags = flags,
	};

	pins_stale |= fd != sys.observer || op == PAGERUN_TEST_PIN;
	if (ioctl(fd, PAGERUN_TEST_HOLD, &hold))
		die("HOLD of %u pages failed", nr);
	if (first)
		*first = hold.first;
	return hold.ret;
}

void dev_report(int fd, uint32_t first, uint32_t nr,
		struct pagerun_test_page *pages)
{
	struct pagerun_test_report report = {
		.pages = (uintptr_t)pages,
		.first = first,
		.nr = nr,
	};

	if (nr && ioctl(fd, PAGERUN_TEST_REPORT, &report))
		die("REPORT of %u pages failed", nr);
}

void dev_release_array(int fd, const uint32_t *order, uint32_t nr, uint32_t how)
{
	struct pagerun_test_release release = {
		.order = (uintptr_t)order, .nr = nr, .how = how,
	};

	pins_stale |= fd != sys.observer;
	if (ioctl(fd, PAGERUN_TEST_RELEASE_HELD, &release))
		die("RELEASE of %u pages failed", nr);
}

void dev_release(int fd)
{
	dev_release_array(fd, NULL, 0, PAGERUN_TEST_RELEASE);
}

uint32_t dev_count(int fd, const void *addr, uint32_t nr, uint32_t flags)
{
	struct pagerun_test_count count = {
		.addr = (uintptr_t)addr,
		.nr_pages = nr,
		.flags = flags,
	};

	if (ioctl(fd, PAGERUN_TEST_COUNT, &count))
		die("COUNT of %u pages failed", nr);
	return count.taken;
}

/* ------------------------------------------------------------------------- */
/* What there is                                                             */

/* Why the feature cannot be switched, or NULL. */
static const char *no_switch(void)
{
	static char path[sizeof(settings[0].path)], text[200];

	snprintf(path, sizeof(path), DIR_PAGERUN "/%s", feature);
	if (access(path, F_OK))
		snprintf(text, sizeof(text),
			 "this kernel has no %s; boot one that has the feature %s of CONFIG_PAGERUN",
			 path, feature);
	else if (access(path, W_OK))
		snprintf(text, sizeof(text), "%s may not be written; run as root",
			 path);
	return *text ? text : NULL;
}

const char *sys_open(const char *name)
{
	struct pagerun_test_info info;

	feature_alone = name;
	if (name)
		feature = name;
	if (no_switch())
		return no_switch();
	if (sysconf(_SC_PAGESIZE) != (long)PAGE_SIZE)
		return "the cases are laid out for pages of 4 KiB; "
		       "boot a kernel that has them";
	if (access(DEVICE, F_OK))
		return "there is no " DEVICE "; insmod pagerun_test.ko";

	sys.dev = open(DEVICE, O_RDWR | O_CLOEXEC);
	sys.observer = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (sys.dev < 0 || sys.observer < 0)
		return "cannot open " DEVICE "; run as root";
	if (ioctl(sys.dev, PAGERUN_TEST_INFO, &info) ||
	    info.version != PAGERUN_TEST_VERSION)
		return "pagerun_test.ko has another version; load the one of this tree";
	return NULL;
}

/*
 * A mount that has no name any more when this returns, so that it goes with the
 * last descriptor. Files are made in it by O_TMPFILE.
 */
static int anonymous_mount(const char *type, const char *options)
{
	char dir[] = "/tmp/same_answers.XXXXXX";
	int fd = -1;

	if (!mkdtemp(dir))
		return -1;
	if (!mount("none", dir, type, 0, options)) {
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		umount2(dir, MNT_DETACH);
	}
	rmdir(dir);
	if (fd >= 0) {
		int file = openat(fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		if (file < 0) {
			close(fd);
			return -1;
		}
		close(file);
	}
	return fd;
}

static bool uffd_has(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = !ioctl(fd, UFFDIO_API, &api);
	close(fd);
	return ok;
}

/* Which there are, of those that a scene can use. */
static uint64_t uffd_probe(void)
{
	static const uint64_t wanted[] = {
		UFFD_FEATURE_SIGBUS, UFFD_FEATURE_PAGEFAULT_FLAG_WP,
		UFFD_FEATURE_MOVE,
	};
	uint64_t features = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(wanted); i++)
		if (uffd_has(features | wanted[i]))
			features |= wanted[i];
	return features;
}

static bool probe_secretmem(void)
{
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/*
 * Pages of hugetlb are given out from a pool that was filled from both zones.
 * Those in ZONE_MOVABLE take the long way for a long-term pin, so that twins
 * would not be alike.
 */
static bool movable_zone(void)
{
	char line[256];
	bool in = false;
	unsigned long present = 0;
	FILE *file = fopen("/proc/zoneinfo", "re");

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file) && !present) {
		if (!strncmp(line, "Node", 4))
			in = strstr(line, "Movable");
		else if (in && sscanf(line, " present %lu", &present) != 1)
			present = 0;
	}
	fclose(file);
	return present;
}

static bool probe_hugetlb(void)
{
	const char *path = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
	char value[64];

	return !sys.movable && setting_set(path, "16") &&
	       setting_get(path, value, sizeof(value)) && atoi(value) >= 16;
}

static uint64_t find_zero_page(void)
{
	volatile char *page = mmap(NULL, PAGE_SIZE, PROT_READ,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t entry;

	if (page == MAP_FAILED)
		die("cannot map a page");
	(void)*page;
	pagemap_read((const void *)page, 1, &entry);
	munmap((void *)page, PAGE_SIZE);
	if (!(entry & PM_PRESENT) || !(entry & PM_PFN))
		die("/proc/self/pagemap does not tell where the zero page is");
	return entry & PM_PFN;
}

const char *no_64k(void)
{
	return sys.orders & (1U << 4) ? NULL :
	       "no folios of 64 KiB here; boot Linux 6.8 or later with CONFIG_TRANSPARENT_HUGEPAGE=y";
}

const char *no_2m(void)
{
	return sys.orders & (1U << PMD_ORDER) ? no_64k() :
	       "no folios of 2 MiB here; boot with CONFIG_TRANSPARENT_HUGEPAGE=y";
}

const char *no_split(void)
{
	return access(SPLIT, W_OK) ?
	       "no " SPLIT "; mount debugfs on /sys/kernel/debug, boot with CONFIG_DEBUG_FS=y" :
	       no_2m();
}

void sys_probe_kinds(void)
{
	char path[120];
	unsigned int order;

	for (order = 1; order <= PMD_ORDER; order++) {
		thp_path(path, sizeof(path), order, "enabled");
		if (setting_exists(path))
			sys.orders |= 1U << order;
		thp_path(path, sizeof(path), order, "shmem_enabled");
		if (setting_exists(path))
			sys.shmem_orders |= 1U << order;
	}
	if (!sys.orders)
		ktap_diag("no sizes of large anonymous folios in " THP
			  ": boot Linux 6.8 or later with CONFIG_TRANSPARENT_HUGEPAGE=y");
	sys.shmem_huge = setting_exists(THP "shmem_enabled");
	if (!sys.shmem_huge)
		ktap_diag("no " THP "shmem_enabled: no large folios in memfds");

	switches_open();
	sys.zero_pfn = find_zero_page();

	/*
	 * Nothing may be merged or collapsed behind the back of a comparison.
	 * khugepaged runs only while the largest size is enabled, which it is in
	 * one case alone, and there it shall leave tables with holes alone.
	 */
	setting_set("/sys/kernel/mm/ksm/run", "0");
	setting_set(THP "khugepaged/max_ptes_none", "0");

	sys.movable = movable_zone();
	sys.hugetlb = probe_hugetlb();
	if (!sys.hugetlb)
		ktap_diag("no 16 hugetlb pages of 2 MiB: needs CONFIG_HUGETLBFS=y, free memory, and no ZONE_MOVABLE");
	sys.secretmem = probe_secretmem();
	if (!sys.secretmem)
		ktap_diag("no memfd_secret(): boot with secretmem.enable=1");
	sys.uffd_features = uffd_probe();
	sys.uffd_wp = sys.uffd_features & UFFD_FEATURE_PAGEFAULT_FLAG_WP;
	if (!sys.uffd_wp)
		ktap_diag("no write protection by userfaultfd: needs CONFIG_USERFAULTFD=y");
	sys.swap = swap_begin();
	if (!sys.swap)
		ktap_diag("no swap area: needs CONFIG_SWAP=y, CONFIG_CONFIGFS_FS=y, CONFIG_BLK_DEV_NULL_BLK=y and a /tmp");
	sys.ksm = ksm_begin();
	if (!sys.ksm)
		ktap_diag("no merging: needs CONFIG_KSM=y");
	sys.key_nowrite = pkey_alloc(0, PKEY_DISABLE_WRITE);
	sys.key_noaccess = pkey_alloc(0, PKEY_DISABLE_ACCESS);
	sys.pkeys = sys.key_nowrite >= 0 && sys.key_noaccess >= 0;
	if (!sys.pkeys)
		ktap_diag("no protection keys: the CPU has none");
	sys.tmpfs = anonymous_mount("tmpfs", "huge=always");
	if (sys.tmpfs < 0)
		ktap_diag("no tmpfs with huge=always: needs CONFIG_TMPFS=y and a /tmp");
	sys.ramfs = anonymous_mount("ramfs", NULL);
	if (sys.ramfs < 0)
		ktap_diag("no ramfs to be mounted below /tmp");
}
