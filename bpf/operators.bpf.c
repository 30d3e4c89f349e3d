// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Operators: found on the stack, by samples and context switches; exact by a probe. */
#include "state.h"
#include "arch.h"
#include "operators.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__type(key, struct dbprof_operator_key);
	__type(value, struct dbprof_operator_record);
} operators SEC(".maps");

/* ParkReason::PRIORITY: which reason wins when several are declared. */
static const __u8 priority[DBPROF_REASONS - 1] = {
	DBPROF_STORAGE_READ,
	DBPROF_STORAGE_WRITE,
	DBPROF_STORAGE_SYNC,
	DBPROF_STORAGE_METADATA,
	DBPROF_MERGE_BACKPRESSURE,
	DBPROF_NETWORK,
	DBPROF_PEERS,
	DBPROF_OPERATOR_PENDING,
	DBPROF_SCHEDULER,
};

/* What the thread declares by ParkingFor guards: counts by reason in an Arc behind a TLS word. */
int declared_reason(__u32 number, __u64 pointer)
{
	struct dbprof_process *process = process_at(number);
	__s32 counts[DBPROF_REASONS] = {};
	__u64 slot[2] = {}; /* the Arc and the state of the lazy TLS value, 1 when it is alive */

	if (!process || !process->parking_tls)
		return -1;
	if (bpf_probe_read_user(slot, sizeof(slot), (void *)(pointer - process->parking_tls)))
		return -1;
	if ((__u8)slot[1] != 1)
		return DBPROF_UNATTRIBUTED;
	if (bpf_probe_read_user(counts, sizeof(counts), (void *)(slot[0] + process->arc_data)))
		return -1;
	for (int i = 0; i < DBPROF_REASONS - 1; i++) {
		__u32 reason = priority[i];

		if (reason < DBPROF_REASONS && counts[reason] > 0)
			return reason;
	}
	return DBPROF_UNATTRIBUTED;
}

static __always_inline long read_user(void *to, __u32 size, __u64 from)
{
	return bpf_probe_read_user(to, size, (void *)from);
}

/*
 * Whether the interval that the engine measures is running: by the return address of what
 * Timed::poll has called last, the thread-CPU clock, the operator itself, or the elapsed time.
 */
static __always_inline bool is_measured(const struct dbprof_frame *frame, __u64 slot, __u64 sp)
{
	__u64 inner = 0;

	if (sp > slot - frame->inner || read_user(&inner, sizeof(inner), slot - frame->inner))
		return false;
	return inner == frame->counted[0] || inner == frame->counted[1] ||
	       inner == frame->counted[2];
}

/* The word at a slot, and two above it, where the address of the task's state mostly lies. */
struct slot_words {
	__u64 return_address;
	__u64 between;
	__u64 state;
};

/* What a task's state names, found by the slot. Returns 0, negative when it cannot be read. */
static __always_inline long read_task(const struct dbprof_process *process,
				      const struct dbprof_frame *frame, __u64 slot,
				      const struct slot_words *words, struct operator_at *ret_at)
{
	__u64 state = words->state;
	__u64 named[3]; /* circuit, something, node */

	if (frame->state != offsetof(struct slot_words, state) &&
	    read_user(&state, sizeof(state), slot + frame->state))
		return -1;
	if (process->packed & DBPROF_TASK_PACKED) {
		if (read_user(named, sizeof(named), state + process->task_circuit))
			return -1;
	} else if (read_user(&named[0], sizeof(named[0]), state + process->task_circuit) ||
		   read_user(&named[2], sizeof(named[2]), state + process->task_node)) {
		return -1;
	}
	ret_at->circuit = named[0];
	ret_at->node = (__u32)named[2];
	return 0;
}

