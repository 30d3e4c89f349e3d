// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Timed::poll: what it calls, and where it tells Ready from Pending. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/flow.h"
#include "plan/task_code.h"
#include "plan/values.h"

#define FRAME_MAX (1 << 20) /* bytes */

/* Numbers of conditions: the zero flag is set, or is not. */
#define IF_ZERO	    4
#define IF_NOT_ZERO 5

struct timed_search {
	const struct code *code;
	struct flow *flow;
	struct values_map *map;
	bool *live; /* per instruction: some way from the entry leads there */
	bool *seen; /* per instruction, for each search anew */
	bool *other_seen;
	size_t calls[TIMED_CALLS]; /* indices of instructions */
};

static bool is_call(const struct flow *flow, size_t at, const void *arg)
{
	(void)arg;
	return flow->code->insns[at].flow == CODE_CALL;
}

static bool is_place(const struct flow *flow, size_t at, const void *arg)
{
	(void)flow;
	return at == *(const size_t *)arg;
}

static void free_search(struct timed_search *search)
{
	flow__free(search->flow);
	values__free(search->map);
	free(search->live);
	free(search->seen);
	free(search->other_seen);
}

static int start_search(struct timed_search *search, const struct elf_image *image)
{
	size_t count = search->code->count;
	int err = flow__new(image, search->code, &search->flow);

	if (!err)
		err = values__trace(search->flow, &search->map);
	if (err)
		return err == -E2BIG ? -ENOENT : err;
	search->live = calloc(count, sizeof(*search->live));
	search->seen = calloc(count, sizeof(*search->seen));
	search->other_seen = calloc(count, sizeof(*search->other_seen));
	if (!search->live || !search->seen || !search->other_seen)
		return -ENOMEM;
	search->live[0] = true;
	return flow__reach(search->flow, &search->flow->next, 0, NULL, NULL, search->live);
}

/* Whether the call goes to a method of the Box<dyn Future> that the Timed holds. */
static bool calls_operator(const struct values *values, const struct code_insn *insn)
{
	if (insn->data == CODE_TO_LOADED && insn->index == CODE_NO_REG && insn->base < CODE_REGS)
		return values->regs[insn->base].kind == VALUE_FIELD;
	return insn->data == CODE_TO_REG && insn->src < CODE_REGS &&
	       values->regs[insn->src].kind == VALUE_METHOD;
}

/* Whether the call goes to a function that the linker knows. */
static bool calls_function(const struct values *values, const struct code_insn *insn)
{
	return insn->target || insn->data == CODE_TO_AT ||
	       (insn->data == CODE_TO_REG && insn->src < CODE_REGS &&
		values->regs[insn->src].kind == VALUE_IMPORT);
}

static int find_operator(struct timed_search *search, const char **ret_why)
{
	size_t found = 0;

	for (size_t i = 0; i < search->code->count; i++) {
		const struct code_insn *insn = &search->code->insns[i];
		struct values values;

		if (insn->flow != CODE_CALL || !values__before(search->map, i, &values))
			continue;
		if (calls_operator(&values, insn)) {
			search->calls[TIMED_OPERATOR] = i;
			found++;
		} else if (!calls_function(&values, insn)) {
			*ret_why = "Timed::poll makes a call that is not understood";
			return -ENOENT;
		}
	}
	if (found == 1)
		return 0;
	*ret_why = found ? "Timed::poll polls the operator in several places"
			 : "Timed::poll does not poll the operator by its vtable";
	return -ENOENT;
}

/* What is met first from an instruction on, forwards or backwards. */
struct first_met {
	size_t calls; /* how many different ones */
	size_t call;  /* one of them */
	bool edge;    /* the function's entry or end, without a call before it */
};

static int meet_first(struct timed_search *search, bool forwards, size_t from,
		      struct first_met *ret_met)
{
	const struct flow *flow = search->flow;
	struct first_met met = {};
	int err;

	memset(search->seen, 0, search->code->count * sizeof(*search->seen));
	err = flow__reach(flow, forwards ? &flow->next : &flow->previous, from, is_call, NULL,
			  search->seen);
	for (size_t i = 0; !err && i < search->code->count; i++) {
		const struct code_insn *insn = &search->code->insns[i];

		if (!search->seen[i] || !search->live[i])
			continue;
		if (insn->flow == CODE_CALL) {
			met.call = i;
			met.calls++;
		} else if (forwards ? insn->flow == CODE_END : i == 0) {
			met.edge = true;
		}
	}
	if (!err)
		*ret_met = met;
	return err;
}

