/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables that indirect jumps take their targets from.
 */
#ifndef DBPROF_PLAN_JUMP_TABLE_H
#define DBPROF_PLAN_JUMP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/code.h"
#include "target/elf_image.h"

#define JUMP_TABLE_MAX 64 /* entries; the states of a future number about five */

struct jump_table {
	uint64_t address;
	bool absolute; /* holds addresses, else distances from the table */
};

/*
 * The table of the indirect jump that is instruction @jump: `lea T; movsxd X, [T + I*4]; add X, T;
 * jmp X`, or in code that is not position independent `mov X, [I*8 + T]; jmp X` or the two in one.
 */
bool jump_table__find(const struct code *code, size_t jump, struct jump_table *ret_table);

/* Where entry @index leads. False when that is out of the function: the table has ended. */
bool jump_table__target(const struct jump_table *table, const struct elf_image *image,
			const struct code *code, size_t index, uint64_t *ret_target);

#endif
