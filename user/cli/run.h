/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One run of the profiler, as its parts share it. */
#ifndef DBPROF_CLI_RUN_H
#define DBPROF_CLI_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/engine_state.h"
#include "cli/meter.h"
#include "cli/options.h"
#include "session/session.h"
#include "snapshot/observer.h"
#include "util/fail.h"

struct run {
	const struct options *options;
	struct fail fail;
	pid_t pids[OPTIONS_PIDS_MAX];
	size_t count;
	struct observer *observers[OPTIONS_PIDS_MAX];
	int pidfds[OPTIONS_PIDS_MAX];
	int signals;
	struct session *session;
	struct engine_state *state; /* NULL unless asked for */
	bool launched;		    /* our own child, still held before its first instruction */
	bool incomplete;
	size_t written; /* profiles */
	struct cost_meter cost;
	struct snapshot_cost reported;
	uint64_t tick_ns;
	uint32_t frequency_hz;
	const char *dropped;		   /* what the budget made us give up */
	bool complained[OPTIONS_PIDS_MAX]; /* of what an observer misses */
	uint64_t began; /* when the program was started, for the time to first data */
	uint64_t start;
	uint64_t end;
};

/*
 * From nothing to an open window, in this order; each returns 0 or a negative errno with a sentence
 * in the run.
 */
int run__catch_signals(struct run *run);
int run__launch(struct run *run);
int run__open_processes(struct run *run);
int run__open_session(struct run *run);
int run__attach(struct run *run);

/* Whether a signal to end has come; asked before the window, it is not waited for. */
bool run__interrupted(const struct run *run);
/* From now on signals do what they usually do. */
void run__let_signals(const struct run *run);

/* Until the window's end. */
void run__say_attached(const struct run *run);
void run__watch(struct run *run);
/* Ends the measuring of what the profiler costs, unless that was long ago. */
void run__settle_cost(struct run *run);

#endif
