/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that put a snapshot together share. */
#ifndef DBPROF_SNAPSHOT_TAKE_INTERNAL_H
#define DBPROF_SNAPSHOT_TAKE_INTERNAL_H

#include "snapshot/books.h"
#include "snapshot/observer_internal.h"

struct taking {
	const struct observer *observer;
	const struct session_data *data;
	struct window window;
	struct snapshot *snapshot;
	bool *explained; /* per circuit of the data: a graph has it */
};

/* What was counted of a thread; NULL when no event was seen of it. */
const struct dbprof_thread *take__thread(const struct taking *taking, pid_t tid);

/* What /proc tells of a thread that no event was seen of. */
struct silent_thread take__silent_thread(const struct observer *observer, pid_t tid);

/* Fills the snapshot's threads. Returns 0 or -ENOMEM. */
int take_threads(struct taking *taking);

/*
 * Fills the worker's operators from what was counted, once its circuits are filled; not yet closed.
 * Returns 0 or -ENOMEM.
 */
int take_operators(struct taking *taking, const struct engine_worker *engine,
		   const struct dbprof_thread *thread, const struct thread_totals *totals,
		   struct snapshot_worker *worker);

#endif
