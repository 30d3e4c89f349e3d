// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/string_pool.h"

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325u;

	for (; *text; text++)
		value = (value ^ (uint8_t)*text) * 0x100000001b3u;
	return value;
}

/* The slot that holds @text or the empty one where it belongs; there is always an empty one. */
static char **slot_of(char **slots, size_t capacity, const char *text)
{
	size_t i = hash(text) & (capacity - 1);

	while (slots[i] && strcmp(slots[i], text) != 0)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static int grow(struct string_pool *pool)
{
	size_t capacity = pool->capacity ? pool->capacity * 2 : 64;
	char **slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < pool->capacity; i++)
		if (pool->slots[i])
			*slot_of(slots, capacity, pool->slots[i]) = pool->slots[i];
	free(pool->slots);
	pool->slots = slots;
	pool->capacity = capacity;
	return 0;
}

const char *string_pool__add(struct string_pool *pool, const char *text)
{
	char **slot;

	if (pool->count >= pool->capacity / 2 && grow(pool))
		return NULL;
	slot = slot_of(pool->slots, pool->capacity, text);
	if (!*slot) {
		*slot = strdup(text);
		if (!*slot)
			return NULL;
		pool->count++;
	}
	return *slot;
}

void string_pool__clear(struct string_pool *pool)
{
	for (size_t i = 0; i < pool->capacity; i++)
		free(pool->slots[i]);
	free(pool->slots);
	*pool = (struct string_pool){ 0 };
}
