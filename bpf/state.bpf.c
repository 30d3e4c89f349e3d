// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The maps, and who is in them. */
#include "state.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define NO_SLOT ((__u32)-1)

const volatile __u32 max_threads = 1;
volatile __u64 window_start = (__u64)-1;
volatile __u64 window_end;
volatile __u64 window_edge = (__u64)-1;
struct dbprof_losses losses;
struct dbprof_trap trap;
__u32 threads_used; /* slots that were ever taken */

/*
 * How deep the profiler's PID namespace is nested. The profiled processes are in it or below, since
 * it sees them.
 */
volatile __u32 pid_level;

/* Thread group id, as the kernel numbers it, to index in the array below. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DBPROF_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} process_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DBPROF_PROCESSES);
	__type(key, __u32);
	__type(value, struct dbprof_process);
} processes SEC(".maps");

/* A thread's place in the array below, plus one: found without a hash on every switch. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set before loading */
	__type(key, __u32);
	__type(value, struct dbprof_thread_record);
} threads SEC(".maps");

/* Slots of threads that have exited. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1); /* set before loading */
	__type(value, __u32);
} free_slots SEC(".maps");

/* Both entries of each process are made by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * DBPROF_PROCESSES);
	__type(key, struct dbprof_exited_key);
	__type(value, struct dbprof_exited);
} exited SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__type(key, struct dbprof_circuit_key);
	__type(value, struct dbprof_circuit_record);
} circuits SEC(".maps");

/* Hits of probes, by processor. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} hits SEC(".maps");

__hidden void count_hit(void)
{
	__u32 only = 0;
	__u64 *count = bpf_map_lookup_elem(&hits, &only);

	if (count)
		++*count;
}

__hidden struct dbprof_process *process_at(__u32 number)
{
	return bpf_map_lookup_elem(&processes, &number);
}

/* As /proc/PID/stat does, fs/proc/array.c. */
static __always_inline __u64 start_ticks(struct task_struct *task)
{
	return task->group_leader->start_boottime / (1000000000 / DBPROF_TICKS);
}

/* The id may be that of a process which has ended, with another one under it now. */
__hidden bool process_find(struct task_struct *task, __u32 *ret_index)
{
	__u32 tgid = task->tgid, *index = bpf_map_lookup_elem(&process_index, &tgid);
	struct dbprof_process *process;

	if (!index)
		return false;
	process = process_at(*index);
	if (!process || process->start_ticks != start_ticks(task))
		return false;
	*ret_index = *index;
	return true;
}

/* The id of @task in the profiler's namespace; 0 of one that is being collected already. */
static __always_inline __u32 thread_number(struct task_struct *task)
{
	return pid_level ? task_number(task, pid_level) : (__u32)task->pid;
}

static __always_inline struct dbprof_thread *thread_at(__u32 slot)
{
	__u32 index = slot - 1;

	return bpf_map_lookup_elem(&threads, &index);
}

/*
 * Threads that user space knows as workers: where no probe tells. Key: thread id; value: where the
 * engine keeps what it has waited, by reason, 0 when that is not known.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} worker_tids SEC(".maps");

/* Counts how often user space has added to them, so that each thread is looked up once. */
volatile __u32 worker_generation;

__hidden void thread_check_worker(struct dbprof_thread *thread)
{
	__u32 tid = thread->tid, generation = worker_generation;
	__u64 *totals;

	if (thread->generation == generation)
		return;
	thread->generation = generation;
	totals = bpf_map_lookup_elem(&worker_tids, &tid);
	if (!totals)
		return;
	thread->worker = 1;
	thread->idle_totals = *totals;
}

#define CLAIMED ((__u32)-2) /* an interrupted program is making the record right now */

/*
 * Before the first change after an edge. An interrupt that comes between does the same, and what it
 * then counts may be in this copy: it will not be counted again.
 */
static __always_inline struct dbprof_thread *thread_pass(struct dbprof_thread *thread, __u64 now)
{
	struct dbprof_thread_record *record = (struct dbprof_thread_record *)thread;
	__u64 edge = window_edge;

	if (!record || now < edge || thread->edge == edge)
		return thread;
	__builtin_memcpy(&record->then, &record->now, sizeof(record->then));
	ordered();
	thread->edge = edge;
	ordered();
	return thread;
}

/* Whether the process counts already at the moment @now. */
static __always_inline bool process_begun(__u32 number, __u64 now)
{
	struct dbprof_process *process = process_at(number);

	return process && now >= process->since;
}

/* From when on a thread of the process is observed. */
static __always_inline __u64 observed_since(struct task_struct *task, __u32 number)
{
	struct dbprof_process *process = process_at(number);
	__u64 since = task->start_time;

	if (since < window_start)
		since = window_start;
	return process && since < process->since ? process->since : since;
}

static __always_inline struct dbprof_thread *thread_make(struct task_struct *task, __u32 process,
							 __u64 now, __u32 *slot)
{
	struct dbprof_process *known = process_at(process);
	struct dbprof_thread *thread;
	__u32 index;

	if (!known)
		return NULL;
	if (bpf_map_pop_elem(&free_slots, &index)) {
		/* Checked first, so that the counter stays near its limit and never wraps. */
		if (threads_used >= max_threads)
			goto full;
		index = __sync_fetch_and_add(&threads_used, 1);
		if (index >= max_threads)
			goto full;
	}
	thread = bpf_map_lookup_elem(&threads, &index);
	if (!thread)
		goto full;
	thread_pass(thread, now);
	/* A program that was at work when user space freed the slot may have written to it since.
	 */
	__builtin_memset(thread, 0, offsetof(struct dbprof_thread, edge));
	thread->tid = thread_number(task);
	thread->kernel_tgid = task->tgid;
	thread->process = process;
	thread->since = observed_since(task, process);
	bpf_probe_read_kernel_str(thread->comm, sizeof(thread->comm), task->comm);
	thread->tgid = known->pid;
	*slot = index + 1;
	thread_check_worker(thread);
	return thread;
full:
	*slot = NO_SLOT;
	count_loss(&losses.threads);
	return NULL;
}

