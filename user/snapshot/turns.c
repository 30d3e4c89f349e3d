// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <string.h>

#include "snapshot/books.h"
#include "snapshot/engine_window.h"
#include "snapshot/turns.h"

#define SHARE_WORDS (sizeof(struct dbprof_kernel_share) / sizeof(__u64))

/* A turn that stands for more is one too many to say anything; the rest stays unknown. */
#define PACE_MAX (DBPROF_PACE * 100000.0)

bool turns__watching(const struct dbprof_process *process)
{
	return process->turn_end == DBPROF_NEVER;
}

uint64_t turns__clock(const struct dbprof_process *process, uint64_t when)
{
	if (when > process->turn_end)
		when = process->turn_end;
	if (when < process->turn_start)
		when = process->turn_start;
	return dbprof_clock(process, when);
}

bool turns__is_estimate(const struct dbprof_process *process)
{
	return process->turn_pace > DBPROF_PACE;
}

void turns__whole(struct dbprof_process *process)
{
	process->turn = 0;
	process->turn_pace = DBPROF_PACE;
	process->turn_start = process->turn_clock = 0;
	process->turn_end = DBPROF_NEVER;
}

void turns__end(struct dbprof_process *process, uint64_t when)
{
	process->turn_end = when;
}

void turns__begin(struct dbprof_process *process, uint64_t when, uint64_t length_ns)
{
	uint64_t clock = turns__clock(process, when), late = when - clock;

	process->turn++;
	process->turn_pace = (uint32_t)fmin(
		(double)DBPROF_PACE * (double)(late + length_ns) / (double)length_ns, PACE_MAX);
	process->turn_clock = clock;
	process->turn_start = when;
}

#define UNIT_NS	 10000
#define UNIT_MAX ((uint64_t)1 << 31)

static uint64_t units(uint64_t nanos)
{
	return nanos / UNIT_NS < UNIT_MAX ? nanos / UNIT_NS : UNIT_MAX;
}

void turns__add(struct snapshot_turns *turns, const struct snapshot_turn *turn)
{
	uint64_t stood_for = units(turn->stood_for_ns), runtime = units(turn->runtime_ns);
	struct snapshot_turns sums = {
		.count = 1,
		.watched = units(turn->watched_ns),
		.stood_for = stood_for,
		.steps = turn->steps,
		.runtime = runtime,
		.stood_for_squared = stood_for * stood_for,
		.steps_squared = turn->steps * turn->steps,
		.runtime_squared = runtime * runtime,
		.steps_stood_for = turn->steps * stood_for,
		.runtime_stood_for = runtime * stood_for,
	};

	turns__sum(turns, &sums);
}

#define TURNS_WORDS (sizeof(struct snapshot_turns) / sizeof(uint64_t))

void turns__sum(struct snapshot_turns *sum, const struct snapshot_turns *part)
{
	for (size_t i = 0; i < TURNS_WORDS; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)part)[i];
}

void turns__subtract(struct snapshot_turns *all, const struct snapshot_turns *part)
{
	for (size_t i = 0; i < TURNS_WORDS; i++) {
		uint64_t *word = (uint64_t *)all + i, less = ((const uint64_t *)part)[i];

		*word = *word > less ? *word - less : 0;
	}
}

/* Student's t for 95 % on both sides, by degrees of freedom. */
static double student(uint64_t freedom)
{
	static const double few[] = { 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26 };

	return freedom <= sizeof(few) / sizeof(*few) ? few[freedom - 1]
						     : 1.96 + 2.7 / (double)freedom;
}

/*
 * Half the 95 % interval of a sum over turns, each standing for its time: as for a ratio in cluster
 * sampling (Cochran, Sampling Techniques, 6.4).
 */
static double interval(const struct snapshot_turns *turns, uint64_t sum, uint64_t squared,
		       uint64_t product, double watched_share)
{
	double n = (double)turns->count, ratio = (double)sum / (double)turns->stood_for;
	double rest = (double)squared - 2 * ratio * (double)product +
		      ratio * ratio * (double)turns->stood_for_squared;

	if (rest <= 0)
		return 0;
	return student(turns->count - 1) * sqrt(n / (n - 1) * rest * (1 - watched_share));
}

