/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small table of texts with aligned columns.
 */
#ifndef DBPROF_EXPORT_TABLE_H
#define DBPROF_EXPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/text.h"

#define TABLE_CELL_MAX 200 /* bytes, with the NUL; fits a node id */

struct table {
	size_t rows;
	size_t columns;
	uint32_t left; /* bit N: column N is aligned to the left; N < 32 */
	char (*cells)[TABLE_CELL_MAX];
};

/* All cells empty. Returns 0 or -ENOMEM. */
int table__init(struct table *table, size_t rows, size_t columns);
void table__clear(struct table *table);

char *table__cell(struct table *table, size_t row, size_t column);
/* Copies @text into the cell, without what a terminal would not print. */
void table__set(struct table *table, size_t row, size_t column, const char *text);

/* Columns of the terminal that it takes. */
size_t table__width(const struct table *table);
bool table__row_empty(const struct table *table, size_t row);
void table__print_row(const struct table *table, size_t row, FILE *out);

#endif
