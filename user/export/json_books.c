// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Closed books of threads: the parts add up to what was observed.
 */
#include <stdio.h>

#include "export/json_parts.h"
#include "model/kernel_names.h"

/* Durations by name, those that are not zero. */
static void by_name(struct json_writer *json, const char *key, const char *(*name)(unsigned int),
		    const __u64 *nanos, unsigned int count)
{
	json__member_object_begin(json, key);
	for (unsigned int i = 0; i < count; i++)
		if (nanos[i] > 0)
			json_nanos(json, name(i), nanos[i]);
	json__object_end(json);
}

void json_books(struct json_writer *json, const struct snapshot_thread *thread)
{
	const struct dbprof_kernel_share *share = &thread->share;

	json_nanos(json, "observed", thread->observed_ns);
	json_nanos(json, "on_cpu", thread->on_cpu_ns);
	json_nanos(json, "run_queue", thread->run_queue_ns);
	json_nanos(json, "preempted", thread->preempted_ns);
	by_name(json, "preempted_by", party_name, share->preempted_ns, DBPROF_PARTIES);
	by_name(json, "blocked", cause_name, share->blocked_ns, DBPROF_CAUSES);
	by_name(json, "woken_by", party_name, share->woken_ns, DBPROF_PARTIES);
	json_nanos(json, "unobserved", thread->unobserved_ns);
}

const struct snapshot_thread *json_thread_of(const struct snapshot *snapshot,
					     const struct snapshot_worker *worker)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].tid == worker->tid && snapshot->threads[i].worker >= 0)
			return &snapshot->threads[i];
	return NULL;
}

static bool is_listed_worker(const struct snapshot *snapshot, const struct snapshot_thread *thread)
{
	if (thread->worker < 0)
		return false;
	for (size_t i = 0; i < snapshot->worker_count; i++)
		if (snapshot->workers[i].tid == thread->tid)
			return true;
	return false;
}

static void thread(struct json_writer *json, const struct snapshot_thread *thread)
{
	char name[sizeof(thread->comm) + 1];

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(thread->comm), thread->comm);
	json__object_begin(json);
	json__member_int(json, "tid", thread->tid);
	json__member_string(json, "name", name);
	json__member_string(json, "role", thread_role__name(thread->role));
	json_books(json, thread);
	json__object_end(json);
}

/* Those of workers without a known circuit are among them, or their time would be nowhere. */
void json_threads(struct json_writer *json, const struct snapshot *snapshot)
{
	json__array_begin(json);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (!is_listed_worker(snapshot, &snapshot->threads[i]))
			thread(json, &snapshot->threads[i]);
	if (snapshot->exited_count > 0) {
		json__object_begin(json);
		json__member_uint(json, "exited", snapshot->exited_count);
		json_books(json, &snapshot->exited);
		json__object_end(json);
	}
	json__array_end(json);
}