/* The one call that all ways come to first. Returns 0, -ENOENT when there is none, -ENOMEM. */
static int nearest_call(struct timed_search *search, bool forwards, size_t from, size_t *ret_call)
{
	struct first_met met;
	int err = meet_first(search, forwards, from, &met);

	if (!err && (met.calls != 1 || met.edge))
		err = -ENOENT;
	if (!err)
		*ret_call = met.call;
	return err;
}

/*
 * ElapsedTime::record() reads the clock, the thread's CPU clock, polls, and reads both again. A
 * different number of calls means that some were inlined or reordered.
 */
static int find_clock_reads(struct timed_search *search)
{
	struct first_met before;
	size_t clock, last;
	int err = nearest_call(search, false, search->calls[TIMED_OPERATOR],
			       &search->calls[TIMED_CPU_CLOCK]);

	if (!err)
		err = nearest_call(search, false, search->calls[TIMED_CPU_CLOCK], &clock);
	if (!err)
		err = meet_first(search, false, clock, &before);
	if (!err && before.calls)
		err = -ENOENT;
	if (!err)
		err = nearest_call(search, true, search->calls[TIMED_OPERATOR],
				   &search->calls[TIMED_ELAPSED]);
	if (!err)
		err = nearest_call(search, true, search->calls[TIMED_ELAPSED], &last);
	return err;
}

/* How deep the stack is right before a call, the same before all of them. */
static int find_frame(struct timed_search *search, struct timed_code *timed)
{
	int32_t depth = 0;

	for (size_t call = 0; call < TIMED_CALLS; call++) {
		size_t at = search->calls[call];
		struct values values;
		struct value sp;

		if (!values__before(search->map, at, &values))
			return -ENOENT;
		sp = values.regs[CODE_RSP];
		if (sp.kind != VALUE_STACK || (call && depth != -sp.offset))
			return -ENOENT;
		depth = -sp.offset;
		for (size_t i = 0; i < values.word_count; i++) {
			struct value word = values.words[i].value;

			if (word.kind == VALUE_CALLERS && !call)
				timed->saved[word.offset] = values.words[i].at;
		}
		for (int32_t reg = 0; reg < CODE_REGS; reg++)
			if (timed->saved[reg] &&
			    !value_is(values__word(&values, timed->saved[reg]), VALUE_CALLERS, reg))
				timed->saved[reg] = 0;
		timed->counted[call] =
			search->code->insns[at].address + search->code->insns[at].length;
	}
	/* The ABI aligns the stack pointer to 16 bytes before each call. */
	if (depth < 0 || depth > FRAME_MAX || (depth + 8) % 16)
		return -ENOENT;
	timed->inner = (uint32_t)depth + 8;
	return 0;
}

static bool stores_elapsed(const struct timed_search *search, const struct elapsed_layout *elapsed,
			   size_t at)
{
	const struct code_insn *insn = &search->code->insns[at];
	struct values values;
	struct value place;

	if (insn->data != CODE_STORE && insn->data != CODE_STORE_VALUE &&
	    insn->data != CODE_CLOBBER)
		return false;
	if (!values__before(search->map, at, &values))
		return false;
	place = values__place(&values, insn);
	return place.kind == VALUE_ARGUMENT && place.offset >= 0 &&
	       (uint64_t)place.offset < elapsed->end &&
	       (uint64_t)place.offset + insn->size > elapsed->begin;
}

/* What happens from the instruction at @target on. */
struct side {
	bool takes; /* it resets the ElapsedTime */
	bool calls;
};

static int look_at_side(struct timed_search *search, const struct elapsed_layout *elapsed,
			uint64_t target, struct side *ret_side)
{
	ptrdiff_t at = code__at(search->code, target);
	struct side side = {};
	int err;

	if (at < 0)
		return -ENOENT;
	memset(search->seen, 0, search->code->count * sizeof(*search->seen));
	search->seen[at] = true;
	err = flow__reach(search->flow, &search->flow->next, (size_t)at, NULL, NULL, search->seen);
	for (size_t i = 0; !err && i < search->code->count; i++) {
		if (!search->seen[i])
			continue;
		side.takes |= stores_elapsed(search, elapsed, i);
		side.calls |= search->code->insns[i].flow == CODE_CALL;
	}
	if (!err)
		*ret_side = side;
	return err;
}

