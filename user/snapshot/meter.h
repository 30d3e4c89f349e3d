/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the profiler itself costs, measured while it runs. */
#ifndef DBPROF_SNAPSHOT_METER_H
#define DBPROF_SNAPSHOT_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "snapshot/snapshot.h"

/* What had been spent at one moment, since the window's begin or before it. */
struct cost_reading {
	uint64_t when_ns;    /* CLOCK_MONOTONIC */
	uint64_t hits;	     /* of probes */
	uint64_t probe_ns;   /* run time of the programs on them */
	uint64_t program_ns; /* and of all programs */
	uint64_t target_cpu_ns;
	uint64_t own_cpu_ns;
	uint64_t tick_ns; /* of the sampler's ticks on all CPUs */
};

struct cost_meter {
	struct cost_reading begin;
	struct cost_reading last; /* begin of the period that is being looked at */
	struct cost_reading lap;  /* begin of the window */
	uint64_t trap_ns;	  /* each, around its program */
	double tick_share;	  /* of each CPU, that the sampler's ticks take */
	uint64_t ticks_since;	  /* CLOCK_MONOTONIC, ns: when that was set */
	uint64_t ticks_before;	  /* what they took until then, ns */
};

/* Starts the measuring, when the window was opened. */
void meter__begin(struct cost_meter *meter, struct session *session, uint32_t frequency_hz,
		  uint64_t tick_ns);

/* The sampler was started or, with @frequency_hz 0, stopped. */
void meter__set_sampler(struct cost_meter *meter, uint32_t frequency_hz, uint64_t tick_ns);

/* What has been spent by now, and between two such readings. */
void meter__read(const struct cost_meter *meter, const struct session *session,
		 struct cost_reading *ret_reading);
void meter__between(const struct cost_meter *meter, const struct cost_reading *from,
		    const struct cost_reading *to, struct snapshot_cost *ret_cost);

/*
 * The cost of the probes alone in the period since the last call, as a share of the CPU time that
 * the targets used in it. @target_cpu_ns is what they have used since the begin. Returns false, and
 * goes on with the same period, while they have used too little to say anything.
 */
bool meter__probe_share(struct cost_meter *meter, struct session *session, uint64_t target_cpu_ns,
			double *ret_share);

/* Begins that period anew. */
void meter__restart(struct cost_meter *meter, struct session *session, uint64_t target_cpu_ns);

/* Fills in what the window cost that ends now, and begins the next. */
void meter__lap(struct cost_meter *meter, struct session *session, struct snapshot_cost *ret_cost);

/* Ends the measuring and fills in what all cost, and the last window of it. */
void meter__end(struct cost_meter *meter, struct session *session, struct snapshot_cost *ret_cost,
		struct snapshot_cost *ret_lap);

#endif
