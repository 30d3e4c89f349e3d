/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function's machine code as facts: where it goes, what it writes, which instructions the
 * kernel emulates under a uprobe instead of single-stepping them.
 */
#ifndef DBPROF_PLAN_CODE_H
#define DBPROF_PLAN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/elf_image.h"

#define CODE_NO_REG	  0xff
#define CODE_NO_CONDITION 0xff

/* General registers in the processor's own numbering. */
enum code_reg {
	CODE_RAX,
	CODE_RCX,
	CODE_RDX,
	CODE_RBX,
	CODE_RSP,
	CODE_RBP,
	CODE_RSI,
	CODE_RDI,
	CODE_R8,
	CODE_R9,
	CODE_R10,
	CODE_R11,
	CODE_R12,
	CODE_R13,
	CODE_R14,
	CODE_R15,
	CODE_REGS,
};

enum code_flow {
	CODE_NEXT,     /* goes on to the next instruction */
	CODE_JUMP,     /* unconditional, to target */
	CODE_BRANCH,   /* conditional, to target or on */
	CODE_CALL,     /* to target, 0 when indirect, and back */
	CODE_INDIRECT, /* jump through a register or table */
	CODE_END,      /* return, trap, undefined */
};

enum code_data {
	CODE_OTHER,
	CODE_MOVE,	  /* dst = src */
	CODE_SET,	  /* dst = value */
	CODE_ADDRESS,	  /* dst = value, an address relative to the instruction pointer */
	CODE_LOAD,	  /* dst = size bytes at base + index * scale + disp */
	CODE_STORE,	  /* size bytes at base + index * scale + disp = src */
	CODE_STORE_VALUE, /* the same = value */
	CODE_ADD,	  /* dst += src */
	CODE_ADD_VALUE,	  /* dst += value, which is signed */
	CODE_PLACE,	  /* dst = base + index * scale + disp, the address itself */
	CODE_LOAD_AT,	  /* dst = size bytes at the address value */
	CODE_PUSH,	  /* a new word on the stack = src, CODE_NO_REG: something else */
	CODE_POP,	  /* dst = the last word of the stack, which goes */
	CODE_CLOBBER,	  /* size bytes at base + index * scale + disp change in another way */
	/* Where an indirect call or jump goes. */
	CODE_TO_REG,	/* to the address in src */
	CODE_TO_LOADED, /* to the word at base + index * scale + disp */
	CODE_TO_AT,	/* to the word at the address value: through the global offset table */
};

struct code_insn {
	uint64_t address;
	uint64_t target;
	uint64_t value;
	int64_t disp;
	uint16_t writes; /* bit per general register */
	uint8_t length;
	uint8_t flow; /* enum code_flow */
	uint8_t data; /* enum code_data */
	uint8_t dst;
	uint8_t src;
	uint8_t base; /* CODE_NO_REG: none */
	uint8_t index;
	uint8_t scale;
	uint8_t size;
	uint8_t condition; /* of CODE_BRANCH: its number in the opcode, or CODE_NO_CONDITION */
	bool emulated;	   /* by arch/x86/kernel/uprobes.c: branch_xol_ops and push_xol_ops */
};

struct code {
	struct code_insn *insns;
	size_t count;
	uint64_t start;
	uint64_t end;
};

/*
 * Decodes @size bytes of @image at @address. Returns 0, -ERANGE when they are not in the file,
 * -EILSEQ when they are no instructions, -ENOSYS on a processor this is not written for.
 */
int code__decode(const struct elf_image *image, uint64_t address, uint64_t size,
		 struct code **ret_code);
void code__free(struct code *code);

/* Index of the instruction at @address, -1 when none starts there. */
ptrdiff_t code__at(const struct code *code, uint64_t address);

#endif
