// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parks and steps, by uprobes in the engine.
 *
 * The arithmetic is the engine's own (src/profile/cpu.rs): a wait is what the thread has waited
 * between the begin and the end of a step, nested circuits included.
 */
#include "state.h"
#include "arch.h"
#include "operators.h"

#include <bpf/bpf_tracing.h>

/* The value behind an Arc<AtomicUsize> field of the engine. */
static __always_inline long read_arc(__u64 field, __u32 arc_data, __u64 *ret_value)
{
	__u64 arc = 0;

	if (bpf_probe_read_user(&arc, sizeof(arc), (void *)field))
		return -1;
	return bpf_probe_read_user(ret_value, sizeof(*ret_value), (void *)(arc + arc_data));
}

static __always_inline struct dbprof_thread *current_thread(__u64 now,
							    struct task_struct **ret_task)
{
	*ret_task = bpf_get_current_task_btf();
	return thread_current(*ret_task, now);
}

/*
 * The engine reads its clock after the trap: should the thread lose its CPU before, that time is
 * the engine's wait, too, or not yet (stay_begin_in_trap()).
 */
static __always_inline void note_trap(struct dbprof_thread *thread, struct pt_regs *regs,
				      __u32 trap, __u32 reason)
{
	thread->trap_ip = read_register(regs->ip);
	thread->trap_reason = reason;
	thread->trap = trap;
}

/*
 * Adds what the engine has counted since the last time: RuntimeIdle::by_reason, src/profile/cpu.rs.
 * The first time there is nothing to add: until then the probes or context switches have counted.
 */
static __always_inline void sync_waits(struct dbprof_thread *thread,
				       const struct dbprof_process *process)
{
	__u64 totals[DBPROF_REASONS];

	if (process->waits == DBPROF_WAITS_BY_PARKS || !thread->idle_totals)
		return;
	if (bpf_probe_read_user(totals, sizeof(totals), (void *)thread->idle_totals)) {
		count_loss(&losses.reads);
		return;
	}
	for (int i = 0; i < DBPROF_REASONS; i++) {
		if (thread->synced)
			thread->wait_ns[i] += elapsed(thread->synced_ns[i], totals[i]);
		thread->synced_ns[i] = totals[i];
	}
	thread->synced = 1;
}

SEC("uprobe")
int BPF_KPROBE(on_park)
{
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_process *process;
	struct dbprof_thread *thread;
	struct task_struct *task;
	int reason;
	if (!in_window(now))
		return 0;
	count_hit();
	thread = current_thread(now, &task);
	if (!thread)
		return 0;
	process = process_of(thread);
	if (!process)
		return 0;
	/* Before the probe is gone: this wait is the first that the engine counts for us. */
	if (process->waits != DBPROF_WAITS_BY_PARKS) {
		if (!thread->synced)
			sync_waits(thread, process);
		return 0;
	}
	reason = declared_reason(thread->process, thread_pointer(task));
	note_trap(thread, ctx, DBPROF_TRAP_PARK, 0);
	/* What cannot be read now the engine itself notes; it is looked up at the end. */
	thread->park_reason = reason < 0 ? DBPROF_REASONS : (__u32)reason;
	thread->park_since = now;
	thread->parks_seen = 1;
	thread->worker = 1;
	return 0;
}

/* The reason that the engine has noted for the park that ends; negative when it cannot be read. */
static __always_inline long noted_reason(const struct dbprof_process *process, __u64 idle)
{
	__u64 reason = 0;

	if (read_arc(idle + process->idle_park_reason, process->arc_data, &reason)) {
		count_loss(&losses.reads);
		return -1;
	}
	return reason < DBPROF_REASONS ? (long)reason : -1;
}

/* A park that was open when the window began: the engine still holds its reason. */
static __always_inline void end_cut_park(struct dbprof_thread *thread, __u64 idle, __u64 now)
{
	struct dbprof_process *process = process_of(thread);
	__u64 start = 0;
	long reason;

	if (!process)
		return;
	if (read_arc(idle + process->idle_park_start, process->arc_data, &start)) {
		count_loss(&losses.reads);
		return;
	}
	/* RuntimeIdle::unpark ignores an unpark that no park preceded, and so do we. */
	if (!start)
		return;
	reason = noted_reason(process, idle);
	if (reason >= 0 && reason < DBPROF_REASONS)
		thread->wait_ns[reason] += elapsed(thread->since, now);
}

static __always_inline void end_park(struct dbprof_thread *thread, struct pt_regs *regs, __u64 idle,
				     __u64 now)
{
	struct dbprof_process *process = process_of(thread);
	long reason = thread->park_reason;

	if (reason >= DBPROF_REASONS && process)
		reason = noted_reason(process, idle);
	if (reason < 0 || reason >= DBPROF_REASONS)
		reason = DBPROF_UNATTRIBUTED;
	thread->wait_ns[reason] += elapsed(thread->park_since, now);
	thread->park_since = 0;
	note_trap(thread, regs, DBPROF_TRAP_UNPARK, reason);
}

