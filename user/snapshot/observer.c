// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "snapshot/observer_internal.h"

/* A circuit is read again so often when it was caught while it changed. */
#define READ_TRIES    10
#define READ_PAUSE_NS 10000000L

static bool knows_worker(const struct observer *observer, pid_t tid)
{
	for (size_t i = 0; i < observer->worker_count; i++)
		if (observer->workers[i].engine->tid == tid)
			return true;
	return false;
}

static int keep_worker(struct observer *observer, struct engine_worker *engine)
{
	struct observed_worker *longer =
		realloc(observer->workers, (observer->worker_count + 1) * sizeof(*longer));

	if (!longer) {
		engine_worker__free(engine);
		return -ENOMEM;
	}
	observer->workers = longer;
	observer->workers[observer->worker_count++] =
		(struct observed_worker){ .engine = engine, .late = observer->begun };
	return 0;
}

static int misfit(const struct observer *observer, struct fail *fail)
{
	const struct layout *layout = &observer->layout;

	return fail__set(
		fail, -ENOENT,
		"no layout is known for dbsp %s (rustc %s) and that of %s does not fit: make "
		"one with `dbprof-bpf layout BINARY` from a build with debug info and pass "
		"it with --layout",
		elf_image__dbsp_version(observer->target->image),
		elf_image__rustc_version(observer->target->image), layout->dbsp);
}

/*
 * Whether the thread only looks like a worker: one that a worker has started bears its name until
 * it gets one of its own, which nobody has to give it.
 */
static bool is_namesake(const struct observer *observer, const struct target_thread *threads,
			size_t count, int index)
{
	for (size_t w = 0; w < observer->worker_count; w++) {
		if (observer->workers[w].engine->index != (unsigned int)index)
			continue;
		for (size_t i = 0; i < count; i++)
			if (threads[i].tid == observer->workers[w].engine->tid)
				return true;
	}
	return false;
}

/*
 * Reads the circuits of worker threads not known yet. Returns 0, -EAGAIN when one was not ready,
 * -ENOENT when one does not fit the layout.
 */
static int read_workers(struct observer *observer, struct fail *fail)
{
	struct target_thread *threads = NULL;
	size_t count, unread = 0;
	int err = target__threads(observer->target, &threads, &count), result = 0;

	if (err)
		return fail__set(fail, err, "the threads of process %d cannot be listed: %s",
				 observer->target->pid, strerror(-err));
	for (size_t i = 0; i < count; i++) {
		struct engine_worker *engine = NULL;
		struct fail why = {};

		if (threads[i].worker < 0 || knows_worker(observer, threads[i].tid) ||
		    is_namesake(observer, threads, count, threads[i].worker))
			continue;
		err = engine_worker__read(observer->target, &observer->layout, &threads[i], &engine,
					  &why);
		if (!err)
			err = keep_worker(observer, engine);
		if (!err)
			continue;
		unread++;
		if (err == -EAGAIN || err == -EBUSY) {
			result = result ? result : -EAGAIN;
			continue;
		}
		result = err == -EPROTO && !observer->layout.exact
				 ? misfit(observer, fail)
				 : fail__set(fail, err, "%s",
					     why.text[0] ? why.text : strerror(-err));
		break;
	}
	observer->seen_threads = count;
	observer->unread_workers = unread;
	free(threads);
	return result;
}

/* Tries again while a circuit changes under us, which takes microseconds, or is being built. */
static int read_first_workers(struct observer *observer, struct fail *fail)
{
	const struct timespec pause = { 0, READ_PAUSE_NS };
	int err;

	for (int try = 0; try < READ_TRIES; try++) {
		err = read_workers(observer, fail);
		if (err != -EAGAIN)
			return err;
		nanosleep(&pause, NULL);
	}
	/* With the right layout the circuit is still being built: it is looked for later. */
	return observer->layout.exact ? 0 : misfit(observer, fail);
}

int observer__open(pid_t pid, const char *layout_file, enum plan_steps steps,
		   struct observer **ret_observer, struct fail *fail)
{
	struct observer *observer = calloc(1, sizeof(*observer));
	int err;

