// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A circuit's graph in a snapshot file, and whether one that was read is closed. */
#include <errno.h>
#include <stdlib.h>

#include "snapshot/snapshot_code.h"

/* The least that one of them takes in the file. */
#define NODE_LEAST   38
#define REGION_LEAST 44
#define EDGE_LEAST   17
/* Regions inside each other; what is deeper no reader of profiles would show (profile_graph.c). */
#define REGION_DEPTH_MAX 64

static void code_location(struct coder *coder, struct source_location *location)
{
	coder__text(coder, &location->file);
	coder__u32(coder, &location->line);
	coder__u32(coder, &location->column);
}

static void code_node(struct coder *coder, struct graph_node *node, const struct graph *graph)
{
	uint8_t kind = (uint8_t)node->kind;

	code_path(coder, &node->id);
	coder__u8(coder, &kind, NODE_STRICT_OUTPUT + 1, "kind of nodes");
	node->kind = (enum node_kind)kind;
	coder__bool(coder, &node->iterative);
	coder__u32(coder, &node->output_id);
	coder__text(coder, &node->name);
	code_location(coder, &node->location);
	coder__index(coder, &node->circuit, graph->node_count, "node");
	/* Whether there is such a region is checked when the regions are there. */
	coder__index(coder, &node->region, UINT32_MAX, "region");
}

static void code_indices(struct coder *coder, size_t **list, size_t *count, size_t limit,
			 const char *what)
{
	coder__array(coder, (void **)list, count, sizeof(**list), sizeof(uint64_t));
	for (size_t i = 0; i < *count && !coder->err; i++)
		coder__index(coder, &(*list)[i], limit, what);
}

static void code_region(struct coder *coder, struct graph_region *region, const struct graph *graph)
{
	size_t depth = region->depth;

	coder__text(coder, &region->name);
	code_location(coder, &region->location);
	coder__index(coder, &region->circuit, graph->node_count, "node");
	coder__array(coder, (void **)&region->path, &depth, sizeof(*region->path),
		     sizeof(*region->path));
	if (!coder->writing && depth > REGION_DEPTH_MAX)
		coder__refuse(coder, "a region lies %zu regions deep", depth);
	region->depth = (uint32_t)depth;
	for (size_t i = 0; i < depth && !coder->err; i++)
		coder__u32(coder, &region->path[i]);
	code_indices(coder, &region->nodes, &region->node_count, graph->node_count, "node");
	code_indices(coder, &region->children, &region->child_count, graph->region_count, "region");
}

static void code_edge(struct coder *coder, struct graph_edge *edge, const struct graph *graph)
{
	coder__index(coder, &edge->from, graph->node_count, "node");
	coder__index(coder, &edge->to, graph->node_count, "node");
	coder__bool(coder, &edge->is_stream);
}

/* Nodes are sorted, and each lies in the circuit that its id says. */
static void check_nodes(struct coder *coder, const struct graph *graph)
{
	for (size_t i = 0; i < graph->node_count && !coder->err; i++) {
		const struct graph_node *node = &graph->nodes[i];
		const struct graph_node *circuit = &graph->nodes[node->circuit];
		struct node_path parent = node->id;

		if (i ? node_path__compare(&node[-1].id, &node->id) >= 0
		      : node->id.depth || node->kind != NODE_CIRCUIT)
			coder__refuse(coder, "the nodes of a graph are out of order");
		if (parent.depth)
			parent.depth--;
		if (circuit->kind != NODE_CIRCUIT || node_path__compare(&circuit->id, &parent))
			coder__refuse(coder, "a node is in another circuit than its id says");
		if (!node->name)
			coder__refuse(coder, "a node has no name");
	}
}

/* Every node but the root lies in one region, and that is of its circuit. */
static void check_members(struct coder *coder, const struct graph *graph, bool *placed)
{
	for (size_t r = 0; r < graph->region_count; r++) {
		const struct graph_region *region = &graph->regions[r];

		for (size_t i = 0; i < region->node_count; i++) {
			size_t node = region->nodes[i];

			if (!node || placed[node] || graph->nodes[node].circuit != region->circuit)
				coder__refuse(coder, "a region has a node of another");
			placed[node] = true;
		}
	}
	for (size_t i = 1; i < graph->node_count; i++)
		if (!placed[i])
			coder__refuse(coder, "a node lies in no region");
}

static bool is_child(const struct graph_region *parent, const struct graph_region *child, size_t at)
{
	if (child->circuit != parent->circuit || child->depth != parent->depth + 1 ||
	    child->path[parent->depth] != at)
		return false;
	for (uint32_t i = 0; i < parent->depth; i++)
		if (child->path[i] != parent->path[i])
			return false;
	return true;
}

/* Regions are the trees of their circuits: @held tells which of them hang on something. */
static void check_trees(struct coder *coder, const struct graph *graph, bool *held)
{
	for (size_t i = 0; i < graph->node_count && !coder->err; i++) {
		const struct graph_node *node = &graph->nodes[i];

		if (node->kind != NODE_CIRCUIT)
			continue;
		if (node->region >= graph->region_count || held[node->region] ||
		    graph->regions[node->region].circuit != i || graph->regions[node->region].depth)
			coder__refuse(coder, "a circuit has no root region");
		else
			held[node->region] = true;
	}
	for (size_t r = 0; r < graph->region_count && !coder->err; r++) {
		const struct graph_region *region = &graph->regions[r];

		for (size_t i = 0; i < region->child_count; i++) {
			size_t child = region->children[i];

			if (held[child] || !is_child(region, &graph->regions[child], i))
				coder__refuse(coder, "a region is the child of another");
			held[child] = true;
		}
	}
	for (size_t r = 0; r < graph->region_count; r++)
		if (!held[r] || !graph->regions[r].name)
			coder__refuse(coder, "a region hangs on nothing");
}

static void check_graph(struct coder *coder, const struct graph *graph)
{
	bool *placed = calloc(graph->node_count + 1, sizeof(*placed));
	bool *held = calloc(graph->region_count + 1, sizeof(*held));

	if (!placed || !held)
		coder->err = coder->err ? coder->err : -ENOMEM;
	if (!coder->err && !graph->node_count)
		coder__refuse(coder, "a graph has no node");
	if (!coder->err)
		check_nodes(coder, graph);
	if (!coder->err)
		check_members(coder, graph, placed);
	if (!coder->err)
		check_trees(coder, graph, held);
	free(placed);
	free(held);
}

void code_graph(struct coder *coder, struct graph **graph)
{
	struct graph *coded;

	if (!coder->writing)
		*graph = calloc(1, sizeof(**graph));
	coded = *graph;
	if (!coded) {
		coder->err = -ENOMEM;
		return;
	}
	coder__array(coder, (void **)&coded->nodes, &coded->node_count, sizeof(*coded->nodes),
		     NODE_LEAST);
	for (size_t i = 0; i < coded->node_count && !coder->err; i++)
		code_node(coder, &coded->nodes[i], coded);
	coder__array(coder, (void **)&coded->regions, &coded->region_count, sizeof(*coded->regions),
		     REGION_LEAST);
	for (size_t i = 0; i < coded->region_count && !coder->err; i++)
		code_region(coder, &coded->regions[i], coded);
	coder__array(coder, (void **)&coded->edges, &coded->edge_count, sizeof(*coded->edges),
		     EDGE_LEAST);
	for (size_t i = 0; i < coded->edge_count && !coder->err; i++)
		code_edge(coder, &coded->edges[i], coded);
	if (!coder->writing && !coder->err)
		check_graph(coder, coded);
}
