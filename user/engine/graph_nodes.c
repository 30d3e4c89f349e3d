// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tree of nodes: src/monitor/circuit_graph.rs, Node and NodeKind. */
#include <errno.h>
#include <stdlib.h>

#include "engine/graph_reader.h"
#include "engine/hashmap.h"

static int no_node(struct graph_reader *reader, const struct node_path *id, const char *what)
{
	char text[NODE_ID_TEXT_MAX];

	node_path__format(id, text);
	return fail__set(reader->fail, -EPROTO, "node %s of the circuit graph has %s", text, what);
}

static struct raw_node *new_node(struct graph_reader *reader)
{
	if (reader->node_count == reader->node_capacity) {
		size_t capacity = reader->node_capacity ? 2 * reader->node_capacity : 256;
		struct raw_node *nodes = realloc(reader->nodes, capacity * sizeof(*nodes));

		if (!nodes)
			return NULL;
		reader->nodes = nodes;
		reader->node_capacity = capacity;
	}
	reader->nodes[reader->node_count] = (struct raw_node){ 0 };
	return &reader->nodes[reader->node_count++];
}

static bool decode_kind(const struct layout *layout, const uint8_t *bytes, struct graph_node *node)
{
	uint64_t tag = field_tag(layout, bytes, LAYOUT_NODE_KIND_TAG, LAYOUT_NODE_KIND_TAGSIZE);
	uint64_t output = field_u64(layout, bytes, LAYOUT_NODE_OUTPUT);
	uint64_t circuit = layout__get(layout, LAYOUT_NODE_IS_CIRCUIT);
	uint8_t iterative = *field(layout, bytes, LAYOUT_NODE_ITERATIVE);

	if (tag == layout__get(layout, LAYOUT_NODE_IS_OPERATOR)) {
		node->kind = NODE_OPERATOR;
		return true;
	}
	if (tag == layout__get(layout, LAYOUT_NODE_IS_STRICT_OUTPUT)) {
		node->kind = NODE_STRICT_OUTPUT;
		return true;
	}
	if (tag == layout__get(layout, LAYOUT_NODE_IS_STRICT_INPUT)) {
		node->kind = NODE_STRICT_INPUT;
		node->output_id = (uint32_t)output;
		return output <= UINT32_MAX;
	}
	/* The variant without a value of its own, in layouts where the tag is a niche. */
	node->kind = NODE_CIRCUIT;
	node->iterative = iterative == 1;
	return (circuit == LAYOUT_ABSENT || tag == circuit) && iterative <= 1;
}

static int add_node(struct graph_reader *reader, const struct node_path *id, const uint8_t *bytes)
{
	const struct layout *layout = reader->layout;
	struct raw_node *raw;

	if (reader->node_count >= GRAPH_NODES_MAX)
		return fail__set(reader->fail, -EPROTO, "the circuit graph has too many nodes");
	raw = new_node(reader);
	if (!raw)
		return -ENOMEM;
	raw->node.id = *id;
	raw->location = field_u64(layout, bytes, LAYOUT_NODE_LOCATION);
	if (!field_vec(layout, field(layout, bytes, LAYOUT_NODE_ID), NODE_PATH_MAX, &raw->path) ||
	    raw->path.len != id->depth)
		return no_node(reader, id, "another id");
	if (!field_cow(layout, field(layout, bytes, LAYOUT_NODE_NAME), &raw->name))
		return no_node(reader, id, "no valid name");
	if (!decode_kind(layout, bytes, &raw->node))
		return no_node(reader, id, "an unknown kind");
	if (raw->node.kind == NODE_CIRCUIT) {
		size_t size = layout__get(layout, LAYOUT_REGION_SIZE);

		raw->region = malloc(size);
		if (!raw->region)
			return -ENOMEM;
		memcpy(raw->region, field(layout, bytes, LAYOUT_NODE_REGION), size);
	}
	return 0;
}

