// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nested circuits: ChildNode and CircuitInner<ChildCircuit<..>>, src/circuit/circuit_builder.rs. */
#include <errno.h>
#include <stdlib.h>

#include "engine/engine_internal.h"
#include "engine/graph_reader.h"

#define COUNT_MAX UINT32_MAX

struct circuits_walk {
	struct memory *memory;
	const struct layout *layout;
	const struct graph *graph;
	uint64_t root; /* address of the root circuit */
	struct fail *fail;
	struct engine_circuit *circuits;
	struct extent *nodes; /* of each circuit, its Vec of nodes */
	size_t *graph_nodes;  /* of each circuit, the index of its node in the graph */
	size_t *indices;      /* of each node that is one, its index among the circuits, from 1 */
	size_t count;
	struct buffer object;
};

static int no_circuit(struct circuits_walk *walk, const struct node_path *id, const char *what)
{
	char text[NODE_ID_TEXT_MAX];

	node_path__format(id, text);
	return fail__set(walk->fail, -EPROTO, "circuit %s in memory has %s", text, what);
}

/* Whether the GlobalNodeId @vec is @id. */
static bool path_is(struct circuits_walk *walk, const uint8_t *vec, const struct node_path *id)
{
	uint64_t words[NODE_PATH_MAX];
	struct extent extent;
	struct node_path path;

	return field_vec(walk->layout, vec, NODE_PATH_MAX, &extent) && extent.len == id->depth &&
	       memory__read(walk->memory, extent.addr, words, extent.len * 8) == 0 &&
	       node_path__from_words(words, extent.len, &path) &&
	       node_path__compare(&path, id) == 0;
}

/* Copies the ChildNode that is node @local of a circuit to walk->object. */
static int read_child_node(struct circuits_walk *walk, const struct extent *nodes,
			   const struct node_path *id)
{
	const struct layout *layout = walk->layout;
	uint64_t size = layout__get(layout, LAYOUT_NODE_CELL_SIZE);
	uint64_t local = id->id[id->depth - 1], pointer;
	int err;

	if (local >= nodes->len)
		return no_circuit(walk, id, "no node in its parent");
	err = memory__read_u64(walk->memory,
			       nodes->addr + local * size +
				       layout__get(layout, LAYOUT_NODE_CELL_POINTER),
			       &pointer);
	if (err)
		return err;
	if (pointer == 0 || pointer % 8)
		return no_circuit(walk, id, "an impossible node");
	err = buffer__read(&walk->object, walk->memory, pointer,
			   layout__get(layout, LAYOUT_CHILD_NODE_SIZE));
	if (!err && !path_is(walk, field(layout, walk->object.bytes, LAYOUT_CHILD_NODE_ID), id))
		return no_circuit(walk, id, "another id in its node");
	return err;
}

/* Reads the CircuitInner of circuit number @index and its nodes' place. */
static int read_inner(struct circuits_walk *walk, size_t index)
{
	const struct layout *layout = walk->layout;
	const struct engine_circuit *circuit = &walk->circuits[index];
	const uint8_t *bytes;
	uint64_t strong, weak;
	int err = buffer__read(&walk->object, walk->memory, circuit->address,
			       layout__get(layout, LAYOUT_NESTED_SIZE));

	if (err)
		return err;
	bytes = walk->object.bytes;
	strong = field_u64(layout, bytes, LAYOUT_NESTED_STRONG);
	weak = field_u64(layout, bytes, LAYOUT_NESTED_WEAK);
	if (strong == 0 || strong > COUNT_MAX || weak == 0 || weak > COUNT_MAX)
		return no_circuit(walk, &circuit->id, "impossible counts of references");
	if (field_u64(layout, bytes, LAYOUT_NESTED_ROOT) != walk->root)
		return no_circuit(walk, &circuit->id, "another root");
	if (!field_vec(layout, field(layout, bytes, LAYOUT_NESTED_NODES), GRAPH_NODES_MAX,
		       &walk->nodes[index]))
		return no_circuit(walk, &circuit->id, "an impossible list of nodes");
	if (!path_is(walk, field(layout, bytes, LAYOUT_NESTED_GLOBAL_ID), &circuit->id))
		return no_circuit(walk, &circuit->id, "another id");
	return 0;
}

