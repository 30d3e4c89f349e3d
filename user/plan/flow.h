/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which instruction of a function follows which. What the unwinder enters is left out, and a call
 * is taken to come back, also one that never does: that only adds ways.
 */
#ifndef DBPROF_PLAN_FLOW_H
#define DBPROF_PLAN_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/code.h"
#include "target/elf_image.h"

struct flow_edges {
	uint32_t *first; /* per instruction and one more: where its part of `to` begins */
	uint32_t *to;	 /* indices of instructions */
};

struct flow {
	const struct code *code;
	struct flow_edges next;
	struct flow_edges previous;
	bool *blind; /* per instruction: an indirect jump that leads who knows where */
};

/*
 * Returns 0, -E2BIG when the function is too long, -ENOMEM. @image and @code must outlive it.
 */
int flow__new(const struct elf_image *image, const struct code *code, struct flow **ret_flow);
void flow__free(struct flow *flow);

/*
 * Marks in @seen, of one bool an instruction, all that @edges reach from the neighbours of
 * instruction @from without going beyond an instruction that @stops holds for (NULL: none does);
 * those are marked, too. Returns 0 or -ENOMEM.
 */
int flow__reach(const struct flow *flow, const struct flow_edges *edges, size_t from,
		bool (*stops)(const struct flow *flow, size_t at, const void *arg), const void *arg,
		bool *seen);

#endif
