/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Snapshots made by hand, with a circuit like this:
 *
 *   n            root: region 0, with child region 1
 *     nn0        operator, in region 1
 *     nn1        nested circuit: region 2
 *       nn1_n0   output half of a strict operator
 *       nn1_n1   its input half
 *     nn2        operator
 */
#ifndef DBPROF_TESTS_FIXTURE_H
#define DBPROF_TESTS_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "snapshot/snapshot.h"

#define FIXTURE_NODES 6

static inline struct node_path fixture_path(uint32_t depth, uint32_t first, uint32_t second)
{
	return (struct node_path){ depth, { first, second } };
}

static inline struct graph_node fixture_node(struct node_path id, enum node_kind kind,
					     const char *name, size_t circuit)
{
	return (struct graph_node){
		.id = id, .kind = kind, .name = strdup(name), .circuit = circuit
	};
}

static inline struct source_location fixture_location(const char *file, uint32_t line)
{
	return (struct source_location){ strdup(file), line, 21 };
}

static inline void fixture_region(struct graph_region *region, const char *name, size_t circuit,
				  const size_t *nodes, size_t count)
{
	*region = (struct graph_region){ .name = strdup(name), .circuit = circuit };
	region->nodes = calloc(count + 1, sizeof(*nodes));
	memcpy(region->nodes, nodes, count * sizeof(*nodes));
	region->node_count = count;
}

static inline void fixture_regions(struct graph *graph)
{
	static const size_t root[] = { 2, 5 }, child[] = { 1 }, nested[] = { 3, 4 };

	graph->regions = calloc(3, sizeof(*graph->regions));
	graph->region_count = 3;
	fixture_region(&graph->regions[0], "root", 0, root, 2);
	fixture_region(&graph->regions[1], "join", 0, child, 1);
	fixture_region(&graph->regions[2], "", 2, nested, 2);
	graph->regions[0].children = calloc(1, sizeof(size_t));
	graph->regions[0].children[0] = 1;
	graph->regions[0].child_count = 1;
	graph->regions[1].depth = 1;
	graph->regions[1].path = calloc(1, sizeof(uint32_t));
	graph->regions[1].location = fixture_location("src/main.rs", 7);
}

static inline struct graph *fixture_graph(void)
{
	struct graph *graph = calloc(1, sizeof(*graph));
	static const struct graph_edge edges[] = { { 2, 5, true },
						   { 1, 2, true },
						   { 4, 3, false } };

	graph->nodes = calloc(FIXTURE_NODES, sizeof(*graph->nodes));
	graph->node_count = FIXTURE_NODES;
	graph->nodes[0] = fixture_node(fixture_path(0, 0, 0), NODE_CIRCUIT, "root", 0);
	graph->nodes[1] = fixture_node(fixture_path(1, 0, 0), NODE_OPERATOR, "JoinTrace", 0);
	graph->nodes[1].location = fixture_location(
		"/h/u/.cargo/registry/src/x/dbsp-0.354.0/src/operator/join.rs", 722);
	graph->nodes[2] = fixture_node(fixture_path(1, 1, 0), NODE_CIRCUIT, "", 0);
	graph->nodes[2].region = 2;
	graph->nodes[3] = fixture_node(fixture_path(2, 1, 0), NODE_STRICT_OUTPUT, "Z^-1", 2);
	graph->nodes[4] = fixture_node(fixture_path(2, 1, 1), NODE_STRICT_INPUT, "Z^-1", 2);
	graph->nodes[5] = fixture_node(fixture_path(1, 2, 0), NODE_OPERATOR, "Plus", 0);
	fixture_regions(graph);
	graph->edges = calloc(3, sizeof(*graph->edges));
	memcpy(graph->edges, edges, sizeof(edges));
	graph->edge_count = 3;
	return graph;
}

/* A worker that made 100 steps in 10 s, or none. */
static inline void fixture_worker(struct snapshot_worker *worker, unsigned int index, bool idle)
{
	struct snapshot_circuit *circuits = calloc(2, sizeof(*circuits));

	circuits[0] = (struct snapshot_circuit){ .edge_idle_ns = 10000000000, .open_reason = -1 };
	if (!idle)
		circuits[0] = (struct snapshot_circuit){ .steps = 100,
							 .runtime_ns = 8000000000,
							 .cpu_ns = 3000000999,
							 .wait_ns = { [2] = 4000000001, [3] = 500 },
							 .idle_ns = 1500000000,
							 .edge_idle_ns = 500000000,
							 .open_reason = -1 };
	circuits[1] = (struct snapshot_circuit){ .id = fixture_path(1, 1, 0), .open_reason = -1 };
	if (!idle)
		circuits[1].steps = 1234;
	*worker = (struct snapshot_worker){ .index = index,
					    .tid = (pid_t)(1000 + index),
					    .graph = fixture_graph(),
					    .circuits = circuits,
					    .circuit_count = 2 };
}

static inline struct snapshot *fixture_snapshot(size_t workers, bool idle)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	snapshot->pid = 4321;
	strcpy(snapshot->host, "db-host");
	strcpy(snapshot->kernel, "6.18.0");
	snapshot->exe = strdup("/opt/pipeline/dbsp-target");
	snapshot->build_id = strdup("00ff");
	snapshot->dbsp_version = strdup("0.354.0");
	snapshot->mode = strdup("auto");
	snapshot->window_start_ns = 77;
	snapshot->window_start_unix_ns = 1000000001;
	snapshot->window_ns = 10000000000;
	snapshot->runtime_elapsed_ns = 32000000000;
	snapshot->workers = calloc(workers + 1, sizeof(*snapshot->workers));
	snapshot->worker_count = workers;
	for (size_t i = 0; i < workers; i++)
		fixture_worker(&snapshot->workers[i], (unsigned int)i, idle);
	snapshot->threads = calloc(2, sizeof(*snapshot->threads));
	snapshot->threads[0] =
		(struct snapshot_thread){ 1000, "dbsp-worker-0", 0, 10, 4, 3, 2, 1, 0 };
	snapshot->threads[1] = (struct snapshot_thread){ 2000, "merger-0", -1, 10, 0, 0, 0, 9, 1 };
	snapshot->thread_count = 2;
	return snapshot;
}

#endif
