/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places of strings in pprof's string table, each string once.
 */
#ifndef DBPROF_EXPORT_PPROF_STRINGS_H
#define DBPROF_EXPORT_PPROF_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pprof_string {
	char *text; /* NULL: empty slot */
	int64_t place;
};

struct pprof_strings {
	struct pprof_string *slots; /* open addressing, capacity a power of two */
	size_t capacity;
	int64_t count;
};

/*
 * The entry of the @len bytes at @text; *@ret_new says whether it is new, and belongs at the
 * table's end then. NULL when memory is short. Valid until the next one is added.
 */
const struct pprof_string *pprof_strings__add(struct pprof_strings *strings, const char *text,
					      size_t len, bool *ret_new);
void pprof_strings__clear(struct pprof_strings *strings);

#endif
