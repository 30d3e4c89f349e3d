// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "plan/jump_table.h"

#define NEAR 8 /* instructions between the parts of a dispatch */

bool jump_table__target(const struct jump_table *table, const struct elf_image *image,
			const struct code *code, size_t index, uint64_t *ret_target)
{
	size_t size = table->absolute ? sizeof(uint64_t) : sizeof(int32_t), len = size;
	const uint8_t *bytes;
	uint64_t target;
	int32_t relative;

	if (index >= JUMP_TABLE_MAX)
		return false;
	bytes = elf_image__bytes(image, table->address + index * size, &len);
	if (!bytes || len < size)
		return false;
	if (table->absolute) {
		memcpy(&target, bytes, sizeof(target));
	} else {
		memcpy(&relative, bytes, sizeof(relative));
		target = table->address + (uint64_t)(int64_t)relative;
	}
	if (target < code->start || target >= code->end || code__at(code, target) < 0)
		return false;
	*ret_target = target;
	return true;
}

static bool is_absolute(const struct code_insn *insn)
{
	return insn->index != CODE_NO_REG && insn->scale == 8 && insn->base == CODE_NO_REG &&
	       insn->disp > 0;
}

bool jump_table__find(const struct code *code, size_t jump, struct jump_table *ret_table)
{
	const struct code_insn *last = &code->insns[jump];
	uint8_t base = CODE_NO_REG;

	if (last->data == CODE_TO_LOADED) {
		if (!is_absolute(last))
			return false;
		*ret_table = (struct jump_table){ (uint64_t)last->disp, true };
		return true;
	}
	for (size_t back = 1; back <= NEAR && back <= jump; back++) {
		const struct code_insn *insn = &code->insns[jump - back];

		if (insn->data == CODE_LOAD && insn->index != CODE_NO_REG && insn->scale == 4 &&
		    base == CODE_NO_REG) {
			base = insn->base;
		} else if (insn->data == CODE_LOAD && is_absolute(insn)) {
			*ret_table = (struct jump_table){ (uint64_t)insn->disp, true };
			return true;
		} else if (insn->data == CODE_ADDRESS && insn->dst == base && base != CODE_NO_REG) {
			*ret_table = (struct jump_table){ insn->value, false };
			return true;
		}
		if (insn->flow != CODE_NEXT)
			return false;
	}
	return false;
}
