/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From counters to closed books: what was still open when the window ended is cut there.
 * Pure arithmetic on copies; every subtraction stops at zero.
 */
#ifndef DBPROF_SNAPSHOT_BOOKS_H
#define DBPROF_SNAPSHOT_BOOKS_H

#include <stdint.h>

#include "bpf/dbprof.h"
#include "engine/engine.h"
#include "snapshot/snapshot.h"

struct window {
	uint64_t start; /* CLOCK_MONOTONIC, ns */
	uint64_t end;
};

/* What /proc tells of a thread that no event was seen of. */
struct silent_thread {
	uint64_t ran_ns;	 /* CPU time that it used in the window */
	char state;		 /* of /proc/PID/task/TID/stat */
	enum dbprof_cause cause; /* of its system call */
};

/* What a worker's thread had used and waited when the window ended. */
struct thread_totals {
	uint64_t since; /* first observed: the window's start or the thread's */
	uint64_t end;	/* last observed: the window's end or the thread's */
	/*
	 * The same end by the clock of what is watched, and whether the step that is open then was
	 * watched up to it (books__watch_steps()).
	 */
	uint64_t steps_end;
	bool watching;
	uint32_t turn; /* the last one of watching */
	uint64_t cpu_ns;
	uint64_t wait_ns[PARK_REASONS];
	struct dbprof_kernel_share share;
	struct dbprof_kernel_share step_share; /* of it, in steps, as far as told by declarations */
	int open_reason;		       /* what it waits for at the end, -1 for nothing */
	uint64_t open_since;   /* since when, possibly before the window; 0 when unknown */
	uint64_t open_circuit; /* the operator that it is off its CPU in; 0 for none */
	uint32_t open_node;
	struct dbprof_kernel_share open_share; /* of the time off that is open at the end */
};

/* Sums of a share's parts. */
uint64_t share__preempted(const struct dbprof_kernel_share *share);
uint64_t share__blocked(const struct dbprof_kernel_share *share);
void share__add(struct dbprof_kernel_share *sum, const struct dbprof_kernel_share *part);

/*
 * Cuts @share so that it fits into the @whole. Returns what is left of the whole, which nothing
 * accounts for.
 */
uint64_t share__close(struct dbprof_kernel_share *share, uint64_t whole);

/* Wall time of a thread by where it was spent; the parts add up to observed_ns exactly. */
void books__thread(const struct dbprof_thread *thread, const struct window *window,
		   struct snapshot_thread *ret_thread);

/* The same for a thread without events: it did one thing for the whole window. */
void books__silent_thread(const struct silent_thread *silent, const struct window *window,
			  struct snapshot_thread *ret_thread);

/* The same from sums over threads that have exited. */
void books__exited(const struct dbprof_exited *exited, struct snapshot_thread *ret_thread);

/*
 * A worker's totals. @thread is NULL when no event was seen of it, @park when the engine's memory
 * could not be read.
 */
void books__totals(const struct dbprof_thread *thread, const struct engine_park *park,
		   const struct silent_thread *silent, const struct window *window,
		   struct thread_totals *ret_totals);

/* Sets what was watched of the steps: all of them before this call. */
void books__watch_steps(const struct dbprof_process *process, struct thread_totals *totals);

/*
 * A circuit's part by step probes. @counted is NULL when no step began or ended in the window: then
 * @step tells whether one was open all along; it is NULL when that could not be read.
 */
void books__circuit(const struct dbprof_circuit *counted, const struct engine_step *step,
		    const struct thread_totals *totals, struct snapshot_circuit *ret_circuit);

/* Makes a thread's parts add up to observed_ns, for a share that is set already. */
void books__close_thread(struct snapshot_thread *thread, uint64_t on_cpu_ns);

/* Makes a circuit's parts add up to its runtime, for a share that is set already. */
void books__close_circuit(struct snapshot_circuit *circuit);

/* Makes an operator's parts add up to its runtime, for a share that is set already. */
void books__close_operator(struct snapshot_operator *op);

#endif
