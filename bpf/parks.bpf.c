// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parks, by uprobes where the runtime of a worker goes to sleep and wakes.
 *
 * The arithmetic is the engine's own (RuntimeIdle, src/profile/cpu.rs).
 */
#include "arch.h"
#include "hit.h"
#include "operators.h"
#include "traps.h"

#include <bpf/bpf_tracing.h>

/* The value behind an Arc<AtomicUsize> field of the engine. */
static __always_inline long read_arc(__u64 field, __u32 arc_data, __u64 *ret_value)
{
	__u64 arc = 0;

	if (bpf_probe_read_user(&arc, sizeof(arc), (void *)field))
		return -1;
	return bpf_probe_read_user(ret_value, sizeof(*ret_value), (void *)(arc + arc_data));
}

SEC("uprobe")
int BPF_KPROBE(on_park)
{
	struct hit hit;
	int reason;

	if (!hit_take(&hit))
		return 0;
	/* Before the probe is gone: this wait is the first that the engine counts for us. */
	if (hit.process->waits != DBPROF_WAITS_BY_PARKS) {
		if (!hit.thread->synced)
			sync_waits(hit.thread, hit.process);
		return 0;
	}
	reason = declared_reason(hit.thread->process, thread_pointer(hit.task));
	note_trap(hit.thread, ctx, DBPROF_TRAP_PARK);
	/* What cannot be read now the engine itself notes; it is looked up at the end. */
	hit.thread->park_reason = reason < 0 ? DBPROF_REASONS : (__u32)reason;
	hit.thread->park_since = hit.now;
	hit.thread->parks_seen = 1;
	hit.thread->worker = 1;
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
static __always_inline void end_cut_park(const struct hit *hit, __u64 idle)
{
	const struct dbprof_process *process = hit->process;
	__u64 start = 0;
	long reason;

	if (read_arc(idle + process->idle_park_start, process->arc_data, &start)) {
		count_loss(&losses.reads);
		return;
	}
	/* RuntimeIdle::unpark ignores an unpark that no park preceded, and so do we. */
	if (!start)
		return;
	reason = noted_reason(process, idle);
	if (reason >= 0 && reason < DBPROF_REASONS)
		hit->thread->wait_ns[reason] += elapsed(hit->thread->since, hit->now);
}

static __always_inline void end_park(const struct hit *hit, struct pt_regs *regs, __u64 idle)
{
	struct dbprof_thread *thread = hit->thread;
	long reason = thread->park_reason;

	if (reason >= DBPROF_REASONS)
		reason = noted_reason(hit->process, idle);
	if (reason < 0 || reason >= DBPROF_REASONS)
		reason = DBPROF_UNATTRIBUTED;
	thread->wait_ns[reason] += elapsed(thread->park_since, hit->now);
	thread->park_since = 0;
	thread->trap_reason = reason;
	note_trap(thread, regs, DBPROF_TRAP_UNPARK);
}

SEC("uprobe")
int BPF_KPROBE(on_unpark, __u64 idle)
{
	struct hit hit;

	if (!hit_take(&hit))
		return 0;
	if (hit.thread->park_since)
		end_park(&hit, ctx, idle);
	else if (!hit.thread->parks_seen)
		end_cut_park(&hit, idle);
	hit.thread->parks_seen = 1;
	return 0;
}
