/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON from and to files; errors are told in one line that names the file. */
#ifndef JSON_FILE_H
#define JSON_FILE_H

#include <jansson.h>

/**
 * json_file_load() - the JSON in a file
 *
 * Return: a new reference, or NULL after one line on stderr.
 */
json_t *json_file_load(const char *path);

/**
 * json_file_check() - whether json_file_save() can be expected to work
 *
 * To fail before long work, not after it.
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int json_file_check(const char *path);

/**
 * json_file_save() - write @json to a file
 * @path: "-" is stdout. Devices and pipes are written as they are. A regular
 *	file is replaced whole: it holds the old or the new text, never a part.
 *
 * Reals keep their full precision.
 * Return: PR_OK, or PR_FAIL after one line on stderr.
 */
int json_file_save(const char *path, const json_t *json);

#endif /* JSON_FILE_H */