int operator_find(__u32 number, __u64 pointer, __u64 sp, struct operator_at *ret_at)
{
	struct dbprof_process *process = process_at(number);

	if (!process || !ret_at)
		return 0;
	for (__u32 i = 0; i < DBPROF_FRAMES; i++) {
		const struct dbprof_frame *frame = &process->frames[i];
		__u64 slot = pointer - frame->slot;
		struct slot_words words;

		if (i >= process->frame_count)
			break;
		if (!frame->slot || sp > slot)
			continue;
		if (read_user(&words, sizeof(words), slot)) {
			count_loss(&losses.slots);
			continue;
		}
		if (words.return_address != frame->return_address)
			continue;
		if (read_task(process, frame, slot, &words, ret_at)) {
			count_loss(&losses.slots);
			continue;
		}
		ret_at->measured = is_measured(frame, slot, sp);
		break;
	}
	return 0;
}

/* As circuit_pass(). */
static __always_inline struct dbprof_operator *operator_pass(struct dbprof_operator_record *record,
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

__hidden struct dbprof_operator *operator_get(struct dbprof_thread *thread, __u64 circuit,
					      __u32 node)
{
	static const struct dbprof_operator_record none;
	struct dbprof_operator_key key = { .circuit = circuit, .node = node, .tid = thread->tid };
	struct dbprof_operator_record *found = bpf_map_lookup_elem(&operators, &key);

	if (found)
		return operator_pass(found, thread->edge);
	/* An interrupt may have made it meanwhile: then it is there all the same. */
	bpf_map_update_elem(&operators, &key, &none, BPF_NOEXIST);
	found = bpf_map_lookup_elem(&operators, &key);
	if (!found)
		count_loss(&losses.operators);
	return operator_pass(found, thread->edge);
}

static __always_inline bool knows_slots(struct dbprof_thread *thread)
{
	struct dbprof_process *process = process_of(thread);

	return process && process->frame_count && process->slots_known;
}

/* Whether in_step tells: the thread has begun or ended a step since they are watched again. */
static __always_inline bool steps_watched(struct dbprof_thread *thread)
{
	struct dbprof_process *process = process_of(thread);

	return process && process->turn == thread->turn && process->turn_end == DBPROF_NEVER;
}

static __always_inline void add_sample(struct dbprof_thread *thread, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct dbprof_operator *op;
	struct operator_at at = {};

	operator_find(thread->process, thread_pointer(task), regs->sp, &at);
	if (at.circuit) {
		op = operator_get(thread, at.circuit, at.node);
		if (!op)
			return;
		if (at.measured)
			op->samples++;
		else
			op->timing_samples++;
		return;
	}
	/* Without all slots it may have been in an operator. */
	if (!knows_slots(thread)) {
		thread->blind_samples++;
		return;
	}
	/* Of a step that was open before the window only its declarations tell. */
	if (!steps_watched(thread))
		thread->unwatched_samples++;
	else if (thread->in_step ||
		 declared_reason(thread->process, thread_pointer(task)) > DBPROF_UNATTRIBUTED)
		thread->scheduler_samples++;
	else
		thread->outside_samples++;
}

/*
 * On each CPU at a low rate. User space shares the CPU time of a thread out over its samples, so
 * that they add up to it; a worker's samples are as likely wherever it runs.
 */
SEC("perf_event")
int on_sample(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_thread *thread;

	if (!in_window(now))
		return 0;
	thread = thread_current(task, now);
	if (thread && thread->worker)
		add_sample(thread, task);
	return 0;
}

#define NANOS_PER_SEC 1000000000ULL

/* The ElapsedTime of a Timed, as nanoseconds. Returns 0, negative when it cannot be read. */
static __always_inline long read_timed(const struct dbprof_process *process, __u64 timed,
				       __u64 *ret_real, __u64 *ret_cpu)
{
	__u64 words[4] = {}; /* seconds and nanoseconds of both; of nanoseconds the lower half */
	const __u32 half = sizeof(__u32);

	if (process->packed & DBPROF_TIMED_PACKED) {
		if (read_user(words, sizeof(words), timed + process->timed_real_secs))
			return -1;
	} else if (read_user(&words[0], sizeof(words[0]), timed + process->timed_real_secs) ||
		   read_user(&words[1], half, timed + process->timed_real_nanos) ||
		   read_user(&words[2], sizeof(words[2]), timed + process->timed_cpu_secs) ||
		   read_user(&words[3], half, timed + process->timed_cpu_nanos)) {
		return -1;
	}
	*ret_real = words[0] * NANOS_PER_SEC + (__u32)words[1];
	*ret_cpu = words[2] * NANOS_PER_SEC + (__u32)words[3];
	return 0;
}

/* Which operator the slot at @slot names; false when it names none. */
static __always_inline bool operator_by_slot(const struct dbprof_process *process, __u64 slot,
					     struct operator_at *ret_at)
{
	struct slot_words words;

	if (read_user(&words, sizeof(words), slot))
		return false;
	for (__u32 i = 0; i < DBPROF_FRAMES && i < process->frame_count; i++)
		if (process->frames[i].return_address == words.return_address)
			return !read_task(process, &process->frames[i], slot, &words, ret_at);
	return false;
}

static __always_inline void add_evaluation(struct dbprof_thread *thread,
					   const struct dbprof_process *process, __u64 timed,
					   __u64 slot)
{
	struct dbprof_operator *op;
	struct operator_at at = {};
	__u64 real = 0, cpu = 0;

	if (read_timed(process, timed, &real, &cpu) || !operator_by_slot(process, slot, &at)) {
		count_loss(&losses.reads);
		return;
	}
	op = operator_get(thread, at.circuit, at.node);
	if (!op)
		return;
	op->evaluations++;
	op->real_ns += real;
	op->cpu_ns += cpu;
}

/*
 * In Timed::poll where it branches on Ready or Pending, after it has added up its ElapsedTime: the
 * engine's own numbers of an evaluation, when that is complete.
 */
SEC("uprobe")
int BPF_KPROBE(on_exact)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u64 now = bpf_ktime_get_ns();
	struct dbprof_process *process;
	struct dbprof_thread *thread;
	struct task_struct *task;
	__u64 timed = 0;

	if (!in_window(now))
		return 0;
	count_hit();
	if (poll_is_pending(ctx, cookie))
		return 0;
	task = bpf_get_current_task_btf();
	thread = thread_current(task, now);
	if (!thread)
		return 0;
	process = process_of(thread);
	if (!process)
		return 0;
	thread->worker = 1;
	if (probed_future(ctx, cookie & 0xff, &timed))
		count_loss(&losses.reads);
	else
		add_evaluation(thread, process, timed,
			       read_register(ctx->sp) + DBPROF_COOKIE_OFFSET(cookie));
	return 0;
}

