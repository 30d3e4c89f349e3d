/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps one copy of each string: a profile names the same metrics thousands of times.
 */
#ifndef DBPROF_UTIL_STRING_POOL_H
#define DBPROF_UTIL_STRING_POOL_H

#include <stddef.h>

struct string_pool {
	char **slots; /* open addressing, capacity a power of two */
	size_t capacity;
	size_t count;
};

/* The pool's copy of @text, valid until string_pool__clear(). NULL when memory is short. */
const char *string_pool__add(struct string_pool *pool, const char *text);
void string_pool__clear(struct string_pool *pool);

#endif
