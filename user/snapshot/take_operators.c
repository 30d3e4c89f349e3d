// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Operators: by samples, or by the engine's own numbers, and the kernel's share of them. */
#include <errno.h>
#include <stdlib.h>

#include "snapshot/estimate.h"
#include "snapshot/take_internal.h"

static const struct engine_circuit *circuit_at(const struct engine_worker *engine, uint64_t address)
{
	for (size_t i = 0; i < engine->circuit_count; i++)
		if (engine->circuits[i].address == address)
			return &engine->circuits[i];
	return NULL;
}

/* The operator that circuit and local node id name; NULL when the graph has none such. */
static struct snapshot_operator *operator_at(const struct engine_worker *engine,
					     struct snapshot_worker *worker, uint64_t address,
					     uint32_t node)
{
	const struct engine_circuit *circuit = circuit_at(engine, address);
	const struct graph_node *found;
	struct node_path path;

	if (!circuit || circuit->id.depth >= NODE_PATH_MAX)
		return NULL;
	path = circuit->id;
	path.id[path.depth++] = node;
	found = graph__find(engine->graph, &path);
	/* Operators are the graph's nodes without the root, in the same order. */
	if (!found || found == engine->graph->nodes)
		return NULL;
	return &worker->operators[found - engine->graph->nodes - 1];
}

static const struct snapshot_circuit *enclosing_circuit(const struct engine_worker *engine,
							const struct snapshot_worker *worker,
							const struct graph_node *node)
{
	const struct node_path *id = &engine->graph->nodes[node->circuit].id;

	for (size_t i = 0; i < worker->circuit_count; i++)
		if (!node_path__compare(&worker->circuits[i].id, id))
			return &worker->circuits[i];
	return NULL;
}

/* Each node is evaluated once in every step of its circuit (dynamic_scheduler.rs, do_step). */
static int make_operators(const struct engine_worker *engine, struct snapshot_worker *worker)
{
	size_t count = engine->graph->node_count ? engine->graph->node_count - 1 : 0;

	worker->operators = calloc(count ? count : 1, sizeof(*worker->operators));
	if (!worker->operators)
		return -ENOMEM;
	worker->operator_count = count;
	for (size_t i = 0; i < count; i++) {
		const struct graph_node *node = &engine->graph->nodes[i + 1];
		const struct snapshot_circuit *circuit = enclosing_circuit(engine, worker, node);

		worker->operators[i].id = node->id;
		worker->operators[i].has_invocations = circuit != NULL;
		worker->operators[i].invocations = circuit ? circuit->steps : 0;
	}
	return 0;
}

static void add_counted(const struct dbprof_operator *counted, enum snapshot_mode mode,
			struct snapshot_operator *op)
{
	op->share = counted->share;
	if (mode == MODE_EXACT) {
		op->invocations = counted->evaluations;
		op->runtime_ns = counted->real_ns;
		op->cpu_ns = counted->cpu_ns;
	} else if (mode == MODE_SAMPLED) {
		op->samples = counted->samples;
		op->timing_samples = counted->timing_samples;
	}
}

/* The worker's samples, wherever it was. */
static void count_samples(const struct taking *taking, const struct dbprof_thread *thread,
			  struct snapshot_cpu *cpu)
{
	uint64_t told;

	if (!thread)
		return;
	told = thread->scheduler_samples + thread->outside_samples;
	cpu->scheduler_samples = thread->scheduler_samples;
	/* While steps are not watched it is in them as often as while they are. */
	if (told)
		cpu->scheduler_samples +=
			thread->unwatched_samples * thread->scheduler_samples / told;
	cpu->blind_samples = thread->blind_samples;
	cpu->samples = told + thread->unwatched_samples + thread->blind_samples;
	for (size_t i = 0; i < taking->data->operator_count; i++)
		if (taking->data->operator_keys[i].tid == thread->tid)
			cpu->samples += taking->data->operators[i].samples +
					taking->data->operators[i].timing_samples;
}

int take_operators(struct taking *taking, const struct engine_worker *engine,
		   const struct dbprof_thread *thread, const struct thread_totals *totals,
		   struct snapshot_worker *worker)
{
	enum snapshot_mode mode = taking->observer->mode;
	struct snapshot_operator *open;
	int err = make_operators(engine, worker);

	if (err)
		return err;
	if (mode == MODE_SAMPLED)
		count_samples(taking, thread, &worker->cpu);
	for (size_t i = 0; i < taking->data->operator_count; i++) {
		const struct dbprof_operator_key *key = &taking->data->operator_keys[i];
		struct snapshot_operator *op;

		if (key->tid != (uint32_t)engine->tid)
			continue;
		op = operator_at(engine, worker, key->circuit, key->node);
		if (op)
			add_counted(&taking->data->operators[i], mode, op);
		else
			taking->snapshot->losses.unresolved++;
	}
	if (estimate__is_blinded(&worker->cpu))
		taking->snapshot->losses.slots += worker->cpu.blind_samples;
	open = totals->open_circuit
		       ? operator_at(engine, worker, totals->open_circuit, totals->open_node)
		       : NULL;
	if (open)
		share__add(&open->share, &totals->open_share);
	if (mode == MODE_SAMPLED)
		estimate__operators(worker, totals->cpu_ns);
	for (size_t i = 0; mode == MODE_EXACT && i < worker->operator_count; i++)
		worker->operators[i].has_time = true;
	return 0;
}
