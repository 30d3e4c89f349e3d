/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One run of the profiler, as its parts share it. */
#ifndef DBPROF_CLI_RUN_H
#define DBPROF_CLI_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/budget.h"
#include "cli/engine_state.h"
#include "snapshot/meter.h"
#include "cli/options.h"
#include "session/session.h"
#include "snapshot/observer.h"
#include "snapshot/series.h"
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
	struct snapshot_cost reported; /* of all windows */
	struct snapshot_cost lap;      /* of the last one */
	int failed;		       /* errno of the last window that could not be written */
	uint64_t tick_ns;
	uint32_t frequency_hz;
	struct budget budget;			 /* what it made us give up */
	bool complained[OPTIONS_PIDS_MAX];	 /* of what an observer misses */
	struct series *series[OPTIONS_PIDS_MAX]; /* with an interval; NULL without */
	unsigned int windows[OPTIONS_PIDS_MAX];	 /* of the series so far */
	bool ended[OPTIONS_PIDS_MAX];		 /* its last window was the one it ended in */
	uint64_t divide_at;			 /* the next edge; UINT64_MAX without an interval */
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
/* Ends the measuring of what the profiler costs: of all, and of the last window. */
void run__settle_cost(struct run *run);
/* Fills in what the window cost that ends now. */
void run__lap_cost(struct run *run);

/* Begins the series of windows, if an interval was asked for. */
int run__begin_series(struct run *run);
/* At an edge between two windows: writes the one that ends. Failures are said and counted. */
void run__divide(struct run *run);
/* Adds the window of process @i that ends with @until, and writes it. */
int run__add_window(struct run *run, size_t i, const struct snapshot *until);
/* @snapshot with the cost @cost, which is the same for all processes. */
void run__set_cost(const struct snapshot_cost *cost, struct snapshot *snapshot);
void run__complain(struct run *run, int err);

#endif