/* How deep below the thread pointer a task's poll is entered. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct dbprof_entry_key);
	__type(value, __u64);
} entries SEC(".maps");

/* All tasks are entered at the same depth. The slots are needed at once, for the next sample. */
static __always_inline void place_slots(struct dbprof_process *process, __u64 depth)
{
	bool known = process->frame_count;

	for (__u32 i = 0; i < DBPROF_FRAMES && i < process->frame_count; i++) {
		struct dbprof_frame *frame = &process->frames[i];

		if (!frame->slot)
			frame->slot = dbprof_slot(depth, frame->entry);
		known = known && frame->slot;
	}
	process->slots_known = known;
}

/* Short-lived, at the entry of a task's poll, when its slot is not to be found in memory. */
SEC("uprobe")
int BPF_KPROBE(on_task_entry)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct dbprof_entry_key key = {
		.frame = DBPROF_COOKIE_PLACE(bpf_get_attach_cookie(ctx)),
	};
	__u64 depth = thread_pointer(task) - read_register(ctx->sp);
	struct dbprof_process *process;

	if (!process_find(task, &key.process))
		return 0;
	bpf_map_update_elem(&entries, &key, &depth, BPF_ANY);
	process = process_at(key.process);
	if (process && !process->slots_known)
		place_slots(process, depth);
	return 0;
}
