// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Closed books for every thread of the process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "snapshot/take_internal.h"

const struct dbprof_thread *take__thread(const struct taking *taking, pid_t tid)
{
	for (size_t i = 0; i < taking->data->thread_count; i++) {
		const struct dbprof_thread *thread = &taking->data->threads[i];

		if (thread->tgid == (uint32_t)taking->observer->target->pid &&
		    thread->tid == (uint32_t)tid)
			return thread;
	}
	return NULL;
}

static enum dbprof_cause cause_of_call(long call)
{
	switch (call) {
	case SYS_futex:
		return DBPROF_CAUSE_FUTEX;
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
	case SYS_poll:
	case SYS_select:
#endif
	case SYS_epoll_pwait:
	case SYS_ppoll:
	case SYS_pselect6:
		return DBPROF_CAUSE_EPOLL;
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return DBPROF_CAUSE_SLEEP;
	default:
		return DBPROF_CAUSE_OTHER;
	}
}

/* What /proc tells of a thread that no event was seen of. */
struct silent_thread take__silent_thread(const struct observer *observer, pid_t tid)
{
	const struct thread_usage *before = usage_list__find(&observer->before, tid);
	const struct thread_usage *after = usage_list__find(&observer->after, tid);
	struct silent_thread silent = { .cause = DBPROF_CAUSE_OTHER };

	if (!before || !after)
		return silent;
	if (after->ran_ns > before->ran_ns)
		silent.ran_ns = after->ran_ns - before->ran_ns;
	silent.state = after->state;
	silent.cause = cause_of_call(after->call);
	return silent;
}

static int worker_of(const struct observer *observer, pid_t tid)
{
	for (size_t i = 0; i < observer->worker_count; i++)
		if (observer->workers[i].engine->tid == tid)
			return (int)observer->workers[i].engine->index;
	return -1;
}

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* By the names that DBSP and Feldera give their threads. */
static enum thread_role role_of(const struct snapshot_thread *thread)
{
	if (thread->worker >= 0)
		return ROLE_WORKER;
	if (begins_with(thread->comm, "merger-"))
		return ROLE_MERGER;
	if (begins_with(thread->comm, "feldera-tokio") ||
	    begins_with(thread->comm, "dbsp-storage") || begins_with(thread->comm, "tokio-"))
		return ROLE_IO;
	return ROLE_OTHER;
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
	taken->role = role_of(taken);
	books__thread(thread, &taking->window, taken);
}

static void take_silent_thread(struct taking *taking, const struct thread_usage *usage)
{
	struct snapshot *snapshot = taking->snapshot;
	struct snapshot_thread *taken = &snapshot->threads[snapshot->thread_count++];
	struct silent_thread silent;

	taken->tid = usage->tid;
	taken->worker = worker_of(taking->observer, usage->tid);
	memcpy(taken->comm, usage->comm, sizeof(taken->comm));
	taken->role = role_of(taken);
	silent = take__silent_thread(taking->observer, usage->tid);
	books__silent_thread(&silent, &taking->window, taken);
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
		sum->role = ROLE_OTHER;
		books__exited(exited, sum);
	}
}

int take_threads(struct taking *taking)
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
		    !take__thread(taking, after->threads[i].tid))
			take_silent_thread(taking, &after->threads[i]);
	}
	qsort(snapshot->threads, snapshot->thread_count, sizeof(*snapshot->threads),
	      compare_threads);
	take_exited(taking);
	return 0;
}
