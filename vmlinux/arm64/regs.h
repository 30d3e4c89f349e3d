/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* arm64: arch/arm64/include/asm/{ptrace,processor}.h, as far as it is used. */
#ifndef DBPROF_VMLINUX_REGS_H
#define DBPROF_VMLINUX_REGS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			u64 regs[31];
			u64 sp;
			u64 pc;
			u64 pstate;
		};
	};
	s32 syscallno;
};

struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};

#pragma clang attribute pop

#endif
