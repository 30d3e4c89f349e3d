// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Readings of operators, and of what the kernel did to operators and circuits.
 */
#include "model/kernel_names.h"
#include "model/readings.h"

#define NANOS_PER_MICRO 1000u

/*
 * A nested circuit is a circuit and an operator of the circuit around it, so that the readings of
 * its steps need names of their own, as the engine has runtime_seconds and circuit_runtime_seconds.
 * The root is no operator: its steps have the plain names.
 */
struct share_metrics {
	const char *run_queue;
	const char *preempted;
	const char *blocked;
	const char *unobserved;
	const char *preempted_by;
	const char *woken_by;
};

static const struct share_metrics plain_metrics = {
	.run_queue = "run_queue_seconds",
	.preempted = "preempted_seconds",
	.blocked = "blocked_seconds",
	.unobserved = "unobserved_seconds",
	.preempted_by = "preempted_by_seconds",
	.woken_by = "woken_by_seconds",
};

static const struct share_metrics nested_metrics = {
	.run_queue = "circuit_run_queue_seconds",
	.preempted = "circuit_preempted_seconds",
	.blocked = "circuit_blocked_seconds",
	.unobserved = "circuit_unobserved_seconds",
	.preempted_by = "circuit_preempted_by_seconds",
	.woken_by = "circuit_woken_by_seconds",
};

static void set_runnable(struct readings *to, const struct share_metrics *metrics,
			 const struct dbprof_kernel_share *share)
{
	struct duration preempted = { 0, 0 };

	for (unsigned int i = 0; i < DBPROF_PARTIES; i++)
		preempted = duration__add(preempted, duration__from_nanos(share->preempted_ns[i]));
	readings__nanos(to, metrics->run_queue, share->run_queue_ns);
	readings__duration(to, metrics->preempted, preempted);
}

void readings__circuit_share(struct readings *to, const struct snapshot_circuit *circuit)
{
	const struct dbprof_kernel_share *share = &circuit->share;
	const struct share_metrics *metrics = circuit->id.depth == 0 ? &plain_metrics
								     : &nested_metrics;

	set_runnable(to, metrics, share);
	for (unsigned int i = 0; i < DBPROF_CAUSES; i++)
		readings__labelled(to, metrics->blocked, "cause", cause_name(i),
				   share->blocked_ns[i]);
	for (unsigned int i = 0; i < DBPROF_PARTIES; i++) {
		readings__labelled(to, metrics->preempted_by, "by", party_name(i),
				   share->preempted_ns[i]);
		readings__labelled(to, metrics->woken_by, "by", party_name(i), share->woken_ns[i]);
	}
	readings__nanos(to, metrics->unobserved, circuit->unobserved_ns);
}

static uint64_t micros(struct duration duration)
{
	uint64_t micros;

	if (__builtin_mul_overflow(duration.secs, 1000000u, &micros) ||
	    __builtin_add_overflow(micros, duration.nanos / NANOS_PER_MICRO, &micros))
		return UINT64_MAX;
	return micros;
}

/* Profiler::profile() of src/profile.rs. */
static void set_time(struct readings *to, const struct snapshot_operator *op, struct duration total)
{
	uint64_t wall = op->runtime_ns / NANOS_PER_MICRO;

	readings__nanos(to, "runtime_seconds", op->runtime_ns);
	readings__percent(to, "nonblocking_percent", op->cpu_ns / NANOS_PER_MICRO, wall);
	readings__percent(to, "runtime_percent", wall, micros(total));
}

/* Only causes that occurred: there are many operators, and most of them never block. */
static void set_share(struct readings *to, const struct snapshot_operator *op)
{
	const struct dbprof_kernel_share *share = &op->share;

	set_runnable(to, &plain_metrics, share);
	for (unsigned int i = 0; i < DBPROF_CAUSES; i++)
		if (share->blocked_ns[i] > 0)
			readings__labelled(to, plain_metrics.blocked, "cause", cause_name(i),
					   share->blocked_ns[i]);
	if (op->unobserved_ns > 0)
		readings__nanos(to, plain_metrics.unobserved, op->unobserved_ns);
}

/* As the engine: an operator that was never evaluated has no readings. */
void readings__operator(struct readings *to, const struct snapshot_operator *op,
			struct duration total)
{
	bool invoked = op->has_invocations && op->invocations > 0;

	if (invoked)
		readings__count(to, "invocations_count", op->invocations);
	if (!op->has_time)
		return;
	if (invoked || op->runtime_ns > 0) {
		set_time(to, op, total);
		set_share(to, op);
	}
	/* Also for an operator too short to be met by a sample, if the interval says how short. */
	if (op->samples > 0 || op->interval_ns > 0) {
		readings__nanos(to, "runtime_interval_seconds", op->interval_ns);
		readings__count(to, "runtime_samples_count", op->samples);
	}
	/* Zero when it was not measured, too, which the mode tells. */
	if (op->samples > 0 || op->engine_timing_ns > 0)
		readings__nanos(to, "engine_timing_seconds", op->engine_timing_ns);
}

/* Without samples some parts are unknown, and zero then. */
static void set_known(struct readings *to, const char *metric, uint64_t nanos, bool sampled)
{
	if (sampled || nanos > 0)
		readings__nanos(to, metric, nanos);
}

void readings__cpu(struct readings *to, const struct snapshot_cpu *cpu, enum snapshot_mode mode)
{
	bool sampled = cpu->samples > 0;

	/* Then the operators cannot be told from the scheduler. */
	if (!sampled && mode != MODE_ENGINE && mode != MODE_EXACT)
		return;
	set_known(to, "operators_cpu_seconds", cpu->operators_ns, sampled);
	set_known(to, "engine_timing_seconds", cpu->engine_timing_ns, sampled);
	set_known(to, "scheduler_cpu_seconds", cpu->scheduler_ns, sampled);
	set_known(to, "outside_step_cpu_seconds", cpu->outside_ns, sampled);
}
