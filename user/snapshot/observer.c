// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/observer_internal.h"
#include "snapshot/turns.h"
#include "util/clock.h"

#define COUNTER_TRIES 3
/* How long after the window's begin new workers are looked for all the time. */
#define IMPATIENT_NS 3000000000ULL
/* Counters of up to so many nodes are kept at each poll, of more at every so many polls. */
#define KEEP_NODES 400
#define KEEP_POLLS 25
#define REST_POLLS 5

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
	observer__expect_threads(observer);
	err = session__set_process(session, observer->target->pid, &observer->process);
	if (err)
		return fail__set(fail, err, "too many processes at once: %s", strerror(-err));
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
	free(frozen->has_step);
	free(frozen->steps);
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
	observer->began = clock__now();
	observer->date_offset_ns = clock__date_offset();
	observer->impatient_until = clock__now() + IMPATIENT_NS;
	return usage_list__read(observer->target, &observer->before);
}

static void read_late_workers(struct observer *observer)
{
	size_t known = observer->worker_count;

	observer__read_workers(observer, NULL);
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
	/* And only it knows which steps are open now, while they are not watched. */
	if (observer->mode == MODE_SAMPLED && !turns__watching(&observer->process))
		for (size_t i = 0; i < observer->worker_count; i++)
			freeze_worker(observer, &observer->workers[i]);
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
