/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as stacks with their times, for flame graphs and pprof:
 *
 *   process; worker N; circuit and regions...; nested circuit...; operator; reason
 *
 * The reason is "computing" or what the kernel or the engine says that the worker waited for. What
 * is of no operator has a frame in brackets: [scheduler], also of a nested circuit; [waiting], for
 * the reasons that the engine declares; [idle] and [outside steps], below the worker. Each
 * nanosecond is in one stack: time_books.h says how they add up.
 *
 * Memory is bounded by the graph: one frame and one table entry for each node.
 */
#ifndef DBPROF_EXPORT_STACKS_H
#define DBPROF_EXPORT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/source.h"
#include "util/fail.h"

struct stack_frame {
	size_t number;	  /* 0, 1, 2, ... in the order in which they are told */
	const char *name; /* an operator's label: "Map @ s/main.rs:59:40" */
	const char *node; /* its id, "" for frames that are no node of the graph */
	const char *file; /* of the label, not ended by a NUL; NULL when it names none */
	size_t file_len;
	int64_t line;
};

struct stack_sample {
	const struct stack_frame *const *frames; /* the outermost first */
	size_t depth;
	size_t worker;	  /* its number in the pipeline */
	const char *node; /* the id of the innermost node, "" when it is in none */
	const char *reason;
	int64_t wall_ns; /* above 0 */
	int64_t cpu_ns;	 /* of it; the rest is off the CPU */
};

/* Both return 0, or a negative errno that ends the telling. */
struct stack_sink {
	/* Each frame once, before the first sample that it is in; NULL when of no interest. */
	int (*frame)(void *context, const struct stack_frame *frame);
	int (*sample)(void *context, const struct stack_sample *sample);
};

/* What does not add up, over all workers. */
struct stack_notes {
	uint64_t excess_ns; /* time_books.h */
	size_t excess_workers;
};

/*
 * Tells all stacks of the profile, worker by worker. Returns 0, the sink's error, or -ENODATA with
 * a sentence when the profile has no times or no graph.
 */
int stacks__tell(struct profile_source *source, const struct stack_sink *sink, void *context,
		 struct stack_notes *ret_notes, struct fail *fail);

/* The sentence for a profile that only counts. */
int stacks__no_times(struct fail *fail);

#endif
