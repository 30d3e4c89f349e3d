/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All that was measured of one process in one window, with what could not be.
 *
 * Times are nanoseconds; instants are CLOCK_MONOTONIC.
 */
#ifndef DBPROF_SNAPSHOT_SNAPSHOT_H
#define DBPROF_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "engine/graph.h"

/* What one circuit of one worker did in the window. Steps cut by its edges count partly. */
struct snapshot_circuit {
	struct node_path id;
	uint64_t steps;	     /* that ended in the window */
	uint64_t runtime_ns; /* inside steps */
	uint64_t cpu_ns;     /* of it, the worker's thread on a CPU */
	uint64_t wait_ns[PARK_REASONS];
	uint64_t idle_ns;      /* between two steps of the window, as DBSP counts it */
	uint64_t edge_idle_ns; /* idle cut by the window's edges, which DBSP leaves out */
	bool step_open;	       /* a step was open when the window ended */
	bool step_open_before; /* and that step was open when the window began */
	uint64_t step_age_ns;  /* of the open step; a lower bound when step_open_before && !exact */
	bool step_age_exact;
	int open_reason;	 /* park reason it waits for at the end, -1 when it computes */
	uint64_t open_reason_ns; /* for how long it has been waiting for that */
};

struct snapshot_thread {
	pid_t tid;
	char comm[16];
	int worker;	      /* -1 for threads that are not workers */
	uint64_t observed_ns; /* wall time in the window */
	uint64_t on_cpu_ns;
	uint64_t run_queue_ns; /* woken, not yet running */
	uint64_t preempted_ns; /* runnable, put off its CPU */
	uint64_t blocked_ns;
	uint64_t unobserved_ns; /* the rest, so that the parts add up to observed_ns */
};

struct snapshot_worker {
	unsigned int index;
	pid_t tid;
	struct graph *graph;
	struct snapshot_circuit *circuits; /* circuits[0] is the root */
	size_t circuit_count;
	bool late; /* its circuit was built after the window began */
};

/* What was lost or could not be observed; any non-zero one makes the profile incomplete. */
struct snapshot_losses {
	uint64_t threads;    /* threads without a slot in the map */
	uint64_t circuits;   /* circuits without a slot in the map */
	uint64_t reads;	     /* failed reads of the target's memory in BPF */
	uint64_t steps;	     /* step ends without a start, and the like */
	uint64_t missed;     /* probe hits that the kernel did not run */
	uint64_t workers;    /* worker threads whose circuit could not be read */
	uint64_t unresolved; /* circuits seen by probes that no graph explains */
	uint64_t probes;     /* probes that could not be attached */
	bool target_exited;  /* the window ended with the target; not a loss by itself */
};

struct snapshot {
	pid_t pid;
	char host[65];
	char kernel[65];
	char *exe;
	char *build_id;
	char *dbsp_version;
	char *rustc_version;
	char *layout; /* where the layout came from */
	char *mode;
	uint64_t window_start_ns;     /* CLOCK_MONOTONIC */
	int64_t window_start_unix_ns; /* the same instant on CLOCK_REALTIME */
	uint64_t window_ns;
	uint64_t runtime_elapsed_ns; /* some worker in a step, times workers, times two, as DBSP */
	struct snapshot_worker *workers; /* sorted by index */
	size_t worker_count;
	struct snapshot_thread *threads;
	size_t thread_count;
	struct snapshot_thread exited; /* sum over threads that exited in the window */
	uint64_t exited_count;
	uint32_t trap_ns; /* what a probe's trap costs here, around the program it runs */
	struct snapshot_losses losses;
};

void snapshot__free(struct snapshot *snapshot);

/* Whether something could not be observed. */
bool snapshot__incomplete(const struct snapshot *snapshot);

#endif
