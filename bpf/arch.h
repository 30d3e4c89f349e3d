/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What differs between processors: thread pointer, system call number, probed registers. */
#ifndef DBPROF_BPF_ARCH_H
#define DBPROF_BPF_ARCH_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "dbprof.h"

#if defined(__TARGET_ARCH_x86)

/* Where %fs points: the thread control block, above the thread-local variables. */
static __always_inline __u64 thread_pointer(struct task_struct *task)
{
	return task->thread.fsbase;
}

/* The system call that a thread is in, -1 in none. */
static __always_inline long system_call(struct pt_regs *regs)
{
	return regs->orig_ax;
}

/* The first argument of the system call that a thread is in. */
static __always_inline __u64 first_argument(struct pt_regs *regs)
{
	return regs->di;
}

/*
 * A register of the probed thread, loaded right here: the verifier refuses a context pointer that
 * the compiler has moved to fold several such loads into one.
 */
#define read_register(field)                     \
	({                                       \
		__u64 value_ = (field);          \
		asm volatile("" : "+r"(value_)); \
		value_;                          \
	})

/* Whether the cookie says where an event lies, and not where a future does. */
static __always_inline bool probes_event(__u64 cookie)
{
	return DBPROF_COOKIE_PLACE(cookie) >= DBPROF_EVENT_RSP;
}

/* The circuit's node id by the event at a step probe. Returns 0 or a negative errno. */
static __always_inline long probed_event(struct pt_regs *regs, __u64 cookie, __u64 *ret_id)
{
	__u64 base = read_register(regs->sp);

	if (DBPROF_COOKIE_PLACE(cookie) == DBPROF_EVENT_RBP)
		base = read_register(regs->bp);
	return bpf_probe_read_user(ret_id, sizeof(*ret_id),
				   (void *)(base + (__s32)DBPROF_COOKIE_OFFSET(cookie)));
}

/*
 * Whether the branch at the exact probe goes the way of Pending: when the zero flag is set if the
 * cookie's flag is, else when it is not.
 */
static __always_inline bool poll_is_pending(struct pt_regs *regs, __u64 cookie)
{
	bool zero = read_register(regs->flags) & 0x40;
	bool pending_if_zero = DBPROF_COOKIE_CIRCUIT(cookie) & DBPROF_EXACT_PENDING_IF_ZERO;

	return zero == pending_if_zero;
}

/* The step future at a step probe, from where the cookie says. Returns 0 or a negative errno. */
static __always_inline long probed_future(struct pt_regs *regs, __u64 cookie, __u64 *ret_future)
{
	switch (DBPROF_COOKIE_PLACE(cookie)) {
	case DBPROF_IN_RBX:
		*ret_future = read_register(regs->bx);
		return 0;
	case DBPROF_IN_RBP:
		*ret_future = read_register(regs->bp);
		return 0;
	case DBPROF_IN_R12:
		*ret_future = read_register(regs->r12);
		return 0;
	case DBPROF_IN_R13:
		*ret_future = read_register(regs->r13);
		return 0;
	case DBPROF_IN_R14:
		*ret_future = read_register(regs->r14);
		return 0;
	case DBPROF_IN_R15:
		*ret_future = read_register(regs->r15);
		return 0;
	case DBPROF_IN_RSI:
		*ret_future = read_register(regs->si);
		return 0;
	case DBPROF_IN_RDI:
		*ret_future = read_register(regs->di);
		return 0;
	default:
		return bpf_probe_read_user(
			ret_future, sizeof(*ret_future),
			(void *)(read_register(regs->sp) + DBPROF_COOKIE_OFFSET(cookie)));
	}
}

#elif defined(__TARGET_ARCH_arm64)

static __always_inline __u64 thread_pointer(struct task_struct *task)
{
	return task->thread.uw.tp_value;
}

static __always_inline long system_call(struct pt_regs *regs)
{
	return regs->syscallno;
}

static __always_inline __u64 first_argument(struct pt_regs *regs)
{
	return regs->regs[0];
}

#endif

#endif
