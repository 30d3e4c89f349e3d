/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile's graph as the engine draws it: CircuitGraph::visualize() of
 * src/monitor/circuit_graph.rs, where a strict operator is one node.
 *
 * The node stands at its input half's place, with the input half's readings and the output half's
 * id; edges to the input half lead to that id, and edges from a node to itself are left out.
 */
#ifndef DBPROF_MODEL_DRAWN_GRAPH_H
#define DBPROF_MODEL_DRAWN_GRAPH_H

#include "model/graph_index.h"

struct drawn_graph {
	struct profile_graph graph; /* its strings are those of the graph it was made of */
	struct graph_index source;  /* that graph */
	size_t *drawn; /* by position in it: the node that shows its readings, or GRAPH_NONE */
};

/* Of @graph, which must outlive it. Returns 0 or -ENOMEM. */
int drawn_graph__make(const struct profile_graph *graph, struct drawn_graph *ret_drawn);
void drawn_graph__clear(struct drawn_graph *drawn);

/* Position of the node that shows the readings of node @id; GRAPH_NONE when none does. */
size_t drawn_graph__shows(const struct drawn_graph *drawn, const char *id);

#endif
