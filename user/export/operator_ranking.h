/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The operators that took most time, all workers together.
 */
#ifndef DBPROF_EXPORT_OPERATOR_RANKING_H
#define DBPROF_EXPORT_OPERATOR_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

#define WORST_OPERATORS 10

/* One operator, all workers together. */
struct operator_total {
	struct node_path id;
	const struct graph_node *node; /* of some worker's graph, NULL when it is in none */
	uint64_t runtime_ns;
	uint64_t cpu_ns;
	uint64_t interval_ns; /* half the 95 % interval around runtime_ns; 0 when exact */
	uint64_t run_queue_ns;
	uint64_t preempted_ns;
	uint64_t blocked_ns;
	uint64_t futex_ns; /* of blocked_ns */
	uint64_t unobserved_ns;
};

/*
 * Nested circuits are left out: the operators in them are here, so that all add up to the time in
 * operators, and the circuits have a table of their own.
 */
struct operator_ranking {
	struct operator_total worst[WORST_OPERATORS]; /* longest time first */
	size_t count;
	size_t more;	     /* operators that took time, too */
	uint64_t runtime_ns; /* of all operators */
	uint64_t futex_ns;
	bool intervals;	 /* some time is no exact one */
	bool unobserved; /* something of the worst is not known */
};

/* Returns 0 or -ENOMEM. No more memory than a number per worker, however many operators. */
int operator_ranking__make(const struct snapshot *snapshot, struct operator_ranking *ret_ranking);

/*
 * "Map @ s/main.rs:59:40" cut to @columns: what is left out first is the folders, then the column,
 * the location, the end of the name. "" when it is in no graph. Returns 0 or -ENOMEM.
 */
int operator_total__name(const struct operator_total *total, size_t columns, char *text,
			 size_t size);

#endif
