// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Workers of a window as a difference, and of the whole as a sum. */
#include <string.h>

#include "snapshot/books.h"
#include "snapshot/engine_window.h"
#include "snapshot/estimate.h"
#include "snapshot/series_internal.h"
#include "snapshot/turns.h"

#define LATENCY_WORDS (sizeof(struct dbprof_latency) / sizeof(__u64))

static __u64 *latency_word(const struct snapshot_worker *worker)
{
	return (__u64 *)&worker->latency;
}

/* The worker as @snapshot has it; NULL when it has none, or one with another circuit. */
static struct snapshot_worker *find(const struct snapshot *snapshot,
				    const struct snapshot_worker *worker)
{
	for (size_t i = 0; snapshot && i < snapshot->worker_count; i++) {
		struct snapshot_worker *found = &snapshot->workers[i];

		if (found->index == worker->index && found->tid == worker->tid &&
		    found->circuit_count == worker->circuit_count &&
		    found->operator_count == worker->operator_count)
			return found;
	}
	return NULL;
}

/*
 * Steps and pauses fill the window, also where a step that ended next to an edge was counted on its
 * other side: then the next window has it. Pauses become idle time when they end and are edge idle
 * time up to then; what has come to either is split by how far the pause at the end reaches.
 */
static void subtract_times(struct snapshot_circuit *circuit, const struct snapshot_circuit *sum,
			   const struct snapshot_circuit *last)
{
	uint64_t all = minus(circuit->runtime_ns + circuit->idle_ns + circuit->edge_idle_ns,
			     sum->runtime_ns + sum->idle_ns + sum->edge_idle_ns);
	uint64_t runtime = minus(circuit->runtime_ns, sum->runtime_ns);
	uint64_t edge = minus(circuit->edge_idle_ns, last ? last->edge_idle_ns : 0);

	circuit->runtime_ns = runtime < all ? runtime : all;
	all -= circuit->runtime_ns;
	circuit->edge_idle_ns = edge < all ? edge : all;
	circuit->idle_ns = all - circuit->edge_idle_ns;
}

static void subtract_circuit(struct snapshot_circuit *circuit, const struct snapshot_circuit *sum,
			     const struct snapshot_circuit *last, uint64_t window_ns)
{
	circuit->steps = minus(circuit->steps, sum->steps);
	subtract_times(circuit, sum, last);
	circuit->cpu_ns = minus(circuit->cpu_ns, sum->cpu_ns);
	for (size_t i = 0; i < PARK_REASONS; i++)
		circuit->wait_ns[i] = minus(circuit->wait_ns[i], sum->wait_ns[i]);
	engine_window__fit_waits(circuit->wait_ns, circuit->runtime_ns);
	share__subtract(&circuit->share, &sum->share);
	if (circuit->step_open && circuit->step_age_ns >= window_ns)
		circuit->step_open_before = true;
	books__close_circuit(circuit);
}

static void subtract_operator(struct snapshot_operator *op, const struct snapshot_operator *sum)
{
	op->invocations = minus(op->invocations, sum->invocations);
	op->runtime_ns = minus(op->runtime_ns, sum->runtime_ns);
	op->cpu_ns = minus(op->cpu_ns, sum->cpu_ns);
	op->samples = minus(op->samples, sum->samples);
	op->timing_samples = minus(op->timing_samples, sum->timing_samples);
	share__subtract(&op->share, &sum->share);
}

static void subtract_worker(struct snapshot_worker *worker, const struct snapshot_worker *sum,
			    const struct snapshot_worker *last, const struct snapshot *window)
{
	struct snapshot_cpu *cpu = &worker->cpu;
	uint64_t cpu_ns = minus(estimate__cpu_ns(cpu), estimate__cpu_ns(&sum->cpu));

	for (size_t i = 0; i < worker->circuit_count; i++)
		subtract_circuit(&worker->circuits[i], &sum->circuits[i],
				 last ? &last->circuits[i] : NULL, window->window_ns);
	for (size_t i = 0; i < worker->operator_count; i++)
		subtract_operator(&worker->operators[i], &sum->operators[i]);
	worker->observed_ns = minus(worker->observed_ns, sum->observed_ns);
	worker->watched_ns = minus(worker->watched_ns, sum->watched_ns);
	for (size_t i = 0; i < PARK_REASONS; i++)
		worker->wait_ns[i] = minus(worker->wait_ns[i], sum->wait_ns[i]);
	turns__subtract(&worker->turns, &sum->turns);
	for (size_t i = 0; i < LATENCY_WORDS; i++)
		latency_word(worker)[i] = minus(latency_word(worker)[i], latency_word(sum)[i]);
	cpu->samples = minus(cpu->samples, sum->cpu.samples);
	cpu->scheduler_samples = minus(cpu->scheduler_samples, sum->cpu.scheduler_samples);
	cpu->blind_samples = minus(cpu->blind_samples, sum->cpu.blind_samples);
	if (window->mode == MODE_SAMPLED)
		estimate__operators(worker, cpu_ns);
	for (size_t i = 0; i < worker->operator_count; i++)
		books__close_operator(&worker->operators[i]);
	estimate__cpu(worker, window->mode, cpu_ns);
	worker->late = false;
}

/* Some worker is in a step as long as the busiest one is; see take_workers(). */
static uint64_t runtime_elapsed(const struct snapshot *snapshot)
{
	uint64_t busiest = 0;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];

		if (worker->circuit_count && worker->circuits[0].runtime_ns > busiest)
			busiest = worker->circuits[0].runtime_ns;
	}
	return busiest * snapshot->worker_count * 2;
}

