/* SPDX-License-Identifier: GPL-2.0-only */
/* One line on a terminal that says what is being done. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>

struct progress {
	bool shown;
};

/**
 * progress_init() - show progress if stderr is a terminal that can
 * @quiet: show none: where writing to the terminal would be measured
 */
void progress_init(struct progress *progress, bool quiet);

/* Say what is next: "pin/64k", in place of what was said before. */
void progress_say(const struct progress *progress, const char *what);

/* Take the line away, before anything else is written. */
void progress_end(const struct progress *progress);

#endif /* PROGRESS_H */
