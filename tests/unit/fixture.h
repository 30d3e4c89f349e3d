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

/* Of 8 s in steps, 3.000000999 s on a CPU; the books close. */
static inline struct dbprof_kernel_share fixture_share(void)
{
	return (struct dbprof_kernel_share){
		.run_queue_ns = 400000000,
		.blocked_ns = { [DBPROF_CAUSE_EPOLL] = 3900000000,
				[DBPROF_CAUSE_PAGE_FAULT] = 50000000 },
		.preempted_ns = { [DBPROF_PARTY_MERGER] = 500000000,
				  [DBPROF_PARTY_OTHER] = 100000000 },
		.woken_ns = { [DBPROF_PARTY_WORKER] = 3900000000,
			      [DBPROF_PARTY_KERNEL] = 50000000 },
	};
}

/*
 * Every node but the root, as often as its circuit made steps; sampled. The parts of the wall time
 * are nn0's: 2 s = 1.5 s on a CPU + 0.1 s in the run queue + 0.2 s preempted + 0.15 s blocked +
 * 0.05 s unobserved; all others were on a CPU throughout.
 */
static inline void fixture_operators(struct snapshot_worker *worker)
{
	static const uint64_t runtime[] = { 2000000000, 1000000000, 300000000, 500000000,
					    200000000 };
	struct snapshot_operator *operators = calloc(FIXTURE_NODES - 1, sizeof(*operators));

	for (size_t i = 0; i < FIXTURE_NODES - 1; i++) {
		const struct graph_node *node = &worker->graph->nodes[i + 1];
		uint64_t steps = worker->circuits[node->circuit == 0 ? 0 : 1].steps;

		operators[i] = (struct snapshot_operator){ .id = node->id,
							   .has_invocations = true,
							   .invocations = steps,
							   .has_time = true };
		if (steps == 0)
			continue;
		operators[i].runtime_ns = operators[i].cpu_ns = runtime[i];
		operators[i].samples = runtime[i] / 10000000;
		operators[i].interval_ns = runtime[i] / 10;
		operators[i].engine_timing_ns = 1000000;
	}
	if (operators[0].runtime_ns > 0) {
		operators[0].cpu_ns = 1500000000;
		operators[0].unobserved_ns = 50000000;
		operators[0].share.run_queue_ns = 100000000;
		operators[0].share.preempted_ns[DBPROF_PARTY_OTHER] = 200000000;
		operators[0].share.blocked_ns[DBPROF_CAUSE_FUTEX] = 150000000;
	}
	worker->operators = operators;
	worker->operator_count = FIXTURE_NODES - 1;
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
							 .share = fixture_share(),
							 .unobserved_ns = 49999001,
							 .open_reason = -1 };
	circuits[1] = (struct snapshot_circuit){ .id = fixture_path(1, 1, 0), .open_reason = -1 };
	if (!idle)
		circuits[1].steps = 1234;
	*worker =
		(struct snapshot_worker){ .index = index,
					  .tid = (pid_t)(1000 + index),
					  .graph = fixture_graph(),
					  .circuits = circuits,
					  .circuit_count = 2,
					  .cpu = { 2500000000, 5000000, 495000999, 7000000, 400 } };
	fixture_operators(worker);
}

/* The largest number in everything that was measured of a worker's operators and CPU time. */
static inline void fixture_largest(struct snapshot_worker *worker)
{
	for (size_t i = 0; i < worker->operator_count; i++) {
		struct snapshot_operator *op = &worker->operators[i];
		struct node_path id = op->id;

		memset(op, 0xff, sizeof(*op));
		op->id = id;
		op->has_time = op->has_invocations = true;
	}
	memset(&worker->cpu, 0xff, sizeof(worker->cpu));
}

static inline void fixture_threads(struct snapshot *snapshot)
{
	snapshot->threads = calloc(2, sizeof(*snapshot->threads));
	snapshot->threads[0] = (struct snapshot_thread){
		.tid = 1000,
		.comm = "dbsp-worker-0",
		.role = ROLE_WORKER,
		.observed_ns = 10,
		.on_cpu_ns = 4,
		.run_queue_ns = 3,
		.preempted_ns = 2,
		.blocked_ns = 1,
		.share = { .run_queue_ns = 3,
			   .blocked_ns = { [DBPROF_CAUSE_FUTEX] = 1 },
			   .preempted_ns = { [DBPROF_PARTY_THREAD] = 2 },
			   .woken_ns = { [DBPROF_PARTY_KERNEL] = 1 } },
	};
	snapshot->threads[1] = (struct snapshot_thread){
		.tid = 2000,
		.comm = "merger-0",
		.worker = -1,
		.role = ROLE_MERGER,
		.observed_ns = 10,
		.blocked_ns = 9,
		.unobserved_ns = 1,
		.share = { .blocked_ns = { [DBPROF_CAUSE_PIPE] = 9 } },
	};
	snapshot->thread_count = 2;
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
	snapshot->mode = MODE_SAMPLED;
	snapshot->frequency_hz = 97;
	snapshot->window_start_ns = 77;
	snapshot->window_start_unix_ns = 1000000001;
	snapshot->window_ns = 10000000000;
	snapshot->runtime_elapsed_ns = 32000000000;
	snapshot->workers = calloc(workers + 1, sizeof(*snapshot->workers));
	snapshot->worker_count = workers;
	for (size_t i = 0; i < workers; i++)
		fixture_worker(&snapshot->workers[i], (unsigned int)i, idle);
	fixture_threads(snapshot);
	snapshot->cost = (struct snapshot_cost){ .traps = 1000,
						 .trap_ns = 500,
						 .program_ns = 1500000,
						 .own_cpu_ns = 10000000,
						 .target_cpu_ns = 3000000000,
						 .budget = 0.01 };
	return snapshot;
}

#endif
