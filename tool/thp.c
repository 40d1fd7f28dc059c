// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "number.h"
#include "pagerun.h"
#include "signals.h"
#include "sysfile.h"
#include "thp.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"
#define PMD_KB 2048

/* Of "always inherit [madvise] never", the word in brackets. */
static int read_choice(const char *path, char *value, size_t size)
{
	char text[128], *start, *end;
	int err = sysfile_read(path, text, sizeof(text));

	if (err)
		return err;
	start = strchr(text, '[');
	end = start ? strchr(start, ']') : NULL;
	if (!end || (size_t)(end - start) > size)
		return EPROTO;
	*end = '\0';
	strcpy(value, start + 1);
	return 0;
}

/* Set a file to @want unless it says so already or holds @also_good. */
static int change(struct thp_settings *settings, const char *path,
		  const char *want, const char *also_good, struct why *why)
{
	char value[sizeof(settings->old[0].value)];
	int err;

	err = read_choice(path, value, sizeof(value));
	if (err)
		return why_set(why, "cannot read %s (%s): run as root on a kernel with transparent huge pages",
			       path, strerror(err));
	if (!strcmp(value, want) || (also_good && !strcmp(value, also_good)))
		return 0;
	if (settings->nr == THP_MAX_SETTINGS)
		return why_set(why, "too many sizes of huge pages in " THP_DIR
			       ": set those above the wanted one to never");
	/* Noted first: from here on it is put back, whatever happens. */
	snprintf(settings->old[settings->nr].path,
		 sizeof(settings->old[0].path), "%s", path);
	strcpy(settings->old[settings->nr].value, value);
	settings->nr++;
	err = sysfile_write(path, want);
	if (err)
		return why_set(why, "cannot set %s to %s (%s): run as root where /sys can be written",
			       path, want, strerror(err));
	return 0;
}

/* The KiB of "hugepages-64kB", or 0. */
static unsigned int size_of_entry(const char *name)
{
	static const char prefix[] = "hugepages-";
	char digits[16];
	uint64_t kb;
	size_t len;

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return 0;
	name += sizeof(prefix) - 1;
	len = strspn(name, "0123456789");
	if (len >= sizeof(digits) || strcmp(name + len, "kB"))
		return 0;
	memcpy(digits, name, len);
	digits[len] = '\0';
	return number_parse(digits, 1, 1U << 30, &kb) ? (unsigned int)kb : 0;
}

/*
 * The kernel takes the largest size that is enabled and fits, so the larger
 * ones must be off; smaller ones do no harm, since what came is checked.
 */
static int change_sizes(struct thp_settings *settings, unsigned int kb,
			struct why *why)
{
	bool per_size = false, found = false;
	struct dirent *entry;
	char path[128];
	int ret = 0;
	DIR *dir;

	dir = opendir(THP_DIR);
	if (!dir)
		return why_set(why, "no " THP_DIR ": boot a kernel with CONFIG_TRANSPARENT_HUGEPAGE");
	while (!ret && (entry = readdir(dir))) {
		unsigned int size = size_of_entry(entry->d_name);

		if (!size)
			continue;
		/* Sizes for files alone have no such file. */
		if ((size_t)snprintf(path, sizeof(path), THP_DIR "/%s/enabled",
				     entry->d_name) >= sizeof(path) ||
		    access(path, F_OK))
			continue;
		per_size = true;
		if (size == kb) {
			found = true;
			ret = change(settings, path, "madvise", "always", why);
		} else if (size > kb) {
			ret = change(settings, path, "never", NULL, why);
		}
	}
	closedir(dir);
	if (ret)
		return ret;
	if (found)
		return 0;
	if (!per_size && kb == PMD_KB)
		return change(settings, THP_DIR "/enabled", "madvise", "always",
			      why);
	return why_set(why, "no " THP_DIR "/hugepages-%ukB/enabled: this kernel gives no such folios; boot Linux 6.8 or newer with CONFIG_TRANSPARENT_HUGEPAGE",
		       kb);
}

int thp_borrow(struct thp_settings *settings, unsigned int kb, struct why *why)
{
	settings->nr = 0;
	settings->lock = open(THP_DIR "/enabled", O_RDONLY | O_CLOEXEC);
	if (settings->lock < 0)
		return why_set(why, "no " THP_DIR "/enabled: boot a kernel with CONFIG_TRANSPARENT_HUGEPAGE");
	/* ENOSYS: a small kernel without CONFIG_FILE_LOCKING; nobody shares it. */
	if (flock(settings->lock, LOCK_EX) && errno != ENOSYS) {
		close(settings->lock);
		return why_set(why, "cannot lock " THP_DIR "/enabled (%s): try again",
			       strerror(errno));
	}
	signals_hold(&settings->signals);
	if (!change_sizes(settings, kb, why))
		return 0;
	thp_give_back(settings);
	return -1;
}

int thp_give_back(struct thp_settings *settings)
{
	int ret = PR_OK, err;
	size_t i;

	for (i = settings->nr; i-- > 0;) {
		err = sysfile_write(settings->old[i].path, settings->old[i].value);
		if (!err)
			continue;
		warnx("cannot put %s back (%s); run: echo %s > %s",
		      settings->old[i].path, strerror(err),
		      settings->old[i].value, settings->old[i].path);
		ret = PR_FAIL;
	}
	settings->nr = 0;
	close(settings->lock);
	signals_release(&settings->signals);
	return ret;
}
