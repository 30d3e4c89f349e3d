// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "reader/node_set.h"

/* FNV-1a, 64 bits, number by number. */
static size_t hash(const struct node_path *id)
{
	uint64_t value = 0xcbf29ce484222325u ^ id->depth;

	for (uint32_t i = 0; i < id->depth; i++)
		value = (value ^ id->id[i]) * 0x100000001b3u;
	return (size_t)(value ^ value >> 29);
}

/* The slot of @id, or the empty one where it belongs; there is always an empty one. */
static struct node_set_entry *slot_of(struct node_set_entry *slots, size_t capacity,
				      const struct node_path *id)
{
	size_t i = hash(id) & (capacity - 1);

	while (slots[i].used && node_path__compare(&slots[i].id, id) != 0)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static int grow(struct node_set *set)
{
	size_t capacity = set->capacity ? set->capacity * 2 : 256;
	struct node_set_entry *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < set->capacity; i++)
		if (set->slots[i].used)
			*slot_of(slots, capacity, &set->slots[i].id) = set->slots[i];
	free(set->slots);
	set->slots = slots;
	set->capacity = capacity;
	return 0;
}

int node_set__add(struct node_set *set, const struct node_path *id, size_t worker)
{
	struct node_set_entry *entry;

	if (set->count >= set->capacity / 2 && grow(set))
		return -ENOMEM;
	entry = slot_of(set->slots, set->capacity, id);
	if (entry->used) {
		if (entry->last == worker)
			return -EEXIST;
		entry->last = worker;
		return 0;
	}
	if (set->count == NODE_SET_MAX)
		return -E2BIG;
	*entry =
		(struct node_set_entry){ .id = *id, .used = true, .first = worker, .last = worker };
	set->count++;
	return 0;
}

void node_set__know(struct node_set *set, const struct node_path *id)
{
	struct node_set_entry *entry;

	if (set->capacity == 0)
		return;
	entry = slot_of(set->slots, set->capacity, id);
	if (entry->used)
		entry->known = true;
}

const struct node_set_entry *node_set__unknown(const struct node_set *set)
{
	const struct node_set_entry *best = NULL;

	for (size_t i = 0; i < set->capacity; i++) {
		const struct node_set_entry *entry = &set->slots[i];

		if (!entry->used || entry->known)
			continue;
		if (!best || entry->first < best->first ||
		    (entry->first == best->first && node_path__compare(&entry->id, &best->id) < 0))
			best = entry;
	}
	return best;
}

void node_set__clear(struct node_set *set)
{
	free(set->slots);
	*set = (struct node_set){ 0 };
}
