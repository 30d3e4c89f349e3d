/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for many small things that are forgotten together.
 */
#ifndef DBPROF_UTIL_ARENA_H
#define DBPROF_UTIL_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* the one in use first */
	size_t used;		    /* bytes of the first block */
	size_t total;		    /* bytes handed out since the last reset */
};

/* @size bytes, aligned for every type, valid until the reset. NULL when memory is short. */
void *arena__alloc(struct arena *arena, size_t size);
/* A copy of @len bytes, ended by a NUL, that need not be aligned. NULL when memory is short. */
char *arena__text(struct arena *arena, const char *text, size_t len);

/* Forgets all; some memory is kept for what comes next. */
void arena__reset(struct arena *arena);
/* Frees all. */
void arena__clear(struct arena *arena);

#endif
