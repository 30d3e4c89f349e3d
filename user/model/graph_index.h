/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Nodes of a profile's graph by their ids.
 */
#ifndef DBPROF_MODEL_GRAPH_INDEX_H
#define DBPROF_MODEL_GRAPH_INDEX_H

#include "model/model.h"

#define GRAPH_NONE SIZE_MAX

struct graph_index {
	size_t *sorted; /* positions of the nodes, by id */
	const struct profile_graph *graph;
};

/* Of @graph, which must outlive it. Returns 0 or -ENOMEM. */
int graph_index__make(const struct profile_graph *graph, struct graph_index *ret_index);
void graph_index__clear(struct graph_index *index);

/* The position of the first node of that id; GRAPH_NONE when there is none. */
size_t graph_index__find(const struct graph_index *index, const char *id);

#endif
