// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "export/table.h"

#define GAP 2 /* blanks between columns */

int table__init(struct table *table, size_t rows, size_t columns)
{
	*table = (struct table){ .rows = rows, .columns = columns };
	table->cells = calloc(rows * columns, sizeof(*table->cells));
	return table->cells ? 0 : -ENOMEM;
}

void table__clear(struct table *table)
{
	free(table->cells);
	*table = (struct table){ 0 };
}

char *table__cell(struct table *table, size_t row, size_t column)
{
	return table->cells[row * table->columns + column];
}

void table__set(struct table *table, size_t row, size_t column, const char *text)
{
	text__printable(text, table__cell(table, row, column), TABLE_CELL_MAX);
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t widest = 0;

	for (size_t row = 0; row < table->rows; row++) {
		size_t width = text__columns(table->cells[row * table->columns + column]);

		if (width > widest)
			widest = width;
	}
	return widest;
}

size_t table__width(const struct table *table)
{
	size_t width = 0;

	for (size_t column = 0; column < table->columns; column++)
		width += column_width(table, column) + (column > 0 ? GAP : 0);
	return width;
}

/* Columns of the row up to its last text, so that no line ends in blanks. */
static size_t used_columns(const struct table *table, size_t row)
{
	size_t used = table->columns;

	while (used > 0 && table->cells[row * table->columns + used - 1][0] == '\0')
		used--;
	return used;
}

bool table__row_empty(const struct table *table, size_t row)
{
	return used_columns(table, row) == 0;
}

void table__print_row(const struct table *table, size_t row, FILE *out)
{
	size_t used = used_columns(table, row);

	for (size_t column = 0; column < used; column++) {
		const char *text = table->cells[row * table->columns + column];
		int pad = (int)(column_width(table, column) - text__columns(text));
		int gap = column > 0 ? GAP : 0;

		if (table->left >> column & 1)
			fprintf(out, "%*s%s%*s", gap, "", text, column + 1 < used ? pad : 0, "");
		else
			fprintf(out, "%*s%s", gap + pad, "", text);
	}
	fputc('\n', out);
}