static int add_tree(struct graph_reader *reader, const struct node_path *id, const uint8_t *bytes);

/* Adds the children of the circuit node @bytes. */
static int add_children(struct graph_reader *reader, const struct node_path *id,
			const uint8_t *bytes)
{
	const struct layout *layout = reader->layout;
	struct buffer image = { 0 };
	struct table_header header;
	const uint8_t *entry;
	uint64_t cursor = 0;
	int err = table_header__decode(layout, field(layout, bytes, LAYOUT_NODE_CHILDREN),
				       layout__get(layout, LAYOUT_CHILD_ENTRY_SIZE), &header);

	if (err || header.items > GRAPH_NODES_MAX)
		return no_node(reader, id, "no valid table of children");
	if (header.items && id->depth == NODE_PATH_MAX)
		return no_node(reader, id, "too many circuits around it");
	err = table__read(reader->memory, &header, &image);
	while (!err && (entry = table__next(&header, image.bytes, &cursor))) {
		uint64_t local = field_u64(layout, entry, LAYOUT_CHILD_ENTRY_ID);
		struct node_path child = *id;

		if (local > UINT32_MAX) {
			err = no_node(reader, id, "a child with an impossible id");
			break;
		}
		child.id[child.depth++] = (uint32_t)local;
		err = add_tree(reader, &child, field(layout, entry, LAYOUT_CHILD_ENTRY_NODE));
	}
	buffer__free(&image);
	return err;
}

static int add_tree(struct graph_reader *reader, const struct node_path *id, const uint8_t *bytes)
{
	int err = add_node(reader, id, bytes);

	if (err || reader->nodes[reader->node_count - 1].node.kind != NODE_CIRCUIT)
		return err;
	return add_children(reader, id, bytes);
}

static int compare_nodes(const void *left, const void *right)
{
	const struct raw_node *a = left, *b = right;

	return node_path__compare(&a->node.id, &b->node.id);
}

/* Each node's own GlobalNodeId must be the path on which it was found. */
static int check_paths(struct graph_reader *reader)
{
	size_t count = reader->node_count;
	struct gather_part *parts = calloc(count, sizeof(*parts));
	uint64_t(*words)[NODE_PATH_MAX] = calloc(count, sizeof(*words));
	int err = parts && words ? 0 : -ENOMEM;

	if (err)
		goto out;
	for (size_t i = 0; i < count; i++)
		parts[i] = (struct gather_part){
			.addr = reader->nodes[i].path.addr,
			.len = (uint32_t)(reader->nodes[i].path.len * sizeof(uint64_t)),
			.to = words[i],
		};
	err = gather__read(reader->memory, parts, count);
	for (size_t i = 0; !err && i < count; i++) {
		const struct raw_node *raw = &reader->nodes[i];
		struct node_path path;

		if (!node_path__from_words(words[i], raw->path.len, &path) ||
		    node_path__compare(&path, &raw->node.id))
			err = no_node(reader, &raw->node.id, "another id");
	}
out:
	free(parts);
	free(words);
	return err;
}

int graph_reader__nodes(struct graph_reader *reader, const uint8_t *root)
{
	struct node_path id = { 0 };
	int err = add_tree(reader, &id, root);

	if (err)
		return err;
	/* CircuitGraph::new() makes the root an iterative circuit. */
	if (reader->nodes[0].node.kind != NODE_CIRCUIT || !reader->nodes[0].node.iterative)
		return no_node(reader, &id, "another kind than the root's");
	qsort(reader->nodes, reader->node_count, sizeof(*reader->nodes), compare_nodes);
	for (size_t i = 1; i < reader->node_count; i++) {
		if (compare_nodes(&reader->nodes[i - 1], &reader->nodes[i]) == 0)
			return no_node(reader, &reader->nodes[i].node.id, "a second copy");
	}
	return check_paths(reader);
}
