// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * On and off CPU, by the scheduler's tracepoints.
 *
 * In sched_switch the current task is the one that leaves (kernel/sched/core.c, __schedule).
 */
#include "state.h"
#include "arch.h"
#include "storage_calls.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define TASK_DEAD  0x80 /* include/linux/sched.h */
#define PF_EXITING 0x04

static __always_inline __u64 task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ((struct task_struct___old *)task, state);
}

/* Whether the thread can go on is told by the preempt flag first: the state may be set already. */
static __always_inline __u32 why_off(struct task_struct *task, bool preempt)
{
	__u64 state;

	if (preempt)
		return DBPROF_OFF_PREEMPTED;
	state = task_state(task);
	if (state & TASK_DEAD)
		return DBPROF_OFF_DEAD;
	return state ? DBPROF_OFF_BLOCKED : DBPROF_OFF_PREEMPTED;
}

/*
 * The reason that DBSP will charge for a system call that blocks the thread outright: it holds a
 * BlockingFor guard then (src/profile/cpu.rs), and charges wall minus CPU, which is off-CPU time.
 * Returns 1 + the reason, 0 for none.
 */
static __always_inline __u32 blocking_reason(struct dbprof_thread *thread, struct task_struct *task)
{
	struct dbprof_process *process;
	struct pt_regs *regs;
	__u32 depth = 0;

	/* One that exits has no memory any more, and no step. */
	if (!thread->worker || task->flags & PF_EXITING)
		return 0;
	process = process_get(thread->tgid);
	if (!process || !process->blocking_tls)
		return 0;
	if (bpf_probe_read_user(&depth, sizeof(depth),
				(void *)(thread_pointer(task) - process->blocking_tls))) {
		count_loss(&losses.reads);
		return 0;
	}
	if (!depth)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	return 1 + storage_reason(system_call(regs));
}

static __always_inline void switch_out(struct task_struct *task, bool preempt, __u64 now)
{
	__u64 exec = task->se.sum_exec_runtime;
	struct dbprof_thread *thread;
	__u64 ran;
	bool fresh;

	thread = thread_get(task, &fresh);
	if (!thread)
		return;
	write_begin(&thread->sequence);
	if (fresh)
		thread->on_since = thread->since;
	ran = thread->on_since ? elapsed(thread->on_since, now) : 0;
	thread->on_cpu_ns += ran;
	thread->cpu_ns += thread->exec_at_on ? elapsed(thread->exec_at_on, exec) : ran;
	thread->on_since = 0;
	thread->exec_at_on = 0;
	thread->off_since = now;
	thread->off = why_off(task, preempt);
	if (thread->off == DBPROF_OFF_DEAD)
		thread->ended = now;
	else
		thread->blocked_reason = blocking_reason(thread, task);
	write_end(&thread->sequence);
	if (thread->ended)
		thread_exit(task, thread);
}

/* Splits the time off the CPU that ends @now. */
static __always_inline void end_off(struct dbprof_thread *thread, __u64 now)
{
	__u64 off = elapsed(thread->off_since, now);
	__u64 woken = thread->woken_at;

	if (thread->off == DBPROF_OFF_PREEMPTED) {
		thread->preempted_ns += off;
	} else if (woken > thread->off_since && woken <= now) {
		thread->blocked_ns += woken - thread->off_since;
		thread->run_queue_ns += now - woken;
	} else {
		thread->blocked_ns += off;
	}
	if (thread->blocked_reason) {
		__u32 reason = thread->blocked_reason - 1;

		if (reason < DBPROF_REASONS)
			thread->wait_ns[reason] += off;
		thread->blocked_reason = 0;
	}
	thread->off_since = 0;
	thread->off = DBPROF_OFF_UNKNOWN;
}

static __always_inline void switch_in(struct task_struct *task, __u64 now)
{
	struct dbprof_thread *thread;
	bool fresh;

	thread = thread_get(task, &fresh);
	if (!thread)
		return;
	write_begin(&thread->sequence);
	if (fresh) {
		thread->off_since = thread->since;
		thread->off = DBPROF_OFF_BLOCKED;
		/* A thread that started in the window was runnable from its start. */
		if (thread->since > window_start) {
			thread->run_queue_ns += elapsed(thread->since, now);
			thread->off_since = 0;
		}
	}
	if (thread->off_since)
		end_off(thread, now);
	thread->on_since = now;
	thread->exec_at_on = task->se.sum_exec_runtime;
	write_end(&thread->sequence);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns();

	if (!in_window(now))
		return 0;
	switch_out(prev, preempt, now);
	switch_in(next, now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_thread *thread;

	if (!in_window(now))
		return 0;
	thread = thread_find(task);
	if (thread)
		thread->woken_at = now;
	return 0;
}
