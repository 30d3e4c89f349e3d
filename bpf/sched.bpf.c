// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * On and off CPU, by the scheduler's tracepoints.
 *
 * In sched_switch the current task is the one that leaves (kernel/sched/core.c, __schedule).
 */
#include "state.h"
#include "arch.h"
#include "operators.h"
#include "system_calls.h"
#include "takers.h"
#include "traps.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* include/linux/sched.h */
#define TASK_STOPPED 0x004
#define TASK_TRACED  0x008
#define TASK_DEAD    0x080
#define TASK_WAKING  0x200
#define PF_EXITING   0x00000004

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
 * The reason that DBSP will charge for time off the CPU: of a system call under a BlockingFor guard
 * (src/profile/cpu.rs), which it charges by wall minus CPU; without park probes also of a park.
 * Returns 1 + the reason, 0 for none.
 */
static __always_inline __u32 charged_reason(struct dbprof_thread *thread, struct task_struct *task,
					    long call, bool in_operator)
{
	struct dbprof_process *process = process_of(thread);
	__u32 depth = 0;
	int reason;

	/* The engine's own totals tell, and an open park is in its memory. */
	if (!process || thread->synced)
		return 0;
	if (process->blocking_tls && may_be_guarded(call) &&
	    bpf_probe_read_user(&depth, sizeof(depth),
				(void *)(thread_pointer(task) - process->blocking_tls))) {
		count_loss(&losses.reads);
		return 0;
	}
	if (depth)
		return 1 + storage_reason(call);
	/* A lock that an operator waits for is no park: the runtime parks between polls of tasks.
	 */
	if (process->waits == DBPROF_WAITS_BY_PARKS || thread->off != DBPROF_OFF_BLOCKED ||
	    thread->park_since || in_operator)
		return 0;
	/* A worker that waits for a command between steps declares nothing, and DBSP counts
	 * nothing. */
	reason = declared_reason(thread->process, thread_pointer(task));
	/* Where declarations cannot be read at all, the engine's own counters tell the waits. */
	if (reason < 0 && process->parking_tls)
		count_loss(&losses.reads);
	return reason > DBPROF_UNATTRIBUTED ? 1 + reason : 0;
}

/* Where no probe has told, a declared reason tells that the thread is in a step. */
static __always_inline bool is_in_step(struct dbprof_thread *thread, struct task_struct *task)
{
	struct dbprof_process *process = process_of(thread);

	if (thread->in_step || !process || process->waits == DBPROF_WAITS_BY_PARKS)
		return thread->in_step;
	return declared_reason(thread->process, thread_pointer(task)) > DBPROF_UNATTRIBUTED;
}

/* Whoever runs again after the park probes went has left its park. */
static __always_inline void end_probeless_park(struct dbprof_thread *thread, __u64 now)
{
	struct dbprof_process *process = process_of(thread);

	if (!process || process->waits != DBPROF_WAITS_NO_PROBES)
		return;
	if (thread->park_reason < DBPROF_REASONS)
		thread->wait_ns[thread->park_reason] += elapsed(thread->park_since, now);
	thread->park_since = 0;
}

static __always_inline void note_worker_off(struct dbprof_thread *thread, struct task_struct *task,
					    struct pt_regs *regs, long call)
{
	struct operator_at at = {};

	operator_find(thread->process, thread_pointer(task), regs->sp, &at);
	thread->blocked_reason = charged_reason(thread, task, call, at.circuit != 0);
	thread->off_circuit = at.measured ? at.circuit : 0;
	thread->off_node = at.node;
	thread->off_in_step = is_in_step(thread, task);
}

static __always_inline void note_cause(struct dbprof_thread *thread, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	/* Stopped or traced it waits for nothing. */
	if (task_state(task) & (TASK_STOPPED | TASK_TRACED))
		thread->off_cause = DBPROF_CAUSE_OTHER;
	else
		thread->off_cause = blocked_cause(task, regs, system_call(regs));
}

static __always_inline void note_off(struct dbprof_thread *thread, struct task_struct *task,
				     struct task_struct *next)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	long call = system_call(regs);

	if (thread->off == DBPROF_OFF_BLOCKED)
		note_cause(thread, task);
	else
		takers_begin(thread, next);
	thread->off_circuit = 0;
	thread->blocked_reason = 0;
	thread->off_in_step = 0;
	/* One that exits has no memory any more, and no step. */
	if (thread->worker && !(task->flags & PF_EXITING))
		note_worker_off(thread, task, regs, call);
}

