/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The times of a profile's nodes, all workers together.
 */
#ifndef DBPROF_EXPORT_OVERVIEW_SUMS_H
#define DBPROF_EXPORT_OVERVIEW_SUMS_H

#include "model/node_index.h"
#include "model/source.h"

#define OVERVIEW_REASONS_MAX 32

struct node_sums {
	bool is_operator; /* has a runtime */
	bool is_circuit;  /* has a runtime of its steps */
	struct duration runtime;
	uint64_t invocations;
	struct duration steps_time;
	struct duration cpu;
	struct duration waits;
	struct duration idle;
	uint64_t steps; /* of the worker that has made most */
};

struct reason_sum {
	const char *name; /* of the pool */
	struct duration time;
};

struct overview_sums {
	const size_t *worker; /* only that one; NULL: all */
	struct node_index index;
	struct node_sums *nodes; /* by the index's numbers */
	size_t count;
	size_t capacity;
	struct duration operators; /* runtime of all */
	struct string_pool strings;
	struct reason_sum reasons[OVERVIEW_REASONS_MAX]; /* waits of root circuits */
	size_t reason_count;
};

/* Adds up the whole profile. What it holds is to be cleared, also after a failure. */
int overview_sums__take(struct overview_sums *sums, struct profile_source *source,
			struct fail *fail);
void overview_sums__clear(struct overview_sums *sums);

#endif
