// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/dbprof.h"
#include "plan/jump_table.h"
#include "plan/step_code.h"

#define PROLOGUE_MAX 40	 /* instructions until the dispatch on the state */
#define WALK_MAX     400 /* instructions of a path */
#define DEPTH_MAX    4	 /* blocks between a value and its store */

struct search {
	const struct elf_image *image;
	const struct code *code;
	bool *joins; /* per instruction: some jump or table leads here */
};

static bool writes(const struct code_insn *insn, uint8_t reg)
{
	return reg != CODE_NO_REG && (insn->writes >> reg & 1);
}

/* Follows which registers hold the future from the function's entry on. */
static void follow_future(const struct code_insn *insn, uint16_t *held)
{
	bool copy = insn->data == CODE_MOVE && insn->size == 8 && insn->src != CODE_NO_REG &&
		    insn->dst != CODE_NO_REG && (*held >> insn->src & 1);

	*held &= (uint16_t)~insn->writes;
	if (copy)
		*held |= (uint16_t)(1U << insn->dst);
}

/*
 * Index of the instruction that loads the state byte: the first byte loaded from the future in
 * straight-line code. The future comes second (rsi) when the result is returned through memory,
 * which a Result<(), Error> is, else first (rdi).
 */
static ptrdiff_t state_load(const struct code *code, uint8_t reg, uint16_t *ret_held)
{
	uint16_t held = (uint16_t)(1U << reg);

	for (size_t i = 0; i < code->count && i < PROLOGUE_MAX; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->data == CODE_LOAD && insn->size == 1 && insn->base != CODE_NO_REG &&
		    insn->index == CODE_NO_REG && (held >> insn->base & 1) && insn->disp >= 0 &&
		    insn->disp < 1 << 24) {
			follow_future(insn, &held);
			*ret_held = held;
			return (ptrdiff_t)i;
		}
		if (insn->flow != CODE_NEXT)
			return -1;
		follow_future(insn, &held);
	}
	return -1;
}

int step_code__find_state(const struct code *code, struct step_code *ret)
{
	static const uint8_t arguments[] = { CODE_RSI, CODE_RDI };

	for (size_t i = 0; i < sizeof(arguments); i++) {
		uint16_t held;
		ptrdiff_t load = state_load(code, arguments[i], &held);

		if (load < 0)
			continue;
		*ret = (struct step_code){
			.state_offset = (uint32_t)code->insns[load].disp,
			.future_reg = arguments[i],
		};
		return 0;
	}
	return -ENOENT;
}

static void mark(struct search *search, uint64_t target)
{
	ptrdiff_t at = code__at(search->code, target);

	if (at >= 0)
		search->joins[at] = true;
}

/* Notes every instruction that something jumps to. Too many marks only make us more careful. */
static void mark_joins(struct search *search)
{
	const struct code *code = search->code;

	for (size_t i = 0; i < code->count; i++) {
		const struct code_insn *insn = &code->insns[i];
		struct jump_table table;
		uint64_t target;

		if (insn->flow == CODE_JUMP || insn->flow == CODE_BRANCH)
			mark(search, insn->target);
		if (insn->flow != CODE_INDIRECT || !jump_table__find(code, i, &table))
			continue;
		for (size_t entry = 0;
		     jump_table__target(&table, search->image, code, entry, &target); entry++)
			mark(search, target);
	}
}

/* How often the dispatch table and direct jumps name @target: the path is ours alone if once. */
static size_t arrivals(const struct search *search, const struct jump_table *table, uint64_t target)
{
	size_t count = 0;
	uint64_t other;

	for (size_t entry = 0;
	     jump_table__target(table, search->image, search->code, entry, &other); entry++)
		count += other == target;
	for (size_t i = 0; i < search->code->count; i++) {
		const struct code_insn *insn = &search->code->insns[i];

		if ((insn->flow == CODE_JUMP || insn->flow == CODE_BRANCH) &&
		    insn->target == target)
			count++;
	}
	return count;
}

/* A register that keeps its value over calls and that a probe's cookie can name. */
static uint8_t lasting_register(uint16_t held)
{
	static const uint8_t preferred[] = { CODE_RBX, CODE_RBP, CODE_R12, CODE_R13,
					     CODE_R14, CODE_R15, CODE_RSI, CODE_RDI };

	for (size_t i = 0; i < sizeof(preferred); i++)
		if (held >> preferred[i] & 1)
			return preferred[i];
	return CODE_NO_REG;
}

