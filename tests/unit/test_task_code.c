// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames of operators in machine code of several shapes: this program's own, never run.
 */
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "plan/task_code.h"
#include "plan/values.h"

#ifdef __x86_64__

/* One function, with its size, as the symbol table wants it. */
#define FUNCTION(name, body)                                                                     \
	asm(".pushsection .text\n.type " #name ", @function\n" #name ":\n" body "\n.size " #name \
	    ", . - " #name "\n.popsection\n")

asm(".pushsection .data.rel, \"aw\"\n"
    "import: .quad import\n"
    ".popsection\n"
    ".pushsection .rodata\n"
    ".balign 4\n"
    "states: .long task_table_0 - states, task_table_3 - states\n"
    ".popsection\n");

#define CALL_IMPORT "call *import(%rip)\n"
#define RESET                                                   \
	"movups 0x10(%r14), %xmm0\n movups %xmm0, 0x30(%rbx)\n" \
	"movq $0, 0x10(%r14)\n movl $0, 0x18(%r14)\n"           \
	"movq $0, 0x20(%r14)\n movl $0, 0x28(%r14)\n"

/* As rustc 1.95 makes it. */
FUNCTION(timed_usual, "push %rbp\n push %r15\n push %r14\n push %r12\n push %rbx\n"
		      "sub $0xa0, %rsp\n"
		      "mov %rdx, %r15\n mov %rsi, %r14\n mov %rdi, %rbx\n" CALL_IMPORT
		      "mov %rax, (%rsp)\n mov %edx, 0x8(%rsp)\n" CALL_IMPORT
		      "timed_usual_cpu: mov %rax, 0x10(%rsp)\n"
		      "mov (%r14), %rsi\n mov 0x8(%r14), %rax\n lea 0x70(%rsp), %rdi\n"
		      "call *0x18(%rax)\n"
		      "timed_usual_operator: mov %rsp, %rdi\n" CALL_IMPORT
		      "timed_usual_elapsed: mov %rax, %r12\n" CALL_IMPORT
		      "lea 0x10(%r14), %rdi\n" CALL_IMPORT "mov 0x70(%rsp), %rax\n cmp $5, %rax\n"
		      "timed_usual_exact: je 1f\n" RESET
		      "1: mov %rax, (%rbx)\n mov %rbx, %rax\n add $0xa0, %rsp\n"
		      "pop %rbx\n pop %r12\n pop %r14\n pop %r15\n pop %rbp\n ret\n"
		      "mov %rax, %rbx\n call import\n");

/* Other registers, a frame pointer, imports and the method by registers, Ready by the jump. */
FUNCTION(timed_other, "endbr64\n push %rbp\n mov %rsp, %rbp\n push %rbx\n push %r14\n push %r13\n"
		      "push %r12\n sub $0x80, %rsp\n"
		      "mov %rdi, %rbx\n mov %rsi, %r14\n mov import(%rip), %r13\n"
		      "call *%r13\n call *%r13\n"
		      "timed_other_cpu: mov 0x8(%r14), %rcx\n mov 0x18(%rcx), %rax\n"
		      "mov (%r14), %rdi\n call *%rax\n"
		      "timed_other_operator: call timed_usual\n"
		      "timed_other_elapsed: call *%r13\n"
		      "add %rax, 0x10(%r14)\n adc $0, %rdx\n jc 3f\n"
		      "3: cmp $5, %rax\n"
		      "timed_other_exact: jne 2f\n"
		      "1: lea -0x20(%rbp), %rsp\n pop %r12\n pop %r13\n pop %r14\n pop %rbx\n"
		      "pop %rbp\n ret\n"
		      "2: " RESET "jmp 1b\n");

/* Two operators; a clock read inlined; an unknown pointer called. */
FUNCTION(timed_two, "sub $8, %rsp\n" CALL_IMPORT CALL_IMPORT
		    "mov 0x8(%rsi), %rax\n call *0x18(%rax)\n add $8, %rsp\n ret\n");
FUNCTION(timed_inlined, "push %rbx\n mov %rsi, %rbx\n" CALL_IMPORT "mov 0x8(%rbx), %rax\n"
			"call *0x18(%rax)\n" CALL_IMPORT CALL_IMPORT "pop %rbx\n ret\n");
FUNCTION(timed_both, "push %rbx\n mov %rsi, %rbx\n" CALL_IMPORT CALL_IMPORT
		     "mov 0x8(%rbx), %rax\n call *0x18(%rax)\n mov 0x8(%rbx), %rax\n"
		     "call *0x18(%rax)\n" CALL_IMPORT CALL_IMPORT "pop %rbx\n ret\n");
/* The clock may be read or not: the calls do not come one after the other. */
FUNCTION(timed_branch,
	 "push %rbx\n mov %rsi, %rbx\n" CALL_IMPORT "test %rax, %rax\n je 1f\n" CALL_IMPORT
	 "1: mov 0x8(%rbx), %rax\n call *0x18(%rax)\n" CALL_IMPORT CALL_IMPORT "pop %rbx\n ret\n");
/* Everything but a difference between the two ways out. */
FUNCTION(timed_same, "push %rbx\n mov %rsi, %rbx\n" CALL_IMPORT CALL_IMPORT
		     "mov 0x8(%rbx), %rax\n call *0x18(%rax)\n" CALL_IMPORT CALL_IMPORT
		     "test %rax, %rax\n je 1f\n mov %rax, 0x40(%rbx)\n 1: pop %rbx\n ret\n");

/* Ready goes on, Pending jumps when the zero flag is not set. */
FUNCTION(timed_not_zero, "push %rbx\n mov %rsi, %rbx\n" CALL_IMPORT CALL_IMPORT
			 "mov 0x8(%rbx), %rax\n call *0x18(%rax)\n" CALL_IMPORT CALL_IMPORT
			 "test %rax, %rax\n jne 1f\n movups %xmm0, 0x10(%rbx)\n"
			 "movq $0, 0x28(%rbx)\n 1: pop %rbx\n ret\n");

#define PUSH_ALL "push %rbp\n push %r15\n push %r14\n push %r13\n push %r12\n push %rbx\n"
#define STATE	 "movzbl 0xd0(%rsi), %eax\n"

/* The state is spilled; a table leads on; the call is reached from two states. */
FUNCTION(task_table, PUSH_ALL "sub $0x238, %rsp\n mov %rsi, %r15\n" STATE
			      "lea states(%rip), %rcx\n movslq (%rcx,%rax,4), %rax\n"
			      "add %rcx, %rax\n mov %rsi, 0x8(%rsp)\n mov %rdi, 0x98(%rsp)\n"
			      "jmp *%rax\n"
			      "task_table_0: mov %r15, %r12\n mov $7, %r15\n" CALL_IMPORT
			      "mov 0x8(%rsp), %r15\n"
			      "task_table_3: lea 0x78(%r15), %rsi\n lea 0x40(%rsp), %rdi\n"
			      "call timed_usual\n"
			      "task_table_end: movups %xmm0, 0xb0(%rsp)\n ret\n");
/* The state stays in a register, which Timed::poll saves. */
FUNCTION(task_register, "push %rbx\n sub $0x30, %rsp\n mov %rsi, %rbx\n" STATE
			"lea 0x78(%rbx), %rsi\n call timed_usual\n task_register_end: ret\n");
/* A frame pointer; two calls, of two versions. */
FUNCTION(task_two, "push %rbp\n mov %rsp, %rbp\n push %rbx\n sub $0x58, %rsp\n"
		   "mov %rsi, -0x30(%rbp)\n" STATE "test %al, %al\n je 1f\n call timed_usual\n"
		   "task_two_end: call timed_other\n task_two_second: 1: ret\n");
/* On one way to the call the word has been overwritten, as a whole or in part. */
FUNCTION(task_lost, "sub $0x38, %rsp\n mov %rsi, 0x8(%rsp)\n" STATE "test %al, %al\n je 1f\n"
		    "movups %xmm0, 0x0(%rsp)\n 1: call timed_usual\n ret\n");
/* The stack is aligned: the distance to the entry is unknown. */
FUNCTION(task_aligned, "push %rbp\n mov %rsp, %rbp\n sub $0x40, %rsp\n and $-32, %rsp\n"
		       "mov %rsi, 0x8(%rsp)\n" STATE "call timed_usual\n ret\n");
/* It jumps who knows where, with its frame in place; and as a tail call, without. */
FUNCTION(task_blind, "sub $0x38, %rsp\n mov %rsi, 0x8(%rsp)\n" STATE "test %al, %al\n je 1f\n"
		     "jmp *%rdi\n 1: call timed_usual\n ret\n");
FUNCTION(task_tail, "sub $0x38, %rsp\n mov %rsi, 0x8(%rsp)\n" STATE "test %al, %al\n je 1f\n"
		    "add $0x38, %rsp\n jmp *%rdi\n 1: call timed_usual\n task_tail_end: ret\n");
FUNCTION(task_inlined, "sub $0x38, %rsp\n mov %rsi, 0x8(%rsp)\n" STATE CALL_IMPORT "ret\n");
/* No state in rsi. */
FUNCTION(task_stateless, "sub $0x38, %rsp\n call timed_usual\n ret\n");

struct wanted_symbol {
	const char *name;
	uint64_t address;
	uint64_t size;
};

static int match(const struct elf_symbol *symbol, void *arg)
{
	struct wanted_symbol *wanted = arg;

	if (strcmp(symbol->name, wanted->name) != 0)
		return 0;
	wanted->address = symbol->value;
	wanted->size = symbol->size;
	return 1;
}

static struct code *decode(const struct elf_image *image, const char *name)
{
	struct wanted_symbol wanted = { .name = name };
	struct code *code = NULL;

	if (!CHECK(elf_image__each_symbol(image, name, match, &wanted) == 1))
		return NULL;
	CHECK(code__decode(image, wanted.address, wanted.size, &code) == 0);
	return code;
}

/* The address of the instruction number @index of a function. */
static uint64_t at(const struct code *code, size_t index)
{
	return index < code->count ? code->insns[index].address : 0;
}

static const struct elapsed_layout elapsed = { 0x10, 0x30 };

static bool timed(const struct elf_image *image, const char *name, struct timed_code *ret_timed)
{
	struct code *code = decode(image, name);
	const char *why = NULL;
	bool done;

	if (!code)
		return false;
	done = !task_code__timed(image, code, &elapsed, ret_timed, &why);
	CHECK(done == !why);
	code__free(code);
	return done;
}

static void check_timed(const struct elf_image *image)
{
	const struct elapsed_layout unknown = {};
	struct code *code = decode(image, "timed_usual");
	struct timed_code usual = {}, other = {}, none;
	const char *why = NULL;

	if (!code || !CHECK(timed(image, "timed_usual", &usual)))
		return;
	CHECK(usual.address == code->start && usual.inner == 5 * 8 + 0xa0 + 8);
	CHECK(usual.counted[TIMED_CPU_CLOCK] == at(code, 13));
	CHECK(usual.counted[TIMED_OPERATOR] == at(code, 18));
	CHECK(usual.counted[TIMED_ELAPSED] == at(code, 20));
	CHECK(usual.saved[CODE_RBP] == -8 && usual.saved[CODE_R15] == -16);
	CHECK(usual.saved[CODE_RBX] == -40 && usual.saved[CODE_R13] == 0);
	CHECK(!usual.exact_missing && usual.exact.address == at(code, 26));
	CHECK(usual.exact.timed_reg == CODE_R14 && usual.exact.pending_if_zero);
	CHECK(usual.exact.slot_from_sp == 5 * 8 + 0xa0);
	CHECK(!task_code__timed(image, code, &unknown, &none, &why) && none.exact_missing);
	code__free(code);

	code = decode(image, "timed_other");
	if (!code || !CHECK(timed(image, "timed_other", &other)))
		return;
	CHECK(other.inner == 5 * 8 + 0x80 + 8);
	CHECK(other.counted[TIMED_CPU_CLOCK] == at(code, 13));
	CHECK(other.counted[TIMED_OPERATOR] == at(code, 17));
	CHECK(other.counted[TIMED_ELAPSED] == at(code, 18));
	CHECK(other.saved[CODE_RBX] == -16 && other.saved[CODE_R12] == -40);
	CHECK(!other.exact_missing && other.exact.address == at(code, 23));
	CHECK(other.exact.timed_reg == CODE_R14 && other.exact.pending_if_zero);
	CHECK(other.exact.slot_from_sp == 5 * 8 + 0x80);
	code__free(code);

	CHECK(!timed(image, "timed_two", &none));
	CHECK(!timed(image, "timed_inlined", &none));
	CHECK(!timed(image, "timed_both", &none));
	CHECK(!timed(image, "timed_branch", &none));
	CHECK(timed(image, "timed_same", &none) && none.exact_missing);
	CHECK(timed(image, "timed_not_zero", &none) && !none.exact_missing);
	CHECK(!none.exact.pending_if_zero && none.exact.timed_reg == CODE_RBX);
}

struct found {
	struct task_frame frames[4];
	size_t count;
	const char *why;
};

static struct found frames(const struct elf_image *image, const char *name, size_t max)
{
	struct timed_code known[2] = {};
	struct found found = {};
	struct code *code = decode(image, name);

	if (code && timed(image, "timed_usual", &known[0]) &&
	    timed(image, "timed_other", &known[1]))
		CHECK(task_code__frames(image, code, known, 2, found.frames, max, &found.count,
					&found.why) == 0);
	code__free(code);
	return found;
}

static void check_frames(const struct elf_image *image)
{
	struct found found = frames(image, "task_table", 4);

	CHECK(found.count == 1 && !found.why);
	CHECK(found.frames[0].entry_to_slot == 6 * 8 + 0x238 + 8);
	CHECK(found.frames[0].state_from_slot == 16 && found.frames[0].inner == 208);

	found = frames(image, "task_register", 4);
	CHECK(found.count == 1 && !found.why);
	CHECK(found.frames[0].entry_to_slot == 0x40 && found.frames[0].state_from_slot == -40);

	found = frames(image, "task_two", 4);
	CHECK(found.count == 2 && !found.why);
	CHECK(found.frames[0].entry_to_slot == 0x70 && found.frames[1].entry_to_slot == 0x70);
	CHECK(found.frames[0].state_from_slot == 0x70 - 0x38);
	CHECK(found.frames[0].inner == 208 && found.frames[1].inner == 176);
	CHECK(found.frames[0].return_address + 5 == found.frames[1].return_address);

	found = frames(image, "task_two", 1);
	CHECK(found.count == 1 && found.why);

	found = frames(image, "task_tail", 4);
	CHECK(found.count == 1 && !found.why);
	CHECK(found.frames[0].entry_to_slot == 0x40 && found.frames[0].state_from_slot == 16);
}

static void check_missing(const struct elf_image *image)
{
	static const char *const names[] = { "task_lost", "task_aligned", "task_blind",
					     "task_inlined", "task_stateless" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct found found = frames(image, names[i], 4);

		if (!CHECK(found.count == 0 && found.why))
			fprintf(stderr, "%s\n", names[i]);
	}
}

int main(void)
{
	struct elf_image *image = NULL;

	if (!CHECK(elf_image__open("/proc/self/exe", &image, NULL) == 0))
		return CHECK_RESULT();
	check_timed(image);
	check_frames(image);
	check_missing(image);
	elf_image__close(image);
	return CHECK_RESULT();
}

#else

int main(void)
{
	return 0;
}

#endif
