// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "export/json_parts.h"

static void name(struct json_writer *json, const char *id, const char *label)
{
	json__key(json, "id");
	json__string(json, id);
	json__key(json, "label");
	json__string(json, label);
}

/* Opens a cluster; the root stands by itself, others in an enum's {"Cluster":...}. */
static void cluster_begin(struct json_writer *json, const struct profile_graph_node *node)
{
	if (node->depth > 0) {
		json__object_begin(json);
		json__key(json, "Cluster");
	}
	json__object_begin(json);
	name(json, node->id, node->label);
	json__key(json, "nodes");
	json__array_begin(json);
}

static void cluster_end(struct json_writer *json, uint32_t depth)
{
	json__array_end(json);
	json__object_end(json);
	if (depth > 0)
		json__object_end(json);
}

static void simple(struct json_writer *json, const struct profile_graph_node *node)
{
	json__object_begin(json);
	json__key(json, "Simple");
	json__object_begin(json);
	name(json, node->id, node->label);
	json__object_end(json);
	json__object_end(json);
}

/* A profile without workers still has a root: viewers refuse a null graph. */
static const struct profile_graph_node bare_root = { "n", "root", true, 0 };

static void nodes(struct json_writer *json, const struct profile_graph *graph)
{
	const struct profile_graph_node *node = graph->node_count ? graph->nodes : &bare_root;
	const struct profile_graph_node *end = node + (graph->node_count ? graph->node_count : 1);
	uint32_t open = 0; /* clusters */

	for (; node < end; node++) {
		while (open > node->depth)
			cluster_end(json, --open);
		if (node->cluster) {
			cluster_begin(json, node);
			open++;
		} else {
			simple(json, node);
		}
	}
	while (open > 0)
		cluster_end(json, --open);
}

void json_graph(struct json_writer *json, const struct profile_graph *graph)
{
	json__object_begin(json);
	json__key(json, "nodes");
	nodes(json, graph);
	json__key(json, "edges");
	json__array_begin(json);
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct profile_graph_edge *edge = &graph->edges[i];

		json__object_begin(json);
		json__key(json, "from_node");
		json__string(json, edge->from);
		json__key(json, "from_cluster");
		json__bool(json, edge->from_cluster);
		json__key(json, "to_node");
		json__string(json, edge->to);
		json__key(json, "to_cluster");
		json__bool(json, edge->to_cluster);
		json__object_end(json);
	}
	json__array_end(json);
	json__object_end(json);
}