/* The first emulated instruction from @at on, on a path without joins that keeps the future. */
static int first_emulated(const struct search *search, size_t at, uint16_t held,
			  struct step_probe *ret_probe)
{
	for (size_t i = at; i < search->code->count && i - at < WALK_MAX; i++) {
		const struct code_insn *insn = &search->code->insns[i];
		uint8_t reg = lasting_register(held);

		if (i > at && search->joins[i])
			return -ENOENT;
		if (reg == CODE_NO_REG)
			return -ENOENT;
		if (insn->emulated) {
			*ret_probe = (struct step_probe){ insn->address, { reg, 0 } };
			return 0;
		}
		if (insn->flow != CODE_NEXT && insn->flow != CODE_CALL)
			return -ENOENT;
		follow_future(insn, &held);
	}
	return -ENOENT;
}

static int find_begin(const struct search *search, struct step_code *step)
{
	const struct code *code = search->code;
	struct jump_table table;
	uint64_t target;
	uint16_t held;
	ptrdiff_t at = state_load(code, step->future_reg, &held);

	if (at < 0)
		return -ENOENT;
	for (size_t i = (size_t)at + 1; i < code->count && i <= (size_t)at + 10; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->flow == CODE_INDIRECT) {
			if (!jump_table__find(code, i, &table) ||
			    !jump_table__target(&table, search->image, code, DBPROF_STATE_UNRESUMED,
						&target) ||
			    arrivals(search, &table, target) != 1)
				return -ENOENT;
			return first_emulated(search, (size_t)code__at(code, target), held,
					      &step->begin);
		}
		if (insn->flow != CODE_NEXT)
			return -ENOENT;
		follow_future(insn, &held);
	}
	return -ENOENT;
}

/* A stretch of code that runs from its first to its last instruction, calls included. */
struct block {
	size_t first;
	size_t last;
};

static bool ends_block(const struct code_insn *insn)
{
	return insn->flow != CODE_NEXT && insn->flow != CODE_CALL;
}

static struct block block_of(const struct search *search, size_t at)
{
	const struct code *code = search->code;
	struct block block = { at, at };

	while (block.first && !search->joins[block.first] &&
	       !ends_block(&code->insns[block.first - 1]))
		block.first--;
	while (block.last + 1 < code->count && !ends_block(&code->insns[block.last]) &&
	       !search->joins[block.last + 1])
		block.last++;
	return block;
}

static bool falls_through(const struct code_insn *insn)
{
	return insn->flow == CODE_NEXT || insn->flow == CODE_CALL || insn->flow == CODE_BRANCH;
}

/* From a block that decides the state to the store of it; blocks[0] holds the store. */
struct chain {
	struct block blocks[DEPTH_MAX];
	size_t length;
	size_t store; /* index of the storing instruction */
};

/*
 * Where the future is at instruction @probe of the chain's last block, given that the store finds
 * it in its base register: still there, or on the stack if the path loads it from there.
 */
static bool place_at(const struct search *search, const struct chain *chain, size_t probe,
		     struct future_place *ret_place)
{
	uint8_t base = search->code->insns[chain->store].base;
	bool loaded = false;

	*ret_place = (struct future_place){ base, 0 };
	for (size_t b = 0; b < chain->length; b++) {
		size_t first = b + 1 == chain->length ? probe : chain->blocks[b].first;
		size_t end = b ? chain->blocks[b].last + 1 : chain->store;

		for (size_t i = end; i-- > first;) {
			const struct code_insn *insn = &search->code->insns[i];

			if (writes(insn, CODE_RSP) && insn->flow != CODE_CALL)
				return false;
			if (loaded || !writes(insn, base))
				continue;
			if (insn->data != CODE_LOAD || insn->size != 8 || insn->base != CODE_RSP ||
			    insn->index != CODE_NO_REG || insn->disp < 0 || insn->disp >= 1 << 20)
				return false;
			*ret_place = (struct future_place){ CODE_NO_REG, (uint32_t)insn->disp };
			loaded = true;
		}
	}
	return true;
}

static int keep_end(struct step_code *step, struct step_probe probe)
{
	for (size_t other = 0; other < step->end_count; other++)
		if (step->ends[other].address == probe.address)
			return 0;
	if (step->end_count == STEP_ENDS_MAX)
		return -ENOENT;
	step->ends[step->end_count++] = probe;
	return 0;
}

/* An emulated instruction that follows the store in its block, as long as the base lasts. */
static int add_end_after(const struct search *search, const struct chain *chain,
			 struct step_code *step)
{
	uint8_t base = search->code->insns[chain->store].base;

