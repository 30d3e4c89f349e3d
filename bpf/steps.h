/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The begin and the end of a step, however they are seen.
 *
 * The arithmetic is the engine's own (src/profile/cpu.rs): a wait is what the thread has waited
 * between the begin and the end of a step, nested circuits included.
 */
#ifndef DBPROF_BPF_STEPS_H
#define DBPROF_BPF_STEPS_H

#include "hit.h"
#include "state.h"
#include "turns.h"

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

static __always_inline void begin_step(const struct hit *hit, __u64 circuit)
{
	struct dbprof_thread *thread = hit->thread;
	struct dbprof_circuit *step;
	__u64 now;

	if (!turn_take(hit))
		return;
	step = circuit_get(thread, circuit, true);
	if (!step)
		return;
	turn_begin_step(hit->process, step);
	if (step->start)
		count_loss(&losses.steps);
	for (int i = 0; i < DBPROF_REASONS; i++)
		step->start_wait_ns[i] = thread->wait_ns[i];
	share_copy(&step->start_share, &thread->share);
	thread->in_step++;
	now = after_trap();
	step->start_cpu_ns = thread_cpu(thread, now);
	now = dbprof_clock(hit->process, now);
	if (step->last_end)
		step->idle_ns += elapsed(step->last_end, now);
	if (!step->first_start)
		step->first_start = now;
	step->start = now;
	step->begun_here = note_crossed(thread, step, circuit);
}

static __always_inline __u64 weighted(__u64 value, __u64 weight)
{
	return value * weight / DBPROF_PACE;
}

/* What the thread did between the begin and the end of a step. */
static __always_inline void close_step(struct dbprof_thread *thread, struct dbprof_circuit *step,
				       __u64 now, __u64 weight)
{
	step->cpu_ns += weighted(elapsed(step->start_cpu_ns, thread_cpu(thread, now)), weight);
	for (int i = 0; i < DBPROF_REASONS; i++)
		step->wait_ns[i] +=
			weighted(elapsed(step->start_wait_ns[i], thread->wait_ns[i]), weight);
	for (__u32 i = 0; i < SHARE_WORDS; i++)
		((__u64 *)&step->share)[i] +=
			weighted(elapsed(((const __u64 *)&step->start_share)[i],
					 ((const __u64 *)&thread->share)[i]),
				 weight);
	share_copy(&step->start_share, &thread->share);
}

static const __u64 latency_limits[DBPROF_LATENCIES - 1] = DBPROF_LATENCY_LIMITS;

/* A step of the length @span by the clock of what is watched, which may go faster than time does.
 */
static __always_inline void note_latency(struct dbprof_circuit *step, __u64 span, __u64 weight)
{
	__u64 took = step->part ? span : span * DBPROF_PACE / weight;
	__u32 bucket = 0;

	while (bucket < DBPROF_LATENCIES - 1 && took > latency_limits[bucket])
		bucket++;
	if (bucket < DBPROF_LATENCIES)
		step->latency.steps[bucket] += weight;
	step->latency.sum_ns += took * weight / DBPROF_PACE;
}

/* @now is by the clock of what is watched. */
static __always_inline void count_step(struct dbprof_circuit *step, __u64 now, __u64 weight)
{
	step->steps += weight;
	/* Of the first one the begin may not have been seen. */
	if (!step->cut || step->last_end)
		note_latency(step, elapsed(step->start, now), weight);
	step->runtime_ns += elapsed(step->start, now);
	if (step->part)
		step->part_ns += elapsed(step->start, now);
}

/* When a step began whose end is the first that was seen of the circuit; else 0. */
static __always_inline __u64 unseen_begin(const struct dbprof_thread *thread,
					  struct dbprof_circuit *step)
{
	if (step->first_start)
		return 0;
	/* It was open when the window began: all since then counts. */
	step->cut = 1;
	step->first_start = thread->since;
	return step->first_start;
}

static __always_inline void end_step(const struct hit *hit, __u64 circuit, bool at_event)
{
	struct dbprof_thread *thread = hit->thread;
	struct dbprof_circuit *step;
	__u64 now, weight;

	if (!turn_take(hit))
		return;
	step = circuit_get(thread, circuit, true);
	if (!step)
		return;
	weight = turn_weight(hit->process, hit->now);
	now = at_event ? after_trap() : hit->now - trap.enter_ns;
	/* In a trap at the window's begin the step ended before it: nothing of it is in the window.
	 */
	if (now < thread->since)
		now = thread->since;
	turn_end_step(hit->process, step);
	if (!step->start)
		step->start = unseen_begin(thread, step);
	if (!step->start)
		count_loss(&losses.steps);
	else if (!step->part)
		close_step(thread, step, now, weight);
	now = dbprof_clock(hit->process, now);
	if (step->start)
		count_step(step, now, weight);
	if (thread->in_step)
		thread->in_step--;
	if (!step->begun_here)
		step->ended_here = note_crossed(thread, step, circuit);
	step->begun_here = 0;
	step->part = 0;
	step->start = 0;
	step->last_end = now;
	thread->ended_step = circuit;
	thread->lost_ip = thread->lost_ns = 0;
}

#endif
