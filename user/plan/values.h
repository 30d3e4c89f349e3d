/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What registers and words of the stack hold in a function, whatever way led there.
 */
#ifndef DBPROF_PLAN_VALUES_H
#define DBPROF_PLAN_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/code.h"
#include "plan/flow.h"

enum value_kind {
	VALUE_UNKNOWN,
	VALUE_STACK,	/* the stack pointer at the function's entry, plus offset */
	VALUE_ARGUMENT, /* the second argument (rsi), plus offset */
	VALUE_FIELD,	/* the word that the second argument, plus offset, points at */
	VALUE_METHOD,	/* a word at offset of what such a word points at */
	VALUE_IMPORT,	/* a word of the global offset table or another constant place */
	VALUE_CALLERS,	/* what register number `offset` held at the function's entry */
};

struct value {
	int32_t kind; /* enum value_kind */
	int32_t offset;
};

#define VALUES_WORDS 32

struct values {
	struct value regs[CODE_REGS];
	struct {
		int32_t at; /* from the stack pointer at the function's entry */
		struct value value;
	} words[VALUES_WORDS];
	size_t word_count;
};

struct values_map;

/* Returns 0, -ENOENT when the function jumps where it cannot be followed, -ENOMEM. */
int values__trace(const struct flow *flow, struct values_map **ret_map);
void values__free(struct values_map *map);

/* What is held right before instruction @at. False when no way leads there. */
bool values__before(const struct values_map *map, size_t at, struct values *ret_values);

/* The address that an instruction names in memory; unknown with an index. */
struct value values__place(const struct values *values, const struct code_insn *insn);

/* What the word at @at of the stack holds. */
struct value values__word(const struct values *values, int32_t at);

/* Whether a register or word holds exactly that. */
static inline bool value_is(struct value value, enum value_kind kind, int32_t offset)
{
	return value.kind == (int32_t)kind && value.offset == offset;
}

#endif
