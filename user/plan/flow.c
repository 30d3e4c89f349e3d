// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/flow.h"
#include "plan/jump_table.h"

#define INSNS_MAX 65536u /* a task function has 800, of 3 KiB */
#define EDGES_MAX (4 * INSNS_MAX)

struct edge_list {
	uint32_t (*pairs)[2];
	size_t count;
	size_t capacity;
};

static int add_edge(struct edge_list *list, const struct code *code, size_t from, uint64_t target)
{
	ptrdiff_t to = code__at(code, target);

	/* Out of the function, as a tail call, or past its last instruction. */
	if (to < 0)
		return 0;
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 256;
		uint32_t(*pairs)[2] = realloc(list->pairs, capacity * sizeof(*pairs));

		if (!pairs)
			return -ENOMEM;
		list->pairs = pairs;
		list->capacity = capacity;
	}
	if (list->count == EDGES_MAX)
		return -E2BIG;
	list->pairs[list->count][0] = (uint32_t)from;
	list->pairs[list->count++][1] = (uint32_t)to;
	return 0;
}

static int add_table(struct edge_list *list, const struct elf_image *image, struct flow *flow,
		     size_t jump)
{
	const struct code *code = flow->code;
	struct jump_table table;
	uint64_t target;
	size_t entry = 0;
	int err = 0;

	if (jump_table__find(code, jump, &table))
		for (; !err && jump_table__target(&table, image, code, entry, &target); entry++)
			err = add_edge(list, code, jump, target);
	flow->blind[jump] = entry == 0;
	return err;
}

static int add_edges(struct edge_list *list, const struct elf_image *image, struct flow *flow,
		     size_t at)
{
	const struct code *code = flow->code;
	const struct code_insn *insn = &code->insns[at];
	int err = 0;

	switch ((enum code_flow)insn->flow) {
	case CODE_NEXT:
	case CODE_CALL:
		return add_edge(list, code, at, insn->address + insn->length);
	case CODE_JUMP:
		return add_edge(list, code, at, insn->target);
	case CODE_BRANCH:
		err = add_edge(list, code, at, insn->target);
		return err ? err : add_edge(list, code, at, insn->address + insn->length);
	case CODE_INDIRECT:
		return add_table(list, image, flow, at);
	case CODE_END:
		break;
	}
	return 0;
}

/* Sorts the pairs by their word @key into edges. */
static int sort_edges(const struct edge_list *list, size_t insns, int key, struct flow_edges *edges)
{
	uint32_t *fill = calloc(insns + 1, sizeof(*fill));

	edges->first = calloc(insns + 2, sizeof(*edges->first));
	edges->to = calloc(list->count + 1, sizeof(*edges->to));
	if (!fill || !edges->first || !edges->to) {
		free(fill);
		return -ENOMEM;
	}
	for (size_t i = 0; i < list->count; i++)
		edges->first[list->pairs[i][key] + 1]++;
	for (size_t i = 0; i < insns; i++)
		edges->first[i + 1] += edges->first[i];
	for (size_t i = 0; i < list->count; i++) {
		uint32_t at = list->pairs[i][key];

		edges->to[edges->first[at] + fill[at]++] = list->pairs[i][!key];
	}
	free(fill);
	return 0;
}

int flow__new(const struct elf_image *image, const struct code *code, struct flow **ret_flow)
{
	struct edge_list list = {};
	struct flow *flow;
	int err = 0;

	if (code->count > INSNS_MAX)
		return -E2BIG;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return -ENOMEM;
	flow->code = code;
	flow->blind = calloc(code->count + 1, sizeof(*flow->blind));
	if (!flow->blind)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < code->count; i++)
		err = add_edges(&list, image, flow, i);
	if (!err)
		err = sort_edges(&list, code->count, 0, &flow->next);
	if (!err)
		err = sort_edges(&list, code->count, 1, &flow->previous);
	free(list.pairs);
	if (err)
		flow__free(flow);
	else
		*ret_flow = flow;
	return err;
}

void flow__free(struct flow *flow)
{
	if (!flow)
		return;
	free(flow->next.first);
	free(flow->next.to);
	free(flow->previous.first);
	free(flow->previous.to);
	free(flow->blind);
	free(flow);
}

int flow__reach(const struct flow *flow, const struct flow_edges *edges, size_t from,
		bool (*stops)(const struct flow *flow, size_t at, const void *arg), const void *arg,
		bool *seen)
{
	uint32_t *stack = calloc(flow->code->count + 1, sizeof(*stack));
	size_t depth = 0;

	if (!stack)
		return -ENOMEM;
	stack[depth++] = (uint32_t)from;
	/* Each instruction comes onto the stack once at most, besides the start. */
	while (depth) {
		uint32_t at = stack[--depth];

		for (uint32_t edge = edges->first[at]; edge < edges->first[at + 1]; edge++) {
			uint32_t to = edges->to[edge];

			if (seen[to])
				continue;
			seen[to] = true;
			if (!stops || !stops(flow, to, arg))
				stack[depth++] = to;
		}
	}
	free(stack);
	return 0;
}