/* Whether each poll passes instruction @at between its second clock read and its return. */
static int always_passed(struct timed_search *search, size_t at)
{
	size_t count = search->code->count;
	int err;

	memset(search->other_seen, 0, count * sizeof(*search->other_seen));
	err = flow__reach(search->flow, &search->flow->next, search->calls[TIMED_ELAPSED], is_place,
			  &at, search->other_seen);
	if (!err && !search->other_seen[at])
		err = -ENOENT;
	for (size_t i = 0; !err && i < count; i++)
		if (search->other_seen[i] && search->code->insns[i].flow == CODE_END)
			err = -ENOENT;
	return err;
}

static uint8_t timed_register(const struct values *values)
{
	static const uint8_t preferred[] = { CODE_RBX, CODE_RBP, CODE_R12, CODE_R13,
					     CODE_R14, CODE_R15, CODE_RSI, CODE_RDI };

	for (size_t i = 0; i < sizeof(preferred); i++)
		if (value_is(values->regs[preferred[i]], VALUE_ARGUMENT, 0))
			return preferred[i];
	return CODE_NO_REG;
}

/* Whether instruction @at is the jump that we look for. Returns 0, -ENOENT, -ENOMEM. */
static int try_exact(struct timed_search *search, const struct elapsed_layout *elapsed, size_t at,
		     struct timed_exact *ret_exact)
{
	const struct code_insn *insn = &search->code->insns[at];
	struct side taken, passed;
	struct values values;
	int err;

	if (insn->flow != CODE_BRANCH || !insn->emulated ||
	    (insn->condition != IF_ZERO && insn->condition != IF_NOT_ZERO) ||
	    !values__before(search->map, at, &values))
		return -ENOENT;
	err = always_passed(search, at);
	if (!err)
		err = look_at_side(search, elapsed, insn->target, &taken);
	if (!err)
		err = look_at_side(search, elapsed, insn->address + insn->length, &passed);
	if (err)
		return err;
	/* With a call to come, the time might still have to be added. */
	if (taken.takes == passed.takes || (taken.takes ? passed.calls : taken.calls))
		return -ENOENT;
	*ret_exact = (struct timed_exact){
		.address = insn->address,
		.timed_reg = timed_register(&values),
		.pending_if_zero = taken.takes == (insn->condition == IF_NOT_ZERO),
	};
	if (ret_exact->timed_reg == CODE_NO_REG || values.regs[CODE_RSP].kind != VALUE_STACK ||
	    values.regs[CODE_RSP].offset > 0)
		return -ENOENT;
	ret_exact->slot_from_sp = (uint32_t)-values.regs[CODE_RSP].offset;
	return 0;
}

static int find_exact(struct timed_search *search, const struct elapsed_layout *elapsed,
		      struct timed_code *timed)
{
	size_t found = 0;

	timed->exact_missing = "the layout does not know the engine's ElapsedTime";
	if (elapsed->begin >= elapsed->end)
		return 0;
	for (size_t i = 0; i < search->code->count; i++) {
		int err = try_exact(search, elapsed, i, &timed->exact);

		if (err && err != -ENOENT)
			return err;
		found += !err;
	}
	timed->exact_missing =
		found == 1 ? NULL : "Timed::poll has no single jump that tells Ready from Pending";
	return 0;
}

int task_code__timed(const struct elf_image *image, const struct code *code,
		     const struct elapsed_layout *elapsed, struct timed_code *ret_timed,
		     const char **ret_why)
{
	struct timed_search search = { .code = code };
	struct timed_code timed = { .address = code->start };
	const char *why = "Timed::poll jumps in a way that is not understood";
	int err = start_search(&search, image);

	if (!err)
		err = find_operator(&search, &why);
	if (!err) {
		why = "the clock reads of Timed::poll cannot be told apart";
		err = find_clock_reads(&search);
	}
	if (!err) {
		why = "the frame of Timed::poll is not understood";
		err = find_frame(&search, &timed);
	}
	if (!err)
		err = find_exact(&search, elapsed, &timed);
	if (!err)
		*ret_timed = timed;
	else if (err == -ENOENT)
		*ret_why = why;
	free_search(&search);
	return err;
}
