// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The poll function of an operator's task: where it calls Timed::poll with which stack. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/flow.h"
#include "plan/step_code.h"
#include "plan/task_code.h"
#include "plan/values.h"

#define FRAME_MAX (1 << 20) /* bytes */

static const struct timed_code *called(const struct code_insn *insn, const struct timed_code *timed,
				       size_t timed_count)
{
	for (size_t i = 0; insn->flow == CODE_CALL && insn->target && i < timed_count; i++)
		if (timed[i].address == insn->target)
			return &timed[i];
	return NULL;
}

/*
 * Where the address of the task's state is at the call: in the task's own frame, or in a register
 * that Timed::poll saves. The highest word is taken: the lowest may be a callee's argument.
 */
static bool find_state(const struct values *values, const struct timed_code *timed, int32_t slot,
		       int32_t *ret_state)
{
	bool found = false;

	for (size_t i = 0; i < values->word_count; i++) {
		int32_t state = values->words[i].at - slot;

		if (!value_is(values->words[i].value, VALUE_ARGUMENT, 0) || state <= 0)
			continue;
		if (!found || state > *ret_state)
			*ret_state = state;
		found = true;
	}
	for (size_t reg = 0; !found && reg < CODE_REGS; reg++) {
		if (!timed->saved[reg] || !value_is(values->regs[reg], VALUE_ARGUMENT, 0))
			continue;
		*ret_state = timed->saved[reg];
		found = true;
	}
	return found;
}

static bool decode_call(const struct values *values, const struct code_insn *insn,
			const struct timed_code *timed, struct task_frame *ret_frame)
{
	struct value sp = values->regs[CODE_RSP];
	int32_t depth = -sp.offset, state = 0;

	/* The ABI aligns the stack pointer to 16 bytes before each call. */
	if (sp.kind != VALUE_STACK || depth < 0 || depth > FRAME_MAX || (depth + 8) % 16 ||
	    !find_state(values, timed, -depth - 8, &state))
		return false;
	*ret_frame = (struct task_frame){
		.return_address = insn->address + insn->length,
		.entry_to_slot = (uint32_t)depth + 8,
		.state_from_slot = state,
		.inner = timed->inner,
	};
	memcpy(ret_frame->counted, timed->counted, sizeof(ret_frame->counted));
	return true;
}

/* Whether the state comes in rsi: the function dispatches on a byte in there. */
static bool takes_state(const struct code *code)
{
	struct step_code state;

	return !step_code__find_state(code, &state) && state.future_reg == CODE_RSI;
}

static const char *find_calls(const struct code *code, const struct values_map *map,
			      const struct timed_code *timed, size_t timed_count,
			      struct task_frame *frames, size_t max, size_t *count)
{
	const char *why = NULL;
	size_t calls = 0;

	for (size_t i = 0; i < code->count; i++) {
		const struct code_insn *insn = &code->insns[i];
		const struct timed_code *callee = called(insn, timed, timed_count);
		struct values values;

		if (!callee)
			continue;
		calls++;
		if (!callee->inner)
			why = "Timed::poll is not understood";
		else if (!values__before(map, i, &values) ||
			 (*count < max && !decode_call(&values, insn, callee, &frames[*count])))
			why = "the stack at a call of Timed::poll is not understood";
		else if (*count == max)
			why = "Timed::poll is called in too many places";
		else
			++*count;
	}
	return calls ? why : "the operators' tasks do not call Timed::poll: it may be inlined";
}

int task_code__frames(const struct elf_image *image, const struct code *code,
		      const struct timed_code *timed, size_t timed_count, struct task_frame *frames,
		      size_t max, size_t *ret_count, const char **ret_why)
{
	struct values_map *map = NULL;
	struct flow *flow = NULL;
	size_t count = 0;
	const char *why = "the operators' task function is not understood";
	int err = takes_state(code) ? flow__new(image, code, &flow) : -ENOENT;

	if (!err)
		err = values__trace(flow, &map);
	if (!err)
		why = find_calls(code, map, timed, timed_count, frames, max, &count);
	values__free(map);
	flow__free(flow);
	if (err == -ENOMEM)
		return err;
	*ret_count = count;
	*ret_why = why;
	return 0;
}
