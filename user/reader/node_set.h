/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes that workers have readings of: each once, however many workers there are.
 */
#ifndef DBPROF_READER_NODE_SET_H
#define DBPROF_READER_NODE_SET_H

#include <stdbool.h>

#include "model/model.h"
#include "model/node_index.h"

struct node_mark {
	size_t first; /* worker that had it first */
	size_t last;  /* and last */
	bool known;   /* the graph has it */
};

/* All zero when it is empty. */
struct node_set {
	struct node_index index;
	struct node_mark *marks; /* by the index's numbers */
	size_t count;
	size_t capacity;
};

/*
 * Notes that @worker has the node. Returns 0, -EEXIST when it has it already, -E2BIG when there are
 * too many, or -ENOMEM. Workers come one after the other.
 */
int node_set__add(struct node_set *set, const struct node_path *id, size_t worker);

/*
 * A node that the graph does not have, with the first worker that has it; of several, the one of
 * the lowest worker, then of the lowest id. False when there is none.
 */
bool node_set__unknown(struct node_set *set, const struct profile_graph *graph,
		       struct node_path *ret_id, size_t *ret_worker);

void node_set__clear(struct node_set *set);

#endif
