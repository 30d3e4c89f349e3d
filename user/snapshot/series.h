/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows that follow each other without a gap, and add up to the window around them.
 *
 * Each is what has come to the snapshot from the begin since the windows before it, so that their
 * sum is that snapshot: steps, times of steps, waits, evaluations, the books of threads, to the
 * nanosecond. A clock that was read at an edge may turn out to have been ahead a little: then a
 * part that would be negative is zero, and the next windows have that much less of it.
 *
 * What does not add up: times of operators that rest on samples, of which each window has its own
 * and the whole all of them; the runtime that DBSP counts by its busiest worker; what was open at
 * an edge. A pause that an edge cuts is idle time, or edge idle time when it lasts to the end of
 * its window; only both together add up.
 */
#ifndef DBPROF_SNAPSHOT_SERIES_H
#define DBPROF_SNAPSHOT_SERIES_H

#include <stdint.h>

#include "snapshot/snapshot.h"

struct series;

/* Returns 0 or -ENOMEM. */
int series__open(struct series **ret_series);
void series__close(struct series *series);

/*
 * The window from the end of the last one to that of @until, a snapshot from the begin of the first
 * one on; its cost is @until's. Graphs are borrowed from it and must outlive the series. Returns 0
 * or -ENOMEM, and then nothing has changed.
 */
int series__next(struct series *series, const struct snapshot *until, struct snapshot **ret_window);

/* All windows so far as one; the series' own. NULL before the first. */
struct snapshot *series__sum(struct series *series);

#endif
