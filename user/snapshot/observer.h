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

/*
 * Opens the process, chooses its layout (@layout_file may be NULL), plans the probes and reads the
 * circuits of the workers that it has. Returns 0, also when there is none yet; -ENOENT when no
 * layout fits; else as target__open().
 */
int observer__open(pid_t pid, const char *layout_file, enum plan_steps steps,
		   struct observer **ret_observer, struct fail *fail);

/* Puts the probes in. Returns as session__add(). */
int observer__attach(struct observer *observer, struct session *session, struct fail *fail);

/* Notes what the threads have used so far, right after the window was opened. */
int observer__mark_begin(struct observer *observer);

/* Looks for workers that built their circuit since; cheap when there is nothing new. */
void observer__poll(struct observer *observer);

/* Reads what only memory tells of the window's end, right after it. */
int observer__freeze(struct observer *observer);

/* The books of the window @start .. @end from what the probes counted. */
int observer__snapshot(struct observer *observer, const struct session_data *data, uint64_t start,
		       uint64_t end, struct snapshot **ret_snapshot);
void observer__close(struct observer *observer);

pid_t observer__pid(const struct observer *observer);
bool observer__alive(const struct observer *observer);
size_t observer__workers(const struct observer *observer);
/* One line for people: executable, versions, layout, probes. */
void observer__describe(const struct observer *observer, char *text, size_t size);

#endif
