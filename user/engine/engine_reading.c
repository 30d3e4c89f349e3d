// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A reading of all that the built-in CPU profiler counts of a worker, which goes on counting.
 *
 * The circuits are copied, then the operators one by one, then what the worker waits for, and then
 * the circuits are compared with their copy. When they are the same, no step began or ended in
 * between, and all that was read in between belongs to the same steps.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine_internal.h"
#include "util/clock.h"

#define PAUSE_US   50
#define TRIES_MAX  300
#define STRICT_NS  8000000ull  /* until then, operators and circuits must be of the same steps */
#define GIVE_UP_NS 14000000ull /* a worker put off its CPU while it writes is back by then */

void engine_reading__free(struct engine_reading *reading)
{
	if (!reading)
		return;
	free(reading->circuits);
	free(reading->operators);
	free(reading);
}

/* Whether nothing that was noted is later than the moment of the reading. */
static bool in_order(const struct engine_reading *reading)
{
	uint64_t when_ns = reading->park.when_ns;

	for (size_t i = 0; i < reading->circuit_count; i++) {
		const struct engine_circuit_counters *circuit = &reading->circuits[i];

		if (circuit->step_since_ns > when_ns || circuit->paused_since_ns > when_ns)
			return false;
		for (size_t k = 0; k < PARK_REASONS; k++)
			if (circuit->step_start_wait_ns[k] > reading->park.by_reason_ns[k])
				return false;
	}
	return !reading->park.parked || reading->park.since_ns <= when_ns;
}

/* Copies all in the order that makes it fit together. */
static int copy_all(struct profiler_copy *copy, const struct engine_worker *worker,
		    struct engine_reading *reading)
{
	int err;

	reading->before_ns = clock__now();
	err = profiler_copy__heads(copy);
	if (!err && reading->operators_behind)
		err = profiler_copy__operators(copy);
	if (!err)
		err = profiler_copy__circuits(copy);
	if (!err)
		err = engine_reading__take_circuits(copy, worker->graph, reading);
	if (!err && !reading->operators_behind)
		err = profiler_copy__operators(copy);
	if (!err)
		err = engine_idle__read(copy->memory, &worker->idle, &reading->park);
	if (!err)
		err = profiler_copy__check(copy);
	reading->after_ns = clock__now();
	if (!err && !in_order(reading))
		err = -EAGAIN;
	if (!err)
		err = profiler_copy__operator_ids(copy);
	return err ? err : engine_reading__take_operators(copy, worker->graph, reading);
}

/* One try. */
static int read_once(struct profiler_copy *copy, const struct engine_worker *worker, bool behind,
		     struct engine_reading **ret_reading)
{
	struct engine_reading *reading = calloc(1, sizeof(*reading));
	int err;

	if (!reading)
		return -ENOMEM;
	reading->operators_behind = behind;
	err = copy_all(copy, worker, reading);
	if (err)
		engine_reading__free(reading);
	else
		*ret_reading = reading;
	return err;
}

/* Whether the layout knows all that a reading needs. */
static bool readable(const struct layout *layout, const struct engine_worker *worker)
{
	return worker->handle && fields__check(layout, FIELDS_PROFILER, NULL) == 0 &&
	       fields__check(layout, FIELDS_BASELINES, NULL) == 0;
}

bool engine_worker__profiled(struct target *target, const struct layout *layout,
			     const struct engine_worker *worker)
{
	uint64_t address;

	return readable(layout, worker) &&
	       engine_profiler__find(target->memory, layout, worker, &address) == 0;
}

int engine_worker__reading(struct target *target, const struct layout *layout,
			   const struct engine_worker *worker, struct engine_reading **ret_reading)
{
	struct profiler_copy copy = { .memory = target->memory, .layout = layout };
	uint64_t begin = clock__now(), spent = 0;
	bool changing = false;
	int err = -EAGAIN;

	if (!readable(layout, worker))
		return -ENODATA;
	for (int i = 0; i < TRIES_MAX && spent < GIVE_UP_NS; i++) {
		if (i)
			usleep(PAUSE_US);
		err = engine_profiler__find(target->memory, layout, worker, &copy.address);
		if (err == -ENODATA)
			break;
		if (!err)
			err = read_once(&copy, worker, spent > STRICT_NS, ret_reading);
		if (!err || err == -ENOMEM || err == -ESRCH)
			break;
		changing |= err == -EAGAIN;
		spent = clock__now() - begin;
	}
	profiler_copy__free(&copy);
	return err == -EFAULT || (err == -EPROTO && changing) ? -EAGAIN : err;
}
