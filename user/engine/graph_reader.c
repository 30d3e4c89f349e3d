// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "engine/graph_reader.h"

/* A RefCell is being written when its count is negative. */
static bool being_written(uint64_t borrow)
{
	return (int64_t)borrow < 0;
}

/* Whether the monitor is between two events, outside of all nested circuits. */
static int check_monitor(const struct layout *layout, const uint8_t *monitor, struct fail *fail)
{
	struct extent scope;
	uint64_t strong = field_u64(layout, monitor, LAYOUT_MONITOR_STRONG);

	if (strong == 0 || strong > UINT16_MAX)
		return fail__set(fail, -EPROTO, "the circuit has no live monitor");
	if (being_written(field_u64(layout, monitor, LAYOUT_MONITOR_BORROW)))
		return fail__set(fail, -EAGAIN, "the circuit is being built");
	if (!field_vec(layout, field(layout, monitor, LAYOUT_MONITOR_SCOPE), NODE_PATH_MAX, &scope))
		return fail__set(fail, -EPROTO, "the circuit's monitor has an impossible scope");
	if (scope.len)
		return fail__set(fail, -EAGAIN, "a nested circuit is being built");
	return 0;
}

/* Moves the nodes into the graph and finds each one's circuit. */
static int take_nodes(struct graph_reader *reader)
{
	struct graph *graph = reader->graph;

	graph->nodes = calloc(reader->node_count, sizeof(*graph->nodes));
	if (!graph->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < reader->node_count; i++)
		graph->nodes[i] = reader->nodes[i].node;
	graph->node_count = reader->node_count;
	for (size_t i = 1; i < graph->node_count; i++) {
		struct node_path circuit = graph->nodes[i].id;
		const struct graph_node *node;

		circuit.depth--;
		node = graph__find(graph, &circuit);
		if (!node)
			return fail__set(reader->fail, -EPROTO, "a node has no circuit");
		graph->nodes[i].circuit = (size_t)(node - graph->nodes);
	}
	return 0;
}

/* The output half of each strict operator must exist. */
static int check_outputs(struct graph_reader *reader)
{
	const struct graph *graph = reader->graph;

	for (size_t i = 0; i < graph->node_count; i++) {
		const struct graph_node *node = &graph->nodes[i], *output;
		struct node_path id = node->id;

		if (node->kind != NODE_STRICT_INPUT)
			continue;
		id.id[id.depth - 1] = node->output_id;
		output = graph__find(graph, &id);
		if (!output || output->kind != NODE_STRICT_OUTPUT)
			return fail__set(reader->fail, -EPROTO,
					 "a strict operator of the circuit graph has no output");
	}
	return 0;
}

static int read_labels(struct graph_reader *reader)
{
	struct graph *graph = reader->graph;
	size_t count = graph->node_count + graph->region_count;
	struct label *labels = calloc(count, sizeof(*labels));
	int err;

	if (!labels)
		return -ENOMEM;
	for (size_t i = 0; i < graph->node_count; i++)
		labels[i] = (struct label){
			.name = reader->nodes[i].name,
			.location = reader->nodes[i].location,
			.ret_name = &graph->nodes[i].name,
			.ret_location = &graph->nodes[i].location,
		};
	for (size_t i = 0; i < graph->region_count; i++)
		labels[graph->node_count + i] = (struct label){
			.name = reader->regions[i].name,
			.location = reader->regions[i].location,
			.ret_name = &graph->regions[i].name,
			.ret_location = &graph->regions[i].location,
		};
	err = labels__read(reader->memory, reader->layout, labels, count, reader->fail);
	free(labels);
	return err;
}

static int read_graph(struct graph_reader *reader, const uint8_t *monitor)
{
	const struct layout *layout = reader->layout;
	int err = check_monitor(layout, monitor, reader->fail);

	if (!err)
		err = graph_reader__nodes(reader, field(layout, monitor, LAYOUT_MONITOR_ROOT));
	if (!err)
		err = take_nodes(reader);
	if (!err)
		err = check_outputs(reader);
	if (!err)
		err = graph_reader__regions(reader);
	if (!err)
		err = graph_reader__edges(reader, field(layout, monitor, LAYOUT_MONITOR_EDGES));
	return err ? err : read_labels(reader);
}

int graph__read(struct memory *memory, const struct layout *layout, uint64_t monitor,
		struct graph **ret_graph, struct fail *fail)
{
	struct graph_reader reader = { .memory = memory, .layout = layout, .fail = fail };
	size_t size = layout__get(layout, LAYOUT_MONITOR_SIZE);
	struct buffer before = { 0 }, after = { 0 };
	int err;

	reader.graph = calloc(1, sizeof(*reader.graph));
	if (!reader.graph)
		return -ENOMEM;
	err = buffer__read(&before, memory, monitor, size);
	if (!err)
		err = read_graph(&reader, before.bytes);
	if (!err)
		err = buffer__read(&after, memory, monitor, size);
	/* Counts of borrows change when the program itself draws the graph. */
	if (!err && memcmp(field(layout, before.bytes, LAYOUT_MONITOR_ROOT),
			   field(layout, after.bytes, LAYOUT_MONITOR_ROOT),
			   layout__get(layout, LAYOUT_NODE_SIZE)))
		err = fail__set(fail, -EAGAIN, "the circuit changed while it was read");
	for (size_t i = 0; i < reader.node_count; i++)
		free(reader.nodes[i].region);
	free(reader.nodes);
	free(reader.regions);
	buffer__free(&before);
	buffer__free(&after);
	if (err)
		graph__free(reader.graph);
	else
		*ret_graph = reader.graph;
	return err;
}
