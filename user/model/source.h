/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile that is told node by node, so that whoever writes it needs memory for one node and the
 * graph, however many workers there are: the phases of ProfileJsonWriter (src/profile.rs).
 *
 * It may be a window that was just measured (export/snapshot_source.h), a file (reader/reader.h),
 * or a profile in memory; it can be told any number of times, with the same result.
 */
#ifndef DBPROF_MODEL_SOURCE_H
#define DBPROF_MODEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "util/fail.h"
#include "util/json_writer.h"

/*
 * What is told of a profile, in the order in which DBSP writes it. Each returns 0, or a negative
 * errno that ends the telling. NULL for what is of no interest. @worker counts from 0; what @node
 * points at is valid during the call only.
 */
struct profile_visitor {
	int (*worker_begin)(void *context, size_t worker);
	int (*node)(void *context, size_t worker, const struct profile_node *node);
	int (*worker_end)(void *context, size_t worker);
};

struct profile_source;

struct profile_source_ops {
	/* Tells all workers. Returns 0, an error with its sentence in @fail, or the visitor's. */
	int (*visit)(struct profile_source *source, const struct profile_visitor *visitor,
		     void *context, struct fail *fail);
	/* Writes the elements of the array "metrics". NULL when the profile has no such member. */
	int (*metrics)(struct profile_source *source, struct json_writer *json, struct fail *fail);
	/* Writes the members that come after the graph, of the object that is open. May be NULL. */
	int (*members)(struct profile_source *source, struct json_writer *json, struct fail *fail);
	void (*close)(struct profile_source *source);
};

struct profile_source {
	const struct profile_source_ops *ops;
	const struct profile_graph *graph; /* NULL: the profile has none */
	size_t worker_count;
	size_t first_worker;	  /* its number in the pipeline: GraphProfile's worker_offset */
	const char *dbsp_version; /* NULL when it is not known; so the next two */
	const char *host;
	const char *mode;      /* how it was measured: snapshot_mode__name() */
	int64_t start_unix_ns; /* of the window; 0 when it is not known */
	uint64_t elapsed_ns;   /* the window's length; 0 when it is not known */
	pid_t pid;	       /* 0 when it is not known */
};

int profile_source__visit(struct profile_source *source, const struct profile_visitor *visitor,
			  void *context, struct fail *fail);
int profile_source__metrics(struct profile_source *source, struct json_writer *json,
			    struct fail *fail);
int profile_source__members(struct profile_source *source, struct json_writer *json,
			    struct fail *fail);
/* NULL is fine. */
void profile_source__close(struct profile_source *source);

#endif
