// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/graph.h"

void node_path__format(const struct node_path *path, char text[NODE_ID_TEXT_MAX])
{
	size_t used = 1;

	text[0] = 'n';
	text[1] = '\0';
	/* GlobalNodeId::node_identifier joins "n4" and "n2", the texts of NodeIds, by "_". */
	for (uint32_t i = 0; i < path->depth && i < NODE_PATH_MAX; i++)
		used += (size_t)snprintf(text + used, NODE_ID_TEXT_MAX - used, "%sn%u",
					 i ? "_" : "", path->id[i]);
}

/* A local id, without leading zeros, at *@text, which is moved behind it. */
static int parse_local_id(const char **text, uint32_t *ret_id)
{
	const char *at = *text;
	uint64_t id = 0;

	if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] >= '0' && at[1] <= '9'))
		return -EINVAL;
	for (; *at >= '0' && *at <= '9'; at++) {
		id = id * 10 + (uint64_t)(*at - '0');
		if (id > UINT32_MAX)
			return -EINVAL;
	}
	*ret_id = (uint32_t)id;
	*text = at;
	return 0;
}

int node_path__parse(const char *text, struct node_path *ret_path)
{
	struct node_path path = { 0 };

	if (*text++ != 'n')
		return -EINVAL;
	while (*text) {
		if (path.depth == NODE_PATH_MAX || (path.depth > 0 && *text++ != '_') ||
		    *text++ != 'n' || parse_local_id(&text, &path.id[path.depth]))
			return -EINVAL;
		path.depth++;
	}
	*ret_path = path;
	return 0;
}

int node_path__compare(const struct node_path *a, const struct node_path *b)
{
	for (uint32_t i = 0; i < a->depth && i < b->depth; i++) {
		if (a->id[i] != b->id[i])
			return a->id[i] < b->id[i] ? -1 : 1;
	}
	return a->depth == b->depth ? 0 : a->depth < b->depth ? -1 : 1;
}

void graph__free(struct graph *graph)
{
	if (!graph)
		return;
	for (size_t i = 0; i < graph->node_count; i++) {
		free(graph->nodes[i].name);
		free(graph->nodes[i].location.file);
	}
	for (size_t i = 0; i < graph->region_count; i++) {
		struct graph_region *region = &graph->regions[i];

		free(region->name);
		free(region->location.file);
		free(region->path);
		free(region->nodes);
		free(region->children);
	}
	free(graph->nodes);
	free(graph->regions);
	free(graph->edges);
	free(graph);
}

const struct graph_node *graph__find(const struct graph *graph, const struct node_path *id)
{
	size_t low = 0, high = graph->node_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = node_path__compare(&graph->nodes[middle].id, id);

		if (order == 0)
			return &graph->nodes[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_location(const struct source_location *a, const struct source_location *b)
{
	return same_text(a->file, b->file) && a->line == b->line && a->column == b->column;
}

static bool same_node(const struct graph_node *a, const struct graph_node *b)
{
	return node_path__compare(&a->id, &b->id) == 0 && a->kind == b->kind &&
	       a->iterative == b->iterative && a->output_id == b->output_id &&
	       a->circuit == b->circuit && a->region == b->region && same_text(a->name, b->name) &&
	       same_location(&a->location, &b->location);
}

static bool same_bytes(const void *a, const void *b, size_t len)
{
	return len == 0 || memcmp(a, b, len) == 0;
}

static bool same_region(const struct graph_region *a, const struct graph_region *b)
{
	return a->circuit == b->circuit && a->depth == b->depth && a->node_count == b->node_count &&
	       a->child_count == b->child_count &&
	       same_bytes(a->path, b->path, a->depth * sizeof(*a->path)) &&
	       same_bytes(a->nodes, b->nodes, a->node_count * sizeof(*a->nodes)) &&
	       same_bytes(a->children, b->children, a->child_count * sizeof(*a->children)) &&
	       same_text(a->name, b->name) && same_location(&a->location, &b->location);
}

static int compare_edges(const void *left, const void *right)
{
	const struct graph_edge *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (int)a->is_stream - (int)b->is_stream;
}

static struct graph_edge *sorted_edges(const struct graph *graph)
{
	struct graph_edge *edges = malloc((graph->edge_count + 1) * sizeof(*edges));

	if (!edges)
		return NULL;
	if (graph->edge_count)
		memcpy(edges, graph->edges, graph->edge_count * sizeof(*edges));
	qsort(edges, graph->edge_count, sizeof(*edges), compare_edges);
	return edges;
}

/* The engine's map of edges iterates in another order in each worker. */
static bool same_edges(const struct graph *a, const struct graph *b)
{
	struct graph_edge *left = sorted_edges(a);
	struct graph_edge *right = sorted_edges(b);
	bool same = left && right;

	for (size_t i = 0; same && i < a->edge_count; i++)
		same = compare_edges(&left[i], &right[i]) == 0;
	free(left);
	free(right);
	return same;
}

bool graph__equal(const struct graph *a, const struct graph *b)
{
	if (a->node_count != b->node_count || a->region_count != b->region_count ||
	    a->edge_count != b->edge_count)
		return false;
	for (size_t i = 0; i < a->node_count; i++) {
		if (!same_node(&a->nodes[i], &b->nodes[i]))
			return false;
	}
	for (size_t i = 0; i < a->region_count; i++) {
		if (!same_region(&a->regions[i], &b->regions[i]))
			return false;
	}
	return same_edges(a, b);
}
