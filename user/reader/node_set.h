/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes that workers have readings of: each once, however many workers there are.
 */
#ifndef DBPROF_READER_NODE_SET_H
#define DBPROF_READER_NODE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/graph.h"

#define NODE_SET_MAX (1u << 20) /* nodes */

struct node_set_entry {
	struct node_path id;
	bool used;
	bool known;   /* the graph has it */
	size_t first; /* worker that had it first */
	size_t last;  /* and last */
};

/* All zero when it is empty. */
struct node_set {
	struct node_set_entry *slots; /* open addressing, capacity a power of two */
	size_t capacity;
	size_t count;
};

/*
 * Notes that @worker has the node. Returns 0, -EEXIST when it has it already, -E2BIG when there are
 * more than NODE_SET_MAX, or -ENOMEM. Workers come one after the other.
 */
int node_set__add(struct node_set *set, const struct node_path *id, size_t worker);

/* Notes that the graph has the node, if it is one of the set. */
void node_set__know(struct node_set *set, const struct node_path *id);

/* A node that the graph does not have, that of the first worker, then of the lowest id; or NULL. */
const struct node_set_entry *node_set__unknown(const struct node_set *set);

void node_set__clear(struct node_set *set);

#endif
