// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "takers.h"

#include <bpf/bpf_core_read.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

#define TURNS 8 /* a power of two; earlier ones count as the first taker's */

struct turn {
	__u64 since;
	__u32 tgid;
	__u32 party; /* to its own process; DBPROF_PARTY_KERNEL */
};

struct cpu_turns {
	__u32 waiting; /* preempted threads that wait for this CPU */
	__u32 count;   /* turns so far */
	struct turn turns[TURNS];
	__u64 unused[7]; /* CPUs do not share cache lines */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the number of CPUs, set before loading */
	__type(key, __u32);
	__type(value, struct cpu_turns);
} turns SEC(".maps");

__hidden __u32 party(struct task_struct *other, __u32 tgid)
{
	static const char merger[] = "merger-";
	struct dbprof_thread *thread;
	char comm[16] = {};

	if (!other->pid || other->flags & PF_KTHREAD)
		return DBPROF_PARTY_KERNEL;
	if ((__u32)other->tgid != tgid)
		return DBPROF_PARTY_OTHER;
	thread = thread_find(other);
	if (thread && thread->worker)
		return DBPROF_PARTY_WORKER;
	bpf_probe_read_kernel_str(comm, sizeof(comm), other->comm);
	for (int i = 0; i < (int)sizeof(merger) - 1; i++)
		if (comm[i] != merger[i])
			return DBPROF_PARTY_THREAD;
	return DBPROF_PARTY_MERGER;
}

__hidden void takers_begin(struct dbprof_thread *thread, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_turns *here = bpf_map_lookup_elem(&turns, &cpu);

	thread->off_taker = party(next, thread->kernel_tgid);
	if (!here)
		return;
	__sync_fetch_and_add(&here->waiting, 1);
	thread->off_cpu = cpu;
	thread->off_turn = here->count;
	thread->off_waits = 1;
}

__hidden void takers_turn(struct task_struct *next, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), tgid = next->tgid;
	struct cpu_turns *here = bpf_map_lookup_elem(&turns, &cpu);
	struct turn *turn;

	if (!here || !here->waiting)
		return;
	turn = &here->turns[here->count % TURNS];
	turn->since = now;
	turn->tgid = tgid;
	turn->party = party(next, tgid);
	here->count++;
}

static __always_inline void add_taken(struct dbprof_thread *thread, struct dbprof_operator *op,
				      __u32 who, __u64 time)
{
	if (who >= DBPROF_PARTIES)
		return;
	thread->share.preempted_ns[who] += time;
	if (thread->off_in_step)
		thread->step_share.preempted_ns[who] += time;
	if (op)
		op->share.preempted_ns[who] += time;
}

/* From the latest turn back to the first. Returns when the earliest of them began. */
static __always_inline __u64 add_turns(struct dbprof_thread *thread, struct dbprof_operator *op,
				       struct cpu_turns *cpu, __u64 now)
{
	__u32 count = cpu->count, mine = count - thread->off_turn;

	for (__u32 i = 0; i < TURNS && i < mine; i++) {
		struct turn *turn = &cpu->turns[(count - 1 - i) % TURNS];
		bool is_other = turn->party != DBPROF_PARTY_KERNEL &&
				turn->tgid != thread->kernel_tgid;
		__u64 since = turn->since > thread->off_since ? turn->since : thread->off_since;

		if (since >= now)
			continue;
		add_taken(thread, op, is_other ? DBPROF_PARTY_OTHER : turn->party, now - since);
		now = since;
	}
	return now;
}

__hidden void takers_end(struct dbprof_thread *thread, struct dbprof_operator *op, __u64 now)
{
	__u32 cpu = thread->off_cpu;
	struct cpu_turns *there = bpf_map_lookup_elem(&turns, &cpu);

	if (there && thread->off_waits) {
		now = add_turns(thread, op, there, now);
		__sync_fetch_and_add(&there->waiting, -1);
	}
	thread->off_waits = 0;
	add_taken(thread, op, thread->off_taker, elapsed(thread->off_since, now));
}
