/* SPDX-License-Identifier: GPL-2.0-only */
/* Why something is not possible here: handed up to where it is told. */
#ifndef WHY_H
#define WHY_H

#include <stdarg.h>
#include <stdio.h>

/**
 * struct why - one line: what is missing, and what to do about it
 */
struct why {
	char text[400];
};

/* Fill a struct why. Return: -1, for use in a return. */
static inline int __attribute__((format(printf, 2, 3)))
why_set(struct why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return -1;
}

#endif /* WHY_H */
