/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs at the engine's functions begin with. */
#ifndef DBPROF_BPF_HIT_H
#define DBPROF_BPF_HIT_H

#include "state.h"

/* A hit of a probe in the window, by a thread of a profiled process. */
struct hit {
	__u64 now;
	struct task_struct *task;
	struct dbprof_thread *thread;
	struct dbprof_process *process;
};

/* Fills @hit and counts it; false when it is no such hit. */
static __always_inline bool hit_take(struct hit *hit)
{
	hit->now = bpf_ktime_get_ns();
	if (!in_window(hit->now))
		return false;
	count_hit();
	hit->task = bpf_get_current_task_btf();
	hit->thread = thread_current(hit->task, hit->now);
	if (!hit->thread)
		return false;
	hit->process = process_of(hit->thread);
	return hit->process != NULL;
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

#endif
