// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/name_index.h"

#define SLOTS_MIN 64

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *text)
{
	uint64_t value = 0xcbf29ce484222325u;

	for (; *text; text++)
		value = (value ^ (uint8_t)*text) * 0x100000001b3u;
	return value;
}

/* The slot that holds @name or the empty one where it belongs; there is always an empty one. */
static uint32_t *slot_of(const struct name_index *index, const char *name)
{
	size_t at = hash(name) & (index->slot_count - 1);

	while (index->slots[at] != NAME_NONE && strcmp(index->names[index->slots[at]], name) != 0)
		at = (at + 1) & (index->slot_count - 1);
	return &index->slots[at];
}

static int grow(struct name_index *index)
{
	size_t count = index->slot_count ? index->slot_count * 2 : SLOTS_MIN;
	uint32_t *slots = malloc(count * sizeof(*slots));

	if (!slots)
		return -1;
	memset(slots, 0xff, count * sizeof(*slots));
	free(index->slots);
	index->slots = slots;
	index->slot_count = count;
	for (size_t i = 0; i < index->count; i++)
		*slot_of(index, index->names[i]) = (uint32_t)i;
	return 0;
}

uint32_t name_index__find(const struct name_index *index, const char *name)
{
	return index->slot_count ? *slot_of(index, name) : NAME_NONE;
}

uint32_t name_index__add(struct name_index *index, const char *name)
{
	uint32_t number = name_index__find(index, name);
	char **names;

	if (number != NAME_NONE)
		return number;
	if (index->count >= index->slot_count / 2 && grow(index))
		return NAME_NONE;
	names = array__reserve(index->names, &index->capacity, index->count, sizeof(*names));
	if (!names || index->count >= NAME_NONE)
		return NAME_NONE;
	index->names = names;
	names[index->count] = strdup(name);
	if (!names[index->count])
		return NAME_NONE;
	number = (uint32_t)index->count;
	*slot_of(index, name) = number; /* empty until here: nothing has this name */
	index->count++;
	return number;
}

void name_index__clear(struct name_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		free(index->names[i]);
	free(index->names);
	free(index->slots);
	*index = (struct name_index){ 0 };
}