static int add_nested(struct circuits_walk *walk, size_t graph_node)
{
	const struct layout *layout = walk->layout;
	const struct graph_node *node = &walk->graph->nodes[graph_node];
	size_t index = walk->count++, parent;
	struct engine_circuit *circuit = &walk->circuits[index];
	uint64_t executor, vtable;
	int err;

	circuit->id = node->id;
	walk->graph_nodes[index] = graph_node;
	walk->indices[graph_node] = index + 1;
	if (fields__check(layout, FIELDS_NESTED, NULL))
		return 0;
	/* Parents sort before their children. */
	parent = walk->indices[node->circuit];
	if (!parent)
		return no_circuit(walk, &node->id, "no parent");
	err = read_child_node(walk, &walk->nodes[parent - 1], &node->id);
	if (err)
		return err;
	circuit->address = field_u64(layout, walk->object.bytes, LAYOUT_CHILD_NODE_CIRCUIT);
	executor = field_u64(layout, walk->object.bytes, LAYOUT_CHILD_NODE_EXECUTOR);
	vtable = field_u64(layout, walk->object.bytes, LAYOUT_CHILD_NODE_EXECUTOR_VTABLE);
	if (circuit->address == 0 || circuit->address % 8)
		return no_circuit(walk, &node->id, "an impossible address");
	err = read_inner(walk, index);
	if (!err)
		circuit->scheduler = engine_scheduler__find(walk->memory, layout, executor, vtable,
							    walk->nodes[index].len);
	return err;
}

/* Each child of a circuit in the graph must have a place in the circuit's own list. */
static int check_members(struct circuits_walk *walk)
{
	const struct graph *graph = walk->graph;

	for (size_t i = 0; i < walk->count; i++) {
		size_t self = walk->graph_nodes[i];

		if (walk->circuits[i].address == 0)
			continue;
		for (size_t k = self + 1; k < graph->node_count; k++) {
			const struct graph_node *node = &graph->nodes[k];

			if (node->id.depth <= graph->nodes[self].id.depth)
				break;
			if (node->circuit == self &&
			    node->id.id[node->id.depth - 1] >= walk->nodes[i].len)
				return no_circuit(walk, &node->id, "no place in its circuit");
		}
	}
	return 0;
}

static int allocate(struct circuits_walk *walk)
{
	size_t count = 0;

	for (size_t i = 0; i < walk->graph->node_count; i++)
		count += walk->graph->nodes[i].kind == NODE_CIRCUIT;
	walk->circuits = calloc(count, sizeof(*walk->circuits));
	walk->nodes = calloc(count, sizeof(*walk->nodes));
	walk->graph_nodes = calloc(count, sizeof(*walk->graph_nodes));
	walk->indices = calloc(walk->graph->node_count, sizeof(*walk->indices));
	return walk->circuits && walk->nodes && walk->graph_nodes && walk->indices ? 0 : -ENOMEM;
}

int engine_circuits__read(struct memory *memory, const struct layout *layout,
			  const struct engine_root *root, const struct graph *graph,
			  struct engine_circuit **ret_circuits, size_t *ret_count,
			  struct fail *fail)
{
	struct circuits_walk walk = {
		.memory = memory,
		.layout = layout,
		.graph = graph,
		.root = root->address,
		.fail = fail,
	};
	int err = allocate(&walk);

	if (err)
		goto out;
	walk.circuits[0].address = root->address;
	walk.nodes[0] = root->nodes;
	walk.indices[0] = 1;
	walk.count = 1;
	if (root->handle.address)
		walk.circuits[0].scheduler =
			engine_scheduler__find(memory, layout, root->handle.executor,
					       root->handle.executor_vtable, root->nodes.len);
	for (size_t i = 1; !err && i < graph->node_count; i++) {
		if (graph->nodes[i].kind == NODE_CIRCUIT)
			err = add_nested(&walk, i);
	}
	if (!err)
		err = check_members(&walk);
	if (!err) {
		*ret_circuits = walk.circuits;
		*ret_count = walk.count;
		walk.circuits = NULL;
	}
out:
	free(walk.circuits);
	free(walk.nodes);
	free(walk.graph_nodes);
	free(walk.indices);
	buffer__free(&walk.object);
	return err;
}
