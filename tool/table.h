/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables with aligned columns on stdout. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table;

/**
 * table_new() - an empty table
 * @align: 'l' or 'r' for each of the @columns columns; kept, not copied
 */
struct table *table_new(size_t columns, const char *align);

/* NULL is fine. */
void table_free(struct table *table);

/* Fill the next cell, row after row. Lack of memory shows in table_print(). */
void table_add(struct table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for a measured value: one decimal, two below 10. */
void table_add_value(struct table *table, double value);

/* Print it; false, and nothing printed, if a cell was lost for lack of memory. */
bool table_print(const struct table *table);

#endif /* TABLE_H */
