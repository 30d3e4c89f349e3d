/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State shared by the BPF programs: settings, threads, circuits, losses. The maps are private to
 * state.bpf.c; these functions are linked in and hidden.
 */
#ifndef DBPROF_BPF_STATE_H
#define DBPROF_BPF_STATE_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
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

/* Where one window ends and the next begins; written ahead of time, too. */
extern volatile __u64 window_edge;

extern struct dbprof_losses losses;

/* How deep the profiler's PID namespace is nested; written by user space after loading. */
extern volatile __u32 pid_level;

/* Written by user space after loading; steps are free of it. */
extern struct dbprof_trap trap;

static __always_inline bool in_window(__u64 now)
{
	return now >= window_start && now < window_end;
}

/* Keeps the compiler from moving what is written to memory. */
#define ordered() __asm__ volatile("" ::: "memory")

/* The id of @task in its PID namespace of that level, the host's being 0; 0 when it has none. */
static __always_inline __u32 task_number(struct task_struct *task, __u32 level)
{
	struct pid *pid = task->thread_pid;
	struct upid number = {};

	if (!pid || level > pid->level)
		return 0;
	bpf_probe_read_kernel(&number, sizeof(number),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid));
	return number.nr;
}

/* Counts a hit of a probe, in the window. */
__hidden void count_hit(void);

/* What is known of the process with that number, which a thread of it has. */
__hidden struct dbprof_process *process_at(__u32 number);

static __always_inline struct dbprof_process *process_of(struct dbprof_thread *thread)
{
	return process_at(thread->process);
}

/* Whether the process of @task is profiled; then its index. */
__hidden bool process_find(struct task_struct *task, __u32 *ret_index);

/*
 * The record of @task for an event of the moment @now; NULL when its process is not profiled or
 * there is no room. *@fresh tells that the thread is seen for the first time: its record then holds
 * only who it is and since when.
 */
__hidden struct dbprof_thread *thread_get(struct task_struct *task, __u64 now, bool *fresh);

/* Splits the time off the CPU that ends @now; see sched.bpf.c. Returns 0. */
int thread_end_off(struct dbprof_thread *thread, __u64 now);

/* The record of @task if it has one; never makes one. It does not look at edges. */
__hidden struct dbprof_thread *thread_find(struct task_struct *task);

/* The record of the running thread, which is on its CPU since it was first observed if fresh. */
__hidden struct dbprof_thread *thread_current(struct task_struct *task, __u64 now);

/* Marks the thread as a worker if user space has found that it drives a circuit. */
__hidden void thread_check_worker(struct dbprof_thread *thread);

/* Ends the record of a thread that has exited; its slot is free again unless it was a worker. */
__hidden void thread_exit(struct task_struct *task, struct dbprof_thread *thread);

/* Nothing more is counted of the process, of which @task is the last thread. */
__hidden void process_end(struct task_struct *task);

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

#define SHARE_WORDS (sizeof(struct dbprof_kernel_share) / sizeof(__u64))

static __always_inline void share_copy(struct dbprof_kernel_share *to,
				       const struct dbprof_kernel_share *from)
{
	for (__u32 i = 0; i < SHARE_WORDS; i++)
		((__u64 *)to)[i] = ((const __u64 *)from)[i];
}

/* Adds what came between two readings of the same share. */
static __always_inline void share_add_since(struct dbprof_kernel_share *sum,
					    const struct dbprof_kernel_share *from,
					    const struct dbprof_kernel_share *to)
{
	for (__u32 i = 0; i < SHARE_WORDS; i++)
		((__u64 *)sum)[i] += elapsed(((const __u64 *)from)[i], ((const __u64 *)to)[i]);
}

static __always_inline void count_loss(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

#endif
