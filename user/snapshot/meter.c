// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <sys/resource.h>
#include <unistd.h>

#include "snapshot/meter.h"
#include "util/clock.h"

/*
 * In a busy program a trap finds cold caches and leaves others behind. Paired runs
 * suggest at least four times what it costs where it is measured, in a loop (docs/benchmarks.md).
 */
#define IN_PLACE 4

/* Less than that the targets may have used by chance. */
#define TARGET_CPU_MIN_NS 100000000ULL

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000ULL +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

static uint64_t ticks_until(const struct cost_meter *meter, uint64_t when)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double ticks = meter->tick_share * (double)(cpus > 0 ? cpus : 1) *
		       (double)(when - meter->ticks_since);

	return meter->ticks_before + (uint64_t)ticks;
}

static struct cost_reading read_cost(const struct cost_meter *meter, const struct session *session,
				     uint64_t target_cpu_ns)
{
	uint64_t now = clock__now();

	return (struct cost_reading){
		.when_ns = now,
		.hits = session__hits(session),
		.probe_ns = session__probe_ns(session),
		.program_ns = session__program_ns(session),
		.target_cpu_ns = target_cpu_ns,
		.own_cpu_ns = own_cpu_ns(),
		.tick_ns = ticks_until(meter, now),
	};
}

void meter__set_sampler(struct cost_meter *meter, uint32_t frequency_hz, uint64_t tick_ns)
{
	uint64_t now = clock__now();

	meter->ticks_before = ticks_until(meter, now);
	meter->ticks_since = now;
	meter->tick_share = (double)frequency_hz * (double)tick_ns / 1e9;
}

void meter__begin(struct cost_meter *meter, struct session *session, uint32_t frequency_hz,
		  uint64_t tick_ns)
{
	struct dbprof_trap trap = session__trap(session);

	session__measure_programs(session, true);
	meter->trap_ns = trap.enter_ns + trap.leave_ns;
	meter__set_sampler(meter, frequency_hz, tick_ns);
	meter->begin = meter->last = meter->lap = read_cost(meter, session, 0);
}

void meter__read(const struct cost_meter *meter, const struct session *session,
		 struct cost_reading *ret_reading)
{
	*ret_reading = read_cost(meter, session, 0);
}

bool meter__probe_share(struct cost_meter *meter, struct session *session, uint64_t target_cpu_ns,
			double *ret_share)
{
	struct cost_reading now = read_cost(meter, session, target_cpu_ns);
	const struct cost_reading *last = &meter->last;
	uint64_t used = now.target_cpu_ns > last->target_cpu_ns
				? now.target_cpu_ns - last->target_cpu_ns
				: 0;
	double cost = (double)(now.hits - last->hits) * (double)meter->trap_ns * IN_PLACE +
		      (double)(now.probe_ns - last->probe_ns);

	if (used < TARGET_CPU_MIN_NS)
		return false;
	*ret_share = cost / (double)used;
	meter->last = now;
	return true;
}

void meter__restart(struct cost_meter *meter, struct session *session, uint64_t target_cpu_ns)
{
	meter->last = read_cost(meter, session, target_cpu_ns);
}

/* Run time of the programs since the begin, with the ticks that drive the sampler. */
static uint64_t programs_until(const struct cost_meter *meter, const struct cost_reading *until)
{
	uint64_t programs = until->program_ns - meter->begin.program_ns;

	return programs ? programs + until->tick_ns - meter->begin.tick_ns : 0;
}

void meter__between(const struct cost_meter *meter, const struct cost_reading *from,
		    const struct cost_reading *to, struct snapshot_cost *ret_cost)
{
	ret_cost->traps = to->hits - from->hits;
	ret_cost->trap_ns = meter->trap_ns;
	ret_cost->program_ns = programs_until(meter, to) - programs_until(meter, from);
	ret_cost->own_cpu_ns = to->own_cpu_ns - from->own_cpu_ns;
}

void meter__lap(struct cost_meter *meter, struct session *session, struct snapshot_cost *ret_cost)
{
	struct cost_reading now = read_cost(meter, session, 0);

	meter__between(meter, &meter->lap, &now, ret_cost);
	meter->lap = now;
}

void meter__end(struct cost_meter *meter, struct session *session, struct snapshot_cost *ret_cost,
		struct snapshot_cost *ret_lap)
{
	struct cost_reading now = read_cost(meter, session, 0);

	session__measure_programs(session, false);
	meter__between(meter, &meter->begin, &now, ret_cost);
	meter__between(meter, &meter->lap, &now, ret_lap);
}
