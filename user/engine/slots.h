/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a worker's stack tells which operator it evaluates: at which distances below its thread
 * pointer. They are the same for all workers and runs of a program.
 */
#ifndef DBPROF_ENGINE_SLOTS_H
#define DBPROF_ENGINE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "layout/layout.h"
#include "target/target.h"

#define ENGINE_SLOTS_MAX 2 /* distances of a frame */

/* A call of Timed::poll from an operator's task, as the code has it. */
struct engine_frame {
	uint64_t return_address; /* at run time */
	int32_t state_from_slot; /* where the address of the task's state lies, bytes */
};

/* Bytes from the word that holds the return address up to the thread pointer. */
struct engine_slots {
	uint64_t distance[ENGINE_SLOTS_MAX]; /* the best proven first */
	size_t count;			     /* 0: not learned */
};

/*
 * Learns the slots of each frame from the stacks of the workers, also from frames that are dead, by
 * looking again and again for 20 ms at most. Returns 0, also when it found none at all; then it may
 * be tried again. -ENODATA when the layout does not know tasks; -ESRCH, -EPERM, -ENOMEM. Takes up
 * to 60 ms more for each worker that is computing.
 */
int engine_slots__learn(struct target *target, const struct layout *layout,
			const struct engine_worker *const *workers, size_t worker_count,
			const struct engine_frame *frames, size_t frame_count,
			struct engine_slots *ret_slots);

/*
 * The thread pointer (fs base) of a thread whose stack is made by glibc: from its control block at
 * the upper end of the stack. Returns 0, -ENOENT, or as target__thread_stack().
 */
int engine_slots__thread_pointer(struct target *target, pid_t tid, uint64_t *ret_pointer);

#endif
