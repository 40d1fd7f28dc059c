// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "nullmap_say.h"
#include "pagerun.h"
#include "sysfile.h"

#define SWITCH "/sys/kernel/mm/pagerun/nullmap"
#define TURN_ON "echo 1 >" SWITCH

/* What the switch reads as, or NULL. */
static const char *read_switch(char *buf, size_t size)
{
	return sysfile_read(SWITCH, buf, size) ? NULL : buf;
}

static const char *remedy(void)
{
	char buf[16];
	const char *state = read_switch(buf, sizeof(buf));

	return state && !strcmp(state, "0") ?
	       TURN_ON : "the feature nullmap, or a kernel from 7.3 on";
}

static bool say_control(const struct row *row)
{
	if (!row || row->value >= NULLMAP_PAGES)
		return true;
	fprintf(stderr, "FAIL: the control: GUP-fast takes %.0f of %u anonymous pages, which every kernel can take whole: something swaps, merges or scans memory here; turn it off and measure again\n",
		row->value, NULLMAP_PAGES);
	return false;
}

int nullmap_verdict(const struct run *run)
{
	const struct row *row = run_find(run, NULLMAP_CASE);
	const struct row *control = run_find(run, NULLMAP_CONTROL);
	char beside[40] = "no control";
	bool pass;

	if (!row)
		return say_control(control) ? PR_OK : PR_FAIL;
	if (control)
		snprintf(beside, sizeof(beside), "control %.0f of %u",
			 control->value, NULLMAP_PAGES);
	pass = row->value >= NULLMAP_PAGES;
	fprintf(stderr, "%s: GUP-fast takes %.0f of %u pages with a NULL mapping (%s)",
		pass ? "PASS" : "FAIL", row->value, NULLMAP_PAGES, beside);
	if (pass)
		fputc('\n', stderr);
	else
		fprintf(stderr, ": each pin takes the slow path and mmap_lock; fix: %s\n",
			remedy());
	return say_control(control) && pass ? PR_OK : PR_FAIL;
}

const char *nullmap_infer_text(const char *release, const char *state, char *buf,
			       size_t size)
{
	unsigned int major, minor;

	if (state && !strcmp(state, "1"))
		snprintf(buf, size, "fixed: the feature nullmap is there and on");
	else if (state)
		snprintf(buf, size, "affected unless the kernel has the fix of 7.3: the feature nullmap is there but off; turn it on: "
			 TURN_ON);
	else if (sscanf(release, "%u.%u", &major, &minor) != 2)
		snprintf(buf, size, "unknown: '%s' is not a release like 6.12.1",
			 release);
	else if (major < 6 || (major == 6 && minor < 10))
		snprintf(buf, size, "not affected by f002882ca369, which came with 6.10, unless it was backported");
	else if (major < 7 || (major == 7 && minor < 3))
		snprintf(buf, size, "affected by f002882ca369 unless the fix of 7.3 was backported or CONFIG_SECRETMEM is off");
	else
		snprintf(buf, size, "fixed: 7.3 and later take such pages in the fast path");
	return buf;
}

void nullmap_infer(void)
{
	char state[16], text[256];
	struct utsname uts;

	if (uname(&uts)) {
		warn("uname() failed");
		return;
	}
	warnx("inferred, not measured: Linux %s is %s", uts.release,
	      nullmap_infer_text(uts.release, read_switch(state, sizeof(state)),
				 text, sizeof(text)));
}
