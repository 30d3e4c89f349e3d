/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as DBSP has it, wherever it came from: DbspProfile of src/profile.rs.
 *
 * Pure data: no I/O, no privileges. Readings, nodes and labels stand in one fixed order, so that
 * equal profiles are written to equal bytes.
 */
#ifndef DBPROF_MODEL_MODEL_H
#define DBPROF_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/graph.h"
#include "model/value.h"
#include "snapshot/snapshot.h"
#include "util/string_pool.h"

/* Strings are UTF-8, with U+0000 as UTF8_NUL (util/utf8.h). */
struct profile_label {
	const char *key;
	const char *value;
};

/* One entry of an OperatorMeta. */
struct profile_reading {
	const char *metric;
	struct profile_label *labels;
	size_t label_count;
	struct value value;
};

/* Readings of one node, sorted by metric and labels as the engine's BTreeMap sorts them. */
struct profile_node {
	struct node_path id;
	struct profile_reading *readings;
	size_t count;
	size_t capacity;
};

/* The order of readings in a node: by metric, then label by label, then fewer labels first. */
int profile_reading__compare(const struct profile_reading *a, const struct profile_reading *b);

struct profile_worker {
	struct profile_node *nodes; /* sorted by id */
	size_t count;
	size_t capacity;
};

/*
 * A node of src/monitor/visual_graph.rs. The tree is kept flat, in the order in which it is
 * written: a cluster comes before its contents, which are one deeper.
 */
struct profile_graph_node {
	const char *id;
	const char *label;
	bool cluster; /* a circuit or a region */
	uint32_t depth;
};

struct profile_graph_edge {
	const char *from;
	const char *to;
	bool from_cluster;
	bool to_cluster;
};

struct profile_graph {
	struct profile_graph_node *nodes; /* nodes[0] is the root */
	size_t node_count;
	size_t node_capacity;
	struct profile_graph_edge *edges;
	size_t edge_count;
};

struct profile {
	struct string_pool strings; /* all strings of the profile */
	struct profile_worker *workers;
	size_t worker_count;
	struct profile_graph graph;
	size_t graph_worker; /* position of the worker whose graph it is */
	/* Nodes with no place in that graph; their readings are left out, or no viewer opens it. */
	uint64_t nodes_left_out;
};

/*
 * The profile of a window. Returns 0, -ENOMEM, or -EPROTO when a graph contradicts itself;
 * *ret_profile is untouched on failure.
 */
int profile__from_snapshot(const struct snapshot *snapshot, struct profile **ret_profile);
void profile__free(struct profile *profile);

/*
 * The same worker by worker, for memory that does not grow with their number: a profile with the
 * window's graph and no worker, and the readings of worker @index of the snapshot, which are put
 * into @worker, an empty one; its strings are the profile's. Return as profile__from_snapshot().
 */
int profile__begin_window(const struct snapshot *snapshot, struct profile **ret_profile);
int profile__read_worker(struct profile *profile, const struct snapshot *snapshot, size_t index,
			 struct profile_worker *worker);
/* Frees what @worker holds and makes it an empty one. */
void profile_worker__clear(struct profile_worker *worker);
/* The same for the readings of @node, which keeps its id and its memory for others. */
void profile_node__clear(struct profile_node *node);

/* Adds an empty node, or finds it. NULL when memory is short. Valid until the next one is added. */
struct profile_node *profile_worker__node(struct profile_worker *worker,
					  const struct node_path *id);

/*
 * Adds a reading or replaces the one with the same metric and labels; copies the strings into the
 * profile's pool. It owns @value then, also when it fails. Returns 0 or -ENOMEM.
 */
int profile_node__set(struct profile *profile, struct profile_node *node, const char *metric,
		      const struct profile_label *labels, size_t label_count, struct value value);

/* The reading with that metric and those labels, NULL when there is none. */
struct profile_reading *profile_node__find(const struct profile_node *node, const char *metric,
					   const struct profile_label *labels, size_t label_count);
/* Takes @reading, which is one of the node's, out of it. */
void profile_node__remove(struct profile_node *node, struct profile_reading *reading);

/*
 * The graph as TraceMonitor::get_circuit() gives it, edges sorted. Returns 0, -ENOMEM, or -EPROTO
 * when @graph is no tree of circuits and regions.
 */
int profile__set_graph(struct profile *profile, const struct graph *graph);

#endif
