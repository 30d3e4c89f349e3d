// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live_counters PID COUNT: reads the engine's counters of a worker that works, COUNT times, and
 * checks that each reading holds together and follows on the one before. Prints how many readings
 * failed and how many steps they saw; test_engine_mode.py runs it.
 */
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "engine/engine_reading.h"

#define PAUSE_NS  1000000L /* between readings, so that something has happened */
#define ABSURD_NS 60000000000ULL

struct worker_at_work {
	struct target *target;
	struct layout layout;
	struct engine_worker *engine;
};

static int open_worker(pid_t pid, struct worker_at_work *worker)
{
	struct target_thread *threads = NULL;
	struct fail fail = {};
	size_t count = 0;
	int err = target__open(pid, &worker->target, &fail);

	if (!err)
		err = layout__choose(worker->target->image, NULL, &worker->layout, &fail);
	if (!err)
		err = target__threads(worker->target, &threads, &count);
	for (size_t i = 0; !err && i < count && !worker->engine; i++) {
		if (threads[i].worker != 0)
			continue;
		/* A thread that a worker starts bears its name, and may have ended by now. */
		for (int try = 0; try < 100 && !worker->engine; try++)
			engine_worker__read(worker->target, &worker->layout, &threads[i],
					    &worker->engine, &fail);
	}
	free(threads);
	if (!worker->engine)
		fprintf(stderr, "process %d cannot be read: %s\n", pid, fail.text);
	return worker->engine ? 0 : -1;
}

static void check_circuits(const struct engine_reading *before, const struct engine_reading *after)
{
	CHECK(after->circuit_count >= before->circuit_count);
	for (size_t i = 0; i < before->circuit_count; i++) {
		const struct engine_circuit_counters *was = &before->circuits[i];
		const struct engine_circuit_counters *is = engine_reading__circuit(after, &was->id);

		if (!CHECK(is))
			continue;
		CHECK(is->steps >= was->steps && is->step_real_ns >= was->step_real_ns);
		CHECK(is->step_cpu_ns >= was->step_cpu_ns);
		CHECK(is->idles >= was->idles && is->idle_ns >= was->idle_ns);
		CHECK((is->steps == was->steps) == (is->step_real_ns == was->step_real_ns));
		for (size_t reason = 0; reason < PARK_REASONS; reason++)
			CHECK(is->wait_by_reason_ns[reason] >= was->wait_by_reason_ns[reason]);
		CHECK(!(is->step_open && is->paused));
		CHECK(!is->step_open || is->step_since_ns <= after->after_ns);
		CHECK(!is->paused || is->paused_since_ns <= after->after_ns);
	}
}

/* All steps of a circuit evaluate all of its operators; the open one has done so with some. */
static void check_steps(const struct engine_reading *reading,
			const struct engine_operator_counters *op)
{
	struct node_path id = op->id;
	const struct engine_circuit_counters *circuit;

	id.id[--id.depth] = 0;
	circuit = engine_reading__circuit(reading, &id);
	if (!circuit)
		return;
	CHECK(op->invocations <= circuit->steps + circuit->step_open);
	CHECK(reading->operators_behind || op->invocations >= circuit->steps);
}

static void check_operators(const struct engine_reading *before, const struct engine_reading *after)
{
	CHECK(after->operator_count >= before->operator_count);
	for (size_t i = 0; i < before->operator_count; i++) {
		const struct engine_operator_counters *was = &before->operators[i];
		const struct engine_operator_counters *is =
			engine_reading__operator(after, &was->id);

		if (!CHECK(is))
			continue;
		CHECK(is->invocations >= was->invocations);
		CHECK(is->real_ns >= was->real_ns && is->cpu_ns >= was->cpu_ns);
		/* A garbled number would be a huge one. */
		CHECK(is->real_ns - was->real_ns < ABSURD_NS);
		CHECK(is->cpu_ns - was->cpu_ns < ABSURD_NS);
		check_steps(after, is);
	}
}

static void check_times(const struct engine_reading *before, const struct engine_reading *after)
{
	CHECK(after->before_ns >= before->after_ns && after->before_ns <= after->after_ns);
	CHECK(after->park.when_ns >= after->before_ns && after->park.when_ns <= after->after_ns);
	CHECK(after->park.total_ns >= before->park.total_ns);
}

int main(int argc, char **argv)
{
	struct worker_at_work worker = {};
	struct engine_reading *before = NULL;
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long failed = 0, behind = 0, steps = 0;

	if (!count || open_worker((pid_t)atoi(argv[1]), &worker))
		return 2;
	for (unsigned long i = 0; i < count; i++) {
		const struct timespec pause = { 0, PAUSE_NS };
		struct engine_reading *after = NULL;

		nanosleep(&pause, NULL);
		if (engine_worker__reading(worker.target, &worker.layout, worker.engine, &after)) {
			failed++;
			continue;
		}
		behind += after->operators_behind;
		if (before && before->circuit_count && after->circuit_count) {
			check_circuits(before, after);
			check_operators(before, after);
			check_times(before, after);
			steps += after->circuits[0].steps - before->circuits[0].steps;
		}
		engine_reading__free(before);
		before = after;
	}
	printf("{\"readings\": %lu, \"failed\": %lu, \"behind\": %lu, \"steps\": %lu, "
	       "\"faults\": %d}\n",
	       count, failed, behind, steps, check_failures);
	engine_reading__free(before);
	engine_worker__free(worker.engine);
	target__close(worker.target);
	return CHECK_RESULT();
}
