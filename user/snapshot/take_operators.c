// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Operators: by samples, or by the engine's own numbers, and the kernel's share of them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "snapshot/take_internal.h"

#define Z_95 1.96 /* standard deviations on each side of a 95 % interval */
/* With no sample in n the value lies below 3 / n with 95 % confidence ("rule of three"). */
#define NONE_OF_N 3.0

struct sampling {
	uint64_t samples; /* of the worker, wherever it was */
	uint64_t blind;	  /* taken before a slot was learned: it may have been anywhere */
	uint64_t cpu_ns;  /* that all of them stand for */
};

/* So many blind samples among the others bend the shares too much to go unsaid. */
static bool is_blinded(const struct sampling *sampling)
{
	return sampling->blind * 20 > sampling->samples;
}

static uint64_t share_of(const struct sampling *sampling, uint64_t samples)
{
	if (!sampling->samples)
		return 0;
	return (uint64_t)((unsigned __int128)sampling->cpu_ns * samples / sampling->samples);
}

/* Half the 95 % interval of a binomial share of the CPU time. */
static uint64_t interval_of(const struct sampling *sampling, uint64_t samples)
{
	double n = (double)sampling->samples, p;

	if (!sampling->samples)
		return 0;
	if (!samples)
		return (uint64_t)((double)sampling->cpu_ns * fmin(1.0, NONE_OF_N / n));
	p = (double)samples / n;
	return (uint64_t)(Z_95 * sqrt(p * (1 - p) / n) * (double)sampling->cpu_ns);
}

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
			const struct sampling *sampling, struct snapshot_operator *op)
{
	op->share = counted->share;
	if (mode == MODE_EXACT) {
		op->invocations = counted->evaluations;
		op->runtime_ns = counted->real_ns;
		op->cpu_ns = counted->cpu_ns;
	} else if (mode == MODE_SAMPLED) {
		op->samples = counted->samples;
		op->cpu_ns = share_of(sampling, counted->samples);
		op->engine_timing_ns = share_of(sampling, counted->timing_samples);
	}
}

static struct sampling sampling_of(const struct taking *taking, const struct dbprof_thread *thread,
				   const struct thread_totals *totals)
{
	struct sampling sampling = { .cpu_ns = totals->cpu_ns };

	if (!thread)
		return sampling;
	sampling.samples =
		thread->scheduler_samples + thread->outside_samples + thread->blind_samples;
	sampling.blind = thread->blind_samples;
	for (size_t i = 0; i < taking->data->operator_count; i++)
		if (taking->data->operator_keys[i].tid == thread->tid)
			sampling.samples += taking->data->operators[i].samples +
					    taking->data->operators[i].timing_samples;
	return sampling;
}

/* What was off the CPU is exact, so that the interval is that of the CPU time alone. */
static void finish_sampled(const struct sampling *sampling, struct snapshot_operator *op)
{
	uint64_t off =
		op->share.run_queue_ns + share__preempted(&op->share) + share__blocked(&op->share);

	op->has_time = sampling->samples > sampling->blind;
	op->runtime_ns = op->cpu_ns + off;
	op->interval_ns = interval_of(sampling, op->samples);
}

int take_operators(struct taking *taking, const struct engine_worker *engine,
		   const struct dbprof_thread *thread, const struct thread_totals *totals,
		   struct snapshot_worker *worker)
{
	enum snapshot_mode mode = taking->observer->mode;
	struct sampling sampling = sampling_of(taking, thread, totals);
	struct snapshot_operator *open;
	int err = make_operators(engine, worker);

	if (err)
		return err;
	for (size_t i = 0; i < taking->data->operator_count; i++) {
		const struct dbprof_operator_key *key = &taking->data->operator_keys[i];
		struct snapshot_operator *op;

		if (key->tid != (uint32_t)engine->tid)
			continue;
		op = operator_at(engine, worker, key->circuit, key->node);
		if (op)
			add_counted(&taking->data->operators[i], mode, &sampling, op);
		else
			taking->snapshot->losses.unresolved++;
	}
	if (mode == MODE_SAMPLED && is_blinded(&sampling))
		taking->snapshot->losses.slots += sampling.blind;
	open = totals->open_circuit
		       ? operator_at(engine, worker, totals->open_circuit, totals->open_node)
		       : NULL;
	if (open)
		share__add(&open->share, &totals->open_share);
	for (size_t i = 0; i < worker->operator_count; i++) {
		if (mode == MODE_SAMPLED)
			finish_sampled(&sampling, &worker->operators[i]);
		else if (mode == MODE_EXACT)
			worker->operators[i].has_time = true;
	}
	return 0;
}

void take_cpu(struct taking *taking, const struct dbprof_thread *thread,
	      const struct thread_totals *totals, struct snapshot_worker *worker)
{
	struct sampling sampling = sampling_of(taking, thread, totals);
	struct snapshot_cpu *cpu = &worker->cpu;
	uint64_t left = totals->cpu_ns, in_steps = worker->circuits[0].cpu_ns;

	for (size_t i = 0; i < worker->operator_count; i++) {
		cpu->operators_ns += worker->operators[i].cpu_ns;
		cpu->engine_timing_ns += worker->operators[i].engine_timing_ns;
	}
	if (taking->observer->mode == MODE_SAMPLED) {
		cpu->samples = sampling.samples;
		cpu->scheduler_ns = thread ? share_of(&sampling, thread->scheduler_samples) : 0;
	} else if (in_steps > cpu->operators_ns) {
		/* What the engine does not time, its clock reads among it. */
		cpu->scheduler_ns = in_steps - cpu->operators_ns;
	}
	if (cpu->operators_ns > left)
		cpu->operators_ns = left;
	left -= cpu->operators_ns;
	if (cpu->engine_timing_ns > left)
		cpu->engine_timing_ns = left;
	left -= cpu->engine_timing_ns;
	if (cpu->scheduler_ns > left)
		cpu->scheduler_ns = left;
	cpu->outside_ns = left - cpu->scheduler_ns;
}
