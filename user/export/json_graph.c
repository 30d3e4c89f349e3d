// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "export/json_parts.h"

static void name(struct json_writer *json, const char *id, const char *label)
{
	json__member_string(json, "id", id);
	json__member_string(json, "label", label);
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
	json__member_array_begin(json, "nodes");
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
	json__member_object_begin(json, "Simple");
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
	json__member_array_begin(json, "edges");
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct profile_graph_edge *edge = &graph->edges[i];

		json__object_begin(json);
		json__member_string(json, "from_node", edge->from);
		json__member_bool(json, "from_cluster", edge->from_cluster);
		json__member_string(json, "to_node", edge->to);
		json__member_bool(json, "to_cluster", edge->to_cluster);
		json__object_end(json);
	}
	json__array_end(json);
	json__object_end(json);
}