SEC("uprobe")
int BPF_KPROBE(on_unpark, __u64 idle)
{
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_thread *thread;
	struct task_struct *task;

	if (!in_window(now))
		return 0;
	count_hit();
	thread = current_thread(now, &task);
	if (!thread)
		return 0;
	if (thread->park_since)
		end_park(thread, ctx, idle, now);
	else if (!thread->parks_seen)
		end_cut_park(thread, idle, now);
	thread->parks_seen = 1;
	return 0;
}

/* The circuit that a step future steps: its captured `&circuit`, then the Rc in ChildCircuit. */
static __always_inline __u64 future_circuit(const struct dbprof_process *process, __u64 future,
					    __u32 captured)
{
	__u64 reference = 0, circuit = 0;

	if (bpf_probe_read_user(&reference, sizeof(reference), (void *)(future + captured)) ||
	    bpf_probe_read_user(&circuit, sizeof(circuit),
				(void *)(reference + process->circuit_inner))) {
		count_loss(&losses.reads);
		return 0;
	}
	return circuit;
}

/*
 * On the path of a first or last poll a step begins when the trap is over and ends when the next
 * one sets in: what the traps cost is nobody's step. At an event the engine reads its own clock
 * right after the trap, at both ends, and so do we.
 */
static __always_inline __u64 after_trap(void)
{
	return bpf_ktime_get_ns() + trap.leave_ns;
}

/* Whether the circuit is looked at again when the thread leaves its CPU (stay_correct()). */
static __always_inline bool note_crossed(struct dbprof_thread *thread,
					 const struct dbprof_circuit *step, __u64 circuit)
{
	__u32 at = thread->crossed_count;

	if (step->begun_here || step->ended_here)
		return true;
	if (at >= DBPROF_CROSSED)
		return false;
	thread->crossed[at] = circuit;
	thread->crossed_count = at + 1;
	return true;
}

static __always_inline void begin_step(struct dbprof_thread *thread, __u64 circuit)
{
	struct dbprof_circuit *step = circuit_get(thread, circuit, true);
	__u64 now;

	if (!step)
		return;
	if (step->start)
		count_loss(&losses.steps);
	for (int i = 0; i < DBPROF_REASONS; i++)
		step->start_wait_ns[i] = thread->wait_ns[i];
	share_copy(&step->start_share, &thread->share);
	thread->in_step++;
	now = after_trap();
	if (step->last_end)
		step->idle_ns += elapsed(step->last_end, now);
	if (!step->first_start)
		step->first_start = now;
	step->start = now;
	step->start_cpu_ns = thread_cpu(thread, now);
	step->begun_here = note_crossed(thread, step, circuit);
}

static __always_inline void end_step(struct dbprof_thread *thread, __u64 circuit, __u64 now,
				     bool at_event)
{
	struct dbprof_circuit *step = circuit_get(thread, circuit, true);

	if (!step)
		return;
	now = at_event ? after_trap() : now - trap.enter_ns;
	if (!step->start && !step->first_start) {
		/* It was open when the window began: all since then counts. */
		step->cut = 1;
		step->start = step->first_start = thread->since;
	}
	if (step->start) {
		step->steps++;
		step->runtime_ns += elapsed(step->start, now);
		step->cpu_ns += elapsed(step->start_cpu_ns, thread_cpu(thread, now));
		for (int i = 0; i < DBPROF_REASONS; i++)
			step->wait_ns[i] += elapsed(step->start_wait_ns[i], thread->wait_ns[i]);
		share_add_since(&step->share, &step->start_share, &thread->share);
	} else {
		count_loss(&losses.steps);
	}
	if (thread->in_step)
		thread->in_step--;
	if (!step->begun_here)
		step->ended_here = note_crossed(thread, step, circuit);
	step->begun_here = 0;
	step->start = 0;
	step->last_end = now;
	thread->ended_step = circuit;
}

/* Which circuit a probe speaks of; 0 when it cannot be read. */
static __always_inline __u64 probed_circuit(struct pt_regs *regs, __u64 cookie,
					    const struct dbprof_process *process)
{
	__u64 found = 0;

	if (probes_event(cookie)) {
		if (!probed_event(regs, cookie, &found))
			return found;
	} else if (!probed_future(regs, cookie, &found)) {
		return future_circuit(process, found, DBPROF_COOKIE_CIRCUIT(cookie));
	}
	count_loss(&losses.reads);
	return 0;
}

static __always_inline void probed_step(struct pt_regs *regs, bool begins)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_process *process;
	struct dbprof_thread *thread;
	struct task_struct *task;
	__u64 circuit;

	if (!in_window(now))
		return;
	count_hit();
	thread = current_thread(now, &task);
	if (!thread)
		return;
	process = process_of(thread);
	if (!process)
		return;
	thread->worker = 1;
	circuit = probed_circuit(regs, cookie, process);
	if (!circuit)
		return;
	sync_waits(thread, process);
	if (begins)
		begin_step(thread, circuit);
	else
		end_step(thread, circuit, now, probes_event(cookie));
}

