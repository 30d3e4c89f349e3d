/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A circuit's graph: what DBSP's TraceMonitor knows of it (src/monitor/circuit_graph.rs).
 */
#ifndef DBPROF_ENGINE_GRAPH_H
#define DBPROF_ENGINE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_PATH_MAX	 8   /* nesting of circuits; DBSP's own tests reach 3 */
#define NODE_ID_TEXT_MAX 192 /* the longest textual node id, with its NUL */

/* A GlobalNodeId: the path of local ids from the root circuit, whose own path is empty. */
struct node_path {
	uint32_t depth;
	uint32_t id[NODE_PATH_MAX];
};

/* Writes the id as DBSP does: "n", "nn4", "nn4_n2" (GlobalNodeId::node_identifier). */
void node_path__format(const struct node_path *path, char text[NODE_ID_TEXT_MAX]);
/* The reverse: 0, or -EINVAL for a text that node_path__format() does not write. */
int node_path__parse(const char *text, struct node_path *ret_path);
int node_path__compare(const struct node_path *a, const struct node_path *b);

enum node_kind {
	NODE_OPERATOR,
	NODE_CIRCUIT,
	NODE_STRICT_INPUT,
	NODE_STRICT_OUTPUT,
};

struct source_location {
	char *file; /* as the compiler recorded it; NULL when unknown */
	uint32_t line;
	uint32_t column;
};

struct graph_node {
	struct node_path id;
	enum node_kind kind;
	bool iterative;	    /* circuits only */
	uint32_t output_id; /* strict inputs only: local id of the output half */
	char *name;
	struct source_location location;
	size_t circuit; /* index of the enclosing circuit's node; the root's is its own */
	size_t region;	/* circuits only: index of the circuit's root region */
};

struct graph_region {
	char *name;
	struct source_location location;
	size_t circuit; /* index of the circuit node it belongs to */
	uint32_t depth; /* length of path, 0 for a circuit's root region */
	uint32_t *path; /* RegionId: child numbers from the circuit's root region */
	size_t *nodes;	/* indices of graph nodes, in the engine's order */
	size_t node_count;
	size_t *children; /* indices of regions, in the engine's order */
	size_t child_count;
};

struct graph_edge {
	size_t from; /* indices of graph nodes */
	size_t to;
	bool is_stream; /* else a mere dependency */
};

struct graph {
	struct graph_node *nodes; /* sorted by id; nodes[0] is the root circuit */
	size_t node_count;
	struct graph_region *regions;
	size_t region_count;
	struct graph_edge *edges;
	size_t edge_count;
};

void graph__free(struct graph *graph);

/* The node with that id, NULL when there is none. */
const struct graph_node *graph__find(const struct graph *graph, const struct node_path *id);

/* Same nodes, names, kinds, regions and edges (in any order). */
bool graph__equal(const struct graph *a, const struct graph *b);

#endif
