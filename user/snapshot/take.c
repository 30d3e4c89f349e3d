// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts a snapshot together from counters, graphs and what memory told at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "snapshot/books.h"
#include "snapshot/observer_internal.h"

struct taking {
	const struct observer *observer;
	const struct session_data *data;
	struct window window;
	struct snapshot *snapshot;
	bool *explained; /* per circuit of the data: a graph has it */
};

static const struct dbprof_thread *find_thread(const struct taking *taking, pid_t tid)
{
	for (size_t i = 0; i < taking->data->thread_count; i++) {
		const struct dbprof_thread *thread = &taking->data->threads[i];

		if (thread->tgid == (uint32_t)taking->observer->target->pid &&
		    thread->tid == (uint32_t)tid)
			return thread;
	}
	return NULL;
}

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

/* CPU time of a thread in the window by /proc, for one without events. */
static uint64_t ran_ns(const struct observer *observer, pid_t tid)
{
	const struct thread_usage *before = usage_list__find(&observer->before, tid);
	const struct thread_usage *after = usage_list__find(&observer->after, tid);

	if (!before || !after || after->ran_ns < before->ran_ns)
		return 0;
	return after->ran_ns - before->ran_ns;
}

static int take_worker(struct taking *taking, const struct observed_worker *observed,
		       struct snapshot_worker *worker)
{
	const struct engine_worker *engine = observed->engine;
	const struct frozen_worker *frozen = &observed->frozen;
	const struct dbprof_thread *thread = find_thread(taking, engine->tid);
	struct thread_totals totals;

	*worker = (struct snapshot_worker){ .index = engine->index,
					    .tid = engine->tid,
					    .late = observed->late };
	worker->circuits = calloc(engine->circuit_count, sizeof(*worker->circuits));
	if (!worker->circuits)
		return -ENOMEM;
	worker->circuit_count = engine->circuit_count;
	books__totals(thread, frozen->has_park ? &frozen->park : NULL,
		      thread ? 0 : ran_ns(taking->observer, engine->tid), &taking->window, &totals);
	for (size_t i = 0; i < engine->circuit_count; i++) {
		const struct engine_step *step =
			frozen->has_step && frozen->has_step[i] ? &frozen->steps[i] : NULL;
		const struct dbprof_circuit *counted =
			find_circuit(taking, engine->tid, &engine->circuits[i]);

		worker->circuits[i].id = engine->circuits[i].id;
		books__circuit(counted, step, &totals, &worker->circuits[i]);
		/* Neither an event nor memory says whether the root was in a step. */
		if (!counted && !step && !i && observer__alive(taking->observer))
			taking->snapshot->losses.unresolved++;
	}
	return 0;
}

static int compare_workers(const void *a, const void *b)
{
	const struct snapshot_worker *left = a, *right = b;

	return left->index < right->index ? -1 : left->index > right->index;
}

