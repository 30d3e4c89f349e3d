/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that make the plan share. */
#ifndef DBPROF_PLAN_PLAN_INTERNAL_H
#define DBPROF_PLAN_PLAN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

#define PLAN_FUNCTIONS_MAX 64
#define PLAN_NO_PLACE	   0xff

struct function {
	uint64_t address;
	uint64_t size;
	/* Inner::step, else DynamicScheduler::step with or without the former inlined */
	bool inner;
};

struct functions {
	struct function list[PLAN_FUNCTIONS_MAX];
	size_t count;
};

struct planner {
	const struct elf_image *image;
	const struct layout *layout;
	const struct plan_options *options;
	struct plan *plan;
};

/* Adds @symbol to the functions in @arg unless its address is known; 0 always. */
int functions__collect(const struct elf_symbol *symbol, void *arg);

/* Adds a probe unless there is the same already. Returns 0, -ERANGE, -E2BIG. */
int planner__add_probe(struct planner *planner, enum plan_probe_kind kind, uint64_t address,
		       uint64_t cookie, bool emulated);

/* The first instruction that the kernel emulates at a function's entry, else the very first. */
uint64_t planner__entry_address(const struct planner *planner, const struct function *function,
				bool *ret_emulated);

/* A number of the layout as the programs want it; false when it is unknown. */
bool planner__small_offset(const struct planner *planner, enum layout_item item, __u32 *ret);

/* The enum dbprof_place of a register (enum code_reg), PLAN_NO_PLACE when it has none. */
uint8_t planner__place(uint8_t reg);

/* Adds probes for the begin and the end of steps; counts the step functions. */
void planner__add_steps(struct planner *planner);

/* Adds what tells operators on the stack, and their exact probes. Returns 0 or -ENOMEM. */
int planner__add_frames(struct planner *planner);

#endif
