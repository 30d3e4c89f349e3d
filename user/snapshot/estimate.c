// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>

#include "snapshot/books.h"
#include "snapshot/estimate.h"

#define Z_95 1.96 /* standard deviations on each side of a 95 % interval */
/* With no sample in n the value lies below 3 / n with 95 % confidence ("rule of three"). */
#define NONE_OF_N 3.0

/* So many blind samples among the others bend the shares too much to go unsaid. */
bool estimate__is_blinded(const struct snapshot_cpu *cpu)
{
	return cpu->blind_samples > cpu->samples / 20;
}

static uint64_t share_of(uint64_t cpu_ns, uint64_t samples, uint64_t all)
{
	if (!all)
		return 0;
	return (uint64_t)((unsigned __int128)cpu_ns * samples / all);
}

/* Half the 95 % interval of a binomial share of the CPU time. */
static uint64_t interval_of(uint64_t cpu_ns, uint64_t samples, uint64_t all)
{
	double n = (double)all, p;

	if (!all)
		return 0;
	if (!samples)
		return (uint64_t)((double)cpu_ns * fmin(1.0, NONE_OF_N / n));
	p = (double)samples / n;
	return (uint64_t)(Z_95 * sqrt(p * (1 - p) / n) * (double)cpu_ns);
}

/* What was off the CPU is exact, so that the interval is that of the CPU time alone. */
void estimate__operators(struct snapshot_worker *worker, uint64_t cpu_ns)
{
	uint64_t all = worker->cpu.samples;

	for (size_t i = 0; i < worker->operator_count; i++) {
		struct snapshot_operator *op = &worker->operators[i];
		uint64_t off = op->share.run_queue_ns + share__preempted(&op->share) +
			       share__blocked(&op->share);

		op->cpu_ns = share_of(cpu_ns, op->samples, all);
		op->engine_timing_ns = share_of(cpu_ns, op->timing_samples, all);
		op->has_time = all > worker->cpu.blind_samples;
		op->runtime_ns = op->cpu_ns + off;
		op->interval_ns = interval_of(cpu_ns, op->samples, all);
	}
}

/* Takes at most @*left. */
static uint64_t take(uint64_t part, uint64_t *left)
{
	uint64_t taken = part < *left ? part : *left;

	*left -= taken;
	return taken;
}

void estimate__cpu(struct snapshot_worker *worker, enum snapshot_mode mode, uint64_t cpu_ns)
{
	uint64_t left = cpu_ns, operators = 0, timing = 0, scheduler = 0;
	uint64_t in_steps = worker->circuit_count ? worker->circuits[0].cpu_ns : 0;
	struct snapshot_cpu *cpu = &worker->cpu;

	for (size_t i = 0; i < worker->operator_count; i++) {
		operators += worker->operators[i].cpu_ns;
		timing += worker->operators[i].engine_timing_ns;
	}
	if (mode == MODE_SAMPLED)
		scheduler = share_of(cpu_ns, cpu->scheduler_samples, cpu->samples);
	else if (in_steps > operators)
		/* What the engine does not time, its clock reads among it. */
		scheduler = in_steps - operators;
	cpu->operators_ns = take(operators, &left);
	cpu->engine_timing_ns = take(timing, &left);
	cpu->scheduler_ns = take(scheduler, &left);
	cpu->outside_ns = left;
}

uint64_t estimate__cpu_ns(const struct snapshot_cpu *cpu)
{
	return cpu->operators_ns + cpu->engine_timing_ns + cpu->scheduler_ns + cpu->outside_ns;
}
