/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which operator a worker is evaluating, read from its stack without a trap.
 *
 * A worker evaluates an operator by polling its task at one stack depth. So the word that holds the
 * return address of the task's call of Timed::poll lies at a constant distance below the thread
 * pointer: the slot. If the stack reaches below it and the address is there, an operator is being
 * evaluated, and a word near it names the task's state, which names circuit and node.
 */
#ifndef DBPROF_BPF_OPERATORS_H
#define DBPROF_BPF_OPERATORS_H

#include "state.h"

struct operator_at {
	__u64 circuit; /* 0: no operator is being evaluated */
	__u32 node;
	bool measured; /* inside the interval that the engine measures, and not its clock reads */
};

/*
 * Not hidden, so that the verifier takes these functions once and for all instead of anew with
 * every path that leads to a call; they may then take numbers and memory only, and return a number.
 */

/*
 * The operator that a thread of process number @process is in, by its thread pointer and its user
 * stack pointer. Leaves *@ret_at alone when it is in none. Returns 0.
 */
int operator_find(__u32 process, __u64 thread_pointer, __u64 sp, struct operator_at *ret_at);

/*
 * The wait reason that it declares (ParkReason::PRIORITY), DBPROF_UNATTRIBUTED for none. Negative
 * when memory could not be read, as happens while the kernel moves a page.
 */
int declared_reason(__u32 process, __u64 thread_pointer);

/* The record of an operator of @thread, made when it is new. NULL when there is no room. */
__hidden struct dbprof_operator *operator_get(struct dbprof_thread *thread, __u64 circuit,
					      __u32 node);

#endif
