// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts a snapshot together from counters, graphs and what memory told at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "snapshot/engine_window.h"
#include "snapshot/estimate.h"
#include "snapshot/take_internal.h"
#include "snapshot/turns.h"
#include "util/clock.h"

/* A probe names a circuit by its address, or by that of its id in it (see dbprof_circuit_key). */
static const struct dbprof_circuit *find_circuit(const struct taking *taking, pid_t tid,
						 const struct engine_circuit *circuit)
{
	enum layout_item item = circuit->id.depth ? LAYOUT_NESTED_GLOBAL_ID : LAYOUT_ROOT_GLOBAL_ID;
	uint64_t offset = layout__get(&taking->observer->layout, item);
	uint64_t id = offset == LAYOUT_ABSENT ? circuit->address : circuit->address + offset;

	if (!circuit->address)
		return NULL;
	for (size_t i = 0; i < taking->data->circuit_count; i++) {
		const struct dbprof_circuit_key *key = &taking->data->circuit_keys[i];

		if ((key->circuit == circuit->address || key->circuit == id) &&
		    key->tid == (uint32_t)tid &&
		    key->tgid == (uint32_t)taking->observer->target->pid) {
			taking->explained[i] = true;
			return &taking->data->circuits[i];
		}
	}
	return NULL;
}

static void take_probed_circuits(struct taking *taking, const struct observed_worker *observed,
				 const struct thread_totals *totals, struct snapshot_worker *worker)
{
	const struct engine_worker *engine = observed->engine;
	const struct frozen_worker *frozen = &observed->frozen;

	for (size_t i = 0; i < worker->circuit_count; i++) {
		const struct engine_step *step =
			frozen->has_step && frozen->has_step[i] ? &frozen->steps[i] : NULL;
		const struct dbprof_circuit *counted =
			find_circuit(taking, engine->tid, &engine->circuits[i]);

		books__circuit(counted, step, totals, &worker->circuits[i]);
		if (counted && !i)
			worker->latency = counted->latency;
		/* Neither an event nor memory says whether the root was in a step. */
		if (!counted && !step && !i && observer__alive(taking->observer))
			taking->snapshot->losses.unresolved++;
	}
}

/*
 * The engine's own numbers. What the kernel did with the time in steps is known for the root alone,
 * by the reasons that a thread declares in a step.
 */
static void take_engine(struct taking *taking, const struct observed_worker *observed,
			const struct thread_totals *totals, struct snapshot_worker *worker)
{
	const struct thread_usage *used =
		usage_list__find(&taking->observer->before, observed->engine->tid);
	const struct engine_reading *after = observed->after;
	struct engine_edge start = { .reading = observed->before,
				     .when_ns = taking->window.start,
				     .cpu_ns = used ? used->ran_ns : 0 };
	struct engine_edge end = { .reading = after, .when_ns = taking->window.end };

	/* The last reading of a process that has ended, or interfered, lies before the window's
	 * end. */
	if (after && (taking->snapshot->losses.target_exited || observed->torn_after) &&
	    after->after_ns < end.when_ns)
		end.when_ns = after->after_ns;
	end.cpu_ns = start.cpu_ns + totals->cpu_ns;
	/* Whatever a program has counted after its last reading is gone with it. */
	if (!after || observed->torn_before || observed->torn_after ||
	    taking->snapshot->losses.target_exited)
		taking->snapshot->losses.torn++;
	/* Without a begin the numbers would be those since the program started. */
	if (!after || observed->torn_before)
		return;
	engine_window__compute(&start, &end, worker);
	worker->circuits[0].share = totals->step_share;
	for (size_t i = 0; i < worker->circuit_count; i++)
		books__close_circuit(&worker->circuits[i]);
}

static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static uint64_t watched(const struct taking *taking, const struct thread_totals *totals)
{
	const struct dbprof_process *process = &taking->observer->process;
	uint64_t observed = between(totals->since, totals->end), watched;

	if (!process->turn && turns__watching(process))
		return observed;
	watched = observer__watched_ns(taking->observer, totals->end);
	return watched < observed ? watched : observed;
}

static int take_worker(struct taking *taking, const struct observed_worker *observed,
		       struct snapshot_worker *worker)
{
	const struct engine_worker *engine = observed->engine;
	const struct dbprof_thread *thread = take__thread(taking, engine->tid);
	struct silent_thread silent = take__silent_thread(taking->observer, engine->tid);
	struct thread_totals totals;
	int err;

	*worker = (struct snapshot_worker){ .index = engine->index,
					    .tid = engine->tid,
					    .late = observed->late };
	worker->circuits = calloc(engine->circuit_count, sizeof(*worker->circuits));
	if (!worker->circuits)
		return -ENOMEM;
	worker->circuit_count = engine->circuit_count;
	for (size_t i = 0; i < engine->circuit_count; i++)
		worker->circuits[i].id = engine->circuits[i].id;
	books__totals(thread, observed->frozen.has_park ? &observed->frozen.park : NULL, &silent,
		      &taking->window, &totals);
	if (taking->observer->mode != MODE_ENGINE)
		books__watch_steps(&taking->observer->process, &totals);
	worker->observed_ns = between(totals.since, totals.end);
	worker->watched_ns = watched(taking, &totals);
	memcpy(worker->wait_ns, totals.wait_ns, sizeof(worker->wait_ns));
	worker->turns = observed->turns;
	if (taking->observer->mode != MODE_ENGINE)
		take_probed_circuits(taking, observed, &totals, worker);
	err = take_operators(taking, engine, thread, &totals, worker);
	if (err)
		return err;
	if (taking->observer->mode == MODE_ENGINE)
		take_engine(taking, observed, &totals, worker);
	for (size_t i = 0; i < worker->operator_count; i++)
		books__close_operator(&worker->operators[i]);
	estimate__cpu(worker, taking->observer->mode, totals.cpu_ns);
	return 0;
}

