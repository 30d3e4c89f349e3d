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

#include "bpf/dbprof.h"
#include "engine/engine.h"
#include "engine/graph.h"

/* How operators and steps were measured. */
enum snapshot_mode {
	MODE_ENGINE,  /* the engine's own counters, read from its memory; no trap */
	MODE_SAMPLED, /* steps and parks by probes, operators by samples and at context switches */
	MODE_EXACT,   /* the same with a probe at every evaluation instead of samples */
	MODE_WAITS,   /* steps and parks by probes, no time of operators */
	SNAPSHOT_MODES,
};

/* "engine", "sampled", "exact", "waits". */
const char *snapshot_mode__name(enum snapshot_mode mode);

/* What one circuit of one worker did in the window. Steps cut by its edges count partly. */
struct snapshot_circuit {
	struct node_path id;
	uint64_t steps;	     /* that ended in the window */
	uint64_t runtime_ns; /* inside steps */
	uint64_t cpu_ns;     /* of it, the worker's thread on a CPU */
	uint64_t wait_ns[PARK_REASONS];
	uint64_t idle_ns; /* between two steps of the window, as DBSP counts it */
	/* Idle cut by the window's edges, and the engine's own bookkeeping; DBSP leaves both out.
	 */
	uint64_t edge_idle_ns;
	/*
	 * Of runtime_ns, what was not on a CPU, as the kernel saw it: runtime_ns = cpu_ns + the
	 * share's run queue + blocked + preempted + unobserved_ns, exactly.
	 */
	struct dbprof_kernel_share share;
	uint64_t unobserved_ns;
	bool step_open;	       /* a step was open when the window ended */
	bool step_open_before; /* and that step was open when the window began */
	uint64_t step_age_ns;  /* of the open step; a lower bound unless step_age_exact */
	bool step_age_exact;
	int open_reason;	 /* park reason it waits for at the end, -1 when it computes */
	uint64_t open_reason_ns; /* for how long it has been waiting for that */
};

/* One operator (or nested circuit as an operator of its parent) of one worker. */
struct snapshot_operator {
	struct node_path id;
	bool has_invocations;
	uint64_t invocations;
	bool has_time;		   /* the following were measured */
	uint64_t runtime_ns;	   /* as DBSP defines it: wall time of its evaluations */
	uint64_t cpu_ns;	   /* of it, on a CPU */
	uint64_t interval_ns;	   /* half the 95 % interval around runtime_ns; 0 when exact */
	uint64_t samples;	   /* that runtime_ns rests on; 0 when exact */
	uint64_t timing_samples;   /* likewise engine_timing_ns */
	uint64_t engine_timing_ns; /* the engine's own clock reads, outside of runtime_ns */
	struct dbprof_kernel_share share; /* of runtime_ns - cpu_ns */
	uint64_t unobserved_ns;		  /* the rest of it */
};

/*
 * Where a worker's CPU time went. The parts add up to what the scheduler's own clock says, which
 * starts at the wake-up: a little more than the thread's on_cpu_ns, which starts at the switch.
 */
struct snapshot_cpu {
	uint64_t operators_ns;
	uint64_t engine_timing_ns;  /* the engine's own clock reads around evaluations */
	uint64_t scheduler_ns;	    /* the rest of the time in steps */
	uint64_t outside_ns;	    /* outside of steps */
	uint64_t samples;	    /* of this worker; 0 when not sampled */
	uint64_t scheduler_samples; /* of them, that scheduler_ns rests on */
	uint64_t blind_samples;	    /* of them, taken before the stack told operators */
};

/*
 * Steps watched in turns: sums over the turns that stand for more than themselves and ended in the
 * window, from which follows how exact an estimate by them is. Times are in units of 10 us, so that
 * squares have room.
 */
struct snapshot_turns {
	uint64_t count;
	uint64_t watched;   /* their length */
	uint64_t stood_for; /* the time that they stand for */
	uint64_t steps;	    /* of the root */
	uint64_t runtime;   /* of the root, in steps */
	uint64_t stood_for_squared;
	uint64_t steps_squared;
	uint64_t runtime_squared;
	uint64_t steps_stood_for; /* products */
	uint64_t runtime_stood_for;
};

