// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>

#include "plan/code.h"

#define FUNCTION_MAX (1U << 18) /* bytes; the largest step function seen has 8 KiB */

/* Number of the 64-bit register that @reg is or is a part of, CODE_NO_REG for others. */
static uint8_t general_register(unsigned int reg)
{
	static const uint16_t parts[CODE_REGS][5] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0 },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0 },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0 },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0 },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0 },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0 },
		{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0 },
		{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0 },
		{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0 },
		{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0 },
		{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0 },
		{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0 },
	};

	for (uint8_t number = 0; reg && number < CODE_REGS; number++)
		for (size_t part = 0; part < 5; part++)
			if (parts[number][part] == reg)
				return number;
	return CODE_NO_REG;
}

/*
 * What arch/x86/kernel/uprobes.c emulates: near jumps and calls with an immediate, conditional
 * jumps, one-byte pushes with at most a REX.B prefix. A legacy prefix makes it single-step, and
 * nops are left out, since 6.18 rewrites some of them.
 */
static bool is_emulated(const uint8_t *bytes, size_t length)
{
	if (length == 5 && (bytes[0] == 0xe8 || bytes[0] == 0xe9))
		return true;
	if (length == 2 && (bytes[0] == 0xeb || (bytes[0] >= 0x70 && bytes[0] <= 0x7f)))
		return true;
	if (length == 6 && bytes[0] == 0x0f && bytes[1] >= 0x80 && bytes[1] <= 0x8f)
		return true;
	if (length == 1 && bytes[0] >= 0x50 && bytes[0] <= 0x57)
		return true;
	return length == 2 && bytes[0] == 0x41 && bytes[1] >= 0x50 && bytes[1] <= 0x57;
}

/* The condition that a jump tests ("tttn" of the opcode), in both encodings. */
static uint8_t condition_of(const uint8_t *bytes, size_t length)
{
	if (length == 2 && bytes[0] >= 0x70 && bytes[0] <= 0x7f)
		return bytes[0] & 0xf;
	if (length == 6 && bytes[0] == 0x0f && bytes[1] >= 0x80 && bytes[1] <= 0x8f)
		return bytes[1] & 0xf;
	return CODE_NO_CONDITION;
}

static void describe_flow(csh handle, const cs_insn *insn, struct code_insn *out)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;

	if (direct)
		out->target = (uint64_t)x86->operands[0].imm;
	if (cs_insn_group(handle, insn, X86_GRP_CALL)) {
		out->flow = CODE_CALL;
	} else if (cs_insn_group(handle, insn, X86_GRP_JUMP)) {
		out->flow = !direct		      ? CODE_INDIRECT
			    : insn->id == X86_INS_JMP ? CODE_JUMP
						      : CODE_BRANCH;
	} else if (cs_insn_group(handle, insn, X86_GRP_RET) ||
		   cs_insn_group(handle, insn, X86_GRP_INT) || insn->id == X86_INS_UD2 ||
		   insn->id == X86_INS_HLT) {
		out->flow = CODE_END;
		out->target = 0;
	} else {
		out->flow = CODE_NEXT;
		out->target = 0;
	}
}

static void describe_memory(const cs_x86_op *op, struct code_insn *out)
{
	out->base = general_register(op->mem.base);
	out->index = general_register(op->mem.index);
	out->scale = (uint8_t)op->mem.scale;
	out->disp = op->mem.disp;
	out->size = op->size;
	/* An address relative to something else than general registers is of no use to us. */
	if (op->mem.segment != X86_REG_INVALID ||
	    (op->mem.base != X86_REG_INVALID && out->base == CODE_NO_REG))
		out->data = CODE_OTHER;
}

/* A word at an address that the instruction itself names: relative to it, or absolute. */
static bool describe_constant_memory(const cs_insn *insn, const cs_x86_op *op,
				     struct code_insn *out)
{
	if (op->mem.segment != X86_REG_INVALID || op->mem.index != X86_REG_INVALID ||
	    op->mem.base != X86_REG_RIP)
		return false;
	out->value = insn->address + insn->size + (uint64_t)op->mem.disp;
	out->size = op->size;
	return true;
}

