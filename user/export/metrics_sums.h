/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What windows of one process add up to: the counters of its metrics, which only grow.
 *
 * Windows that follow each other without a gap give sums without a gap: what an edge cuts counts in
 * both windows, with the part that lies in each.
 */
#ifndef DBPROF_EXPORT_METRICS_SUMS_H
#define DBPROF_EXPORT_METRICS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "snapshot/snapshot.h"

#define METRICS_WORKERS_MAX	1024  /* of a process; more are counted in left_out */
#define METRICS_OPERATORS_MAX	16384 /* the same of operators, about 150 bytes each */
#define METRICS_OPERATORS_SHOWN 20    /* by default */

/* In steps of the root circuit; step_ns = cpu_ns + the share's parts but woken + unobserved_ns. */
struct metrics_worker {
	unsigned int index;
	uint64_t steps;
	uint64_t step_ns;
	uint64_t cpu_ns;
	uint64_t wait_ns[PARK_REASONS];
	struct dbprof_kernel_share share;
	uint64_t unobserved_ns;
	uint64_t idle_ns;      /* outside of steps, edges of windows included */
	uint64_t open_step_ns; /* age of the step that was open at the last window's end, or 0 */
};

/* Of all workers together. */
struct metrics_operator {
	struct node_path id;
	char *name; /* "Map @ s/main.rs:59:40", as of when it was first seen */
	uint64_t runtime_ns;
	uint64_t cpu_ns;
	uint64_t evaluations;
	double recent_ns; /* of runtime_ns, the past counting less and less */
	bool shown;
};

struct metrics_sums {
	/* Those of the process, from the snapshots; NULL when not known. */
	pid_t pid;
	char *exe;
	char *pipeline;	     /* Feldera's id of it */
	char *pipeline_name; /* and what its user calls it */
	char *dbsp_version;
	char *rustc_version;
	char *build_id;
	enum snapshot_mode mode; /* of the last window */

	uint64_t windows;
	uint64_t incomplete_windows;
	uint64_t incomplete; /* 1: the last one was */
	uint64_t window_ns;
	uint64_t process_cpu_ns;
	struct snapshot_losses losses;
	uint64_t left_out; /* workers and operators for which there is no room here */

	struct metrics_worker *workers; /* sorted by index */
	size_t worker_count;
	struct metrics_operator *operators; /* sorted by id; no nested circuits */
	size_t operator_count;
	uint64_t operators_ns;	       /* runtime_ns of all, also those without room */
	struct dbprof_latency latency; /* of steps of the root circuit, of all workers */
	size_t shown_max;
};

/* What the profiler itself took, for all processes together. */
struct metrics_cost {
	uint64_t traps;
	uint64_t trap_ns;
	uint64_t program_ns;
	uint64_t own_cpu_ns;
};

/*
 * Empty sums. Of the operators the @shown_max that took most time lately are told one by one.
 * Returns NULL when memory is short.
 */
struct metrics_sums *metrics_sums__new(size_t shown_max);
/* NULL is fine. */
void metrics_sums__free(struct metrics_sums *sums);

/*
 * Adds a window. All must be of the same process and of circuits that stay what they are; when a
 * circuit is replaced, begin new sums. Returns 0; -EINVAL when it is another process; -ENOMEM. On
 * failure nothing was added.
 */
int metrics_sums__add(struct metrics_sums *sums, const struct snapshot *snapshot);

/* Once for each window, however many processes shared it. */
void metrics_cost__add(struct metrics_cost *sum, const struct snapshot_cost *cost);

/* For metrics_sums.c: room for the operators of @snapshot (0 or -ENOMEM), and their sums. */
int metrics_operators__learn(struct metrics_sums *sums, const struct snapshot *snapshot);
void metrics_operators__add(struct metrics_sums *sums, const struct snapshot *snapshot);
/* Adds, and stops at the largest number. */
void metrics__grow(uint64_t *sum, uint64_t by);

#endif