static __always_inline void add_share(struct dbprof_kernel_share *share, __u32 cause, __u32 waker,
				      __u64 blocked, __u64 queued)
{
	share->run_queue_ns += queued;
	if (cause < DBPROF_CAUSES)
		share->blocked_ns[cause] += blocked;
	if (waker < DBPROF_PARTIES)
		share->woken_ns[waker] += blocked;
}

/* The time off of a thread that waited for something until it was woken, and then for a CPU. */
static __always_inline void end_blocked(struct dbprof_thread *thread, struct dbprof_operator *op,
					__u64 now)
{
	__u64 off = elapsed(thread->off_since, now), woken = thread->woken_at, queued = 0;
	__u32 cause = thread->off_cause, waker = thread->waker;

	if (woken >= thread->off_since && woken <= now)
		queued = now - woken;
	else
		waker = DBPROF_PARTY_KERNEL;
	/* Timers and disks wake by interrupts, whoever they interrupt. */
	if (cause == DBPROF_CAUSE_SLEEP || cause == DBPROF_CAUSE_BLOCK_IO)
		waker = DBPROF_PARTY_KERNEL;
	add_share(&thread->share, cause, waker, off - queued, queued);
	if (thread->off_in_step)
		add_share(&thread->step_share, cause, waker, off - queued, queued);
	if (op)
		add_share(&op->share, cause, waker, off - queued, queued);
}

/*
 * Splits the time off the CPU that ends @now. Not static, so that the verifier takes it once; that
 * is why it checks what its callers know.
 */
int thread_end_off(struct dbprof_thread *thread, __u64 now)
{
	struct dbprof_operator *op = NULL;

	if (!thread)
		return 0;
	if (thread->off_circuit)
		op = operator_get(thread, thread->off_circuit, thread->off_node);
	if (thread->off == DBPROF_OFF_PREEMPTED)
		takers_end(thread, op, now);
	else
		end_blocked(thread, op, now);
	if (thread->blocked_reason) {
		__u32 reason = thread->blocked_reason - 1;

		if (reason < DBPROF_REASONS)
			thread->wait_ns[reason] += elapsed(thread->off_since, now);
		thread->blocked_reason = 0;
	}
	thread->off_circuit = 0;
	thread->off_since = 0;
	thread->off = DBPROF_OFF_UNKNOWN;
	return 0;
}

/*
 * Some kernels leave out a switch now and then. Then the thread is found on a CPU though it is off
 * in our books, and the scheduler's own sum tells since when.
 */
static __always_inline void find_on_cpu(struct dbprof_thread *thread, __u64 exec, __u64 now)
{
	__u64 ran = thread->exec_ns ? elapsed(thread->exec_ns, exec) : 0;
	__u64 since = ran < now ? now - ran : now;

	if (since < thread->off_since)
		since = thread->off_since;
	if (thread->off_since)
		thread_end_off(thread, since);
	thread->on_since = since;
}

/*
 * The scheduler's clock of a stay on a CPU starts up to some microseconds before the switch is
 * traced: at the wake-up, if that made the idle task give way (rq_clock_skip_update(),
 * kernel/sched/core.c). How much it was is known at the end, and belongs to the stay's begin: to
 * steps that were open then. More than this is something else: interrupts, time stolen from the VM.
 */
#define EARLY_MAX 50000
#define LATE_MAX  2000

static __always_inline void stay_correct(struct dbprof_thread *thread, __s64 early)
{
	__u32 count = thread->crossed_count;

	thread->crossed_count = 0;
	for (__u32 i = 0; i < DBPROF_CROSSED && i < count; i++) {
		struct dbprof_circuit *step = circuit_get(thread, thread->crossed[i], false);

		if (!step)
			continue;
		if (early >= -LATE_MAX && early <= EARLY_MAX) {
			if (step->ended_here && (early > 0 || step->cpu_ns > LATE_MAX))
				step->cpu_ns += early;
			if (step->begun_here)
				step->start_cpu_ns += early;
		}
		step->begun_here = step->ended_here = 0;
	}
}