/* The word that is loaded: @at when the instruction names its address, else @loaded. */
static void describe_load(const cs_insn *insn, const cs_x86_op *op, enum code_data at,
			  enum code_data loaded, struct code_insn *out)
{
	out->data = at;
	if (describe_constant_memory(insn, op, out))
		return;
	out->data = loaded;
	describe_memory(op, out);
}

static void describe_target(const cs_insn *insn, struct code_insn *out)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];

	if (insn->detail->x86.op_count != 1)
		return;
	if (op->type == X86_OP_REG) {
		out->data = CODE_TO_REG;
		out->src = general_register(op->reg);
	} else if (op->type == X86_OP_MEM) {
		describe_load(insn, op, CODE_TO_AT, CODE_TO_LOADED, out);
	}
}

static void describe_mov(const cs_insn *insn, struct code_insn *out)
{
	const cs_x86_op *dst = &insn->detail->x86.operands[0];
	const cs_x86_op *src = &insn->detail->x86.operands[1];

	if (dst->type == X86_OP_REG) {
		out->dst = general_register(dst->reg);
		if (src->type == X86_OP_REG) {
			out->data = CODE_MOVE;
			out->src = general_register(src->reg);
			out->size = dst->size;
		} else if (src->type == X86_OP_IMM) {
			out->data = CODE_SET;
			out->value = (uint64_t)src->imm;
		} else if (src->type == X86_OP_MEM) {
			describe_load(insn, src, CODE_LOAD_AT, CODE_LOAD, out);
		}
	} else if (dst->type == X86_OP_MEM) {
		if (src->type == X86_OP_REG) {
			out->data = CODE_STORE;
			out->src = general_register(src->reg);
		} else if (src->type == X86_OP_IMM) {
			out->data = CODE_STORE_VALUE;
			out->value = (uint64_t)src->imm;
		}
		describe_memory(dst, out);
	}
}

/* Addition to a register: of another one, or of a value, which subtraction negates. */
static void describe_add(const cs_insn *insn, struct code_insn *out)
{
	const cs_x86_op *dst = &insn->detail->x86.operands[0];
	const cs_x86_op *src = &insn->detail->x86.operands[1];

	if (dst->type != X86_OP_REG)
		return;
	if (src->type == X86_OP_IMM) {
		out->data = CODE_ADD_VALUE;
		out->dst = general_register(dst->reg);
		out->size = dst->size;
		out->value = insn->id == X86_INS_SUB ? 0 - (uint64_t)src->imm : (uint64_t)src->imm;
	} else if (src->type == X86_OP_REG && insn->id == X86_INS_ADD) {
		out->data = CODE_ADD;
		out->dst = general_register(dst->reg);
		out->src = general_register(src->reg);
	}
}

static void describe_lea(const cs_insn *insn, struct code_insn *out)
{
	const cs_x86_op *dst = &insn->detail->x86.operands[0];
	const cs_x86_op *src = &insn->detail->x86.operands[1];

	out->data = CODE_ADDRESS;
	if (!describe_constant_memory(insn, src, out)) {
		out->data = CODE_PLACE;
		describe_memory(src, out);
	}
	out->dst = general_register(dst->reg);
	out->size = dst->size;
}

static void describe_push_pop(const cs_insn *insn, struct code_insn *out)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];
	uint8_t reg = op->type == X86_OP_REG ? general_register(op->reg) : CODE_NO_REG;

	if (insn->id == X86_INS_PUSH) {
		out->data = CODE_PUSH;
		out->src = reg;
	} else if (insn->id == X86_INS_POP) {
		out->data = CODE_POP;
		out->dst = reg;
	}
	/* Eight bytes, unless a prefix says two. */
	out->size = insn->detail->x86.prefix[2] == X86_PREFIX_OPSIZE ? 2 : 8;
}

/*
 * An operand in memory that any other instruction may change. What capstone 4 says of accesses is
 * wrong for stores of vector registers, so that every first operand counts.
 */
static void describe_clobber(const cs_insn *insn, struct code_insn *out)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (insn->id == X86_INS_NOP || insn->id == X86_INS_CMP || insn->id == X86_INS_TEST)
		return;
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type != X86_OP_MEM || (i > 0 && !(op->access & CS_AC_WRITE)))
			continue;
		out->data = CODE_CLOBBER;
		describe_memory(op, out);
	}
}

