// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct table {
	size_t columns;
	const char *align;
	char **cells;
	size_t nr;
	bool lost;
};

struct table *table_new(size_t columns, const char *align)
{
	struct table *table = calloc(1, sizeof(*table));

	if (table) {
		table->columns = columns;
		table->align = align;
	}
	return table;
}

void table_free(struct table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->nr; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

void table_add(struct table *table, const char *fmt, ...)
{
	char **cells, *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		table->lost = true;
		return;
	}
	cells = reallocarray(table->cells, table->nr + 1, sizeof(*cells));
	if (!cells) {
		free(text);
		table->lost = true;
		return;
	}
	table->cells = cells;
	table->cells[table->nr++] = text;
}

void table_add_value(struct table *table, double value)
{
	/* 9.995 and up would be rounded to "10.00". */
	table_add(table, "%.*f", value < 9.995 ? 2 : 1, value);
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t i, len, width = 0;

	for (i = column; i < table->nr; i += table->columns) {
		len = strlen(table->cells[i]);
		if (len > width)
			width = len;
	}
	return width;
}

bool table_print(const struct table *table)
{
	size_t *widths, i, column;

	if (table->lost)
		return false;
	widths = calloc(table->columns, sizeof(*widths));
	if (!widths)
		return false;
	for (column = 0; column < table->columns; column++)
		widths[column] = column_width(table, column);

	for (i = 0; i < table->nr; i++) {
		bool last;
		int width;

		column = i % table->columns;
		last = column == table->columns - 1;
		width = (int)widths[column];
		/* No blanks at the end of a line. */
		if (table->align[column] == 'l')
			width = last ? 0 : -width;
		printf("%*s%s", width, table->cells[i], last ? "\n" : "  ");
	}
	free(widths);
	return true;
}
