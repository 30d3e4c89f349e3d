// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Threads of a window as a difference, and of the whole as a sum. */
#include "snapshot/books.h"
#include "snapshot/series_internal.h"

/*
 * The thread as @snapshot has it; NULL when it has none. Ids are used again: one that had been
 * observed for longer was another thread.
 */
static const struct snapshot_thread *find(const struct snapshot *snapshot,
					  const struct snapshot_thread *thread)
{
	size_t low = 0, high = snapshot ? snapshot->thread_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct snapshot_thread *found = &snapshot->threads[middle];

		if (found->tid == thread->tid)
			return found;
		if (found->tid < thread->tid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool is_same(const struct snapshot_thread *before, const struct snapshot_thread *after)
{
	return before && after && before->observed_ns <= after->observed_ns;
}

static void add(struct snapshot_thread *sum, const struct snapshot_thread *part)
{
	sum->observed_ns += part->observed_ns;
	sum->on_cpu_ns += part->on_cpu_ns;
	sum->run_queue_ns += part->run_queue_ns;
	sum->preempted_ns += part->preempted_ns;
	sum->blocked_ns += part->blocked_ns;
	sum->unobserved_ns += part->unobserved_ns;
	share__add(&sum->share, &part->share);
}

static void subtract(struct snapshot_thread *thread, const struct snapshot_thread *sum)
{
	thread->observed_ns = minus(thread->observed_ns, sum->observed_ns);
	share__subtract(&thread->share, &sum->share);
	books__close_thread(thread, minus(thread->on_cpu_ns, sum->on_cpu_ns));
}

/* What the windows before had of threads that are in the sum of the exited ones by now. */
static struct snapshot_thread exited_before(const struct snapshot *sum, const struct snapshot *now)
{
	struct snapshot_thread exited = sum->exited;

	for (size_t i = 0; i < sum->thread_count; i++)
		if (!is_same(&sum->threads[i], find(now, &sum->threads[i])))
			add(&exited, &sum->threads[i]);
	return exited;
}

void series__subtract_threads(struct snapshot *window, const struct snapshot *sum)
{
	struct snapshot_thread exited;
	size_t kept = 0;

	if (!sum)
		return;
	/* Before the window's own threads change. */
	exited = exited_before(sum, window);
	for (size_t i = 0; i < window->thread_count; i++) {
		struct snapshot_thread thread = window->threads[i];
		const struct snapshot_thread *had = find(sum, &thread);

		if (is_same(had, &thread)) {
			subtract(&thread, had);
			/* A worker that has exited stays in the list, but is not of this window. */
			if (!thread.observed_ns)
				continue;
		}
		window->threads[kept++] = thread;
	}
	window->thread_count = kept;
	subtract(&window->exited, &exited);
	window->exited_count = minus(window->exited_count, sum->exited_count);
}

static void clear(struct snapshot_thread *thread)
{
	struct snapshot_thread kept = *thread;

	*thread = (struct snapshot_thread){ .tid = kept.tid,
					    .worker = kept.worker,
					    .role = kept.role };
	for (size_t i = 0; i < sizeof(kept.comm); i++)
		thread->comm[i] = kept.comm[i];
}

void series__add_threads(struct snapshot *whole, const struct snapshot *sum,
			 const struct snapshot *window)
{
	struct snapshot_thread exited = window->exited;

	if (sum) {
		exited = exited_before(sum, whole);
		add(&exited, &window->exited);
	}
	for (size_t i = 0; i < whole->thread_count; i++) {
		struct snapshot_thread *thread = &whole->threads[i];
		const struct snapshot_thread *had = find(sum, thread);
		const struct snapshot_thread *part = find(window, thread);
		bool same = is_same(had, thread);

		clear(thread);
		if (same)
			add(thread, had);
		if (part)
			add(thread, part);
	}
	exited.worker = whole->exited.worker;
	exited.role = whole->exited.role;
	whole->exited = exited;
}
