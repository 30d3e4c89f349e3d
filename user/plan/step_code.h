/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where in the poll function of DBSP's `step` future a step begins and ends.
 *
 * A future is polled many times a step. Its code dispatches on a state byte; the path of state 0
 * is taken once, by the first poll, and a path that stores state 1 once, by the last. A probe at an
 * emulated instruction on such a path costs one cheap trap a step instead of one a poll.
 */
#ifndef DBPROF_PLAN_STEP_CODE_H
#define DBPROF_PLAN_STEP_CODE_H

#include <stdint.h>

#include "plan/code.h"
#include "target/elf_image.h"

#define STEP_ENDS_MAX 8

/* Where the future's address is at an instruction. */
struct future_place {
	uint8_t reg;	       /* enum code_reg, CODE_NO_REG: on the stack */
	uint32_t stack_offset; /* from the stack pointer, bytes */
};

struct step_probe {
	uint64_t address;
	struct future_place future;
};

struct step_code {
	uint32_t state_offset; /* of the state byte in the future */
	uint8_t future_reg;    /* which register holds the future when the function is entered */
	struct step_probe begin;
	struct step_probe ends[STEP_ENDS_MAX];
	size_t end_count;
};

/*
 * Finds the state byte. Returns 0 or -ENOENT; then *ret is untouched.
 */
int step_code__find_state(const struct code *code, struct step_code *ret);

/* Where SchedulerEvent (src/circuit/trace.rs of the dbsp crate) has what, by the layout. */
struct event_layout {
	uint64_t tag; /* offset, bytes */
	uint64_t tag_size;
	uint64_t start_value; /* of the tag */
	uint64_t end_value;
	uint64_t start_circuit; /* offset of `circuit_id` */
	uint64_t end_circuit;
};

#define EVENT_SITES_MAX 8

/* An emulated instruction right after an event was made, and where that has its circuit_id. */
struct event_site {
	uint64_t address;
	uint8_t base; /* CODE_RSP or CODE_RBP */
	int32_t offset;
};

struct event_code {
	struct event_site begins[EVENT_SITES_MAX];
	size_t begin_count;
	struct event_site ends[EVENT_SITES_MAX];
	size_t end_count;
};

/*
 * Finds where the code makes the StepStart and StepEnd events that it logs. Returns 0, or -ENOENT
 * when it does not make both in a way that is understood.
 */
int step_code__find_events(const struct code *code, const struct event_layout *layout,
			   struct event_code *ret_events);

/*
 * Finds the paths of the first and the last poll, after step_code__find_state(). Returns 0, or
 * -ENOENT when they cannot be told with certainty; then every poll has to be probed.
 */
int step_code__find_paths(const struct elf_image *image, const struct code *code,
			  struct step_code *step);

#endif
