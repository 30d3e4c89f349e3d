// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A snapshot in the engine's terms: the readings that Profiler::profile() of src/profile.rs makes,
 * and those of our own (user/metrics/ours.json).
 */
#include <errno.h>
#include <stdlib.h>

#include "model/model.h"

#define NANOS_PER_MICRO 1000u

/* A worker on its way into the profile. */
struct context {
	struct profile *profile;
	struct profile_worker *worker;
	const struct snapshot *snapshot;
	const struct snapshot_worker *from;
	const struct graph *shown;		    /* the graph that the profile carries */
	const struct snapshot_circuit **circuit_of; /* by graph node, NULL when not measured */
};

static int set_duration(struct context *context, struct profile_node *node, const char *metric,
			struct duration duration)
{
	return profile_node__set(context->profile, node, metric, NULL, 0,
				 value__duration(duration));
}

static int set_nanos(struct context *context, struct profile_node *node, const char *metric,
		     uint64_t nanos)
{
	return set_duration(context, node, metric, duration__from_nanos(nanos));
}

static int set_by_reason(struct context *context, struct profile_node *node, const char *metric,
			 unsigned int reason, uint64_t nanos)
{
	struct profile_label label = { "reason", park_reason_name(reason) };

	return profile_node__set(context->profile, node, metric, &label, 1,
				 value__duration(duration__from_nanos(nanos)));
}

/* The total is the exact sum of the reasons: both come from the same numbers, as in the engine. */
static int set_waits(struct context *context, struct profile_node *node,
		     const struct snapshot_circuit *circuit)
{
	struct duration total = { 0, 0 };
	int err = 0;

	for (unsigned int i = 0; i < PARK_REASONS && !err; i++) {
		total = duration__add(total, duration__from_nanos(circuit->wait_ns[i]));
		err = set_by_reason(context, node, "circuit_wait_by_reason_seconds", i,
				    circuit->wait_ns[i]);
	}
	if (!err)
		err = set_duration(context, node, "circuit_wait_time_seconds", total);
	return err;
}

/* Ours: what a step that has not ended is doing, which the engine cannot say. */
static int set_open_step(struct context *context, struct profile_node *node,
			 const struct snapshot_circuit *circuit)
{
	int err;

	if (!circuit->step_open)
		return 0;
	err = set_nanos(context, node, "circuit_open_step_seconds", circuit->step_age_ns);
	if (!err && circuit->open_reason >= 0 && circuit->open_reason < PARK_REASONS)
		err = set_by_reason(context, node, "circuit_open_wait_seconds",
				    (unsigned int)circuit->open_reason, circuit->open_reason_ns);
	return err;
}

static int set_circuit(struct context *context, struct profile_node *node,
		       const struct snapshot_circuit *circuit)
{
	struct profile *profile = context->profile;
	int err;

	err = set_waits(context, node, circuit);
	if (!err)
		err = profile_node__set(profile, node, "steps_count", NULL, 0,
					value__int(circuit->steps));
	if (!err)
		err = set_nanos(context, node, "circuit_runtime_seconds", circuit->runtime_ns);
	if (!err)
		err = set_nanos(context, node, "circuit_cpu_time_seconds", circuit->cpu_ns);
	if (!err)
		err = profile_node__set(profile, node, "circuit_nonblocking_percent", NULL, 0,
					value__percent(circuit->cpu_ns / NANOS_PER_MICRO,
						       circuit->runtime_ns / NANOS_PER_MICRO));
	if (!err)
		err = set_nanos(context, node, "circuit_idle_time_seconds", circuit->idle_ns);
	if (!err)
		err = set_nanos(context, node, "circuit_runtime_elapsed_seconds",
				context->snapshot->runtime_elapsed_ns);
	if (!err)
		err = set_nanos(context, node, "circuit_edge_idle_seconds", circuit->edge_idle_ns);
	if (!err)
		err = set_open_step(context, node, circuit);
	return err;
}

/* One evaluation of each node in every step of the circuit around it (src/circuit/schedule). */
static int set_invocations(struct context *context, struct profile_node *node,
			   const struct snapshot_circuit *around)
{
	if (!around || around->steps == 0)
		return 0;
	return profile_node__set(context->profile, node, "invocations_count", NULL, 0,
				 value__count(around->steps));
}

static int add_node(struct context *context, size_t index)
{
	const struct graph *graph = context->from->graph;
	const struct graph_node *from = &graph->nodes[index];
	struct profile_node *node;
	int err = 0;

	if (from->circuit >= graph->node_count)
		return -EPROTO;
	if (graph != context->shown && !graph__find(context->shown, &from->id)) {
		context->profile->nodes_left_out++;
		return 0;
	}
	node = profile_worker__node(context->worker, &from->id);
	if (!node)
		return -ENOMEM;
	if (from->kind == NODE_CIRCUIT && context->circuit_of[index])
		err = set_circuit(context, node, context->circuit_of[index]);
	if (!err && index > 0)
		err = set_invocations(context, node, context->circuit_of[from->circuit]);
	return err;
}

static int add_worker(struct context *context)
{
	const struct snapshot_worker *from = context->from;
	const struct graph *graph = from->graph;
	int err = 0;

	if (!graph)
		return 0;
	context->circuit_of = calloc(graph->node_count + 1, sizeof(*context->circuit_of));
	if (!context->circuit_of)
		return -ENOMEM;
	for (size_t i = 0; i < from->circuit_count; i++) {
		const struct graph_node *node = graph__find(graph, &from->circuits[i].id);

		if (node)
			context->circuit_of[node - graph->nodes] = &from->circuits[i];
	}
	for (size_t i = 0; i < graph->node_count && !err; i++)
		err = add_node(context, i);
	free(context->circuit_of);
	context->circuit_of = NULL;
	return err;
}

/* The graph of the first worker that has one; workers run the same circuit. */
static int choose_graph(struct profile *profile, const struct snapshot *snapshot,
			const struct graph **ret_graph)
{
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		if (!snapshot->workers[i].graph)
			continue;
		profile->graph_worker = i;
		*ret_graph = snapshot->workers[i].graph;
		return profile__set_graph(profile, snapshot->workers[i].graph);
	}
	*ret_graph = NULL;
	return 0;
}

static int fill(struct profile *profile, const struct snapshot *snapshot)
{
	struct context context = { .profile = profile, .snapshot = snapshot };
	int err = choose_graph(profile, snapshot, &context.shown);

	if (err)
		return err;
	profile->workers = calloc(snapshot->worker_count + 1, sizeof(*profile->workers));
	if (!profile->workers)
		return -ENOMEM;
	profile->worker_count = snapshot->worker_count;
	for (size_t i = 0; i < snapshot->worker_count && !err; i++) {
		context.worker = &profile->workers[i];
		context.from = &snapshot->workers[i];
		err = add_worker(&context);
	}
	return err;
}

int profile__from_snapshot(const struct snapshot *snapshot, struct profile **ret_profile)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	int err;

	if (!profile)
		return -ENOMEM;
	err = fill(profile, snapshot);
	if (err) {
		profile__free(profile);
		return err;
	}
	*ret_profile = profile;
	return 0;
}
