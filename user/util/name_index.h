/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers names in the order in which they come: the first one is 0.
 */
#ifndef DBPROF_UTIL_NAME_INDEX_H
#define DBPROF_UTIL_NAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define NAME_NONE UINT32_MAX

struct name_index {
	char **names; /* by number */
	size_t count;
	size_t capacity;
	uint32_t *slots;   /* open addressing: a number, or NAME_NONE */
	size_t slot_count; /* a power of two, or 0 */
};

/* The number of @name, NAME_NONE when it has none. */
uint32_t name_index__find(const struct name_index *index, const char *name);
/* The number of @name, a new one when it has none; NAME_NONE when memory is short. */
uint32_t name_index__add(struct name_index *index, const char *name);
void name_index__clear(struct name_index *index);

#endif