	for (size_t i = chain->store + 1; i <= chain->blocks[0].last; i++) {
		const struct code_insn *insn = &search->code->insns[i];
		struct step_probe probe = { insn->address, { base, 0 } };

		if (insn->emulated)
			return keep_end(step, probe);
		if (writes(insn, base))
			return -ENOENT;
	}
	return -ENOENT;
}

/* Adds a probe at the last emulated instruction of the block that stores "returned". */
static int add_end(const struct search *search, const struct chain *chain, struct step_code *step)
{
	const struct block *block = &chain->blocks[chain->length - 1];
	size_t end = chain->length == 1 ? chain->store : block->last + 1;

	for (size_t i = end; i-- > block->first;) {
		const struct code_insn *insn = &search->code->insns[i];
		struct step_probe probe = { .address = insn->address };

		/* A branch that leaves the block would run for other values, too. */
		if (insn->flow == CODE_BRANCH)
			return -ENOENT;
		if (insn->emulated && place_at(search, chain, i, &probe.future))
			return keep_end(step, probe);
	}
	return chain->length == 1 ? add_end_after(search, chain, step) : -ENOENT;
}

static int find_value(const struct search *search, struct chain *chain, struct step_code *step);

static int find_value_before(const struct search *search, const struct chain *chain, size_t at,
			     struct step_code *step)
{
	struct chain longer = *chain;

	if (longer.length == DEPTH_MAX)
		return -ENOENT;
	longer.blocks[longer.length++] = block_of(search, at);
	return find_value(search, &longer, step);
}

/* Follows every way into the chain's earliest block. */
static int find_value_in_predecessors(const struct search *search, const struct chain *chain,
				      struct step_code *step)
{
	const struct code *code = search->code;
	size_t first = chain->blocks[chain->length - 1].first;
	size_t ways = 0;
	int err;

	for (size_t i = 0; i < code->count; i++) {
		const struct code_insn *jump = &code->insns[i];
		bool leads = (jump->flow == CODE_JUMP || jump->flow == CODE_BRANCH) &&
			     jump->target == code->insns[first].address;

		if (!leads && !(i + 1 == first && falls_through(jump)))
			continue;
		ways++;
		err = find_value_before(search, chain, i, step);
		if (err)
			return err;
	}
	return ways ? 0 : -ENOENT;
}

/*
 * Finds which values reach the store through the chain's earliest block, and adds a probe where it
 * is 1. Returns 0 when every way is understood.
 */
static int find_value(const struct search *search, struct chain *chain, struct step_code *step)
{
	const struct code_insn *store = &search->code->insns[chain->store];
	const struct block *block = &chain->blocks[chain->length - 1];
	size_t end = chain->length == 1 ? chain->store : block->last + 1;

	for (size_t i = end; i-- > block->first;) {
		const struct code_insn *insn = &search->code->insns[i];

		if (!writes(insn, store->src))
			continue;
		if (insn->data != CODE_SET)
			return -ENOENT;
		if ((uint8_t)insn->value != DBPROF_STATE_RETURNED)
			return 0; /* pending or panicked */
		return add_end(search, chain, step);
	}
	return find_value_in_predecessors(search, chain, step);
}

static int find_ends(const struct search *search, struct step_code *step)
{
	int err;

	for (size_t i = 0; i < search->code->count; i++) {
		const struct code_insn *insn = &search->code->insns[i];
		struct chain chain = { .length = 1, .store = i };

		if (insn->size != 1 || insn->index != CODE_NO_REG ||
		    insn->disp != (int64_t)step->state_offset || insn->base == CODE_NO_REG)
			continue;
		chain.blocks[0] = block_of(search, i);
		if (insn->data == CODE_STORE_VALUE && (uint8_t)insn->value == DBPROF_STATE_RETURNED)
			err = add_end(search, &chain, step);
		else if (insn->data == CODE_STORE)
			err = find_value(search, &chain, step);
		else
			continue;
		if (err)
			return err;
	}
	return step->end_count ? 0 : -ENOENT;
}

int step_code__find_paths(const struct elf_image *image, const struct code *code,
			  struct step_code *step)
{
	struct search search = { .image = image, .code = code };
	struct step_code found = *step;
	int err;

	search.joins = calloc(code->count, sizeof(*search.joins));
	if (!search.joins)
		return -ENOMEM;
	mark_joins(&search);
	err = find_begin(&search, &found);
	if (!err)
		err = find_ends(&search, &found);
	if (!err)
		*step = found;
	free(search.joins);
	return err;
}
