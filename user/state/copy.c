// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "state/copy.h"

/* On failure what was copied so far is in *ret_value, to be cleared. */
static int copy_value(struct profile *pool, const struct value *from, unsigned int depth,
		      struct value *ret_value);

static int copy_array(struct profile *pool, const struct value *from, unsigned int depth,
		      struct value *to)
{
	int err = 0;

	to->array = (struct value_array){ calloc(from->array.count + 1, sizeof(*to)), 0 };
	if (!to->array.items)
		return -ENOMEM;
	for (size_t i = 0; i < from->array.count && !err; i++) {
		err = copy_value(pool, &from->array.items[i], depth, &to->array.items[i]);
		to->array.count++;
	}
	return err;
}

static int copy_map(struct profile *pool, const struct value *from, unsigned int depth,
		    struct value *to)
{
	int err = 0;

	to->map = (struct value_map){ calloc(from->map.count + 1, sizeof(*to->map.entries)), 0 };
	if (!to->map.entries)
		return -ENOMEM;
	for (size_t i = 0; i < from->map.count && !err; i++) {
		struct value_entry *entry = &to->map.entries[i];

		entry->key = string_pool__add(&pool->strings, from->map.entries[i].key);
		err = entry->key
			      ? copy_value(pool, &from->map.entries[i].value, depth, &entry->value)
			      : -ENOMEM;
		to->map.count++;
	}
	return err;
}

static int copy_value(struct profile *pool, const struct value *from, unsigned int depth,
		      struct value *ret_value)
{
	*ret_value = *from;
	switch (from->kind) {
	case VALUE_STRING:
		ret_value->string = string_pool__add(&pool->strings, from->string);
		return ret_value->string ? 0 : -ENOMEM;
	case VALUE_ARRAY:
	case VALUE_MAP:
		if (depth == COPY_VALUE_DEPTH) {
			*ret_value = (struct value){ .kind = VALUE_BOOL };
			return -EFBIG;
		}
		return from->kind == VALUE_ARRAY ? copy_array(pool, from, depth + 1, ret_value)
						 : copy_map(pool, from, depth + 1, ret_value);
	default:
		return 0;
	}
}

static int copy_reading(struct profile *pool, struct profile_node *node,
			const struct profile_reading *from)
{
	struct value value;
	int err;

	if (node->count == COPY_READINGS_MAX)
		return -EFBIG;
	err = copy_value(pool, &from->value, 0, &value);
	if (err) {
		value__clear(&value);
		return err;
	}
	return profile_node__set(pool, node, from->metric, from->labels, from->label_count, value);
}

int copy__node(struct profile *pool, struct profile_worker *worker, const struct profile_node *node,
	       struct fail *fail)
{
	struct profile_node *copy = profile_worker__node(worker, &node->id);
	int err = copy ? 0 : -ENOMEM;

	for (size_t i = 0; i < node->count && !err; i++)
		err = copy_reading(pool, copy, &node->readings[i]);
	if (err == -EFBIG) {
		char id[NODE_ID_TEXT_MAX];

		node_path__format(&node->id, id);
		return fail__set(fail, err, "its readings of node %s are too many or too deep", id);
	}
	return err;
}
