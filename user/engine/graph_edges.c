// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The edges: src/monitor/circuit_graph.rs, CircuitGraph::edges, from each node to its readers. */
#include <errno.h>
#include <stdlib.h>

#include "engine/graph_reader.h"
#include "engine/hashmap.h"

/* One node and its outgoing edges, whose Vec is copied to @edges. */
struct fan {
	struct extent from;
	struct extent to;
	uint64_t first; /* number of its first edge */
};

struct edge_walk {
	struct graph_reader *reader;
	struct fan *fans;
	size_t fan_count;
	uint64_t edge_count;
	struct buffer edges;		  /* all (GlobalNodeId, EdgeKind) */
	uint64_t (*words)[NODE_PATH_MAX]; /* paths of all fans, then of all edges' ends */
	struct gather_part *parts;
};

static int no_edge(struct edge_walk *walk, const char *what)
{
	return fail__set(walk->reader->fail, -EPROTO, "the edges of the circuit graph have %s",
			 what);
}

static int read_fans(struct edge_walk *walk, const uint8_t *table)
{
	const struct layout *layout = walk->reader->layout;
	struct buffer image = { 0 };
	struct table_header header;
	const uint8_t *entry;
	uint64_t cursor = 0;
	int err = table_header__decode(layout, table, layout__get(layout, LAYOUT_EDGES_ENTRY_SIZE),
				       &header);

	if (err || header.items > GRAPH_NODES_MAX)
		return no_edge(walk, "no valid table");
	walk->fans = calloc(header.items + 1, sizeof(*walk->fans));
	if (!walk->fans)
		return -ENOMEM;
	err = table__read(walk->reader->memory, &header, &image);
	while (!err && (entry = table__next(&header, image.bytes, &cursor))) {
		struct fan *fan = &walk->fans[walk->fan_count++];

		fan->first = walk->edge_count;
		if (!field_vec(layout, field(layout, entry, LAYOUT_EDGES_ENTRY_FROM), NODE_PATH_MAX,
			       &fan->from) ||
		    !field_vec(layout, field(layout, entry, LAYOUT_EDGES_ENTRY_TO),
			       GRAPH_EDGES_MAX - walk->edge_count, &fan->to))
			err = no_edge(walk, "an impossible entry");
		walk->edge_count += fan->to.len;
	}
	buffer__free(&image);
	return err;
}

static int allocate(struct edge_walk *walk)
{
	size_t paths = walk->fan_count + walk->edge_count + 1;
	struct graph *graph = walk->reader->graph;

	walk->words = calloc(paths, sizeof(*walk->words));
	walk->parts = calloc(paths, sizeof(*walk->parts));
	graph->edges = calloc(walk->edge_count + 1, sizeof(*graph->edges));
	if (!walk->words || !walk->parts || !graph->edges)
		return -ENOMEM;
	return buffer__reserve(&walk->edges,
			       (walk->edge_count + 1) *
				       layout__get(walk->reader->layout, LAYOUT_EDGE_SIZE));
}

/* Copies the Vecs of edges. */
static int read_edges(struct edge_walk *walk)
{
	size_t size = layout__get(walk->reader->layout, LAYOUT_EDGE_SIZE);

	for (size_t i = 0; i < walk->fan_count; i++) {
		const struct fan *fan = &walk->fans[i];

		if (fan->to.len * size > UINT32_MAX)
			return no_edge(walk, "too many from one node");
		walk->parts[i] = (struct gather_part){
			.addr = fan->to.addr,
			.len = (uint32_t)(fan->to.len * size),
			.to = walk->edges.bytes + fan->first * size,
		};
	}
	return gather__read(walk->reader->memory, walk->parts, walk->fan_count);
}

/* Where the path of end number @end lies: first those that edges come from, then where they go. */
static bool end_path(const struct edge_walk *walk, size_t end, struct extent *ret_path)
{
	const struct layout *layout = walk->reader->layout;
	const uint8_t *edge;

	if (end < walk->fan_count) {
		*ret_path = walk->fans[end].from;
		return true;
	}
	edge = walk->edges.bytes + (end - walk->fan_count) * layout__get(layout, LAYOUT_EDGE_SIZE);
	return field_vec(layout, field(layout, edge, LAYOUT_EDGE_TO), NODE_PATH_MAX, ret_path);
}

/* Copies the paths of both ends. */
static int read_ends(struct edge_walk *walk)
{
	size_t count = walk->fan_count + walk->edge_count;

	for (size_t i = 0; i < count; i++) {
		struct extent path;

		if (!end_path(walk, i, &path))
			return no_edge(walk, "an impossible end");
		walk->parts[i] = (struct gather_part){
			.addr = path.addr,
			.len = (uint32_t)(path.len * sizeof(uint64_t)),
			.to = walk->words[i],
		};
	}
	return gather__read(walk->reader->memory, walk->parts, count);
}

static int find_node(struct edge_walk *walk, const uint64_t *words, uint64_t len, size_t *ret_index)
{
	const struct graph *graph = walk->reader->graph;
	const struct graph_node *node = NULL;
	struct node_path path;

	if (node_path__from_words(words, len, &path))
		node = graph__find(graph, &path);
	if (!node)
		return no_edge(walk, "an end that is not a node");
	*ret_index = (size_t)(node - graph->nodes);
	return 0;
}

static int decode_edge(struct edge_walk *walk, uint64_t number, size_t from)
{
	const struct layout *layout = walk->reader->layout;
	const uint8_t *bytes = walk->edges.bytes + number * layout__get(layout, LAYOUT_EDGE_SIZE);
	uint64_t tag = field_tag(layout, bytes, LAYOUT_EDGE_KIND_TAG, LAYOUT_EDGE_KIND_TAGSIZE);
	uint64_t stream = layout__get(layout, LAYOUT_EDGE_IS_STREAM);
	uint64_t dependency = layout__get(layout, LAYOUT_EDGE_IS_DEPENDENCY);
	struct graph *graph = walk->reader->graph;
	struct graph_edge *edge = &graph->edges[graph->edge_count];
	struct extent to;
	int err;

	if (tag != stream && tag != dependency)
		return no_edge(walk, "an unknown kind");
	/* Checked by read_ends(). */
	if (!field_vec(layout, field(layout, bytes, LAYOUT_EDGE_TO), NODE_PATH_MAX, &to))
		return no_edge(walk, "an impossible end");
	edge->from = from;
	edge->is_stream = tag == stream;
	err = find_node(walk, walk->words[walk->fan_count + number], to.len, &edge->to);
	if (!err)
		graph->edge_count++;
	return err;
}

int graph_reader__edges(struct graph_reader *reader, const uint8_t *edges)
{
	struct edge_walk walk = { .reader = reader };
	int err = read_fans(&walk, edges);

	if (!err)
		err = allocate(&walk);
	if (!err)
		err = read_edges(&walk);
	if (!err)
		err = read_ends(&walk);
	for (size_t i = 0; !err && i < walk.fan_count; i++) {
		const struct fan *fan = &walk.fans[i];
		size_t from;

		/* gather__read() sorts the parts, not the words. */
		err = find_node(&walk, walk.words[i], fan->from.len, &from);
		for (uint64_t k = 0; !err && k < fan->to.len; k++)
			err = decode_edge(&walk, fan->first + k, from);
	}
	free(walk.fans);
	free(walk.words);
	free(walk.parts);
	buffer__free(&walk.edges);
	return err;
}
