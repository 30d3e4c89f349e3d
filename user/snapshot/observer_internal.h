/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the observer share. */
#ifndef DBPROF_SNAPSHOT_OBSERVER_INTERNAL_H
#define DBPROF_SNAPSHOT_OBSERVER_INTERNAL_H

#include "engine/engine.h"
#include "engine/engine_reading.h"
#include "layout/layout.h"
#include "plan/plan.h"
#include "snapshot/books.h"
#include "snapshot/observer.h"
#include "target/target.h"

/* What /proc tells of a thread at one moment. */
struct thread_usage {
	pid_t tid;
	uint64_t start_ticks;
	uint64_t ran_ns; /* CPU time since its start */
	long call;	 /* the system call it is in, -1 in none */
	char state;	 /* of /proc/PID/task/TID/stat */
	char comm[16];
};

struct usage_list {
	struct thread_usage *threads; /* sorted by tid */
	size_t count;
};

/*
 * What memory told of a worker right after the window had begun: of a circuit and a park without
 * any event since, this still holds at the end. Where no probe tells of parks, the park is read
 * again at the end.
 */
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
	struct engine_reading *before; /* engine mode; NULL when nothing had been counted yet */
	struct engine_reading *after;
	bool torn_before; /* the reading did not settle */
	bool torn_after;
	struct snapshot_turns turns;  /* that have ended */
	struct dbprof_circuit turned; /* the root as it was when the last one ended */
	uint64_t turned_at;	      /* and when, by the clock of what is watched; 0 before */
};

struct observer {
	struct observer_options options;
	struct target *target;
	struct session *session;
	enum snapshot_mode mode;
	struct layout layout;
	struct plan plan;
	struct dbprof_process process; /* as the programs know it now */
	const char *uprobe_kind;
	struct dbprof_trap trap;
	size_t failed_probes;
	struct observed_worker *workers;
	size_t worker_count;
	size_t told_workers;   /* that the session knows of */
	size_t unread_workers; /* worker threads whose circuit could not be read yet */
	bool begun;
	int64_t date_offset_ns;	  /* clock__date_offset() when the window began */
	uint64_t impatient_until; /* CLOCK_MONOTONIC, ns: for workers that start */
	unsigned int polls;
	unsigned int looks;   /* how often stacks were looked at again */
	bool learning;	      /* the task entry probe is in */
	uint64_t learn_until; /* CLOCK_MONOTONIC, ns */
	const char *missing;  /* what could not be had, for people */
	struct usage_list before;
	struct usage_list after;
	uint64_t began;	     /* of the window, CLOCK_MONOTONIC, ns */
	uint64_t watched_ns; /* of it, in turns of watching steps that have ended */
	bool turn_told;	     /* the sums over turns have the last one */
};

/*
 * Reads the circuits of worker threads not known yet. Returns 0, -EAGAIN when one was not ready,
 * -ENOENT when one does not fit the layout.
 */
int observer__read_workers(struct observer *observer, struct fail *fail);

/* For how long of the window up to @end steps were watched. */
uint64_t observer__watched_ns(const struct observer *observer, uint64_t end);

/* Reads the usage of all threads of the target. */
int usage_list__read(const struct target *target, struct usage_list *ret_list);
void usage_list__free(struct usage_list *list);
/* Tells the session of the threads that there are. */
void observer__expect_threads(struct observer *observer);

const struct thread_usage *usage_list__find(const struct usage_list *list, pid_t tid);

/* Adds to @observer->process what the probe has told by now. */
void learn__refresh(struct observer *observer);
/* Makes the process description of the plan ready, with slots as far as memory tells them. */
void learn__begin(struct observer *observer);
/* Learns the others by a short-lived probe. */
void learn__probe(struct observer *observer);
/* Looks at what it told; takes it out once all is known and, as @settled says, all workers are. */
void learn__poll(struct observer *observer, bool settled);

#endif
