// SPDX-License-Identifier: GPL-2.0-only
#include <sys/types.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "json_file.h"
#include "kernel.h"
#include "pagerun.h"
#include "sysfile.h"

#define SWITCHES "/sys/kernel/mm/pagerun"

/* The file's SHA-256 as JSON text, or null if it cannot be read. */
static json_t *hash_file(const char *path)
{
	char text[SHA256_DIGEST_STRING_LENGTH];

	if (access(path, R_OK) || !SHA256File(path, text))
		return json_null();
	return json_string(text);
}

static json_t *hash_boot_file(const char *name, const char *release)
{
	char path[PATH_MAX];
	int len;

	len = snprintf(path, sizeof(path), "/boot/%s-%s", name, release);
	if (len < 0 || (size_t)len >= sizeof(path))
		return json_null();
	return hash_file(path);
}

static bool hashes_of_system(json_t *kernel, const char *release)
{
	json_t *config = hash_boot_file("config", release);

	if (json_is_null(config))
		config = hash_file("/proc/config.gz");
	return !json_object_set_new(kernel, "config_sha256", config) &&
	       !json_object_set_new(kernel, "image_sha256",
				    hash_boot_file("vmlinuz", release)) &&
	       !json_object_set_new(kernel, "package_sha256", json_null());
}

/* Take what the lab knows about the image that it booted. */
static bool hashes_of_lab(json_t *kernel)
{
	static const struct {
		const char *key;
		bool always;
	} members[] = {
		{ "config_sha256", true },
		{ "image_sha256", true },
		{ "package_sha256", true },
		{ "patchset_sha256", false },
	};
	json_t *lab, *hash;
	bool ok = false;
	size_t i;

	lab = json_file_load(KERNEL_JSON);
	if (!lab)
		return false;
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		hash = json_object_get(lab, members[i].key);
		if (hash && !json_is_string(hash) && !json_is_null(hash)) {
			warnx(KERNEL_JSON ": %s is neither text nor null",
			      members[i].key);
			goto out;
		}
		if (!hash && !members[i].always)
			continue;
		if (json_object_set(kernel, members[i].key,
				    hash ? hash : json_null())) {
			warnx("out of memory");
			goto out;
		}
	}
	ok = true;
out:
	json_decref(lab);
	return ok;
}

static int is_switch(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The switches that are on, sorted; stats and the like do not read as "1". */
static json_t *features(void)
{
	json_t *names = json_array();
	char path[PATH_MAX], value[16];
	struct dirent **entries;
	int i, nr, len;

	nr = scandir(SWITCHES, &entries, is_switch, alphasort);
	if (nr < 0)
		return names;	/* a base kernel */
	for (i = 0; i < nr; i++) {
		len = snprintf(path, sizeof(path), SWITCHES "/%s",
			       entries[i]->d_name);
		if (names && (size_t)len < sizeof(path) &&
		    !sysfile_read(path, value, sizeof(value)) &&
		    !strcmp(value, "1") &&
		    json_array_append_new(names,
					  json_string(entries[i]->d_name))) {
			json_decref(names);
			names = NULL;
		}
		free(entries[i]);
	}
	free(entries);
	return names;
}

json_t *kernel_describe(void)
{
	struct utsname uts;
	json_t *kernel;
	bool ok;

	if (uname(&uts)) {
		warn("uname() failed");
		return NULL;
	}
	kernel = json_pack("{s:s}", "release", uts.release);
	if (!kernel)
		goto no_memory;
	if (!access(KERNEL_JSON, F_OK)) {
		if (!hashes_of_lab(kernel)) {
			json_decref(kernel);
			return NULL;
		}
		ok = true;
	} else {
		ok = hashes_of_system(kernel, uts.release);
	}
	if (ok && !json_object_set_new(kernel, "features", features()))
		return kernel;
no_memory:
	warnx("out of memory");
	json_decref(kernel);
	return NULL;
}