static void describe_data(const cs_insn *insn, struct code_insn *out)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (x86->op_count == 1)
		describe_push_pop(insn, out);
	if (x86->op_count != 2)
		return;
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSXD:
		describe_mov(insn, out);
		break;
	case X86_INS_LEA:
		describe_lea(insn, out);
		break;
	case X86_INS_XOR:
		if (x86->operands[0].type == X86_OP_REG && x86->operands[1].type == X86_OP_REG &&
		    x86->operands[0].reg == x86->operands[1].reg) {
			out->data = CODE_SET;
			out->dst = general_register(x86->operands[0].reg);
		}
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
		describe_add(insn, out);
		break;
	default:
		break;
	}
}

static void describe_writes(csh handle, const cs_insn *insn, struct code_insn *out)
{
	uint8_t reads = 0, writes = 0;
	cs_regs read, written;

	if (cs_regs_access(handle, insn, read, &reads, written, &writes)) {
		out->writes = UINT16_MAX;
		return;
	}
	for (uint8_t i = 0; i < writes; i++) {
		uint8_t reg = general_register(written[i]);

		if (reg != CODE_NO_REG)
			out->writes |= (uint16_t)(1U << reg);
	}
	/* The callee may use what the ABI lets it use. */
	if (out->flow == CODE_CALL)
		out->writes |= 1U << CODE_RAX | 1U << CODE_RCX | 1U << CODE_RDX | 1U << CODE_RSI |
			       1U << CODE_RDI | 1U << CODE_R8 | 1U << CODE_R9 | 1U << CODE_R10 |
			       1U << CODE_R11;
}

static void describe(csh handle, const cs_insn *insn, struct code_insn *out)
{
	*out = (struct code_insn){
		.address = insn->address,
		.length = (uint8_t)insn->size,
		.dst = CODE_NO_REG,
		.src = CODE_NO_REG,
		.base = CODE_NO_REG,
		.index = CODE_NO_REG,
		.condition = condition_of(insn->bytes, insn->size),
		.emulated = is_emulated(insn->bytes, insn->size),
	};
	describe_flow(handle, insn, out);
	if (out->flow == CODE_NEXT) {
		describe_data(insn, out);
		if (out->data == CODE_OTHER)
			describe_clobber(insn, out);
	} else if ((out->flow == CODE_CALL && !out->target) || out->flow == CODE_INDIRECT) {
		describe_target(insn, out);
	}
	describe_writes(handle, insn, out);
}

static int decode_all(csh handle, const uint8_t *bytes, struct code *code)
{
	uint64_t address = code->start;
	size_t left = code->end - code->start;
	cs_insn *insn = cs_malloc(handle);

	if (!insn)
		return -ENOMEM;
	while (left && cs_disasm_iter(handle, &bytes, &left, &address, insn))
		describe(handle, insn, &code->insns[code->count++]);
	cs_free(insn, 1);
	return left ? -EILSEQ : 0;
}

int code__decode(const struct elf_image *image, uint64_t address, uint64_t size,
		 struct code **ret_code)
{
	const uint8_t *bytes;
	struct code *code;
	size_t len = size;
	csh handle;
	int err;

	if (!size || size > FUNCTION_MAX)
		return -ERANGE;
	bytes = elf_image__bytes(image, address, &len);
	if (!bytes || len < size)
		return -ERANGE;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return -ENOSYS;
	code = calloc(1, sizeof(*code));
	if (code)
		code->insns = calloc(size, sizeof(*code->insns));
	if (!code || !code->insns) {
		err = -ENOMEM;
		goto out;
	}
	code->start = address;
	code->end = address + size;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	err = decode_all(handle, bytes, code);
out:
	cs_close(&handle);
	if (err)
		code__free(code);
	else
		*ret_code = code;
	return err;
}

void code__free(struct code *code)
{
	if (!code)
		return;
	free(code->insns);
	free(code);
}

ptrdiff_t code__at(const struct code *code, uint64_t address)
{
	size_t low = 0, high = code->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->insns[middle].address == address)
			return (ptrdiff_t)middle;
		if (code->insns[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}
