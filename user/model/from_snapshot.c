// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A snapshot in the engine's terms: the readings that Profiler::profile() of src/profile.rs makes,
 * and those of our own (user/metrics/ours.json).
 */
#include <errno.h>
#include <stdlib.h>

#include "model/model.h"
#include "model/readings.h"

#define NANOS_PER_MICRO 1000u

/* A worker on its way into the profile. */
struct context {
	struct profile *profile;
	struct profile_worker *worker;
	const struct snapshot *snapshot;
	const struct snapshot_worker *from;
	const struct graph *shown; /* the graph that the profile carries */
	/* By node of the worker's graph, NULL when not measured. */
	const struct snapshot_circuit **circuit_of;
	const struct snapshot_operator **operator_of;
	struct duration operators_time; /* wall time of all operators */
};

/* The total is the exact sum of the reasons: both come from the same numbers, as in the engine. */
static void set_waits(struct readings *to, const struct snapshot_circuit *circuit)
{
	struct duration total = { 0, 0 };

	for (unsigned int i = 0; i < PARK_REASONS; i++) {
		total = duration__add(total, duration__from_nanos(circuit->wait_ns[i]));
		readings__labelled(to, "circuit_wait_by_reason_seconds", "reason",
				   park_reason_name(i), circuit->wait_ns[i]);
	}
	readings__duration(to, "circuit_wait_time_seconds", total);
}

/* Ours: what a step that has not ended is doing, which the engine cannot say. */
static void set_open_step(struct readings *to, const struct snapshot_circuit *circuit)
{
	if (!circuit->step_open)
		return;
	readings__nanos(to, "circuit_open_step_seconds", circuit->step_age_ns);
	if (circuit->open_reason >= 0 && circuit->open_reason < PARK_REASONS)
		readings__labelled(to, "circuit_open_wait_seconds", "reason",
				   park_reason_name((unsigned int)circuit->open_reason),
				   circuit->open_reason_ns);
}

static void set_circuit(struct readings *to, const struct snapshot_circuit *circuit,
			const struct snapshot *snapshot)
{
	set_waits(to, circuit);
	readings__int(to, "steps_count", circuit->steps);
	readings__nanos(to, "circuit_runtime_seconds", circuit->runtime_ns);
	readings__nanos(to, "circuit_cpu_time_seconds", circuit->cpu_ns);
	readings__percent(to, "circuit_nonblocking_percent", circuit->cpu_ns / NANOS_PER_MICRO,
			  circuit->runtime_ns / NANOS_PER_MICRO);
	readings__nanos(to, "circuit_idle_time_seconds", circuit->idle_ns);
	readings__nanos(to, "circuit_runtime_elapsed_seconds", snapshot->runtime_elapsed_ns);
	readings__nanos(to, "circuit_edge_idle_seconds", circuit->edge_idle_ns);
	set_open_step(to, circuit);
	readings__circuit_share(to, circuit);
}

static int add_node(struct context *context, size_t index)
{
	const struct graph *graph = context->from->graph;
	const struct graph_node *from = &graph->nodes[index];
	struct readings to = { .profile = context->profile };

	if (from->circuit >= graph->node_count)
		return -EPROTO;
	if (graph != context->shown && !graph__find(context->shown, &from->id)) {
		context->profile->nodes_left_out++;
		return 0;
	}
	to.node = profile_worker__node(context->worker, &from->id);
	if (!to.node)
		return -ENOMEM;
	if (from->kind == NODE_CIRCUIT && context->circuit_of[index])
		set_circuit(&to, context->circuit_of[index], context->snapshot);
	if (index == 0)
		readings__cpu(&to, &context->from->cpu, context->snapshot->mode);
	else if (context->operator_of[index])
		readings__operator(&to, context->operator_of[index], context->operators_time);
	return to.err;
}

/* Finds the node of each circuit and operator; those in no graph are losses of the snapshot. */
static void resolve(struct context *context)
{
	const struct snapshot_worker *from = context->from;
	const struct graph *graph = from->graph;
	const struct graph_node *node;

	for (size_t i = 0; i < from->circuit_count; i++) {
		node = graph__find(graph, &from->circuits[i].id);
		if (node)
			context->circuit_of[node - graph->nodes] = &from->circuits[i];
	}
	context->operators_time = (struct duration){ 0, 0 };
	for (size_t i = 0; i < from->operator_count; i++) {
		const struct snapshot_operator *op = &from->operators[i];

		node = graph__find(graph, &op->id);
		if (!node || node == graph->nodes)
			continue;
		context->operator_of[node - graph->nodes] = op;
		if (op->has_time)
			context->operators_time = duration__add(
				context->operators_time, duration__from_nanos(op->runtime_ns));
	}
}

static int add_worker(struct context *context)
{
	const struct graph *graph = context->from->graph;
	int err = 0;

	if (!graph)
		return 0;
	context->circuit_of = calloc(graph->node_count + 1, sizeof(*context->circuit_of));
	context->operator_of = calloc(graph->node_count + 1, sizeof(*context->operator_of));
	if (context->circuit_of && context->operator_of)
		resolve(context);
	else
		err = -ENOMEM;
	for (size_t i = 0; i < graph->node_count && !err; i++)
		err = add_node(context, i);
	free(context->circuit_of);
	free(context->operator_of);
	context->circuit_of = NULL;
	context->operator_of = NULL;
	return err;
}

/* The graph of the first worker that has one; workers run the same circuit. */
static int choose_graph(struct profile *profile, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		if (!snapshot->workers[i].graph)
			continue;
		profile->graph_worker = i;
		return profile__set_graph(profile, snapshot->workers[i].graph);
	}
	return 0;
}

int profile__begin_window(const struct snapshot *snapshot, struct profile **ret_profile)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	int err;

	if (!profile)
		return -ENOMEM;
	err = choose_graph(profile, snapshot);
	if (err)
		profile__free(profile);
	else
		*ret_profile = profile;
	return err;
}

int profile__read_worker(struct profile *profile, const struct snapshot *snapshot, size_t index,
			 struct profile_worker *worker)
{
	struct context context = {
		.profile = profile,
		.worker = worker,
		.snapshot = snapshot,
		.from = &snapshot->workers[index],
		.shown = snapshot->workers[profile->graph_worker].graph,
	};

	return add_worker(&context);
}

int profile__from_snapshot(const struct snapshot *snapshot, struct profile **ret_profile)
{
	struct profile *profile = NULL;
	int err = profile__begin_window(snapshot, &profile);

	if (err)
		return err;
	profile->workers = calloc(snapshot->worker_count + 1, sizeof(*profile->workers));
	if (!profile->workers)
		err = -ENOMEM;
	else
		profile->worker_count = snapshot->worker_count;
	for (size_t i = 0; i < snapshot->worker_count && !err; i++)
		err = profile__read_worker(profile, snapshot, i, &profile->workers[i]);
	if (err)
		profile__free(profile);
	else
		*ret_profile = profile;
	return err;
}
