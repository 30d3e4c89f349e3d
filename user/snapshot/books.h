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

/* What a worker's thread had used and waited when the window ended. */
struct thread_totals {
	uint64_t since; /* first observed: the window's start or the thread's */
	uint64_t end;	/* last observed: the window's end or the thread's */
	uint64_t cpu_ns;
	uint64_t wait_ns[PARK_REASONS];
	int open_reason;     /* what it waits for at the end, -1 for nothing */
	uint64_t open_since; /* since when, possibly before the window; 0 when unknown */
};

/* Wall time of a thread by where it was spent; the parts add up to observed_ns exactly. */
void books__thread(const struct dbprof_thread *thread, const struct window *window,
		   struct snapshot_thread *ret_thread);

/* What is left of the observed time, zero when nothing is. */
uint64_t books__rest(const struct snapshot_thread *thread);

/* The same for a thread that no event was seen of: @ran_ns of CPU time means it ran all along. */
void books__silent_thread(uint64_t ran_ns, char state, const struct window *window,
			  struct snapshot_thread *ret_thread);

/*
 * A worker's totals. @thread is NULL when no event was seen of it, @park when the engine's memory
 * could not be read; @silent_cpu_ns is the CPU time of a thread without events.
 */
void books__totals(const struct dbprof_thread *thread, const struct engine_park *park,
		   uint64_t silent_cpu_ns, const struct window *window,
		   struct thread_totals *ret_totals);

/*
 * A circuit's share. @counted is NULL when no step began or ended in the window: then @step tells
 * whether one was open all along; it is NULL when that could not be read.
 */
void books__circuit(const struct dbprof_circuit *counted, const struct engine_step *step,
		    const struct thread_totals *totals, struct snapshot_circuit *ret_circuit);

#endif