static int compare_workers(const void *a, const void *b)
{
	const struct snapshot_worker *left = a, *right = b;

	return left->index < right->index ? -1 : left->index > right->index;
}

static void lend_graphs(struct taking *taking)
{
	struct snapshot *snapshot = taking->snapshot;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		snapshot->workers[i].graph = taking->observer->workers[i].engine->graph;
		snapshot->workers[i].graph_borrowed = true;
	}
	qsort(snapshot->workers, snapshot->worker_count, sizeof(*snapshot->workers),
	      compare_workers);
}

static int take_workers(struct taking *taking)
{
	struct snapshot *snapshot = taking->snapshot;
	size_t count = taking->observer->worker_count;
	uint64_t busiest = 0;

	snapshot->workers = calloc(count ? count : 1, sizeof(*snapshot->workers));
	if (!snapshot->workers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int err = take_worker(taking, &taking->observer->workers[i], &snapshot->workers[i]);

		snapshot->worker_count = i + 1;
		if (err)
			return err;
		if (snapshot->workers[i].circuits[0].runtime_ns > busiest)
			busiest = snapshot->workers[i].circuits[0].runtime_ns;
	}
	/* Workers step together: some worker is in a step as long as the busiest one is. DBSP
	 * counts each worker's foreground and background thread (DBSPHandle::runtime_elapsed). */
	snapshot->runtime_elapsed_ns = busiest * count * 2;
	return 0;
}

static void take_losses(struct taking *taking)
{
	struct snapshot_losses *losses = &taking->snapshot->losses;
	const struct session_data *data = taking->data;

	losses->threads = data->losses.threads;
	losses->circuits = data->losses.circuits;
	losses->reads = data->losses.reads;
	losses->steps = data->losses.steps;
	losses->operators = data->losses.operators;
	losses->slots = data->losses.slots;
	losses->missed = data->missed;
	losses->workers = taking->observer->unread_workers;
	losses->probes = taking->observer->failed_probes;
	for (size_t i = 0; i < data->circuit_count; i++)
		if (data->circuit_keys[i].tgid == (uint32_t)taking->observer->target->pid &&
		    !taking->explained[i])
			losses->unresolved++;
}

static int take_names(struct snapshot *snapshot, const struct pipeline_names *names)
{
	snapshot->pipeline = names->id ? strdup(names->id) : NULL;
	snapshot->pipeline_name = names->name ? strdup(names->name) : NULL;
	return (names->id && !snapshot->pipeline) || (names->name && !snapshot->pipeline_name)
		       ? -ENOMEM
		       : 0;
}

static int take_description(struct taking *taking)
{
	const struct observer *observer = taking->observer;
	const struct elf_image *image = observer->target->image;
	struct snapshot *snapshot = taking->snapshot;
	struct utsname name;

	snapshot->pid = observer->target->pid;
	snapshot->exe = strdup(observer->target->exe);
	snapshot->build_id = strdup(elf_image__build_id(image));
	snapshot->dbsp_version = strdup(elf_image__dbsp_version(image));
	snapshot->rustc_version = strdup(elf_image__rustc_version(image));
	snapshot->layout = strdup(observer->layout.source);
	snapshot->mode = observer->mode;
	snapshot->frequency_hz = observer->mode == MODE_SAMPLED ? taking->data->frequency_hz : 0;
	if (!snapshot->exe || !snapshot->build_id || !snapshot->dbsp_version ||
	    !snapshot->rustc_version || !snapshot->layout ||
	    take_names(snapshot, &observer->target->names))
		return -ENOMEM;
	if (!uname(&name)) {
		snprintf(snapshot->host, sizeof(snapshot->host), "%.64s", name.nodename);
		snprintf(snapshot->kernel, sizeof(snapshot->kernel), "%.64s", name.release);
	}
	snapshot->window_start_ns = taking->window.start;
	snapshot->window_ns = taking->window.end - taking->window.start;
	snapshot->window_start_unix_ns = (int64_t)taking->window.start + observer->date_offset_ns;
	snapshot->clock_step_ns = clock__date_offset() - observer->date_offset_ns;
	return 0;
}

int observer__snapshot(struct observer *observer, const struct session_data *data, uint64_t start,
		       uint64_t end, struct snapshot **ret_snapshot)
{
	struct taking taking = { .observer = observer,
				 .data = data,
				 .window = { start, end > start ? end : start } };
	int err = -ENOMEM;

	taking.snapshot = calloc(1, sizeof(*taking.snapshot));
	taking.explained = calloc(data->circuit_count + 1, sizeof(*taking.explained));
	if (!taking.snapshot || !taking.explained)
		goto out;
	taking.snapshot->losses.target_exited = !observer__alive(observer);
	err = take_description(&taking);
	if (!err)
		err = take_workers(&taking);
	if (!err)
		err = take_threads(&taking);
	if (err)
		goto out;
	take_losses(&taking);
	for (size_t i = 0; i < taking.snapshot->thread_count; i++)
		taking.snapshot->cost.target_cpu_ns += taking.snapshot->threads[i].on_cpu_ns;
	taking.snapshot->cost.target_cpu_ns += taking.snapshot->exited.on_cpu_ns;
	lend_graphs(&taking);
	*ret_snapshot = taking.snapshot;
	taking.snapshot = NULL;
out:
	snapshot__free(taking.snapshot);
	free(taking.explained);
	return err;
}
