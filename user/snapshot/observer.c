// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/fields.h"
#include "snapshot/observer_internal.h"
#include "util/clock.h"

/* A circuit is read again so often when it was caught while it changed. */
#define READ_TRIES    10
#define READ_PAUSE_NS 10000000L
#define END_PAUSE_NS  1000000L
#define END_TRIES     200
#define COUNTER_TRIES 3
/* How long after the window's begin new workers are looked for all the time. */
#define IMPATIENT_NS 3000000000ULL
/* Counters of up to so many nodes are kept at each poll, of more at every so many polls. */
#define KEEP_NODES 400
#define KEEP_POLLS 25
#define REST_POLLS 5

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
		err = read_workers(observer, fail);
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

int observer__open(pid_t pid, const struct observer_options *options,
		   struct observer **ret_observer, struct fail *fail)
{
	struct observer *observer = calloc(1, sizeof(*observer));
	struct fail unplanned = {};
	int err, planned = 0;

	if (!observer)
		return -ENOMEM;
	err = target__open(pid, &observer->target, fail);
	if (!err)
		err = target__check_threads(observer->target, fail);
	if (!err)
		err = layout__choose(observer->target->image, options->layout_file,
				     &observer->layout, fail);
	if (!err)
		err = read_first_workers(observer, fail);
	if (!err) {
		const struct plan_options wishes = {
			.steps = options->steps,
			.exact = options->mode == OBSERVER_EXACT,
			.profiled = is_profiled(observer),
			.totals = knows_totals(observer),
		};

		planned = plan__make(observer->target->image, &observer->layout, &wishes,
				     &observer->plan, &unplanned);
		elf_image__forget(observer->target->image);
		err = choose_mode(observer, options->mode, wishes.profiled, fail);
	}
	/* The engine's counters need no probe, and so no symbol to put one at. */
	if (!err && planned && observer->mode != MODE_ENGINE)
		err = fail__set(fail, planned, "%s", unplanned.text);
	if (err && observer->target && ends(observer->target, err)) {
		/* Whatever could not be read of it then, this is why. */
		fail__clear(fail);
		fail__set(fail, err, "process %d has ended while it was being read", pid);
	}
	if (err) {
		observer__close(observer);
		return err;
	}
	learn__begin(observer);
	*ret_observer = observer;
	return 0;
}

/* Context switches of workers say more than those of other threads. */
static void tell_workers(struct observer *observer)
{
	for (; observer->told_workers < observer->worker_count; observer->told_workers++) {
		const struct engine_worker *engine =
			observer->workers[observer->told_workers].engine;

		session__add_worker(observer->session, engine->tid,
				    engine->handle ? engine->idle.by_reason : 0);
	}
}

int observer__attach(struct observer *observer, struct session *session, struct fail *fail)
{
	static const uint32_t kinds[SNAPSHOT_MODES] = {
		[MODE_ENGINE] = 0,
		[MODE_SAMPLED] = SESSION_PARK_KINDS | SESSION_STEP_KINDS,
		[MODE_EXACT] = SESSION_PARK_KINDS | SESSION_STEP_KINDS | SESSION_KIND(PLAN_EXACT),
		[MODE_WAITS] = SESSION_PARK_KINDS | SESSION_STEP_KINDS,
	};
	int err;

	observer->session = session;
	observer->uprobe_kind = session__uprobe_kind(session);
	observer->trap = session__trap(session);
	err = session__set_process(session, observer->target->pid, &observer->process);
	if (err)
		return fail__set(fail, err, "too many processes at once: %s", strerror(-err));
	observer__expect_threads(observer);
	err = session__add(session, &observer->plan, kinds[observer->mode], observer->target->pid,
			   observer->target->exe_path, &observer->failed_probes, fail);
	if (err)
		return err;
	if (kinds[observer->mode])
		observer->failed_probes += observer->plan.missing_functions;
	tell_workers(observer);
	learn__probe(observer);
	return 0;
}

/* Reads the engine's counters of a worker; one that did not settle is a loss. */
static bool read_counters(struct observer *observer, struct observed_worker *worker,
			  struct engine_reading **ret_reading)
{
	struct engine_reading *reading;
	int err = -EAGAIN;

	/* A worker that interferes all through one reading hardly does through the next. */
	for (int try = 0; try < COUNTER_TRIES && err == -EAGAIN; try++)
		err = engine_worker__reading(observer->target, &observer->layout, worker->engine,
					     &reading);
	if (err)
		return false;
	engine_reading__free(*ret_reading);
	*ret_reading = reading;
	return true;
}

/* What a program has counted dies with it, so that it is read now and then; cheap ones often. */
static void keep_counters(struct observer *observer)
{
	if (observer->mode != MODE_ENGINE ||
	    (++observer->polls % KEEP_POLLS && observer__nodes(observer) > KEEP_NODES))
		return;
	for (size_t i = 0; i < observer->worker_count; i++)
		observer->workers[i].torn_after = !read_counters(observer, &observer->workers[i],
								 &observer->workers[i].after);
}

