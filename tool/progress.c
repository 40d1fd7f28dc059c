// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

void progress_init(struct progress *progress, bool quiet)
{
	const char *term = getenv("TERM");

	progress->shown = !quiet && isatty(STDERR_FILENO) && term &&
			  strcmp(term, "dumb");
}

void progress_say(const struct progress *progress, const char *what)
{
	/* Back to the first column; clear to the end of the line after. */
	if (progress->shown)
		fprintf(stderr, "\rmeasuring %s\033[K", what);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