struct snapshot_worker {
	unsigned int index;
	pid_t tid;
	struct graph *graph;
	bool graph_borrowed;		   /* someone else frees it */
	struct snapshot_circuit *circuits; /* circuits[0] is the root */
	size_t circuit_count;
	struct snapshot_operator *operators; /* every node but the root, sorted by id */
	size_t operator_count;
	struct snapshot_cpu cpu;
	uint64_t observed_ns; /* of the window: since the thread was there */
	/*
	 * Of it, while steps were watched. Less than that: what is told of circuits is an estimate
	 * for all of it (turns.h).
	 */
	uint64_t watched_ns;
	uint64_t wait_ns[PARK_REASONS]; /* of the thread, by the engine's reasons */
	struct snapshot_turns turns;
	struct dbprof_latency latency; /* of steps of the root that were seen from begin to end */
	bool late;		       /* its circuit was built after the window began */
};

enum thread_role {
	ROLE_WORKER,
	ROLE_MERGER, /* merger-N */
	ROLE_IO,     /* feldera-tokio-N, dbsp-storage and the like */
	ROLE_OTHER,
	THREAD_ROLES,
};

/* "worker", "merger", "io", "other". */
const char *thread_role__name(enum thread_role role);

/* Closed books: the parts add up to observed_ns exactly. */
struct snapshot_thread {
	pid_t tid;
	char comm[16];
	int worker; /* -1 for threads that are not workers */
	enum thread_role role;
	uint64_t observed_ns; /* wall time in the window */
	uint64_t on_cpu_ns;
	uint64_t run_queue_ns;	/* woken, not yet running; share.run_queue_ns */
	uint64_t preempted_ns;	/* runnable, put off its CPU; the sum over share.preempted_ns */
	uint64_t blocked_ns;	/* the sum over share.blocked_ns */
	uint64_t unobserved_ns; /* the rest */
	struct dbprof_kernel_share share;
};

/* What was lost or could not be observed; any non-zero one makes the profile incomplete. */
struct snapshot_losses {
	uint64_t threads;    /* threads without a slot in the map */
	uint64_t circuits;   /* circuits without a slot in the map */
	uint64_t operators;  /* operators without a slot in the map */
	uint64_t reads;	     /* failed reads of the target's memory in BPF */
	uint64_t slots;	     /* stack slots that could not be read */
	uint64_t steps;	     /* step ends without a start, and the like */
	uint64_t missed;     /* probe hits that the kernel did not run */
	uint64_t torn;	     /* readings of the engine's counters that never settled */
	uint64_t workers;    /* worker threads whose circuit could not be read */
	uint64_t unresolved; /* circuits or operators seen that no graph explains */
	uint64_t probes;     /* probes that could not be attached */
	bool target_exited;  /* the window ended with the target; not a loss by itself */
};

/* What a budget can make the profiler give up, for people. */
#define SNAPSHOT_NO_PARKS "park probes"
#define SNAPSHOT_IN_TURNS "park probes, and step probes for part of the time"

/* What the profiler itself cost in the window. */
struct snapshot_cost {
	uint64_t traps;	     /* probe hits */
	uint64_t trap_ns;    /* each, around the program it runs, measured at load */
	uint64_t program_ns; /* run time of all BPF programs; 0 when the kernel did not count it */
	uint64_t own_cpu_ns; /* CPU time of the profiler's own process */
	uint64_t target_cpu_ns; /* CPU time of the target, to compare with */
	double budget;		/* share of it that was allowed; 0 when there was no budget */
	const char *dropped;	/* what the budget made the profiler give up; NULL for nothing */
};

struct snapshot {
	pid_t pid;
	char host[65];
	char kernel[65];
	char *exe;
	char *pipeline;	     /* Feldera's id of it and its user's name: target/pipeline.h; */
	char *pipeline_name; /* NULL when not known */
	char *build_id;
	char *dbsp_version;
	char *rustc_version;
	char *layout; /* where the layout came from */
	enum snapshot_mode mode;
	uint32_t frequency_hz;	      /* of the sampler, on each CPU; 0 without */
	uint64_t window_start_ns;     /* CLOCK_MONOTONIC */
	int64_t window_start_unix_ns; /* the same instant on CLOCK_REALTIME, as that was then */
	int64_t clock_step_ns; /* how far the one was set against the other since; no file has it */
	uint64_t window_ns;
	uint64_t runtime_elapsed_ns; /* some worker in a step, times workers, times two, as DBSP */
	struct snapshot_worker *workers; /* sorted by index */
	size_t worker_count;
	struct snapshot_thread *threads;
	size_t thread_count;
	struct snapshot_thread exited; /* sum over threads that exited in the window */
	uint64_t exited_count;
	struct snapshot_cost cost;
	char *dropped; /* what cost.dropped points at when it is the snapshot's own; else NULL */
	struct snapshot_losses losses;
};

void snapshot__free(struct snapshot *snapshot);

/* Whether something could not be observed. */
bool snapshot__incomplete(const struct snapshot *snapshot);

#endif