static void read_park(struct observer *observer, struct observed_worker *worker)
{
	worker->frozen.has_park = !engine_worker__park(observer->target, &observer->layout,
						       worker->engine, &worker->frozen.park);
}

static void freeze_worker(struct observer *observer, struct observed_worker *worker)
{
	struct frozen_worker *frozen = &worker->frozen;
	const struct engine_worker *engine = worker->engine;

	read_park(observer, worker);
	frozen->has_step = calloc(engine->circuit_count, sizeof(*frozen->has_step));
	frozen->steps = calloc(engine->circuit_count, sizeof(*frozen->steps));
	if (!frozen->has_step || !frozen->steps)
		return;
	for (size_t i = 0; i < engine->circuit_count; i++)
		frozen->has_step[i] = !engine_worker__step(observer->target, &observer->layout,
							   engine, i, &frozen->steps[i]);
}

/*
 * Where a worker stands when it is first measured: at the window's begin, or when it is found. A
 * worker that has not made a step by then has all its counters from the window.
 */
static void begin_worker(struct observer *observer, struct observed_worker *worker)
{
	freeze_worker(observer, worker);
	if (observer->mode != MODE_ENGINE)
		return;
	worker->torn_before = !read_counters(observer, worker, &worker->before);
	if (worker->late && worker->frozen.has_step && worker->frozen.has_step[0] &&
	    !worker->frozen.steps[0].ever)
		worker->torn_before = false;
}

int observer__mark_begin(struct observer *observer)
{
	for (size_t i = 0; i < observer->worker_count; i++)
		begin_worker(observer, &observer->workers[i]);
	observer->begun = true;
	observer->date_offset_ns = clock__date_offset();
	observer->impatient_until = clock__now() + IMPATIENT_NS;
	return usage_list__read(observer->target, &observer->before);
}

static void read_late_workers(struct observer *observer)
{
	size_t known = observer->worker_count;

	read_workers(observer, NULL);
	for (; known < observer->worker_count; known++)
		begin_worker(observer, &observer->workers[known]);
	tell_workers(observer);
}

/*
 * Reads workers that are new; a thread is known as one by its name, which it gets after it starts.
 * Returns whether there were none, nor any that could not be read.
 */
static bool look_for_workers(struct observer *observer)
{
	size_t known = observer->worker_count;

	read_late_workers(observer);
	return known && observer->worker_count == known && !observer->unread_workers;
}

void observer__poll(struct observer *observer)
{
	bool settled;

	keep_counters(observer);
	/* Reading counters is cheap; the rest need not be done so often. */
	if (observer->mode == MODE_ENGINE && observer->polls % REST_POLLS)
		return;
	settled = look_for_workers(observer) || clock__now() >= observer->impatient_until;
	learn__poll(observer, settled);
}

unsigned int observer__poll_ms(const struct observer *observer)
{
	bool waits = observer->learning || !observer->worker_count || observer->unread_workers;

	if (waits && clock__now() < observer->impatient_until)
		return 10;
	/* What a program counts dies with it: the last reading should not be old. */
	if (observer->mode == MODE_ENGINE && observer__nodes(observer) <= KEEP_NODES)
		return 40;
	return 200;
}

void observer__drop_parks(struct observer *observer)
{
	struct session *session = observer->session;
	pid_t pid = observer->target->pid;

	/* Parks that have begun are still seen to end, by the probe and then by the switch. */
	observer->process.waits = DBPROF_WAITS_BY_TOTALS;
	session__set_process(session, pid, &observer->process);
	session__drop(session, pid, SESSION_KIND(PLAN_PARK));
	observer->process.waits = DBPROF_WAITS_NO_PROBES;
	session__set_process(session, pid, &observer->process);
	session__drop(session, pid, SESSION_KIND(PLAN_UNPARK));
}

int observer__freeze(struct observer *observer)
{
	/* A process that has ended leaves what was known of it before. */
	if (!observer__alive(observer))
		return 0;
	if (observer->mode == MODE_ENGINE)
		for (size_t i = 0; i < observer->worker_count; i++)
			observer->workers[i].torn_after = !read_counters(
				observer, &observer->workers[i], &observer->workers[i].after);
	/* Since the last begin or end of a step only the engine knows what was waited for. */
	if (observer->process.waits != DBPROF_WAITS_BY_PARKS)
		for (size_t i = 0; i < observer->worker_count; i++)
			read_park(observer, &observer->workers[i]);
	read_late_workers(observer);
	learn__poll(observer, false);
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
		engine_reading__free(observer->workers[i].before);
		engine_reading__free(observer->workers[i].after);
	}
	free(observer->workers);
	usage_list__free(&observer->before);
	usage_list__free(&observer->after);
	target__close(observer->target);
	free(observer);
}
