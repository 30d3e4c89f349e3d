/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a profile says of times, by node of its graph: one worker's readings, or the sum of all.
 *
 * It takes some 300 bytes for each node and each wait reason of a circuit, whatever the number of
 * workers.
 */
#ifndef DBPROF_EXPORT_TIME_TABLE_H
#define DBPROF_EXPORT_TIME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/time_parts.h"
#include "model/source.h"
#include "util/fail.h"

#define WAIT_REASONS_MAX 32 /* that are told apart; the engine has 10 */
#define WAIT_NAME_MAX	 40

/* Readings of a node, in nanoseconds; those of a circuit as an operator of the one around it. */
struct time_entry {
	bool timed;  /* there is a runtime_seconds */
	bool shared; /* and the kernel's share of it */
	uint64_t wall_ns;
	uint64_t cpu_ns; /* the engine has it in whole microseconds */
	uint64_t invocations;
	/* Without computing, until time_entry__parts() closes the books. */
	struct time_parts share;
};

/* Readings of a circuit's steps. */
struct circuit_time {
	size_t node;   /* of the graph */
	size_t parent; /* the circuit around it, by its place here; the root's is its own */
	uint64_t wait_ns[WAIT_REASONS_MAX];
	/* Of one reason, on the way to what is the circuit's own: time_books.c. */
	uint64_t inner_wait_ns;
	bool keeps_waits;
};

/* Readings that only the root has, of the worker's steps. */
struct step_time {
	bool known; /* there is a circuit_runtime_seconds */
	uint64_t steps;
	uint64_t runtime_ns;
	uint64_t cpu_ns;
	uint64_t idle_ns; /* between steps, at the window's edges too */
	uint64_t outside_cpu_ns;
	uint64_t engine_timing_ns;
	uint64_t open_step_ns;
	bool sampled; /* operators; else evaluations that are not over count for nothing */
};

struct time_table {
	const struct profile_graph *graph;
	size_t *by_id;		     /* places of the graph's nodes, sorted by id */
	struct time_entry *entries;  /* by place; then one for nodes that are not in the graph */
	struct circuit_time *counts; /* circuits, in the graph's order: the root first */
	size_t count;
	struct step_time steps;
	char reasons[WAIT_REASONS_MAX][WAIT_NAME_MAX]; /* as they occurred */
	size_t reason_count;
};

/*
 * An empty table for the nodes of the source's graph. Returns 0, -ENOMEM, or -ENODATA or -EPROTO
 * with a sentence when there is no graph or it is no tree.
 */
int time_table__init(struct time_table *table, const struct profile_source *source,
		     struct fail *fail);
void time_table__clear(struct time_table *table);

/* Adds what the readings of a node say. */
void time_table__add(struct time_table *table, const struct profile_node *node);
/* Forgets what was added, for the next worker. */
void time_table__reset(struct time_table *table);

/* The parts of an entry, which add up to its wall time. */
struct time_parts time_entry__parts(const struct time_entry *entry);
/* The parts of the worker's time in steps. */
struct time_parts time_table__step_parts(const struct time_table *table);

/* A circuit's node, not a region's: "nn4", not "nn4_r0". */
bool graph_node__is_circuit(const struct profile_graph_node *node);

#endif
