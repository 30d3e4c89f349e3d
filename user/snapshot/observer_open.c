// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a process id to what is known of the process before anything is put into it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/fields.h"
#include "snapshot/observer_internal.h"

/* A circuit is read again so often when it was caught while it changed. */
#define READ_TRIES    10
#define READ_PAUSE_NS 10000000L
#define END_PAUSE_NS  1000000L
#define END_TRIES     200

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
int observer__read_workers(struct observer *observer, struct fail *fail)
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
		/* A thread that ends meanwhile is nothing to read. */
		if (err == -ESRCH && target__alive(observer->target))
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
		err = observer__read_workers(observer, fail);
		/* Who joins later looks again by itself. */
		if (err == -EAGAIN && observer->options.joins && observer->layout.exact)
			return 0;
		if (err != -EAGAIN)
			return err;
		nanosleep(&pause, NULL);
	}
	/* With the right layout the circuit is still being built: it is looked for later. */
	return observer->layout.exact ? 0 : misfit(observer, fail);
}

/* Whether the engine's own profiler is on. */
static bool is_profiled(const struct observer *observer)
{
	for (size_t i = 0; i < observer->worker_count; i++)
		if (engine_worker__profiled(observer->target, &observer->layout,
					    observer->workers[i].engine))
			return true;
	return false;
}

/* The engine's counters are the better numbers, and cost no trap. */
static int choose_mode(struct observer *observer, enum observer_mode wanted, bool profiled,
		       struct fail *fail)
{
	switch (wanted) {
	case OBSERVER_AUTO:
		observer->mode = profiled ? MODE_ENGINE : MODE_SAMPLED;
		return 0;
	case OBSERVER_ENGINE:
		observer->mode = MODE_ENGINE;
		break;
	case OBSERVER_SAMPLED:
		observer->mode = MODE_SAMPLED;
		return 0;
	case OBSERVER_EXACT:
		observer->mode = MODE_EXACT;
		if (!observer->plan.exact_missing)
			return 0;
		return fail__set(
			fail, -ENODATA,
			"there is no place for an exact probe in this build: %s; use --mode "
			"sampled",
			observer->plan.exact_missing);
	case OBSERVER_WAITS:
		observer->mode = MODE_WAITS;
		return 0;
	}
	if (!observer->worker_count)
		return fail__set(
			fail, -ENODATA,
			"process %d has built no circuit yet, so that there are no counters "
			"to read; use --mode sampled",
			observer->target->pid);
	if (!profiled)
		return fail__set(fail, -ENODATA,
				 "DBSP's CPU profiler is off in process %d, so that there are no "
				 "counters to read; use --mode sampled",
				 observer->target->pid);
	return 0;
}

/* Whether the engine's sums of waits can be read: of all workers that there are, or will be. */
static bool knows_totals(const struct observer *observer)
{
	for (size_t i = 0; i < observer->worker_count; i++)
		if (!observer->workers[i].engine->handle)
			return false;
	return !fields__check(&observer->layout, FIELDS_HANDLE, NULL);
}

/* A killed process ends thread by thread: one of them may be gone some time before the memory is.
 */
static bool ends(const struct target *target, int err)
{
	const struct timespec pause = { 0, END_PAUSE_NS };

	for (int i = 0; err == -ESRCH && i < END_TRIES && target__alive(target); i++)
		nanosleep(&pause, NULL);
	return !target__alive(target);
}

/* Whatever could not be read of a process that has ended, this is why. */
static void explain_end(const struct observer *observer, pid_t pid, int err, struct fail *fail)
{
	if (!observer->target || !ends(observer->target, err))
		return;
	fail__clear(fail);
	fail__set(fail, err, "process %d has ended while it was being read", pid);
}

int observer__look(pid_t pid, const struct observer_options *options,
		   struct observer **ret_observer, struct fail *fail)
{
	struct observer *observer = calloc(1, sizeof(*observer));
	int err;

	if (!observer)
		return -ENOMEM;
	observer->options = *options;
	err = target__open(pid, &observer->target, fail);
	if (!err)
		err = target__check_threads(observer->target, fail);
	if (!err)
		err = layout__choose(observer->target->image, options->layout_file,
				     &observer->layout, fail);
	if (!err)
		err = read_first_workers(observer, fail);
	if (err) {
		explain_end(observer, pid, err, fail);
		observer__close(observer);
		return err;
	}
	*ret_observer = observer;
	return 0;
}

bool observer__is_built(struct observer *observer)
{
	return !observer__read_workers(observer, NULL) && observer->worker_count &&
	       !observer->unread_workers;
}

int observer__plan(struct observer *observer, struct fail *fail)
{
	const struct plan_options wishes = {
		.steps = observer->options.steps,
		.exact = observer->options.mode == OBSERVER_EXACT,
		.profiled = is_profiled(observer),
		.totals = knows_totals(observer),
	};
	struct fail unplanned = {};
	int planned = plan__make(observer->target->image, &observer->layout, &wishes,
				 &observer->plan, &unplanned);
	int err;

	elf_image__forget(observer->target->image);
	err = choose_mode(observer, observer->options.mode, wishes.profiled, fail);
	/* The engine's counters need no probe, and so no symbol to put one at. */
	if (!err && planned && observer->mode != MODE_ENGINE)
		err = fail__set(fail, planned, "%s", unplanned.text);
	if (err) {
		explain_end(observer, observer->target->pid, err, fail);
		return err;
	}
	learn__begin(observer);
	return 0;
}

int observer__open(pid_t pid, const struct observer_options *options,
		   struct observer **ret_observer, struct fail *fail)
{
	struct observer *observer = NULL;
	int err = observer__look(pid, options, &observer, fail);

	if (!err)
		err = observer__plan(observer, fail);
	if (err) {
		observer__close(observer);
		return err;
	}
	*ret_observer = observer;
	return 0;
}
