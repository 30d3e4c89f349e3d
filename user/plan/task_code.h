/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the stack of a worker looks while it evaluates an operator.
 *
 * A task of Inner::spawn_task() (src/circuit/schedule/dynamic_scheduler.rs) calls Timed::poll()
 * (src/circuit/circuit_builder.rs), which reads clocks around the operator:
 *
 *   task       the poll function of the task; its state comes in rsi
 *     slot:    the word that holds the return address of its call
 *   Timed::poll
 *     slot - inner: the word that holds the return address of whatever that has called
 *   a clock read, or the operator
 *
 * What cannot be told with certainty is missing, with a reason; nothing is guessed.
 */
#ifndef DBPROF_PLAN_TASK_CODE_H
#define DBPROF_PLAN_TASK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/code.h"
#include "target/elf_image.h"

/* What Timed::poll calls within the interval that it measures, in this order. */
enum timed_call {
	TIMED_CPU_CLOCK, /* ThreadCpuTime::now() */
	TIMED_OPERATOR,	 /* the poll of what is timed */
	TIMED_ELAPSED,	 /* Instant::elapsed() */
	TIMED_CALLS,
};

/*
 * A conditional jump of Timed::poll that every poll passes after it has added to its ElapsedTime:
 * one way returns Pending, the other one takes the ElapsedTime out.
 */
struct timed_exact {
	uint64_t address;
	uint8_t timed_reg;     /* enum code_reg: holds the Timed */
	bool pending_if_zero;  /* Pending when the zero flag is set, else when it is not */
	uint32_t slot_from_sp; /* the slot lies so far above the stack pointer */
};

struct timed_code {
	uint64_t address;	       /* of the function */
	uint32_t inner;		       /* 0: not understood */
	uint64_t counted[TIMED_CALLS]; /* their return addresses */
	int32_t saved[CODE_REGS];      /* from the slot: where it keeps a register of its caller; 0:
					  nowhere */
	struct timed_exact exact;      /* unless exact_missing */
	const char *exact_missing;     /* why not, for people */
};

/* Where ElapsedTime lies in a Timed, bytes. */
struct elapsed_layout {
	uint64_t begin; /* begin == end: unknown */
	uint64_t end;
};

/*
 * Understands a Timed::poll. Returns 0, -ENOENT with *@ret_why, or -ENOMEM; then *@ret_timed is
 * untouched.
 */
int task_code__timed(const struct elf_image *image, const struct code *code,
		     const struct elapsed_layout *elapsed, struct timed_code *ret_timed,
		     const char **ret_why);

/* One call of Timed::poll in a task's poll function. */
struct task_frame {
	uint64_t return_address;
	uint32_t entry_to_slot;	 /* the slot lies so far below the stack pointer at the entry */
	int32_t state_from_slot; /* where the address of the task's state lies */
	uint32_t inner;
	uint64_t counted[TIMED_CALLS];
};

/*
 * Finds the calls of the functions @timed in a task's poll function, @max at most. *@ret_why tells
 * why some are missing, NULL when none is. Returns 0, also when it found none, or -ENOMEM.
 */
int task_code__frames(const struct elf_image *image, const struct code *code,
		      const struct timed_code *timed, size_t timed_count, struct task_frame *frames,
		      size_t max, size_t *ret_count, const char **ret_why);

#endif
