/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State shared by the BPF programs: settings, threads, circuits, losses. The maps are private to
 * state.bpf.c; these functions are linked in and hidden.
 */
#ifndef DBPROF_BPF_STATE_H
#define DBPROF_BPF_STATE_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "dbprof.h"

/* Settings, fixed when the programs are loaded. */
extern const volatile __u32 max_threads;

/*
 * The window, written by user space ahead of time, so that both edges are exact: an event counts if
 * its own time lies in it.
 */
extern volatile __u64 window_start;
extern volatile __u64 window_end;

extern struct dbprof_losses losses;

/* Written by user space after loading; steps are free of it. */
extern struct dbprof_trap trap;

#define barrier() asm volatile("" ::: "memory")

static __always_inline bool in_window(__u64 now)
{
	return now >= window_start && now < window_end;
}

/* What is known of the process @tgid; NULL when it is not profiled. */
__hidden struct dbprof_process *process_get(__u32 tgid);

/*
 * The record of @task; NULL when its process is not profiled or there is no room. *@fresh tells
 * that the thread is seen for the first time: its record then holds only who it is and since when.
 */
__hidden struct dbprof_thread *thread_get(struct task_struct *task, bool *fresh);

/* The record of @task if it has one; never makes one. */
__hidden struct dbprof_thread *thread_find(struct task_struct *task);

/* The record of the running thread, which is on its CPU since it was first observed if fresh. */
__hidden struct dbprof_thread *thread_current(struct task_struct *task);

/* Ends the record of a thread that has exited; its slot is free again unless it was a worker. */
__hidden void thread_exit(struct task_struct *task, struct dbprof_thread *thread);

/* The record of a worker's circuit; made when @create. NULL when there is none or no room. */
__hidden struct dbprof_circuit *circuit_get(struct dbprof_thread *thread, __u64 circuit,
					    bool create);

/* CPU time in the window that the running thread has used until @now, nanoseconds. */
static __always_inline __u64 thread_cpu(const struct dbprof_thread *thread, __u64 now)
{
	return thread->cpu_ns +
	       (thread->on_since && now > thread->on_since ? now - thread->on_since : 0);
}

static __always_inline __u64 elapsed(__u64 from, __u64 to)
{
	return to > from ? to - from : 0;
}

static __always_inline void write_begin(__u32 *sequence)
{
	*(volatile __u32 *)sequence += 1;
	barrier();
}

static __always_inline void write_end(__u32 *sequence)
{
	barrier();
	*(volatile __u32 *)sequence += 1;
}

static __always_inline void count_loss(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

#endif
