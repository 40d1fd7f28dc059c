// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hands on what the KUnit suites of pagerun said when the guest booted. Each
 * suite is a test; its own lines come before it, as it wrote them.
 *
 * The guest is booted with kunit.enable=1 kunit.filter_glob=pagerun*, so suites
 * that are not ours do not run.
 */
#include <glob.h>
#include <stdlib.h>

#include "../ktap.h"

#define PATTERN	"/sys/kernel/debug/kunit/pagerun*/results"

/*
 * One suite: every "ok" and "not ok" of its file counts, and the suite must have
 * some. A case that the plan names and that is not there would be a suite that
 * died on the way; KUnit then leaves its own result out.
 */
static void report(const char *path)
{
	unsigned int passed = 0, failed = 0, skipped = 0;
	char line[KTAP_LINE];
	FILE *file = fopen(path, "r");

	if (!file) {
		ktap_ok(false, "%s: %m", path);
		return;
	}

	while (fgets(line, sizeof(line), file)) {
		const char *text = line + strspn(line, " ");

		line[strcspn(line, "\n")] = '\0';
		ktap_diag("%s", line);
		if (!strncmp(text, "not ok ", 7))
			failed++;
		else if (!strncmp(text, "ok ", 3) && strstr(text, "# SKIP"))
			skipped++;
		else if (!strncmp(text, "ok ", 3))
			passed++;
	}
	if (ferror(file)) {
		ktap_ok(false, "%s: cannot be read", path);
		fclose(file);
		return;
	}
	fclose(file);
	ktap_ok(passed && !failed, "%s: %u ok, %u not ok, %u skipped", path,
		passed, failed, skipped);
}

int main(void)
{
	size_t i;
	glob_t suites;

	if (glob(PATTERN, 0, NULL, &suites)) {
		ktap_plan(1);
		ktap_ok(false,
			"no suites in %s: build with CONFIG_PAGERUN_KUNIT_TEST and CONFIG_KUNIT_DEBUGFS, boot with kunit.enable=1",
			PATTERN);
		return ktap_done();
	}

	ktap_plan(suites.gl_pathc);
	for (i = 0; i < suites.gl_pathc; i++)
		report(suites.gl_pathv[i]);
	globfree(&suites);
	return ktap_done();
}