void series__subtract_workers(struct snapshot *window, const struct snapshot *sum,
			      const struct snapshot *last)
{
	for (size_t i = 0; i < window->worker_count; i++) {
		struct snapshot_worker *worker = &window->workers[i];
		const struct snapshot_worker *had = find(sum, worker);

		if (had)
			subtract_worker(worker, had, find(last, worker), window);
	}
	window->runtime_elapsed_ns = runtime_elapsed(window);
}

static void add_circuit(struct snapshot_circuit *sum, const struct snapshot_circuit *part)
{
	sum->steps += part->steps;
	sum->runtime_ns += part->runtime_ns;
	sum->cpu_ns += part->cpu_ns;
	for (size_t i = 0; i < PARK_REASONS; i++)
		sum->wait_ns[i] += part->wait_ns[i];
	sum->idle_ns += part->idle_ns;
	sum->edge_idle_ns += part->edge_idle_ns;
	share__add(&sum->share, &part->share);
	sum->unobserved_ns += part->unobserved_ns;
}

static void add_operator(struct snapshot_operator *sum, const struct snapshot_operator *part)
{
	sum->invocations += part->invocations;
	sum->runtime_ns += part->runtime_ns;
	sum->cpu_ns += part->cpu_ns;
	sum->samples += part->samples;
	sum->timing_samples += part->timing_samples;
	sum->engine_timing_ns += part->engine_timing_ns;
	share__add(&sum->share, &part->share);
	sum->unobserved_ns += part->unobserved_ns;
}

static void add_cpu(struct snapshot_cpu *sum, const struct snapshot_cpu *part)
{
	sum->operators_ns += part->operators_ns;
	sum->engine_timing_ns += part->engine_timing_ns;
	sum->scheduler_ns += part->scheduler_ns;
	sum->outside_ns += part->outside_ns;
	sum->samples += part->samples;
	sum->scheduler_samples += part->scheduler_samples;
	sum->blind_samples += part->blind_samples;
}

/* Pauses between two windows are none at an edge of the whole. */
static void split_idle(struct snapshot_circuit *circuit, uint64_t edge_ns)
{
	uint64_t all = circuit->idle_ns + circuit->edge_idle_ns;

	circuit->edge_idle_ns = edge_ns < all ? edge_ns : all;
	circuit->idle_ns = all - circuit->edge_idle_ns;
}

static void add_worker(struct snapshot_worker *worker, const struct snapshot_worker *part)
{
	for (size_t i = 0; i < worker->circuit_count; i++)
		add_circuit(&worker->circuits[i], &part->circuits[i]);
	for (size_t i = 0; i < worker->operator_count; i++)
		add_operator(&worker->operators[i], &part->operators[i]);
	add_cpu(&worker->cpu, &part->cpu);
	worker->observed_ns += part->observed_ns;
	worker->watched_ns += part->watched_ns;
	turns__sum(&worker->turns, &part->turns);
	for (size_t i = 0; i < LATENCY_WORDS; i++)
		latency_word(worker)[i] += latency_word(part)[i];
	for (size_t i = 0; i < PARK_REASONS; i++)
		worker->wait_ns[i] += part->wait_ns[i];
}

/* Leaves only what is no number of the window. */
static void clear_worker(struct snapshot_worker *worker)
{
	for (size_t i = 0; i < worker->circuit_count; i++) {
		struct snapshot_circuit *circuit = &worker->circuits[i];
		struct snapshot_circuit kept = *circuit;

		*circuit = (struct snapshot_circuit){ .id = kept.id,
						      .step_open = kept.step_open,
						      .step_open_before = kept.step_open_before,
						      .step_age_ns = kept.step_age_ns,
						      .step_age_exact = kept.step_age_exact,
						      .open_reason = kept.open_reason,
						      .open_reason_ns = kept.open_reason_ns };
	}
	for (size_t i = 0; i < worker->operator_count; i++) {
		struct snapshot_operator *op = &worker->operators[i];

		*op = (struct snapshot_operator){ .id = op->id,
						  .has_invocations = op->has_invocations,
						  .has_time = op->has_time };
	}
	worker->cpu = (struct snapshot_cpu){ 0 };
	worker->observed_ns = worker->watched_ns = 0;
	memset(worker->wait_ns, 0, sizeof(worker->wait_ns));
	memset(&worker->turns, 0, sizeof(worker->turns));
	memset(&worker->latency, 0, sizeof(worker->latency));
}

void series__add_workers(struct snapshot *whole, const struct snapshot *sum,
			 const struct snapshot *window, const struct snapshot *until)
{
	for (size_t i = 0; i < whole->worker_count; i++) {
		struct snapshot_worker *worker = &whole->workers[i];
		const struct snapshot_worker *before = find(sum, worker);
		const struct snapshot_worker *part = find(window, worker);

		clear_worker(worker);
		if (before)
			add_worker(worker, before);
		if (part)
			add_worker(worker, part);
		for (size_t j = 0; j < worker->circuit_count; j++)
			split_idle(&worker->circuits[j],
				   until->workers[i].circuits[j].edge_idle_ns);
		/* All samples together say more than those of each window. */
		if (whole->mode == MODE_SAMPLED) {
			uint64_t cpu_ns = estimate__cpu_ns(&worker->cpu);

			estimate__operators(worker, cpu_ns);
			estimate__cpu(worker, whole->mode, cpu_ns);
		}
	}
	whole->runtime_elapsed_ns = runtime_elapsed(whole);
}
