// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Node ids and the comparison of graphs.
 */
#include <stdlib.h>

#include "check.h"
#include "engine/graph.h"

static struct node_path path(uint32_t depth, uint32_t first, uint32_t second)
{
	return (struct node_path){ .depth = depth, .id = { first, second } };
}

static void check_format(void)
{
	struct node_path deepest = { .depth = NODE_PATH_MAX };
	struct node_path paths[] = { path(0, 0, 0), path(1, 4, 0), path(2, 4, 2) };
	const char *wanted[] = { "n", "nn4", "nn4_n2" };
	char text[NODE_ID_TEXT_MAX];

	for (size_t i = 0; i < 3; i++) {
		node_path__format(&paths[i], text);
		CHECK_TEXT(text, wanted[i]);
	}
	for (uint32_t i = 0; i < NODE_PATH_MAX; i++)
		deepest.id[i] = UINT32_MAX;
	node_path__format(&deepest, text);
	CHECK(strlen(text) == 1 + NODE_PATH_MAX * strlen("n4294967295_") - 1);
}

static void check_order(void)
{
	/* As Rust orders Vec<NodeId>: parents before their children, numbers as numbers. */
	struct node_path ordered[] = { path(0, 0, 0), path(1, 2, 0),  path(2, 2, 0),
				       path(2, 2, 9), path(2, 2, 10), path(1, 10, 0) };
	size_t count = sizeof(ordered) / sizeof(ordered[0]);

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < count; k++) {
			int order = node_path__compare(&ordered[i], &ordered[k]);

			CHECK(i == k ? order == 0 : i < k ? order < 0 : order > 0);
		}
	}
}

/* n, nn0, nn1 with one region and the edges nn0 -> nn1 (a stream and a dependency). */
static struct graph *small_graph(void)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	graph->nodes = calloc(3, sizeof(*graph->nodes));
	graph->node_count = 3;
	for (size_t i = 0; i < 3; i++) {
		graph->nodes[i].name = strdup(i ? "Map" : "root");
		graph->nodes[i].kind = i ? NODE_OPERATOR : NODE_CIRCUIT;
		graph->nodes[i].id = i ? path(1, (uint32_t)i - 1, 0) : path(0, 0, 0);
	}
	graph->regions = calloc(1, sizeof(*graph->regions));
	graph->region_count = 1;
	graph->regions[0].name = strdup("root");
	graph->regions[0].nodes = calloc(2, sizeof(size_t));
	graph->regions[0].nodes[0] = 1;
	graph->regions[0].nodes[1] = 2;
	graph->regions[0].node_count = 2;
	graph->edges = calloc(2, sizeof(*graph->edges));
	graph->edges[0] = (struct graph_edge){ .from = 1, .to = 2, .is_stream = true };
	graph->edges[1] = (struct graph_edge){ .from = 1, .to = 2 };
	graph->edge_count = 2;
	return graph;
}

static void check_find(void)
{
	struct graph *graph = small_graph();
	struct node_path unknown[] = { path(1, 2, 0), path(2, 0, 0), path(2, 1, 5) };

	for (size_t i = 0; i < graph->node_count; i++)
		CHECK(graph__find(graph, &graph->nodes[i].id) == &graph->nodes[i]);
	for (size_t i = 0; i < 3; i++)
		CHECK(!graph__find(graph, &unknown[i]));
	graph__free(graph);
	graph__free(NULL);
}

static void check_equal(void)
{
	struct graph *a = small_graph(), *b = small_graph();
	struct graph_edge first = b->edges[0];

	CHECK(graph__equal(a, b));
	b->edges[0] = b->edges[1];
	b->edges[1] = first;
	CHECK(graph__equal(a, b)); /* the order of edges does not count */
	b->edges[0].is_stream = true;
	CHECK(!graph__equal(a, b)); /* a stream twice is no stream and dependency */
	b->edges[0].is_stream = false;
	b->nodes[2].kind = NODE_STRICT_OUTPUT;
	CHECK(!graph__equal(a, b));
	b->nodes[2].kind = NODE_OPERATOR;
	b->nodes[2].location.line = 7;
	CHECK(!graph__equal(a, b));
	b->nodes[2].location.line = 0;
	b->regions[0].nodes[0] = 2;
	b->regions[0].nodes[1] = 1;
	CHECK(!graph__equal(a, b));
	graph__free(a);
	graph__free(b);
}

int main(void)
{
	check_format();
	check_order();
	check_find();
	check_equal();
	return CHECK_RESULT();
}