/* The record in a thread's slot, unless user space has freed that since. */
static __always_inline struct dbprof_thread *thread_if_its(struct dbprof_thread *thread,
							   struct task_struct *task)
{
	return thread && thread->tid == thread_number(task) ? thread : NULL;
}

__hidden struct dbprof_thread *thread_find(struct task_struct *task)
{
	__u32 *slot = bpf_task_storage_get(&slots, task, 0, 0);

	if (!slot || !*slot || *slot == NO_SLOT || *slot == CLAIMED)
		return NULL;
	return thread_if_its(thread_at(*slot), task);
}

__hidden struct dbprof_thread *thread_get(struct task_struct *task, __u64 now, bool *fresh)
{
	__u32 *slot = bpf_task_storage_get(&slots, task, 0, 0);
	struct dbprof_thread *thread;
	__u32 process;

	*fresh = false;
	if (!slot) {
		if (!process_find(task, &process) || !process_begun(process, now))
			return NULL;
		slot = bpf_task_storage_get(&slots, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!slot) {
			count_loss(&losses.threads);
			return NULL;
		}
	}
	if (*slot == NO_SLOT || *slot == CLAIMED)
		return NULL;
	if (*slot) {
		thread = thread_if_its(thread_at(*slot), task);
		if (thread)
			return thread_pass(thread, now);
		*slot = 0;
	}
	if (!process_find(task, &process) || !process_begun(process, now) ||
	    __sync_val_compare_and_swap(slot, 0, CLAIMED))
		return NULL;
	*fresh = true;
	return thread_make(task, process, now, slot);
}

/*
 * Some kernels leave out a switch now and then. A thread that runs though it is off in our books
 * was switched in after its wake-up, most likely at once.
 */
static __always_inline void thread_found_on(struct dbprof_thread *thread)
{
	__u64 since = thread->woken_at;

	if (!thread->off_since)
		return;
	if (since < thread->off_since)
		since = thread->off_since;
	thread_end_off(thread, since);
	thread->on_since = since;
}

__hidden struct dbprof_thread *thread_current(struct task_struct *task, __u64 now)
{
	bool fresh;
	struct dbprof_thread *thread = thread_get(task, now, &fresh);

	/* No switch was seen since the window began, or since it started: it runs since then. */
	if (thread && fresh)
		thread->on_since = thread->since;
	else if (thread && !thread->on_since)
		thread_found_on(thread);
	return thread;
}

__hidden void thread_exit(struct task_struct *task, struct dbprof_thread *thread)
{
	__u32 *slot = bpf_task_storage_get(&slots, task, 0, 0);
	struct dbprof_exited_key key = { .tgid = thread->tgid };
	struct dbprof_exited *sum;
	__u64 edge = window_edge;
	__u32 index;

	if (thread->worker || !slot || !*slot || *slot == NO_SLOT)
		return;
	key.sum = (edge & 1) ^ (thread->ended < edge);
	sum = bpf_map_lookup_elem(&exited, &key);
	/* User space frees the slots of a process that is not profiled any more. */
	if (!sum || __sync_val_compare_and_swap(&thread->tgid, key.tgid, 0) != key.tgid)
		return;
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->observed_ns, elapsed(thread->since, thread->ended));
	__sync_fetch_and_add(&sum->on_cpu_ns, thread->on_cpu_ns);
	for (__u32 i = 0; i < SHARE_WORDS; i++)
		__sync_fetch_and_add((__u64 *)&sum->share + i, ((__u64 *)&thread->share)[i]);
	index = *slot - 1;
	*slot = NO_SLOT;
	/* How it was at the edge stays to be read. */
	__builtin_memset(thread, 0, offsetof(struct dbprof_thread, edge));
	bpf_map_push_elem(&free_slots, &index, BPF_ANY);
}

/* The thread has passed the edge with this event or an earlier one. */
static __always_inline struct dbprof_circuit *circuit_pass(struct dbprof_circuit_record *record,
							   __u64 edge)
{
	if (!record)
		return NULL;
	if (record->edge != edge) {
		__builtin_memcpy(&record->then, &record->now, sizeof(record->then));
		ordered();
		record->edge = edge;
		ordered();
	}
	return &record->now;
}

__hidden struct dbprof_circuit *circuit_get(struct dbprof_thread *thread, __u64 circuit,
					    bool create)
{
	struct dbprof_circuit_key key = {
		.circuit = circuit,
		.tgid = thread->tgid,
		.tid = thread->tid,
	};
	static const struct dbprof_circuit_record none;
	struct dbprof_circuit_record *found = bpf_map_lookup_elem(&circuits, &key);

	if (found || !create)
		return circuit_pass(found, thread->edge);
	/* An interrupt may have made it meanwhile: then it is there all the same. */
	bpf_map_update_elem(&circuits, &key, &none, BPF_NOEXIST);
	found = bpf_map_lookup_elem(&circuits, &key);
	if (!found)
		count_loss(&losses.circuits);
	return circuit_pass(found, thread->edge);
}

__hidden void process_end(struct task_struct *task)
{
	__u32 *slot = bpf_task_storage_get(&slots, task, 0, 0);
	__u32 tgid = task->tgid;

	bpf_map_delete_elem(&process_index, &tgid);
	if (slot)
		*slot = NO_SLOT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
