/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The graph that a TraceMonitor keeps, read from memory: parts of one reading in several files.
 */
#ifndef DBPROF_ENGINE_GRAPH_READER_H
#define DBPROF_ENGINE_GRAPH_READER_H

#include <stddef.h>
#include <stdint.h>

#include "engine/fields.h"
#include "engine/gather.h"
#include "engine/graph.h"
#include "engine/labels.h"
#include "layout/layout.h"
#include "target/memory.h"
#include "util/fail.h"

#define GRAPH_NODES_MAX (1u << 20)
#define GRAPH_EDGES_MAX (1u << 22)

/* A node or a region whose texts and other outlying parts have not been read yet. */
struct raw_node {
	struct graph_node node;
	struct extent path; /* of its own GlobalNodeId */
	struct extent name;
	uint64_t location;
	uint8_t *region; /* circuits only: copy of the root Region */
};

struct raw_region {
	struct extent name;
	uint64_t location;
};

struct graph_reader {
	struct memory *memory;
	const struct layout *layout;
	struct fail *fail;
	struct raw_node *nodes;
	size_t node_count;
	size_t node_capacity;
	struct raw_region *regions; /* in the order of graph->regions */
	size_t region_capacity;
	struct graph *graph;
};

/*
 * Reads the graph whose RcInner<RefCell<TraceMonitorInternal>> lies at @monitor. Returns 0,
 * -EAGAIN when it is still being built, -EPROTO when it is no closed graph, -ENOMEM, or as
 * memory__read().
 */
int graph__read(struct memory *memory, const struct layout *layout, uint64_t monitor,
		struct graph **ret_graph, struct fail *fail);

/* Fills reader->nodes, sorted by id, from the root Node @root. */
int graph_reader__nodes(struct graph_reader *reader, const uint8_t *root);
/* Fills the regions of reader->graph, whose nodes are complete. */
int graph_reader__regions(struct graph_reader *reader);
/* Fills the edges of reader->graph from the table at @edges. */
int graph_reader__edges(struct graph_reader *reader, const uint8_t *edges);

#endif
