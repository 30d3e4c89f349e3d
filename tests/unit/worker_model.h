/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A worker whose every nanosecond is known, and what the engine would have counted of it.
 */
#ifndef DBPROF_TESTS_WORKER_MODEL_H
#define DBPROF_TESTS_WORKER_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/engine_reading.h"

#define SEGMENTS 400
#define CIRCUITS 2 /* the root and one nested in it */

/* Something that the worker did without a change. */
struct segment {
	uint64_t start;
	uint64_t end;
	bool in_step[CIRCUITS];
	bool ends_step[CIRCUITS]; /* with it */
	int reason;		  /* parked; -1 for computing, or for neither out of steps */
};

struct worker {
	struct segment segments[SEGMENTS];
	size_t count;
	uint64_t end;
};

/* What happened between two moments. */
struct truth {
	uint64_t steps;
	uint64_t runtime;
	uint64_t cpu;
	uint64_t wait[PARK_REASONS];
	uint64_t whole_idle;
};

static uint64_t random_state = 88172645463325252ull;

static inline uint64_t any(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static inline struct node_path circuit_id(size_t circuit)
{
	return (struct node_path){ (uint32_t)circuit, { 4 } };
}

static inline void add_segment(struct worker *worker, bool root, bool nested, bool ends)
{
	struct segment *segment = &worker->segments[worker->count++];

	*segment = (struct segment){
		.start = worker->end,
		.end = worker->end + 1 + any(1000),
		.in_step = { root, nested },
		.ends_step = { ends && !nested, ends && nested },
		.reason = root && !ends && any(3) == 0 ? (int)any(PARK_REASONS) : -1,
	};
	worker->end = segment->end;
}

static inline void make_worker(struct worker *worker)
{
	*worker = (struct worker){ .end = 1000000 };
	add_segment(worker, false, false, false);
	while (worker->count < SEGMENTS - 40) {
		for (uint64_t rounds = any(4); rounds; rounds--) {
			add_segment(worker, true, false, false);
			for (uint64_t parts = any(3); parts; parts--)
				add_segment(worker, true, true, false);
			add_segment(worker, true, true, true);
		}
		add_segment(worker, true, false, any(8) != 0);
		worker->segments[worker->count - 1].ends_step[0] = true;
		add_segment(worker, false, false, false);
	}
}

static inline uint64_t overlap(const struct segment *segment, uint64_t from, uint64_t to)
{
	uint64_t start = segment->start > from ? segment->start : from;
	uint64_t end = segment->end < to ? segment->end : to;

	return end > start ? end - start : 0;
}

/* The worker computes whenever it is not parked, half of the time out of steps. */
static inline uint64_t cpu_until(const struct worker *worker, uint64_t when)
{
	uint64_t cpu = 0;

	for (size_t i = 0; i < worker->count; i++)
		if (worker->segments[i].reason < 0)
			cpu += overlap(&worker->segments[i], 0, when) /
			       (worker->segments[i].in_step[0] ? 1 : 2);
	return cpu;
}

static inline struct truth truth_of(const struct worker *worker, size_t circuit, uint64_t from,
				    uint64_t to)
{
	struct truth truth = { 0 };
	uint64_t idle = 0;
	bool stepped = false;

	for (size_t i = 0; i < worker->count; i++) {
		const struct segment *segment = &worker->segments[i];
		uint64_t part = overlap(segment, from, to);

		if (!segment->in_step[circuit]) {
			idle += part;
			continue;
		}
		/* A step in the window ends the pause before it. */
		if (part && stepped)
			truth.whole_idle += idle;
		if (part || segment->end <= from)
			idle = 0;
		truth.runtime += part;
		if (segment->reason < 0)
			truth.cpu += part;
		else
			truth.wait[segment->reason] += part;
		if (segment->ends_step[circuit] && segment->end > from && segment->end <= to) {
			truth.steps++;
			stepped = true;
		}
	}
	return truth;
}

/* What CPUProfilerInner::scheduler_event() would have noted of a circuit by @when. */
static inline bool count_circuit(const struct worker *worker, size_t circuit, uint64_t when,
				 struct engine_circuit_counters *counters)
{
	uint64_t start = 0, ended = 0;

	*counters = (struct engine_circuit_counters){ .id = circuit_id(circuit) };
	for (size_t i = 0; i < worker->count && worker->segments[i].start < when; i++) {
		const struct segment *segment = &worker->segments[i];
		struct truth step;

		if (!segment->in_step[circuit])
			continue;
		if (!start) {
			start = segment->start;
			if (ended) {
				counters->idles++;
				counters->idle_ns += start - ended;
			}
		}
		if (!segment->ends_step[circuit] || segment->end > when)
			continue;
		step = truth_of(worker, circuit, start, segment->end);
		counters->steps++;
		counters->step_real_ns += step.runtime;
		counters->step_cpu_ns += step.cpu;
		for (size_t reason = 0; reason < PARK_REASONS; reason++)
			counters->wait_by_reason_ns[reason] += step.wait[reason];
		ended = segment->end;
		start = 0;
	}
	counters->step_open = start != 0;
	counters->step_since_ns = start;
	counters->paused = !start && ended;
	counters->paused_since_ns = counters->paused ? ended : 0;
	counters->step_start_cpu_ns = start ? cpu_until(worker, start) : 0;
	return counters->step_open || counters->paused;
}

/* Waits that had ended by @when. */
static inline void ended_waits(const struct worker *worker, uint64_t when,
			       uint64_t wait[PARK_REASONS])
{
	memset(wait, 0, PARK_REASONS * sizeof(*wait));
	for (size_t i = 0; i < worker->count && worker->segments[i].end <= when; i++)
		if (worker->segments[i].reason >= 0)
			wait[worker->segments[i].reason] +=
				worker->segments[i].end - worker->segments[i].start;
}

/* A reading at @when, with room for all circuits in @counters. */
static inline struct engine_reading read_worker(const struct worker *worker, uint64_t when,
						struct engine_circuit_counters counters[CIRCUITS])
{
	struct engine_reading reading = { .circuits = counters };

	for (size_t circuit = 0; circuit < CIRCUITS; circuit++) {
		struct engine_circuit_counters *next = &counters[reading.circuit_count];

		if (!count_circuit(worker, circuit, when, next))
			continue;
		ended_waits(worker, next->step_since_ns, next->step_start_wait_ns);
		reading.circuit_count++;
	}
	ended_waits(worker, when, reading.park.by_reason_ns);
	for (size_t i = 0; i < worker->count; i++) {
		const struct segment *segment = &worker->segments[i];

		if (segment->reason < 0 || segment->start >= when || segment->end <= when)
			continue;
		reading.park.parked = true;
		reading.park.reason = (unsigned int)segment->reason;
		reading.park.since_ns = segment->start;
	}
	return reading;
}

#endif
