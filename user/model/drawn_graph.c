// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/drawn_graph.h"
#include "model/strict_halves.h"

/* The input half of a pair. */
static bool is_input(const struct strict_halves *halves, size_t node)
{
	return !halves->output[node] && halves->other[node] != GRAPH_NONE;
}

static void add_nodes(struct drawn_graph *drawn, const struct strict_halves *halves)
{
	const struct profile_graph *from = drawn->source.graph;
	struct profile_graph *to = &drawn->graph;

	for (size_t i = 0; i < from->node_count; i++) {
		drawn->drawn[i] = GRAPH_NONE;
		if (halves->output[i])
			continue;
		drawn->drawn[i] = to->node_count;
		to->nodes[to->node_count] = from->nodes[i];
		if (is_input(halves, i))
			to->nodes[to->node_count].id = from->nodes[halves->other[i]].id;
		to->node_count++;
	}
}

static void add_edges(struct drawn_graph *drawn, const struct strict_halves *halves)
{
	const struct profile_graph *from = drawn->source.graph;
	struct profile_graph *to = &drawn->graph;

	for (size_t i = 0; i < from->edge_count; i++) {
		struct profile_graph_edge edge = from->edges[i];
		size_t node = graph_index__find(&drawn->source, edge.to);

		if (node != GRAPH_NONE && is_input(halves, node))
			edge.to = from->nodes[halves->other[node]].id;
		if (strcmp(edge.from, edge.to) != 0)
			to->edges[to->edge_count++] = edge;
	}
}

int drawn_graph__make(const struct profile_graph *graph, struct drawn_graph *ret_drawn)
{
	struct drawn_graph drawn = { 0 };
	struct strict_halves halves = { 0 };
	int err = graph_index__make(graph, &drawn.source);

	if (!err)
		err = strict_halves__find(&drawn.source, &halves);
	if (!err) {
		drawn.graph.nodes = calloc(graph->node_count + 1, sizeof(*drawn.graph.nodes));
		drawn.graph.edges = calloc(graph->edge_count + 1, sizeof(*drawn.graph.edges));
		drawn.drawn = calloc(graph->node_count + 1, sizeof(*drawn.drawn));
		if (!drawn.graph.nodes || !drawn.graph.edges || !drawn.drawn)
			err = -ENOMEM;
	}
	if (!err) {
		add_nodes(&drawn, &halves);
		add_edges(&drawn, &halves);
		*ret_drawn = drawn;
	} else {
		drawn_graph__clear(&drawn);
	}
	strict_halves__clear(&halves);
	return err;
}

void drawn_graph__clear(struct drawn_graph *drawn)
{
	graph_index__clear(&drawn->source);
	free(drawn->graph.nodes);
	free(drawn->graph.edges);
	free(drawn->drawn);
	*drawn = (struct drawn_graph){ 0 };
}

size_t drawn_graph__shows(const struct drawn_graph *drawn, const char *id)
{
	size_t node = graph_index__find(&drawn->source, id);

	return node == GRAPH_NONE ? GRAPH_NONE : drawn->drawn[node];
}
