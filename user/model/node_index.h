/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers nodes by their ids, in the order in which they are added: 0, 1, 2. What is to be known of
 * a node is kept in an array of the caller's.
 */
#ifndef DBPROF_MODEL_NODE_INDEX_H
#define DBPROF_MODEL_NODE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "engine/graph.h"

#define NODE_INDEX_MAX (1u << 20) /* nodes */

/* All zero when it is empty. */
struct node_index {
	struct node_path *ids; /* by number */
	size_t count;
	size_t id_capacity;
	uint32_t *slots; /* open addressing: number + 1, 0 when free; capacity a power of two */
	size_t capacity;
};

/* The number of @id, a new one if it has none. Returns 0, -ENOMEM, or -E2BIG when it is full. */
int node_index__add(struct node_index *index, const struct node_path *id, size_t *ret_number);
/* The number of @id, SIZE_MAX when it has none. */
size_t node_index__find(const struct node_index *index, const struct node_path *id);
void node_index__clear(struct node_index *index);

#endif
