/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers that a user typed. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * number_parse() - a decimal number, the whole string, within a range
 *
 * Digits only: strtoull()'s blanks, signs and other bases are refused.
 * Return: true and @out set, or false if @text is anything else.
 */
bool number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/**
 * size_parse() - a size in bytes with an optional suffix K, M or G
 *
 * Suffixes are powers of 1024, in either case.
 * Return: true and @out set to a multiple of @step within [min, max], or false.
 */
bool size_parse(const char *text, uint64_t step, uint64_t min, uint64_t max,
		uint64_t *out);

/**
 * size_format() - the shortest exact way to write @bytes for size_parse()
 * @buf: at least 24 bytes
 *
 * Return: @buf.
 */
char *size_format(uint64_t bytes, char *buf);

#endif /* NUMBER_H */
