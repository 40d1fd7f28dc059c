// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "map_file.h"
#include "pagerun.h"
#include "sysfile.h"

#define DEVICES		"/sys/bus/pci/devices/*"
#define ALIGNMENT	(1UL << 30)
#define NAME_ROOM	200
#define PAGE_BYTES	4096UL

static bool says(const char *dir, const char *name, const char *text)
{
	char path[NAME_ROOM + 132], value[32];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !sysfile_read(path, value, sizeof(value)) && !strcmp(value, text);
}

/* The folder of the first ivshmem device. */
static bool find_ivshmem(char *dir)
{
	bool found = false;
	glob_t dirs;
	size_t i;

	if (glob(DEVICES, 0, NULL, &dirs))
		return false;
	for (i = 0; i < dirs.gl_pathc && !found; i++) {
		found = says(dirs.gl_pathv[i], "vendor", "0x1af4") &&
			says(dirs.gl_pathv[i], "device", "0x1110");
		if (found)
			snprintf(dir, NAME_ROOM, "%s", dirs.gl_pathv[i]);
	}
	globfree(&dirs);
	return found;
}

/* An address of which nothing is known but that so much is free there. */
static char *free_address(size_t size)
{
	size_t room = size + 2 * ALIGNMENT;
	char *addr = mmap(NULL, room, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (addr == MAP_FAILED)
		return NULL;
	munmap(addr, room);
	return (char *)(((uintptr_t)addr + ALIGNMENT - 1) & ~(ALIGNMENT - 1));
}

void *map_file_map(const struct map_file *file, size_t size, struct why *why)
{
	char *want = free_address(size);
	void *addr = want ? mmap(want, size, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED_NOREPLACE, file->fd, 0) : MAP_FAILED;

	if (addr != MAP_FAILED)
		return addr;
	why_set(why, "cannot map %zu KiB of %s (%s): name the file of a larger device by --device",
		size >> 10, file->path, strerror(errno));
	return NULL;
}

/* A PCI device that is not enabled answers nothing, or all ones. */
static int check_enabled(const struct map_file *file, struct why *why)
{
	const char *slash = strrchr(file->path, '/');
	char dir[sizeof(file->path)];

	if (!slash || strncmp(slash, "/resource", strlen("/resource")))
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - file->path), file->path);
	return says(dir, "enable", "0") ?
		why_set(why, "the device is not enabled: echo 1 >%s/enable", dir) : 0;
}

/* The flags of the mapping at @addr, as smaps has them: "VmFlags: rd wr sh pf". */
static bool read_flags(const void *addr, char *line, int size)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long start, end;
	bool here = false;

	if (!f)
		return false;
	while (fgets(line, size, f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = start == (unsigned long)addr;
		else if (here && !strncmp(line, "VmFlags:", strlen("VmFlags:")))
			break;
	}
	here = !feof(f) && !ferror(f);
	fclose(f);
	return here;
}

/* Of other mappings the costs are others, and a read may be behind the end of a file. */
static int check_device(const struct map_file *file, struct why *why)
{
	void *addr = map_file_map(file, PAGE_BYTES, why);
	char flags[512];
	bool told;

	if (!addr)
		return -1;
	told = read_flags(addr, flags, sizeof(flags));
	munmap(addr, PAGE_BYTES);
	if (!told)
		return why_set(why, "/proc/self/smaps does not tell the flags of mappings: mount /proc, boot a kernel with CONFIG_PROC_PAGE_MONITOR");
	return strstr(flags, " pf") ? 0 :
		why_set(why, "%s is not the file of a device's memory: name one by --device, such as a resource file of /sys/bus/pci/devices",
			file->path);
}

int map_file_enable(struct why *why)
{
	char dir[NAME_ROOM], path[NAME_ROOM + 32];
	int err;

	if (!find_ivshmem(dir))
		return 0;
	snprintf(path, sizeof(path), "%s/enable", dir);
	err = sysfile_write(path, "1");
	return err ? why_set(why, "cannot enable the ivshmem device by %s: %s", path,
			     strerror(err)) : 0;
}

int map_file_open(struct map_file *file, const char *path, struct why *why)
{
	char dir[NAME_ROOM];

	if (path) {
		snprintf(file->path, sizeof(file->path), "%s", path);
	} else if (!find_ivshmem(dir)) {
		why_set(why, "there is no ivshmem device: start QEMU with -device ivshmem-plain, or name another device's file by --device");
		return PR_SKIP;
	} else {
		snprintf(file->path, sizeof(file->path), "%s/resource2", dir);
	}

	file->fd = open(file->path, O_RDWR | O_CLOEXEC);
	if (file->fd < 0) {
		why_set(why, "cannot open %s (%s): run as root, or name another file by --device",
			file->path, strerror(errno));
		return PR_SKIP;
	}
	if (!check_enabled(file, why) && !check_device(file, why))
		return PR_OK;
	close(file->fd);
	return PR_SKIP;
}
