// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "model/node_index.h"
#include "util/array.h"

/* FNV-1a, 64 bits, number by number. */
static size_t hash(const struct node_path *id)
{
	uint64_t value = 0xcbf29ce484222325u ^ id->depth;

	for (uint32_t i = 0; i < id->depth; i++)
		value = (value ^ id->id[i]) * 0x100000001b3u;
	return (size_t)(value ^ value >> 29);
}

/* The slot of @id, or the free one where it belongs; there is always a free one. */
static uint32_t *slot_of(const struct node_index *index, uint32_t *slots, size_t capacity,
			 const struct node_path *id)
{
	size_t i = hash(id) & (capacity - 1);

	while (slots[i] && node_path__compare(&index->ids[slots[i] - 1], id) != 0)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static int grow(struct node_index *index)
{
	size_t capacity = index->capacity ? index->capacity * 2 : 256;
	uint32_t *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->count; i++)
		*slot_of(index, slots, capacity, &index->ids[i]) = (uint32_t)i + 1;
	free(index->slots);
	index->slots = slots;
	index->capacity = capacity;
	return 0;
}

int node_index__add(struct node_index *index, const struct node_path *id, size_t *ret_number)
{
	struct node_path *ids;
	uint32_t *slot;

	if (index->count >= index->capacity / 2 && grow(index))
		return -ENOMEM;
	slot = slot_of(index, index->slots, index->capacity, id);
	if (*slot == 0) {
		if (index->count == NODE_INDEX_MAX)
			return -E2BIG;
		ids = array__reserve(index->ids, &index->id_capacity, index->count, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		index->ids = ids;
		ids[index->count++] = *id;
		*slot = (uint32_t)index->count;
	}
	*ret_number = *slot - 1;
	return 0;
}

size_t node_index__find(const struct node_index *index, const struct node_path *id)
{
	uint32_t slot = index->capacity ? *slot_of(index, index->slots, index->capacity, id) : 0;

	return slot ? slot - 1 : SIZE_MAX;
}

void node_index__clear(struct node_index *index)
{
	free(index->ids);
	free(index->slots);
	*index = (struct node_index){ 0 };
}
