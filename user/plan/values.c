// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A forward analysis: where ways join, what they do not agree on is unknown. What is stored through
 * computed addresses is not followed: compilers keep the words that they save registers in apart
 * from variables whose address is taken.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/values.h"

#define OFFSET_MAX (1 << 24)

static const struct value unknown;

struct values_map {
	const struct flow *flow;
	uint32_t *block;      /* per instruction that begins a block: 1 + its number, else 0 */
	struct values *entry; /* per block */
	bool *reached;	      /* per block */
	size_t block_count;
};

struct value values__word(const struct values *values, int32_t at)
{
	for (size_t i = 0; i < values->word_count; i++)
		if (values->words[i].at == at)
			return values->words[i].value;
	return unknown;
}

/* What was held in @size bytes at @at is gone. */
static void forget_words(struct values *values, int64_t at, int64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < values->word_count; i++)
		if (values->words[i].at + 8 <= at || values->words[i].at >= at + size)
			values->words[kept++] = values->words[i];
	values->word_count = kept;
}

static void set_word(struct values *values, int64_t at, struct value value)
{
	forget_words(values, at, 8);
	if (value.kind == VALUE_UNKNOWN || at < -OFFSET_MAX || at > OFFSET_MAX ||
	    values->word_count == VALUES_WORDS)
		return;
	values->words[values->word_count].at = (int32_t)at;
	values->words[values->word_count++].value = value;
}

static struct value register_value(const struct values *values, uint8_t reg)
{
	return reg < CODE_REGS ? values->regs[reg] : unknown;
}

static struct value moved(struct value value, int64_t by)
{
	int64_t offset;

	if ((value.kind != VALUE_STACK && value.kind != VALUE_ARGUMENT) || by < -OFFSET_MAX ||
	    by > OFFSET_MAX)
		return unknown;
	offset = value.offset + by;
	if (offset < -OFFSET_MAX || offset > OFFSET_MAX)
		return unknown;
	value.offset = (int32_t)offset;
	return value;
}

struct value values__place(const struct values *values, const struct code_insn *insn)
{
	if (insn->index != CODE_NO_REG)
		return unknown;
	return moved(register_value(values, insn->base), insn->disp);
}

static struct value loaded(const struct values *values, const struct code_insn *insn)
{
	struct value base = register_value(values, insn->base);
	struct value place = values__place(values, insn);

	if (insn->size != 8 || insn->index != CODE_NO_REG)
		return unknown;
	if (place.kind == VALUE_STACK)
		return values__word(values, place.offset);
	if (place.kind == VALUE_ARGUMENT)
		return (struct value){ VALUE_FIELD, place.offset };
	if (base.kind == VALUE_FIELD && insn->disp >= 0 && insn->disp <= OFFSET_MAX)
		return (struct value){ VALUE_METHOD, (int32_t)insn->disp };
	return unknown;
}

/* What the instruction's destination holds after it. */
static struct value result(const struct values *values, const struct code_insn *insn)
{
	if (insn->size != 8)
		return unknown;
	switch ((enum code_data)insn->data) {
	case CODE_MOVE:
		return register_value(values, insn->src);
	case CODE_LOAD:
		return loaded(values, insn);
	case CODE_LOAD_AT:
		return (struct value){ VALUE_IMPORT, 0 };
	case CODE_PLACE:
		return values__place(values, insn);
	case CODE_ADD_VALUE:
		return moved(register_value(values, insn->dst), (int64_t)insn->value);
	case CODE_POP: {
		struct value sp = values->regs[CODE_RSP];

		return sp.kind == VALUE_STACK ? values__word(values, sp.offset) : unknown;
	}
	default:
		return unknown;
	}
}

static void change_memory(struct values *values, const struct code_insn *insn)
{
	struct value place = values__place(values, insn);
	struct value sp = values->regs[CODE_RSP];

	switch ((enum code_data)insn->data) {
	case CODE_STORE:
		if (place.kind == VALUE_STACK && insn->size == 8)
			set_word(values, place.offset, register_value(values, insn->src));
		else if (place.kind == VALUE_STACK)
			forget_words(values, place.offset, insn->size);
		break;
	case CODE_STORE_VALUE:
	case CODE_CLOBBER:
		if (place.kind == VALUE_STACK)
			forget_words(values, place.offset, insn->size);
		break;
	case CODE_PUSH:
		if (sp.kind == VALUE_STACK)
			set_word(values, (int64_t)sp.offset - 8, register_value(values, insn->src));
		break;
	default:
		break;
	}
}

static void step(struct values *values, const struct code_insn *insn)
{
	struct value value = result(values, insn);
	struct value sp = values->regs[CODE_RSP];

	change_memory(values, insn);
	for (uint8_t reg = 0; reg < CODE_REGS; reg++)
		if (insn->writes >> reg & 1)
			values->regs[reg] = unknown;
	/* The callee takes its return address off again. */
	if (insn->flow == CODE_CALL)
		values->regs[CODE_RSP] = sp;
	else if (insn->data == CODE_PUSH)
		values->regs[CODE_RSP] = insn->size == 8 ? moved(sp, -8) : unknown;
	else if (insn->data == CODE_POP)
		values->regs[CODE_RSP] = insn->size == 8 ? moved(sp, 8) : unknown;
	if (insn->dst < CODE_REGS && insn->flow == CODE_NEXT)
		values->regs[insn->dst] = value;
}

