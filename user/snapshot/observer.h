/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One process under observation, from the first look at it to its snapshot.
 *
 * open -> attach -> mark_begin -> poll ... -> freeze -> snapshot -> close.
 */
#ifndef DBPROF_SNAPSHOT_OBSERVER_H
#define DBPROF_SNAPSHOT_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "plan/plan.h"
#include "session/session.h"
#include "snapshot/snapshot.h"
#include "util/fail.h"

struct observer;

/* What is asked for; see enum snapshot_mode for what is done. */
enum observer_mode {
	OBSERVER_AUTO, /* the engine's counters if its CPU profiler is on, else samples */
	OBSERVER_ENGINE,
	OBSERVER_SAMPLED,
	OBSERVER_EXACT,
	OBSERVER_WAITS,
};

struct observer_options {
	const char *layout_file; /* NULL: none given */
	enum plan_steps steps;
	enum observer_mode mode;
	bool joins; /* a window that is open already: observer__join() */
};

/*
 * Opens the process, chooses its layout, plans the probes and reads the circuits of the workers
 * that it has. Returns 0, also when there is none yet; -ENOENT when no layout fits; -ENODATA when
 * the mode is not to be had; else as target__open().
 */
int observer__open(pid_t pid, const struct observer_options *options,
		   struct observer **ret_observer, struct fail *fail);

/*
 * The same in two parts, with time between for workers to build their circuits: a look at the
 * process, and then the choice of the mode and the plan. is_built tells whether all workers have
 * their circuits by now.
 */
int observer__look(pid_t pid, const struct observer_options *options,
		   struct observer **ret_observer, struct fail *fail);
bool observer__is_built(struct observer *observer);
int observer__plan(struct observer *observer, struct fail *fail);

/* Puts the probes of its mode in. Returns as session__add(). */
int observer__attach(struct observer *observer, struct session *session, struct fail *fail);

/* Reads where everything stands, right after the window was opened. */
int observer__mark_begin(struct observer *observer);

/*
 * Instead of mark_begin: from *@ret_start on (CLOCK_MONOTONIC, ns; it has passed on return) the
 * process counts in the window that is open already. Returns 0 or a negative errno.
 */
int observer__join(struct observer *observer, uint64_t *ret_start);

/* Has the session forget the process. Nothing more can be measured of it then. */
void observer__detach(struct observer *observer);

/*
 * Looks for workers that built their circuit since, and for stack slots not learned yet; cheap when
 * there is nothing new.
 */
void observer__poll(struct observer *observer);

/* In how many milliseconds it should be polled again. */
unsigned int observer__poll_ms(const struct observer *observer);

/* Takes the park probes out and has waits read from the engine's own totals instead. */
void observer__drop_parks(struct observer *observer);

/*
 * Begins a turn of watching steps that is to be @turn_ns long, a second at most, or ends it when
 * that is 0 (snapshot/turns.h): their probes cost nothing in between.
 * Does nothing in modes other than sampled, which need them all the time. To be called with true
 * now and then also while a turn goes on. Returns 0 or a negative errno; then steps are not
 * watched.
 */
int observer__watch_steps(struct observer *observer, uint64_t turn_ns);

/* Reads what only memory tells of the window's end, right after it. */
int observer__freeze(struct observer *observer);

/*
 * The books of the window @start .. @end from what the probes counted. The graphs in it stay the
 * observer's, which must outlive it.
 */
int observer__snapshot(struct observer *observer, const struct session_data *data, uint64_t start,
		       uint64_t end, struct snapshot **ret_snapshot);
void observer__close(struct observer *observer);

/* When it started: field 22 of /proc/PID/stat. */
uint64_t observer__start_ticks(const struct observer *observer);
/* Worker threads whose circuit could not be read when it was last looked for. */
size_t observer__unread(const struct observer *observer);
/* Path, DBSP's version and the layout, "" when not known; the observer's own. */
const char *observer__exe(const struct observer *observer);
const char *observer__dbsp_version(const struct observer *observer);
const char *observer__layout(const struct observer *observer);
const char *observer__pipeline(const struct observer *observer);
const char *observer__pipeline_name(const struct observer *observer);
pid_t observer__pid(const struct observer *observer);
bool observer__alive(const struct observer *observer);
enum snapshot_mode observer__mode(const struct observer *observer);
size_t observer__workers(const struct observer *observer);
/* Nodes of all workers' circuits together: what the operators' map needs room for. */
size_t observer__nodes(const struct observer *observer);
/* CPU time of all its threads since mark_begin, nanoseconds; 0 when it cannot be read. */
uint64_t observer__ran_ns(const struct observer *observer);
/* Whether at least one frame's slot is known, so that operators can be told. */
bool observer__has_slot(const struct observer *observer);
/* One line for people: executable, versions, layout, probes. */
void observer__describe(const struct observer *observer, char *text, size_t size);
/* What could not be had, for people; NULL for nothing. */
const char *observer__missing(const struct observer *observer);

#endif
