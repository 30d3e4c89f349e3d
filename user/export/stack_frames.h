/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames that stacks are made of.
 */
#ifndef DBPROF_EXPORT_STACK_FRAMES_H
#define DBPROF_EXPORT_STACK_FRAMES_H

#include "export/stacks.h"
#include "export/time_table.h"

#define STACK_BASE 2 /* process and worker, below all nodes */

enum special_frame {
	FRAME_SCHEDULER,
	FRAME_OPEN,	    /* the same, and evaluations that are not over */
	FRAME_NO_OPERATORS, /* steps of which no evaluation was timed */
	FRAME_TIMING,
	FRAME_WAITING,
	FRAME_NOT_IN_GRAPH,
	FRAME_OUTSIDE,
	FRAME_IDLE,
	SPECIAL_FRAMES,
};

struct known_frame {
	struct stack_frame frame;
	bool told;
};

struct stack_frames {
	struct known_frame process;
	struct known_frame worker; /* the one that is told */
	struct known_frame *nodes; /* by place in the graph */
	struct known_frame special[SPECIAL_FRAMES];
	struct known_frame parts[PARTS];
	struct known_frame reasons[WAIT_REASONS_MAX];
	char process_name[32];
	char worker_name[32];
	char **made; /* names of circuits and regions that have no label, by place */
	size_t node_count;
	size_t told; /* how many have a number */
};

/* Returns 0 or -ENOMEM; clear it in any case. The source must outlive it. */
int stack_frames__init(struct stack_frames *frames, const struct profile_source *source);
void stack_frames__clear(struct stack_frames *frames);

/* The frame of worker @number, which takes the place of the one before. */
struct known_frame *stack_frames__worker(struct stack_frames *frames, size_t number);
/* The frame of a wait reason by its place in the table. */
struct known_frame *stack_frames__reason(struct stack_frames *frames, size_t place,
					 const char *name);

#endif