	if (!observer)
		return -ENOMEM;
	err = target__open(pid, &observer->target, fail);
	if (!err)
		err = layout__choose(observer->target->image, layout_file, &observer->layout, fail);
	if (!err)
		err = plan__make(observer->target->image, &observer->layout, steps, &observer->plan,
				 fail);
	if (!err)
		err = read_first_workers(observer, fail);
	if (err)
		observer__close(observer);
	else
		*ret_observer = observer;
	return err;
}

int observer__attach(struct observer *observer, struct session *session, struct fail *fail)
{
	observer->uprobe_kind = session__uprobe_kind(session);
	observer->trap = session__trap(session);
	return session__add(session, &observer->plan, observer->target->pid,
			    observer->target->exe_path, &observer->failed_probes, fail);
}

int observer__mark_begin(struct observer *observer)
{
	observer->begun = true;
	return usage_list__read(observer->target, &observer->before);
}

void observer__poll(struct observer *observer)
{
	struct target_thread *threads = NULL;
	size_t count = 0;

	if (!observer->unread_workers && observer->worker_count) {
		if (target__threads(observer->target, &threads, &count))
			return;
		free(threads);
		if (count == observer->seen_threads)
			return;
	}
	read_workers(observer, NULL);
}

static void freeze_worker(struct observer *observer, struct observed_worker *worker)
{
	struct frozen_worker *frozen = &worker->frozen;
	const struct engine_worker *engine = worker->engine;

	frozen->has_park =
		!engine_worker__park(observer->target, &observer->layout, engine, &frozen->park);
	frozen->has_step = calloc(engine->circuit_count, sizeof(*frozen->has_step));
	frozen->steps = calloc(engine->circuit_count, sizeof(*frozen->steps));
	if (!frozen->has_step || !frozen->steps)
		return;
	for (size_t i = 0; i < engine->circuit_count; i++)
		frozen->has_step[i] = !engine_worker__step(observer->target, &observer->layout,
							   engine, i, &frozen->steps[i]);
}

int observer__freeze(struct observer *observer)
{
	/* A process that has ended leaves what was known of it before. */
	if (!observer__alive(observer))
		return 0;
	for (size_t i = 0; i < observer->worker_count; i++)
		freeze_worker(observer, &observer->workers[i]);
	if (observer->unread_workers || !observer->worker_count)
		read_workers(observer, NULL);
	return usage_list__read(observer->target, &observer->after);
}

void observer__close(struct observer *observer)
{
	if (!observer)
		return;
	for (size_t i = 0; i < observer->worker_count; i++) {
		engine_worker__free(observer->workers[i].engine);
		free(observer->workers[i].frozen.has_step);
		free(observer->workers[i].frozen.steps);
	}
	free(observer->workers);
	usage_list__free(&observer->before);
	usage_list__free(&observer->after);
	target__close(observer->target);
	free(observer);
}

pid_t observer__pid(const struct observer *observer)
{
	return observer->target->pid;
}

bool observer__alive(const struct observer *observer)
{
	return target__alive(observer->target);
}

size_t observer__workers(const struct observer *observer)
{
	return observer->worker_count;
}

void observer__describe(const struct observer *observer, char *text, size_t size)
{
	const struct elf_image *image = observer->target->image;
	const struct plan *plan = &observer->plan;
	size_t emulated = 0;

	for (size_t i = 0; i < plan->probe_count; i++)
		emulated += plan->probes[i].emulated;
	snprintf(text, size,
		 "%s, dbsp %s, rustc %s, layout from %s%s; %zu workers; %zu probes by %s, %zu of "
		 "them "
		 "emulated by the kernel, %zu failed, a trap costs %u + %u ns%s",
		 observer->target->exe, elf_image__dbsp_version(image),
		 elf_image__rustc_version(image), observer->layout.source,
		 observer->layout.exact ? "" : " (the nearest)", observer->worker_count,
		 plan->probe_count, observer->uprobe_kind ? observer->uprobe_kind : "none",
		 emulated, observer->failed_probes, observer->trap.enter_ns,
		 observer->trap.leave_ns,
		 plan->polled_functions	 ? "; every poll of a step is probed"
		 : plan->event_functions ? "; steps are probed at their events"
					 : "");
}