static __always_inline void switch_out(struct task_struct *task, bool preempt,
				       struct task_struct *next, __u64 now)
{
	__u64 exec = task->se.sum_exec_runtime;
	struct dbprof_thread *thread;
	__u64 ran;
	bool fresh;

	thread = thread_get(task, now, &fresh);
	if (!thread)
		return;
	if (fresh)
		thread->on_since = thread->since;
	else if (!thread->on_since)
		find_on_cpu(thread, exec, now);
	ran = elapsed(thread->on_since, now);
	if (thread->crossed_count)
		stay_correct(thread, thread->exec_ns ? (__s64)(exec - thread->exec_ns - ran) : 0);
	thread->on_cpu_ns += ran;
	thread->cpu_ns += thread->exec_ns ? elapsed(thread->exec_ns, exec) : ran;
	thread->exec_ns = exec;
	thread->on_since = 0;
	thread->off_since = now;
	thread->off = why_off(task, preempt);
	/* A waker may be ahead of the switch: then it has noted itself already. */
	if (thread->off == DBPROF_OFF_BLOCKED && task_state(task) & TASK_WAKING)
		thread->woken_at = now;
	if (thread->off == DBPROF_OFF_DEAD)
		thread->ended = now;
	else
		note_off(thread, task, next);
	off_in_trap(thread, task);
	if (thread->ended) {
		/* Threads get their names after they start: the last one counts. */
		bpf_probe_read_kernel_str(thread->comm, sizeof(thread->comm), task->comm);
		thread_exit(task, thread);
	}
}

static __always_inline void switch_in(struct task_struct *task, __u64 now)
{
	struct dbprof_thread *thread;
	bool fresh;

	thread = thread_get(task, now, &fresh);
	if (!thread)
		return;
	thread_check_worker(thread);
	if (fresh) {
		/*
		 * Off since before the window. What it waited for its registers still tell; its
		 * memory does not, which is not mapped here: the address space is that of the one
		 * that leaves.
		 */
		thread->off_since = thread->since;
		thread->off = DBPROF_OFF_BLOCKED;
		note_cause(thread, task);
		/* A thread that started in the window was runnable from its start. */
		if (thread->since == task->start_time) {
			thread->share.run_queue_ns += elapsed(thread->since, now);
			thread->off_since = 0;
		}
	}
	if (thread->off_since) {
		__u64 off = elapsed(thread->off_since, now);

		thread_end_off(thread, now);
		on_in_trap(thread, off);
	}
	if (thread->park_since)
		end_probeless_park(thread, now);
	thread->on_since = now;
	thread->exec_ns = task->se.sum_exec_runtime;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns();

	if (!in_window(now))
		return 0;
	/* Half of all switches come from or go to the idle task, which is nobody's. */
	if (prev->pid)
		switch_out(prev, preempt, next, now);
	if (next->pid)
		switch_in(next, now);
	takers_turn(next, now);
	return 0;
}

/*
 * The process runs another program from here on, in its last thread, which has the name of that
 * already: begin_new_exec(), fs/exec.c. As far as the profile goes the thread has ended.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns(), ran;
	struct dbprof_thread *thread;
	__u32 process;

	if (!process_find(task, &process))
		return 0;
	thread = in_window(now) ? thread_current(task, now) : NULL;
	if (thread) {
		ran = elapsed(thread->on_since, now);
		thread->on_cpu_ns += ran;
		thread->cpu_ns += ran;
		thread->on_since = 0;
		thread->off = DBPROF_OFF_DEAD;
		thread->ended = now;
		thread_exit(task, thread);
	}
	process_end(task);
	return 0;
}

/*
 * Who wakes: the running task, unless an interrupt came between. Of one that runs in user mode, or
 * of the idle task, it is certain that an interrupt did it.
 */
static __always_inline __u32 waker_of(struct dbprof_thread *thread)
{
	struct task_struct *current = bpf_get_current_task_btf();

	if (!current->pid || system_call((struct pt_regs *)bpf_task_pt_regs(current)) < 0)
		return DBPROF_PARTY_KERNEL;
	return party(current, thread->kernel_tgid);
}

/* Not sched_wakeup: that may come late, by an interrupt on the other CPU, and name nobody. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_thread *thread;

	if (!in_window(now))
		return 0;
	thread = thread_find(task);
	if (thread) {
		thread->woken_at = now;
		thread->waker = waker_of(thread);
	}
	return 0;
}
