/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the observer share. */
#ifndef DBPROF_SNAPSHOT_OBSERVER_INTERNAL_H
#define DBPROF_SNAPSHOT_OBSERVER_INTERNAL_H

#include "engine/engine.h"
#include "layout/layout.h"
#include "plan/plan.h"
#include "snapshot/observer.h"
#include "target/target.h"

/* What /proc tells of a thread at one moment. */
struct thread_usage {
	pid_t tid;
	uint64_t start_ticks;
	uint64_t ran_ns; /* CPU time since its start */
	char state;	 /* of /proc/PID/task/TID/stat */
	char comm[16];
};

struct usage_list {
	struct thread_usage *threads; /* sorted by tid */
	size_t count;
};

/* What memory told of a worker when the window ended. */
struct frozen_worker {
	bool has_park;
	struct engine_park park;
	bool *has_step; /* per circuit */
	struct engine_step *steps;
};

struct observed_worker {
	struct engine_worker *engine;
	bool late; /* found after the window began */
	struct frozen_worker frozen;
};

struct observer {
	struct target *target;
	struct layout layout;
	struct plan plan;
	const char *uprobe_kind;
	struct dbprof_trap trap;
	size_t failed_probes;
	struct observed_worker *workers;
	size_t worker_count;
	size_t seen_threads;   /* at the last poll that found nothing to do */
	size_t unread_workers; /* worker threads whose circuit could not be read yet */
	bool begun;
	struct usage_list before;
	struct usage_list after;
};

/* Reads the usage of all threads of the target. */
int usage_list__read(const struct target *target, struct usage_list *ret_list);
void usage_list__free(struct usage_list *list);
const struct thread_usage *usage_list__find(const struct usage_list *list, pid_t tid);

#endif