bool turns__interval(const struct snapshot_worker *worker, double *ret_steps,
		     uint64_t *ret_runtime_ns)
{
	const struct snapshot_turns *turns = &worker->turns;
	double share;

	*ret_steps = 0;
	*ret_runtime_ns = 0;
	if (worker->watched_ns >= worker->observed_ns)
		return true;
	if (turns->count < 2 || !turns->stood_for)
		return false;
	share = fmin(1, (double)turns->watched / (double)turns->stood_for);
	*ret_steps =
		interval(turns, turns->steps, turns->steps_squared, turns->steps_stood_for, share);
	*ret_runtime_ns = (uint64_t)(interval(turns, turns->runtime, turns->runtime_squared,
					      turns->runtime_stood_for, share) *
				     UNIT_NS);
	return true;
}

static uint64_t scale(uint64_t value, uint64_t to, uint64_t from)
{
	return (uint64_t)((unsigned __int128)value * to / from);
}

static void extend_circuit(struct snapshot_circuit *circuit, uint64_t observed)
{
	uint64_t watched = circuit->runtime_ns + circuit->idle_ns + circuit->edge_idle_ns;

	/* Where nothing was watched, nothing is known. */
	if (!watched)
		return;
	circuit->steps = scale(circuit->steps, observed, watched);
	circuit->runtime_ns = scale(circuit->runtime_ns, observed, watched);
	circuit->cpu_ns = scale(circuit->cpu_ns, observed, watched);
	circuit->edge_idle_ns = scale(circuit->edge_idle_ns, observed, watched);
	circuit->idle_ns = observed - circuit->runtime_ns - circuit->edge_idle_ns;
	for (size_t i = 0; i < PARK_REASONS; i++)
		circuit->wait_ns[i] = scale(circuit->wait_ns[i], observed, watched);
	for (size_t i = 0; i < SHARE_WORDS; i++)
		((__u64 *)&circuit->share)[i] =
			scale(((__u64 *)&circuit->share)[i], observed, watched);
}

/* The circuit that evaluates a node once in each of its steps. */
static const struct snapshot_circuit *enclosing_circuit(const struct snapshot_worker *worker,
							const struct node_path *id)
{
	struct node_path circuit = *id;

	circuit.depth--;
	for (size_t i = 0; i < worker->circuit_count; i++)
		if (!node_path__compare(&worker->circuits[i].id, &circuit))
			return &worker->circuits[i];
	return NULL;
}

/* All waits of the thread are in steps of the root, and known: an estimate is no shorter. */
static void extend_root(struct snapshot_worker *worker)
{
	struct snapshot_circuit *root = &worker->circuits[0];
	uint64_t waits = 0, pauses;

	for (size_t i = 0; i < PARK_REASONS; i++)
		waits += worker->wait_ns[i];
	memcpy(root->wait_ns, worker->wait_ns, sizeof(worker->wait_ns));
	if (waits > worker->observed_ns)
		waits = worker->observed_ns;
	if (root->runtime_ns >= waits)
		return;
	root->runtime_ns = waits;
	pauses = worker->observed_ns - waits;
	if (root->edge_idle_ns > pauses)
		root->edge_idle_ns = pauses;
	root->idle_ns = pauses - root->edge_idle_ns;
}

static void extend_worker(struct snapshot_worker *worker)
{
	for (size_t i = 0; i < worker->circuit_count; i++)
		extend_circuit(&worker->circuits[i], worker->observed_ns);
	extend_root(worker);
	for (size_t i = 0; i < worker->circuit_count; i++) {
		struct snapshot_circuit *circuit = &worker->circuits[i];

		engine_window__fit_waits(circuit->wait_ns, circuit->runtime_ns);
		books__close_circuit(circuit);
	}
	for (size_t i = 0; i < worker->operator_count; i++) {
		struct snapshot_operator *op = &worker->operators[i];
		const struct snapshot_circuit *circuit =
			op->has_invocations ? enclosing_circuit(worker, &op->id) : NULL;

		if (circuit)
			op->invocations = circuit->steps;
	}
}

void snapshot__extend(struct snapshot *snapshot)
{
	uint64_t busiest = 0;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		struct snapshot_worker *worker = &snapshot->workers[i];

		if (!worker->circuit_count)
			continue;
		if (worker->watched_ns < worker->observed_ns)
			extend_worker(worker);
		if (worker->circuits[0].runtime_ns > busiest)
			busiest = worker->circuits[0].runtime_ns;
	}
	/* As take_workers() has it. */
	snapshot->runtime_elapsed_ns = busiest * snapshot->worker_count * 2;
}
