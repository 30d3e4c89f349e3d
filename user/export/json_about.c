// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdio.h>

#include "export/cost.h"
#include "export/export.h"
#include "export/json_parts.h"
#include "snapshot/turns.h"
#include "util/instant.h"

/* A share of one, in parts of a million; null when @value is none. */
static void share(struct json_writer *json, const char *key, double value)
{
	char text[32];
	int len;

	json__key(json, key);
	if (!(value >= 0 && value < 1e12)) {
		json__null(json);
		return;
	}
	len = snprintf(text, sizeof(text), "%.6f", value);
	json__elements(json, text, (size_t)len);
}

static void window(struct json_writer *json, const struct snapshot *snapshot)
{
	char start[INSTANT_TEXT_MAX];

	json__member_object_begin(json, "window");
	json__member_string(json, "start", instant__format(snapshot->window_start_unix_ns, start));
	json__member_uint(json, "start_monotonic_nanos", snapshot->window_start_ns);
	json_nanos(json, "length", snapshot->window_ns);
	json__object_end(json);
}

static void losses(struct json_writer *json, const struct snapshot_losses *lost)
{
	json__member_object_begin(json, "lost");
	json__member_uint(json, "threads", lost->threads);
	json__member_uint(json, "circuits", lost->circuits);
	json__member_uint(json, "operators", lost->operators);
	json__member_uint(json, "reads", lost->reads);
	json__member_uint(json, "slots", lost->slots);
	json__member_uint(json, "steps", lost->steps);
	json__member_uint(json, "missed", lost->missed);
	json__member_uint(json, "torn", lost->torn);
	json__member_uint(json, "workers", lost->workers);
	json__member_uint(json, "unresolved", lost->unresolved);
	json__member_uint(json, "probes", lost->probes);
	json__object_end(json);
}

/* Whose graph the profile carries, and which workers have another one. */
static void graph(struct json_writer *json, const struct profile *profile,
		  const struct snapshot *snapshot)
{
	const struct graph *shown;

	json__key(json, "graph");
	if (profile->graph_worker >= snapshot->worker_count ||
	    !snapshot->workers[profile->graph_worker].graph) {
		json__null(json);
		return;
	}
	shown = snapshot->workers[profile->graph_worker].graph;
	json__object_begin(json);
	json__member_uint(json, "worker", snapshot->workers[profile->graph_worker].index);
	json__member_array_begin(json, "differs_in_workers");
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];

		if (!worker->graph || !graph__equal(shown, worker->graph))
			json__uint(json, worker->index);
	}
	json__array_end(json);
	json__member_uint(json, "nodes_left_out", profile->nodes_left_out);
	json__object_end(json);
}

/* Where the worker's CPU time went. */
static void cpu(struct json_writer *json, const struct snapshot_cpu *cpu)
{
	json__member_object_begin(json, "cpu");
	json_nanos(json, "operators", cpu->operators_ns);
	json_nanos(json, "engine_timing", cpu->engine_timing_ns);
	json_nanos(json, "scheduler", cpu->scheduler_ns);
	json_nanos(json, "outside_steps", cpu->outside_ns);
	json__member_uint(json, "samples", cpu->samples);
	json__object_end(json);
}

/* Null where all steps were watched: then nothing of them is an estimate. */
static void watched(struct json_writer *json, const struct snapshot_worker *worker)
{
	uint64_t runtime_ns;
	double steps;

	json__key(json, "estimated_steps");
	if (worker->watched_ns >= worker->observed_ns) {
		json__null(json);
		return;
	}
	json__object_begin(json);
	json_nanos(json, "watched", worker->watched_ns);
	json_nanos(json, "of", worker->observed_ns);
	json__member_uint(json, "turns", worker->turns.count);
	if (turns__interval(worker, &steps, &runtime_ns)) {
		json__member_uint(json, "steps_interval", (uint64_t)ceil(steps));
		json_nanos(json, "runtime_interval", runtime_ns);
	}
	json__object_end(json);
}

static void workers(struct json_writer *json, const struct snapshot *snapshot)
{
	json__member_array_begin(json, "workers");
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];
		const struct snapshot_thread *thread = json_thread_of(snapshot, worker);

		json__object_begin(json);
		json__member_uint(json, "worker", worker->index);
		json__member_int(json, "tid", worker->tid);
		json__member_bool(json, "late", worker->late);
		if (thread)
			json_books(json, thread);
		cpu(json, &worker->cpu);
		watched(json, worker);
		json__object_end(json);
	}
	json__array_end(json);
}

static void open_step(struct json_writer *json, const struct snapshot_worker *worker,
		      const struct snapshot_circuit *circuit)
{
	bool waiting = circuit->open_reason >= 0 && circuit->open_reason < PARK_REASONS;
	char id[NODE_ID_TEXT_MAX];

	node_path__format(&circuit->id, id);
	json__object_begin(json);
	json__member_uint(json, "worker", worker->index);
	json__member_string(json, "circuit", id);
	json_nanos(json, "age", circuit->step_age_ns);
	json__member_bool(json, "exact", circuit->step_age_exact || !circuit->step_open_before);
	json__member_string(json, "reason",
			    waiting ? park_reason_name((unsigned int)circuit->open_reason) : NULL);
	if (waiting)
		json_nanos(json, "waiting", circuit->open_reason_ns);
	json__object_end(json);
}

static void open_steps(struct json_writer *json, const struct snapshot *snapshot)
{
	json__member_array_begin(json, "open_steps");
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];

		for (size_t j = 0; j < worker->circuit_count; j++)
			if (worker->circuits[j].step_open)
				open_step(json, worker, &worker->circuits[j]);
	}
	json__array_end(json);
}

static void cost(struct json_writer *json, const struct snapshot_cost *cost)
{
	double part;

	json__member_object_begin(json, "cost");
	json__member_uint(json, "traps", cost->traps);
	json__member_uint(json, "trap_nanos", cost->trap_ns);
	if (cost->program_ns > 0) {
		json_nanos(json, "program", cost->program_ns);
	} else {
		json__key(json, "program");
		json__null(json);
	}
	json_nanos(json, "own_cpu", cost->own_cpu_ns);
	json_nanos(json, "target_cpu", cost->target_cpu_ns);
	share(json, "share", cost__share(cost, &part) ? part : -1);
	share(json, "budget", cost->budget > 0 ? cost->budget : -1);
	json__member_string(json, "dropped", cost->dropped);
	json__object_end(json);
}

void json_about(struct json_writer *json, const struct profile *profile,
		const struct snapshot *snapshot)
{
	json__object_begin(json);
	json__member_string(json, "version", DBPROF_VERSION);
	json__member_string(json, "host", snapshot->host);
	json__member_int(json, "pid", snapshot->pid);
	json__member_string(json, "executable", snapshot->exe);
	json__member_string(json, "build_id", snapshot->build_id);
	json__member_string(json, "dbsp", snapshot->dbsp_version);
	json__member_string(json, "rustc", snapshot->rustc_version);
	json__member_string(json, "layout", snapshot->layout);
	json__member_string(json, "kernel", snapshot->kernel);
	json__member_string(json, "mode", snapshot_mode__name(snapshot->mode));
	json__member_uint(json, "frequency_hz", snapshot->frequency_hz);
	cost(json, &snapshot->cost);
	window(json, snapshot);
	json__member_bool(json, "complete", !snapshot__incomplete(snapshot));
	json__member_bool(json, "target_exited", snapshot->losses.target_exited);
	losses(json, &snapshot->losses);
	graph(json, profile, snapshot);
	workers(json, snapshot);
	open_steps(json, snapshot);
	json__object_end(json);
}
