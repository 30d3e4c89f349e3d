/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the built-in CPU profiler has counted of one worker, at one moment.
 *
 * The counters lie in the worker's memory (CPUProfilerInner, src/profile/cpu.rs) and grow from the
 * moment the profiler was turned on; what happened in a window is the difference of two readings.
 */
#ifndef DBPROF_ENGINE_ENGINE_READING_H
#define DBPROF_ENGINE_ENGINE_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* The counters of one circuit: CircuitCPUProfile, and what is noted of a step until it ends. */
struct engine_circuit_counters {
	struct node_path id;
	uint64_t steps; /* that ended */
	uint64_t step_real_ns;
	uint64_t step_cpu_ns;
	uint64_t wait_by_reason_ns[PARK_REASONS];
	uint64_t idles; /* pauses that a step ended */
	uint64_t idle_ns;
	bool step_open;
	uint64_t step_since_ns;			   /* CLOCK_MONOTONIC, when step_open */
	uint64_t step_start_cpu_ns;		   /* the thread's CPU clock then */
	uint64_t step_start_wait_ns[PARK_REASONS]; /* engine_park.by_reason_ns then */
	bool paused;				   /* between two steps */
	uint64_t paused_since_ns;		   /* CLOCK_MONOTONIC, when paused */
};

/* The same of one operator (OperatorCPUProfile): of its evaluations that have ended. */
struct engine_operator_counters {
	struct node_path id;
	uint64_t invocations;
	uint64_t real_ns;
	uint64_t cpu_ns; /* by another clock, read a little apart: may exceed real_ns */
};

/*
 * All numbers hold together: at the moment park.when_ns, between before_ns and after_ns, @circuits
 * and @park were what they are here, and each operator had these numbers in the same steps. So the
 * invocations of an operator are at most its circuit's steps, one more while a step is open;
 * unless operators_behind, when steps followed one another too fast: then the operators were read
 * up to a few milliseconds earlier. Of an event that the worker is just writing, the first part may
 * be in them already: an invocation without its time, which the next reading has.
 */
struct engine_reading {
	uint64_t before_ns; /* CLOCK_MONOTONIC */
	uint64_t after_ns;
	struct engine_park park;
	bool operators_behind;
	struct engine_circuit_counters *circuits; /* sorted by id */
	size_t circuit_count;
	struct engine_operator_counters *operators; /* sorted by id; those ever evaluated */
	size_t operator_count;
};

/* Whether the built-in CPU profiler of that worker is on and can be read; cheap. */
bool engine_worker__profiled(struct target *target, const struct layout *layout,
			     const struct engine_worker *worker);

/*
 * Takes a reading, in well under 20 ms. Returns 0; -ENODATA when the profiler is off or the layout
 * lacks what is needed; -EAGAIN when the worker interfered at every try or its circuit is gone;
 * -EPROTO when what lies there never made sense, as in a circuit that is gone for longer; -ENOMEM;
 * -ESRCH. *ret_reading is untouched on failure.
 */
int engine_worker__reading(struct target *target, const struct layout *layout,
			   const struct engine_worker *worker, struct engine_reading **ret_reading);
void engine_reading__free(struct engine_reading *reading);

/* The counters of a circuit or an operator; NULL when the engine has none of it yet. */
const struct engine_circuit_counters *engine_reading__circuit(const struct engine_reading *reading,
							      const struct node_path *id);
const struct engine_operator_counters *
engine_reading__operator(const struct engine_reading *reading, const struct node_path *id);

#endif
