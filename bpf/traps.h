/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that lose their CPU in a probe's trap, after its program ran or before.
 *
 * Where the engine reads its clock right after the probed instruction, it reads it when the trap is
 * over: what the thread lost in the trap lies on the other side of the engine's reading than of
 * ours. A thread is to give way on its way out of the trap, before the program runs and after it
 * (exit_to_user_mode_loop(), kernel/entry/common.c). Where it was its registers tell.
 */
#ifndef DBPROF_BPF_TRAPS_H
#define DBPROF_BPF_TRAPS_H

#include "arch.h"
#include "state.h"

/* An instruction's length at most: the probed one may have been executed already. */
#define INSTRUCTION_MAX 16

/* Whether @ip is that of a thread in the trap at @probed, or just behind it. */
static __always_inline bool in_trap(__u64 ip, __u64 probed)
{
	return ip - probed < INSTRUCTION_MAX;
}

/* By a probe's program: after the trap the engine reads its clock. */
static __always_inline void note_trap(struct dbprof_thread *thread, struct pt_regs *regs,
				      __u32 trap)
{
	thread->trap_ip = read_register(regs->ip);
	thread->trap = trap;
}

/* By the left probe's program: how long the thread was off its CPU in this very trap. */
static __always_inline __u64 lost_in_trap(const struct dbprof_thread *thread, struct pt_regs *regs)
{
	return in_trap(thread->lost_ip, read_register(regs->ip)) ? thread->lost_ns : 0;
}

/* At the switch away from the thread: looks at where that is. */
static __always_inline void off_in_trap(struct dbprof_thread *thread, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (thread->trap &&
	    (thread->off != DBPROF_OFF_PREEMPTED || !in_trap(regs->ip, thread->trap_ip)))
		thread->trap = DBPROF_TRAP_NONE;
	if (!thread->ended_step || regs->ip == thread->lost_ip)
		return;
	thread->lost_ip = regs->ip;
	thread->lost_ns = 0;
}

/* It was idle then; the step has not begun yet. */
static __always_inline void delay_step_begin(struct dbprof_thread *thread,
					     struct dbprof_circuit *step, __u64 off)
{
	if (!step->start)
		return;
	if (step->first_start == step->start)
		step->first_start += off;
	else
		step->idle_ns += off;
	step->start += off;
	share_copy(&step->start_share, &thread->share);
}

/* It was in the step then, whose end_step() has left the share as of the end in start_share. */
static __always_inline void delay_step_end(struct dbprof_thread *thread,
					   struct dbprof_circuit *step, __u64 off)
{
	if (!step->last_end)
		return;
	step->runtime_ns += off;
	step->last_end += off;
	share_add_since(&step->share, &step->start_share, &thread->share);
	share_copy(&step->start_share, &thread->share);
}

static __always_inline void delay_step(struct dbprof_thread *thread, __u64 off)
{
	struct dbprof_circuit *step = circuit_get(thread, thread->trap_circuit, false);

	if (!step)
		return;
	if (thread->trap == DBPROF_TRAP_STEP_BEGIN)
		delay_step_begin(thread, step, off);
	else
		delay_step_end(thread, step, off);
}

/* At the switch to the thread, after its time off, @off nanoseconds, went into its books. */
static __always_inline void on_in_trap(struct dbprof_thread *thread, __u64 off)
{
	if (thread->ended_step)
		thread->lost_ns += off;
	if (thread->trap == DBPROF_TRAP_PARK && thread->park_since)
		thread->park_since += off;
	else if (thread->trap == DBPROF_TRAP_UNPARK && thread->trap_reason < DBPROF_REASONS)
		thread->wait_ns[thread->trap_reason] += off;
	else if (thread->trap >= DBPROF_TRAP_STEP_BEGIN)
		delay_step(thread, off);
}

#endif
