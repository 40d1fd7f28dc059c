// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "number.h"

/* Digits from the start of @text; @end is where they stop. */
static bool digits(const char *text, uint64_t *out, char **end)
{
	unsigned long long value;

	/* strtoull() would take " 1", "+1" and, as a huge number, "-1". */
	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	value = strtoull(text, end, 10);
	if (errno)
		return false;
	*out = value;
	return true;
}

bool number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;
	char *end;

	if (!digits(text, &value, &end) || *end)
		return false;
	if (value < min || value > max)
		return false;
	*out = value;
	return true;
}

static unsigned int suffix_shift(char c)
{
	switch (toupper((unsigned char)c)) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return 0;
	}
}

bool size_parse(const char *text, uint64_t step, uint64_t min, uint64_t max,
		uint64_t *out)
{
	unsigned int shift;
	uint64_t value;
	char *end;

	if (!digits(text, &value, &end))
		return false;
	shift = suffix_shift(*end);
	if (shift)
		end++;
	if (*end || value > UINT64_MAX >> shift)
		return false;
	value <<= shift;
	if (value < min || value > max || value % step)
		return false;
	*out = value;
	return true;
}

char *size_format(uint64_t bytes, char *buf)
{
	static const struct {
		unsigned int shift;
		const char *suffix;
	} units[] = { { 30, "G" }, { 20, "M" }, { 10, "K" } };
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (bytes && !(bytes & ((1ULL << units[i].shift) - 1))) {
			snprintf(buf, 24, "%" PRIu64 "%s",
				 bytes >> units[i].shift, units[i].suffix);
			return buf;
		}
	}
	snprintf(buf, 24, "%" PRIu64, bytes);
	return buf;
}
