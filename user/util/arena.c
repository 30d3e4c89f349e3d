// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

#define BLOCK_SIZE 16384u

struct arena_block {
	struct arena_block *next;
	size_t size;
	alignas(max_align_t) char bytes[];
};

/* A block with room for @size bytes, in front of the others. Returns 0 or -1. */
static int add_block(struct arena *arena, size_t size)
{
	size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
	struct arena_block *block;

	if (size > SIZE_MAX / 2)
		return -1;
	block = malloc(sizeof(*block) + room);
	if (!block)
		return -1;
	block->next = arena->blocks;
	block->size = room;
	arena->blocks = block;
	arena->used = 0;
	return 0;
}

static void *take(struct arena *arena, size_t size, size_t align)
{
	size_t at = (arena->used + align - 1) & ~(align - 1);

	if (!arena->blocks || size > arena->blocks->size || at > arena->blocks->size - size) {
		if (add_block(arena, size))
			return NULL;
		at = 0;
	}
	arena->used = at + size;
	arena->total += size;
	return arena->blocks->bytes + at;
}

void *arena__alloc(struct arena *arena, size_t size)
{
	return take(arena, size, alignof(max_align_t));
}

char *arena__text(struct arena *arena, const char *text, size_t len)
{
	char *copy = take(arena, len + 1, 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void arena__reset(struct arena *arena)
{
	/* A block of the usual size, whatever large one came last. */
	if (arena->blocks && arena->blocks->size == BLOCK_SIZE) {
		free_blocks(arena->blocks->next);
		arena->blocks->next = NULL;
	} else {
		free_blocks(arena->blocks);
		arena->blocks = NULL;
	}
	arena->used = 0;
	arena->total = 0;
}

void arena__clear(struct arena *arena)
{
	free_blocks(arena->blocks);
	*arena = (struct arena){ 0 };
}