static bool same(struct value a, struct value b)
{
	return a.kind == b.kind && a.offset == b.offset;
}

/* Keeps of @into what @from agrees with. Returns whether something went. */
static bool meet(struct values *into, const struct values *from)
{
	bool changed = false;
	size_t kept = 0;

	for (size_t reg = 0; reg < CODE_REGS; reg++) {
		if (into->regs[reg].kind == VALUE_UNKNOWN || same(into->regs[reg], from->regs[reg]))
			continue;
		into->regs[reg] = unknown;
		changed = true;
	}
	for (size_t i = 0; i < into->word_count; i++)
		if (same(into->words[i].value, values__word(from, into->words[i].at)))
			into->words[kept++] = into->words[i];
	changed |= kept != into->word_count;
	into->word_count = kept;
	return changed;
}

static void enter(struct values *values)
{
	static const uint8_t kept[] = {
		CODE_RBX, CODE_RBP, CODE_R12, CODE_R13, CODE_R14, CODE_R15
	};

	memset(values, 0, sizeof(*values));
	for (size_t i = 0; i < sizeof(kept); i++)
		values->regs[kept[i]] = (struct value){ VALUE_CALLERS, kept[i] };
	values->regs[CODE_RSP] = (struct value){ VALUE_STACK, 0 };
	values->regs[CODE_RSI] = (struct value){ VALUE_ARGUMENT, 0 };
}

/* Blocks begin at the entry and where something other than the instruction before leads. */
static void find_blocks(struct values_map *map)
{
	const struct flow *flow = map->flow;
	const struct flow_edges *previous = &flow->previous;

	for (size_t i = 0; i < flow->code->count; i++) {
		uint32_t first = previous->first[i], count = previous->first[i + 1] - first;

		if (i == 0 || count > 1 || (count == 1 && previous->to[first] + 1 != i))
			map->block[i] = (uint32_t)++map->block_count;
	}
}

/* Whether an indirect jump that cannot be followed leaves the function, its frame being gone. */
static bool is_tail_call(const struct values *values)
{
	return value_is(values->regs[CODE_RSP], VALUE_STACK, 0);
}

/* Follows a block to its end. Blocks that have to be followed (again) go onto @todo. */
static int follow_block(struct values_map *map, size_t start, bool *waits, uint32_t *todo,
			size_t *todo_count)
{
	const struct flow *flow = map->flow;
	struct values values = map->entry[map->block[start] - 1];

	for (size_t at = start;; at++) {
		bool goes_on = false;

		if (flow->blind[at])
			return is_tail_call(&values) ? 0 : -ENOENT;
		step(&values, &flow->code->insns[at]);
		for (uint32_t e = flow->next.first[at]; e < flow->next.first[at + 1]; e++) {
			uint32_t to = flow->next.to[e], block = map->block[to];

			if (!block) {
				goes_on = true;
				continue;
			}
			block--;
			if (map->reached[block] && !meet(&map->entry[block], &values))
				continue;
			if (!map->reached[block])
				map->entry[block] = values;
			map->reached[block] = true;
			if (!waits[block])
				todo[(*todo_count)++] = to;
			waits[block] = true;
		}
		if (!goes_on)
			return 0;
	}
}

static int trace(struct values_map *map)
{
	bool *waits = calloc(map->block_count + 1, sizeof(*waits));
	uint32_t *todo = calloc(map->block_count + 1, sizeof(*todo));
	size_t count = 0;
	int err = waits && todo ? 0 : -ENOMEM;

	if (!err) {
		enter(&map->entry[0]);
		map->reached[0] = true;
		todo[count++] = 0;
		waits[0] = true;
	}
	/* Each time a block is followed again, it knows less. */
	while (!err && count) {
		uint32_t start = todo[--count];

		waits[map->block[start] - 1] = false;
		err = follow_block(map, start, waits, todo, &count);
	}
	free(waits);
	free(todo);
	return err;
}

int values__trace(const struct flow *flow, struct values_map **ret_map)
{
	struct values_map *map;
	int err = -ENOMEM;

	if (!flow->code->count)
		return -ENOENT;
	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->flow = flow;
	map->block = calloc(flow->code->count, sizeof(*map->block));
	if (!map->block)
		goto out;
	find_blocks(map);
	map->entry = calloc(map->block_count, sizeof(*map->entry));
	map->reached = calloc(map->block_count, sizeof(*map->reached));
	if (map->entry && map->reached)
		err = trace(map);
out:
	if (err)
		values__free(map);
	else
		*ret_map = map;
	return err;
}

void values__free(struct values_map *map)
{
	if (!map)
		return;
	free(map->block);
	free(map->entry);
	free(map->reached);
	free(map);
}

bool values__before(const struct values_map *map, size_t at, struct values *ret_values)
{
	size_t start = at;
	struct values values;

	/* An instruction that nothing leads to begins no block and follows none. */
	while (start && !map->block[start]) {
		if (map->flow->previous.first[start] == map->flow->previous.first[start + 1])
			return false;
		start--;
	}
	if (!map->reached[map->block[start] - 1])
		return false;
	values = map->entry[map->block[start] - 1];
	for (size_t i = start; i < at; i++)
		step(&values, &map->flow->code->insns[i]);
	*ret_values = values;
	return true;
}
