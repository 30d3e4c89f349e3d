/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a worker's times add up, for all formats that show shares of a whole.
 *
 *   window = steps + outside of steps
 *     outside of steps = circuit_idle_time_seconds + circuit_edge_idle_seconds
 *       of it computing = outside_step_cpu_seconds, the rest [idle]
 *     steps = circuit_runtime_seconds of the root
 *           = evaluations of operators (each node's runtime_seconds)
 *           + waits that the engine declares while it has nothing to evaluate
 *           + what is left: the scheduler
 *
 * Evaluations of nested circuits are not nested in time. A worker has one queue of tasks, each
 * evaluation is a task on it (dynamic_scheduler.rs, spawn_local), and what is timed is a poll of
 * one task. So runtime_seconds of a nested circuit's node is that circuit's scheduler alone,
 * without the operators in it, and all nodes' times are summed as they are. A parked worker polls
 * nothing: waits are in no operator's time. The exceptions are the reasons storage_*: those are
 * system calls that block an evaluation, and the operator's own time off the CPU. Only storage_read
 * may also be a park; of it counts as one what is more than all operators were blocked.
 *
 * A nested circuit's waits are those of its steps; they are part of the waits of the circuit around
 * it, unless two circuits were in a step during the same wait. When the circuits inside one have
 * more of a reason than it has itself, nobody can tell whose it was, and it stays with the outer
 * one.
 *
 * Each amount of wall time is split into what the thread did (time_parts.h). An operator's parts
 * are closed. What is left of steps gets what is left of each part of the steps; where operators
 * have more of one (the engine's clocks against the kernel's), another gives way, so that the sum
 * of wall time stays what the profile says. The waits are taken from the blocked time of what is
 * left, then from time on the run queue, last from its CPU time: going to sleep takes some.
 *
 * Profiles that the engine wrote know wall and CPU time only: the difference is "off CPU".
 */
#ifndef DBPROF_EXPORT_TIME_BOOKS_H
#define DBPROF_EXPORT_TIME_BOOKS_H

#include "export/time_table.h"

struct time_books {
	struct time_parts left;	   /* of steps: scheduler, and evaluations that are not over */
	uint64_t engine_timing_ns; /* CPU time of the engine's own clock reads, taken out of it */
	uint64_t wait_ns;	   /* the sum of all circuits' waits */
	uint64_t wait_cpu_ns;	   /* of it, what had to come from CPU time */
	uint64_t outside_ns;	   /* outside of steps, computing */
	uint64_t idle_ns;	   /* outside of steps, not computing */
	bool operators;		   /* some were timed */
	/* Operators took so much more than all steps: evaluations that began before the window. */
	uint64_t excess_ns;
};

/*
 * Closes the books of the worker whose readings are in @table, of which wait_ns becomes what
 * belongs to each circuit itself.
 */
void time_books__close(struct time_table *table, struct time_books *ret_books);

#endif
