/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What lies in the memory of a DBSP program: circuits, their graphs, parks, profiler counters.
 *
 * Everything here is read from outside while the workers write. Each read is validated, and a
 * mismatch is an error, never a guess.
 */
#ifndef DBPROF_ENGINE_ENGINE_H
#define DBPROF_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/graph.h"
#include "layout/layout.h"
#include "target/target.h"
#include "util/fail.h"

#define PARK_REASONS 10 /* ParkReason::COUNT, src/profile/cpu.rs */

/* ParkReason::name() of reason 0 .. PARK_REASONS - 1. */
const char *park_reason_name(unsigned int reason);

/* One circuit of one worker, the root or a nested one. */
struct engine_circuit {
	struct node_path id;
	uint64_t address;   /* of its RcInner<CircuitInner<..>>: what a ChildCircuit points at; 0
			       when the layout does not know nested circuits */
	uint64_t scheduler; /* of its DynamicScheduler, 0 when unknown */
};

/* A RuntimeIdle: the addresses of the words that its Arcs share (src/profile/cpu.rs). */
struct engine_idle {
	uint64_t base_ns; /* CLOCK_MONOTONIC */
	uint64_t park_start;
	uint64_t total;
	uint64_t by_reason;
	uint64_t park_reason;
};

/* One worker thread and the circuit tree it drives. */
struct engine_worker {
	pid_t tid;
	unsigned int index; /* N of "dbsp-worker-N", the global worker index */
	struct graph *graph;
	struct engine_circuit *circuits; /* circuits[0] is the root; parents before children */
	size_t circuit_count;
	uint64_t handle; /* address of the CircuitHandle on the worker's stack, 0 when the layout
			    does not know it */
	struct engine_idle idle; /* with a handle */
};

/* RuntimeIdle of a worker at one moment (src/profile/cpu.rs). */
struct engine_park {
	bool parked;
	uint64_t since_ns;   /* CLOCK_MONOTONIC, when parked */
	unsigned int reason; /* when parked */
	uint64_t when_ns;    /* CLOCK_MONOTONIC, a moment at which it was so */
	uint64_t total_ns;   /* parked or blocked since the program's start */
	uint64_t by_reason_ns[PARK_REASONS];
};

/* An open step, as the scheduler's borrow flag and the CPU profiler tell. */
struct engine_step {
	bool open;
	bool ever;	   /* the circuit has made or begun at least one step */
	uint64_t since_ns; /* CLOCK_MONOTONIC, 0 when the engine does not record it */
};

/*
 * Finds the circuit of the worker thread @thread by scanning its stack and reads its graph. Of two
 * circuits, as in a concurrent bootstrap, it takes the one that was built first: that is the one
 * that serves, and stays (src/circuit/dbsp_handle.rs).
 *
 * Returns 0; -EAGAIN when the thread has no complete circuit (yet); -EPROTO when what was found
 * does not fit the layout. *ret_worker is untouched on failure; free with engine_worker__free().
 */
int engine_worker__read(struct target *target, const struct layout *layout,
			const struct target_thread *thread, struct engine_worker **ret_worker,
			struct fail *fail);
void engine_worker__free(struct engine_worker *worker);

/* Reads the worker's park state. Returns 0, -EAGAIN when it changed at every try, -ENODATA when
 * the layout or the handle lacks what is needed. */
int engine_worker__park(struct target *target, const struct layout *layout,
			const struct engine_worker *worker, struct engine_park *ret_park);

/*
 * Whether circuit @circuit of the worker is in a step: whether its scheduler's RefCell is borrowed
 * for writing, which DynamicScheduler::step() does throughout; starting and committing a
 * transaction do it, too, for microseconds. Returns as engine_worker__park().
 */
int engine_worker__step(struct target *target, const struct layout *layout,
			const struct engine_worker *worker, size_t circuit,
			struct engine_step *ret_step);

#endif
