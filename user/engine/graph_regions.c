// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The trees of regions: src/monitor/circuit_graph.rs, Region. Every node lies in one of them. */
#include <errno.h>
#include <stdlib.h>

#include "engine/graph_reader.h"

#define REGIONS_MAX	 (1u << 20)
#define REGION_DEPTH_MAX 64

/* The regions of one circuit, while they are read. */
struct region_walk {
	struct graph_reader *reader;
	size_t circuit;	 /* index of its node */
	uint8_t *placed; /* for each node of the graph, whether a region has it */
	uint32_t path[REGION_DEPTH_MAX];
	struct buffer words;
};

static int no_region(struct region_walk *walk, const char *what)
{
	char text[NODE_ID_TEXT_MAX];

	node_path__format(&walk->reader->graph->nodes[walk->circuit].id, text);
	return fail__set(walk->reader->fail, -EPROTO, "a region of circuit %s has %s", text, what);
}

static int new_region(struct graph_reader *reader, size_t *ret_index)
{
	struct graph *graph = reader->graph;

	if (graph->region_count == reader->region_capacity) {
		size_t capacity = reader->region_capacity ? 2 * reader->region_capacity : 64;
		struct graph_region *regions;
		struct raw_region *raw;

		regions = realloc(graph->regions, capacity * sizeof(*regions));
		if (!regions)
			return -ENOMEM;
		graph->regions = regions;
		raw = realloc(reader->regions, capacity * sizeof(*raw));
		if (!raw)
			return -ENOMEM;
		reader->regions = raw;
		reader->region_capacity = capacity;
	}
	*ret_index = graph->region_count++;
	graph->regions[*ret_index] = (struct graph_region){ 0 };
	reader->regions[*ret_index] = (struct raw_region){ 0 };
	return 0;
}

/* Copies a Vec of words; *ret_count of them lie in walk->words. */
static int read_words(struct region_walk *walk, const uint8_t *vec, uint64_t max,
		      uint64_t *ret_count)
{
	struct extent extent;

	if (!field_vec(walk->reader->layout, vec, max, &extent))
		return no_region(walk, "an impossible list");
	*ret_count = extent.len;
	return buffer__read(&walk->words, walk->reader->memory, extent.addr, extent.len * 8);
}

static int read_path(struct region_walk *walk, const uint8_t *bytes, uint32_t depth,
		     struct graph_region *region)
{
	const struct layout *layout = walk->reader->layout;
	uint64_t count;
	int err =
		read_words(walk, field(layout, bytes, LAYOUT_REGION_ID), REGION_DEPTH_MAX, &count);

	if (err)
		return err;
	if (count != depth)
		return no_region(walk, "another id");
	region->depth = depth;
	region->path = calloc(depth + 1, sizeof(*region->path));
	if (!region->path)
		return -ENOMEM;
	for (uint32_t i = 0; i < depth; i++) {
		if (load_u64(walk->words.bytes + 8 * i) != walk->path[i])
			return no_region(walk, "another id");
		region->path[i] = walk->path[i];
	}
	return 0;
}

static int read_members(struct region_walk *walk, const uint8_t *bytes, struct graph_region *region)
{
	const struct layout *layout = walk->reader->layout;
	const struct graph *graph = walk->reader->graph;
	uint64_t count;
	int err = read_words(walk, field(layout, bytes, LAYOUT_REGION_NODES), GRAPH_NODES_MAX,
			     &count);

	if (err)
		return err;
	region->nodes = calloc(count + 1, sizeof(*region->nodes));
	if (!region->nodes)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t local = load_u64(walk->words.bytes + 8 * i);
		struct node_path id = graph->nodes[walk->circuit].id;
		const struct graph_node *node = NULL;

		if (local <= UINT32_MAX && id.depth < NODE_PATH_MAX) {
			id.id[id.depth++] = (uint32_t)local;
			node = graph__find(graph, &id);
		}
		if (!node)
			return no_region(walk, "a node that does not exist");
		if (walk->placed[node - graph->nodes]++)
			return no_region(walk, "a node that another region has, too");
		region->nodes[region->node_count++] = (size_t)(node - graph->nodes);
	}
	return 0;
}

static int add_region(struct region_walk *walk, const uint8_t *bytes, uint32_t depth);

static int add_children(struct region_walk *walk, const uint8_t *bytes, uint32_t depth,
			size_t index)
{
	struct graph_reader *reader = walk->reader;
	const struct layout *layout = reader->layout;
	size_t size = layout__get(layout, LAYOUT_REGION_SIZE);
	struct buffer children = { 0 };
	struct extent extent;
	int err;

	if (!field_vec(layout, field(layout, bytes, LAYOUT_REGION_CHILDREN), REGIONS_MAX, &extent))
		return no_region(walk, "an impossible list of children");
	if (extent.len == 0)
		return 0;
	if (depth == REGION_DEPTH_MAX || reader->graph->region_count + extent.len > REGIONS_MAX)
		return no_region(walk, "too many regions inside");
	reader->graph->regions[index].children = calloc(extent.len, sizeof(size_t));
	if (!reader->graph->regions[index].children)
		return -ENOMEM;
	err = buffer__read(&children, reader->memory, extent.addr, extent.len * size);
	for (uint64_t i = 0; !err && i < extent.len; i++) {
		struct graph_region *region = &reader->graph->regions[index];

		region->children[region->child_count++] = reader->graph->region_count;
		walk->path[depth] = (uint32_t)i;
		err = add_region(walk, children.bytes + i * size, depth + 1);
	}
	buffer__free(&children);
	return err;
}

static int add_region(struct region_walk *walk, const uint8_t *bytes, uint32_t depth)
{
	struct graph_reader *reader = walk->reader;
	const struct layout *layout = reader->layout;
	struct graph_region *region;
	size_t index;
	int err = new_region(reader, &index);

	if (err)
		return err;
	region = &reader->graph->regions[index];
	region->circuit = walk->circuit;
	reader->regions[index].location = field_u64(layout, bytes, LAYOUT_REGION_LOCATION);
	if (!field_cow(layout, field(layout, bytes, LAYOUT_REGION_NAME),
		       &reader->regions[index].name))
		return no_region(walk, "no valid name");
	err = read_path(walk, bytes, depth, region);
	if (!err)
		err = read_members(walk, bytes, region);
	return err ? err : add_children(walk, bytes, depth, index);
}

int graph_reader__regions(struct graph_reader *reader)
{
	struct graph *graph = reader->graph;
	struct region_walk walk = { .reader = reader };
	int err = 0;

	walk.placed = calloc(graph->node_count, sizeof(*walk.placed));
	if (!walk.placed)
		return -ENOMEM;
	for (size_t i = 0; !err && i < graph->node_count; i++) {
		if (graph->nodes[i].kind != NODE_CIRCUIT)
			continue;
		walk.circuit = i;
		graph->nodes[i].region = graph->region_count;
		err = add_region(&walk, reader->nodes[i].region, 0);
	}
	for (size_t i = 1; !err && i < graph->node_count; i++) {
		walk.circuit = graph->nodes[i].circuit;
		if (!walk.placed[i])
			err = no_region(&walk, "not been given a node that exists");
	}
	free(walk.placed);
	buffer__free(&walk.words);
	return err;
}