/* On the path that only the first poll of a step takes. */
SEC("uprobe")
int BPF_KPROBE(on_step_begin)
{
	probed_step(ctx, true);
	return 0;
}

/* On the path that only a poll takes which returns Ready. */
SEC("uprobe")
int BPF_KPROBE(on_step_end)
{
	probed_step(ctx, false);
	return 0;
}

/*
 * On the same path, after the event by which the step has ended: what the engine's own profiler
 * noted down in between is not idle.
 */
SEC("uprobe")
int BPF_KPROBE(on_step_left)
{
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_circuit *step;
	struct dbprof_thread *thread;
	struct task_struct *task;

	if (!in_window(now))
		return 0;
	count_hit();
	thread = current_thread(now, &task);
	if (!thread || !thread->ended_step)
		return 0;
	step = circuit_get(thread, thread->ended_step, false);
	now -= trap.enter_ns;
	if (step && now > step->last_end) {
		step->leaving_ns += now - step->last_end;
		step->last_end = now;
	}
	thread->ended_step = 0;
	return 0;
}

/*
 * Where those paths cannot be told from the code: each poll of a step, entered and left. Polls
 * nest with circuits, so the futures being polled are a stack.
 */
#define POLLS_MAX 8

struct polls {
	__u32 depth;
	__u64 future[POLLS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct polls);
} polling SEC(".maps");

static __always_inline long future_state(__u64 future, __u64 cookie, __u8 *ret_state)
{
	return bpf_probe_read_user(ret_state, sizeof(*ret_state),
				   (void *)(future + DBPROF_COOKIE_OFFSET(cookie)));
}

/* The future being polled is kept, and a step begins if it was never polled before. */
static __always_inline void enter_poll(struct dbprof_thread *thread, struct task_struct *task,
				       struct dbprof_process *process, struct pt_regs *regs,
				       __u64 cookie)
{
	struct polls *polls;
	__u64 future = 0;
	__u8 state = 0;

	if (probed_future(regs, cookie, &future) || future_state(future, cookie, &state)) {
		count_loss(&losses.reads);
		return;
	}
	polls = bpf_task_storage_get(&polling, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (polls) {
		__u32 depth = polls->depth++; /* a poll cut by the window's end may leave one */

		if (depth < POLLS_MAX)
			polls->future[depth] = future;
	}
	if (state == DBPROF_STATE_UNRESUMED) {
		__u64 circuit = future_circuit(process, future, DBPROF_COOKIE_CIRCUIT(cookie));

		if (circuit)
			begin_step(thread, circuit);
	}
}

SEC("uprobe")
int BPF_KPROBE(on_poll_enter)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_process *process;
	struct dbprof_thread *thread;
	struct task_struct *task;

	if (!in_window(now))
		return 0;
	count_hit();
	thread = current_thread(now, &task);
	if (!thread)
		return 0;
	process = process_of(thread);
	if (!process)
		return 0;
	thread->worker = 1;
	sync_waits(thread, process);
	enter_poll(thread, task, process, ctx, cookie);
	return 0;
}

/* The future whose poll returns; 0 for one that was entered before the window began. */
static __always_inline __u64 leave_poll(struct task_struct *task)
{
	struct polls *polls = bpf_task_storage_get(&polling, task, 0, 0);
	__u32 depth;

	if (!polls || !polls->depth)
		return 0;
	depth = --polls->depth;
	return depth < POLLS_MAX ? polls->future[depth] : 0;
}

SEC("uretprobe")
int BPF_KPROBE(on_poll_leave)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_process *process;
	struct dbprof_thread *thread;
	struct task_struct *task;
	__u64 future, circuit;
	__u8 state = 0;

	if (!in_window(now))
		return 0;
	count_hit();
	thread = current_thread(now, &task);
	if (!thread)
		return 0;
	process = process_of(thread);
	future = leave_poll(task);
	if (!process || !future)
		return 0;
	if (future_state(future, cookie, &state)) {
		count_loss(&losses.reads);
		return 0;
	}
	if (state != DBPROF_STATE_RETURNED)
		return 0;
	sync_waits(thread, process);
	circuit = future_circuit(process, future, DBPROF_COOKIE_CIRCUIT(cookie));
	if (circuit)
		end_step(thread, circuit, now, false);
	return 0;
}

/* What a trap costs around a program's own clock reads: user space reads the clock around it. */
__u64 calibration[2];

SEC("uprobe")
int BPF_KPROBE(on_calibrate)
{
	calibration[0] = bpf_ktime_get_ns();
	calibration[1] = bpf_ktime_get_ns();
	return 0;
}
