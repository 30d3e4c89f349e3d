// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The circuit graph as the engine shows it: CircuitGraph::get_graph() of
 * src/monitor/circuit_graph.rs, which keeps the two halves of strict operators apart.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/source_label.h"
#include "util/array.h"

/* Circuits and regions inside each other; the SQL compiler's circuits reach about ten. */
#define CLUSTER_DEPTH_MAX 128

struct builder {
	struct profile *profile;
	const struct graph *graph;
	bool *node_seen;
	bool *region_seen;
};

static int append(struct builder *builder, const char *id, char *label, bool cluster,
		  uint32_t depth)
{
	struct profile *profile = builder->profile;
	struct profile_graph *to = &profile->graph;
	struct profile_graph_node *nodes =
		array__reserve(to->nodes, &to->node_capacity, to->node_count, sizeof(*nodes));
	struct profile_graph_node node = { .cluster = cluster, .depth = depth };

	if (nodes)
		to->nodes = nodes;
	if (nodes && label) {
		node.id = string_pool__add(&profile->strings, id);
		node.label = string_pool__add(&profile->strings, label);
	}
	free(label);
	if (!node.id || !node.label)
		return -ENOMEM;
	to->nodes[to->node_count++] = node;
	return 0;
}

/* "nn4_r1_0", Region::region_identifier(): child 0 of child 1 of the root region of nn4. */
static char *region_id(const struct graph_node *circuit, const struct graph_region *region)
{
	char text[NODE_ID_TEXT_MAX];
	char *id = NULL;
	size_t size;
	FILE *out = open_memstream(&id, &size);
	bool failed;

	if (!out)
		return NULL;
	node_path__format(&circuit->id, text);
	fputs(text, out);
	for (uint32_t i = 0; i < region->depth; i++)
		fprintf(out, "%s%" PRIu32, i ? "_" : "_r", region->path[i]);
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		free(id);
		return NULL;
	}
	return id;
}

static int add_simple(struct builder *builder, const struct graph_node *node, uint32_t depth)
{
	const char *suffix = node->kind == NODE_STRICT_OUTPUT ? " (output)" : "";
	char id[NODE_ID_TEXT_MAX];

	node_path__format(&node->id, id);
	return append(builder, id, source_label(node->name, &node->location, suffix), false, depth);
}

static int add_region(struct builder *builder, size_t circuit, size_t region, uint32_t depth);

static int add_node(struct builder *builder, size_t circuit, size_t index, uint32_t depth)
{
	const struct graph_node *node;

	if (index >= builder->graph->node_count || builder->node_seen[index])
		return -EPROTO;
	node = &builder->graph->nodes[index];
	if (node->circuit != circuit)
		return -EPROTO;
	builder->node_seen[index] = true;
	if (node->kind == NODE_CIRCUIT)
		return add_region(builder, index, node->region, depth);
	return add_simple(builder, node, depth);
}

/* Recursion ends at CLUSTER_DEPTH_MAX, and each region and node is entered once. */
static int add_region(struct builder *builder, size_t circuit, size_t index, uint32_t depth)
{
	const struct graph_region *region;
	char *id;
	int err;

	if (depth > CLUSTER_DEPTH_MAX || index >= builder->graph->region_count ||
	    builder->region_seen[index])
		return -EPROTO;
	region = &builder->graph->regions[index];
	if (region->circuit != circuit)
		return -EPROTO;
	builder->region_seen[index] = true;
	id = region_id(&builder->graph->nodes[circuit], region);
	if (!id)
		return -ENOMEM;
	err = append(builder, id, source_label(region->name, &region->location, ""), true, depth);
	free(id);
	for (size_t i = 0; i < region->node_count && !err; i++)
		err = add_node(builder, circuit, region->nodes[i], depth + 1);
	for (size_t i = 0; i < region->child_count && !err; i++)
		err = add_region(builder, circuit, region->children[i], depth + 1);
	return err;
}

/* The tree of clusters; every node must be in it, or its readings would have no place. */
static int add_nodes(struct builder *builder)
{
	const struct graph *graph = builder->graph;
	int err;

	builder->node_seen = calloc(graph->node_count, sizeof(bool));
	builder->region_seen = calloc(graph->region_count + 1, sizeof(bool));
	if (!builder->node_seen || !builder->region_seen)
		return -ENOMEM;
	err = add_node(builder, 0, 0, 0);
	for (size_t i = 0; i < graph->node_count && !err; i++)
		if (!builder->node_seen[i])
			err = -EPROTO;
	return err;
}

/* By the indices of the two nodes, which are sorted by id. */
static int compare_edges(const void *left, const void *right)
{
	const struct graph_edge *a = left;
	const struct graph_edge *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static const char *node_name(struct builder *builder, size_t index)
{
	char id[NODE_ID_TEXT_MAX];

	node_path__format(&builder->graph->nodes[index].id, id);
	return string_pool__add(&builder->profile->strings, id);
}

static int add_edge(struct builder *builder, const struct graph_edge *edge)
{
	const struct graph *graph = builder->graph;
	struct profile_graph *to = &builder->profile->graph;
	struct profile_graph_edge *made = &to->edges[to->edge_count];

	if (edge->from >= graph->node_count || edge->to >= graph->node_count)
		return -EPROTO;
	made->from = node_name(builder, edge->from);
	made->to = node_name(builder, edge->to);
	if (!made->from || !made->to)
		return -ENOMEM;
	made->from_cluster = graph->nodes[edge->from].kind == NODE_CIRCUIT;
	made->to_cluster = graph->nodes[edge->to].kind == NODE_CIRCUIT;
	to->edge_count++;
	return 0;
}

static int add_edges(struct builder *builder)
{
	const struct graph *graph = builder->graph;
	struct graph_edge *sorted;
	int err = 0;

	if (graph->edge_count == 0)
		return 0;
	sorted = calloc(graph->edge_count, sizeof(*sorted));
	builder->profile->graph.edges =
		calloc(graph->edge_count, sizeof(*builder->profile->graph.edges));
	if (!sorted || !builder->profile->graph.edges) {
		free(sorted);
		return -ENOMEM;
	}
	memcpy(sorted, graph->edges, graph->edge_count * sizeof(*sorted));
	qsort(sorted, graph->edge_count, sizeof(*sorted), compare_edges);
	for (size_t i = 0; i < graph->edge_count && !err; i++)
		err = add_edge(builder, &sorted[i]);
	free(sorted);
	return err;
}

int profile__set_graph(struct profile *profile, const struct graph *graph)
{
	struct builder builder = { .profile = profile, .graph = graph };
	int err;

	free(profile->graph.nodes);
	free(profile->graph.edges);
	profile->graph = (struct profile_graph){ 0 };
	if (graph->node_count == 0 || graph->nodes[0].kind != NODE_CIRCUIT)
		return -EPROTO;
	err = add_nodes(&builder);
	if (!err)
		err = add_edges(&builder);
	free(builder.node_seen);
	free(builder.region_seen);
	return err;
}