/* The graphs move into the snapshot, so this comes last: nothing can fail after it. */
static void move_graphs(struct taking *taking)
{
	struct snapshot *snapshot = taking->snapshot;

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		snapshot->workers[i].graph = taking->observer->workers[i].engine->graph;
		taking->observer->workers[i].engine->graph = NULL;
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

static int worker_of(const struct observer *observer, pid_t tid)
{
	for (size_t i = 0; i < observer->worker_count; i++)
		if (observer->workers[i].engine->tid == tid)
			return (int)observer->workers[i].engine->index;
	return -1;
}

static void take_thread(struct taking *taking, const struct dbprof_thread *thread)
{
	struct snapshot *snapshot = taking->snapshot;
	struct snapshot_thread *taken = &snapshot->threads[snapshot->thread_count++];
	const struct thread_usage *usage;

	taken->tid = (pid_t)thread->tid;
	taken->worker = worker_of(taking->observer, taken->tid);
	memcpy(taken->comm, thread->comm, sizeof(taken->comm));
	/* Threads get their names after they start: the last one counts. */
	usage = usage_list__find(&taking->observer->after, taken->tid);
	if (usage && !thread->ended)
		memcpy(taken->comm, usage->comm, sizeof(taken->comm));
	taken->comm[sizeof(taken->comm) - 1] = '\0';
	books__thread(thread, &taking->window, taken);
}

static void take_silent_thread(struct taking *taking, const struct thread_usage *usage)
{
	struct snapshot *snapshot = taking->snapshot;
	struct snapshot_thread *taken = &snapshot->threads[snapshot->thread_count++];

	taken->tid = usage->tid;
	taken->worker = worker_of(taking->observer, usage->tid);
	memcpy(taken->comm, usage->comm, sizeof(taken->comm));
	books__silent_thread(ran_ns(taking->observer, usage->tid), usage->state, &taking->window,
			     taken);
}

static int compare_threads(const void *a, const void *b)
{
	const struct snapshot_thread *left = a, *right = b;

	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* Threads that came and went: their slots were used again, their times are summed. */
static void take_exited(struct taking *taking)
{
	const struct session_data *data = taking->data;
	struct snapshot_thread *sum = &taking->snapshot->exited;

	for (size_t i = 0; i < data->exited_count; i++) {
		const struct dbprof_exited *exited = &data->exited[i];

		if (data->exited_tgids[i] != (uint32_t)taking->observer->target->pid)
			continue;
		taking->snapshot->exited_count = exited->count;
		sum->worker = -1;
		sum->observed_ns = exited->observed_ns;
		sum->on_cpu_ns = exited->on_cpu_ns;
		sum->run_queue_ns = exited->run_queue_ns;
		sum->preempted_ns = exited->preempted_ns;
		sum->blocked_ns = exited->blocked_ns;
		sum->unobserved_ns = books__rest(sum);
	}
}

static int take_threads(struct taking *taking)
{
	const struct session_data *data = taking->data;
	const struct usage_list *before = &taking->observer->before;
	const struct usage_list *after = &taking->observer->after;
	struct snapshot *snapshot = taking->snapshot;

	snapshot->threads =
		calloc(data->thread_count + after->count + 1, sizeof(*snapshot->threads));
	if (!snapshot->threads)
		return -ENOMEM;
	for (size_t i = 0; i < data->thread_count; i++)
		if (data->threads[i].tgid == (uint32_t)taking->observer->target->pid)
			take_thread(taking, &data->threads[i]);
	/* A thread of the whole window without an event; one that came since has had events. */
	for (size_t i = 0; i < after->count; i++) {
		const struct thread_usage *then = usage_list__find(before, after->threads[i].tid);

		if (then && then->start_ticks == after->threads[i].start_ticks &&
		    !find_thread(taking, after->threads[i].tid))
			take_silent_thread(taking, &after->threads[i]);
	}
	qsort(snapshot->threads, snapshot->thread_count, sizeof(*snapshot->threads),
	      compare_threads);
	take_exited(taking);
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
	losses->missed = data->missed;
	losses->workers = taking->observer->unread_workers;
	losses->probes = taking->observer->failed_probes;
	losses->target_exited = !observer__alive(taking->observer);
	for (size_t i = 0; i < data->circuit_count; i++)
		if (data->circuit_keys[i].tgid == (uint32_t)taking->observer->target->pid &&
		    !taking->explained[i])
			losses->unresolved++;
}

static int take_description(struct taking *taking)
{
	const struct observer *observer = taking->observer;
	const struct elf_image *image = observer->target->image;
	struct snapshot *snapshot = taking->snapshot;
	struct timespec wall, monotonic;
	struct utsname name;

	snapshot->pid = observer->target->pid;
	snapshot->exe = strdup(observer->target->exe);
	snapshot->build_id = strdup(elf_image__build_id(image));
	snapshot->dbsp_version = strdup(elf_image__dbsp_version(image));
	snapshot->rustc_version = strdup(elf_image__rustc_version(image));
	snapshot->layout = strdup(observer->layout.source);
	snapshot->mode = strdup("probes");
	snapshot->trap_ns = observer->trap.enter_ns + observer->trap.leave_ns;
	if (!snapshot->exe || !snapshot->build_id || !snapshot->dbsp_version ||
	    !snapshot->rustc_version || !snapshot->layout || !snapshot->mode)
		return -ENOMEM;
	if (!uname(&name)) {
		snprintf(snapshot->host, sizeof(snapshot->host), "%.64s", name.nodename);
		snprintf(snapshot->kernel, sizeof(snapshot->kernel), "%.64s", name.release);
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	snapshot->window_start_ns = taking->window.start;
	snapshot->window_ns = taking->window.end - taking->window.start;
	snapshot->window_start_unix_ns = ((int64_t)wall.tv_sec - monotonic.tv_sec) * 1000000000LL +
					 wall.tv_nsec - monotonic.tv_nsec +
					 (int64_t)taking->window.start;
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
	err = take_description(&taking);
	if (!err)
		err = take_workers(&taking);
	if (!err)
		err = take_threads(&taking);
	if (err)
		goto out;
	take_losses(&taking);
	move_graphs(&taking);
	*ret_snapshot = taking.snapshot;
	taking.snapshot = NULL;
out:
	snapshot__free(taking.snapshot);
	free(taking.explained);
	return err;
}
