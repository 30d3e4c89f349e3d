/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two profiles of one pipeline side by side: what takes longer in the second.
 *
 * Windows differ in length and load, so times are compared for a step: the time of all workers that
 * are looked at, divided by the steps that they made together. Where one of the windows has seen no
 * step end, they are compared for a second of the window instead.
 *
 * Operators are the same when node id and label are; what is left is matched by label alone, in the
 * order of ids, since a change of the circuit shifts the ids behind it.
 */
#ifndef DBPROF_EXPORT_DIFF_H
#define DBPROF_EXPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/engine.h"
#include "model/source.h"
#include "util/fail.h"

#define DIFF_ALL_WORKERS SIZE_MAX

/* What the time of steps is split into; each a sum over workers. */
enum diff_row {
	DIFF_STEP, /* circuit_runtime_seconds */
	DIFF_CPU,
	DIFF_WAIT, /* by reason, PARK_REASONS of them */
	DIFF_RUN_QUEUE = DIFF_WAIT + PARK_REASONS,
	DIFF_PREEMPTED,
	DIFF_BLOCKED, /* by cause, DBPROF_CAUSES of them */
	DIFF_UNOBSERVED = DIFF_BLOCKED + DBPROF_CAUSES,
	DIFF_IDLE, /* between steps, cut by the window's edges or not */
	DIFF_ROWS,
};

/* "step", "  CPU", "  wait for peers". */
void diff_row__name(unsigned int row, char *text, size_t size);

/* The parts of an operator's time. */
enum diff_part {
	DIFF_PART_CPU,
	DIFF_PART_PREEMPTED,
	DIFF_PART_RUN_QUEUE,
	DIFF_PART_BLOCKED,
	DIFF_PARTS,
};

/* One operator or nested circuit in one profile. */
struct diff_node {
	struct node_path id;
	const char *label; /* "" when the profile has no graph */
	bool circuit;
	bool timed;	/* it has times at all */
	double wall_ns; /* of a circuit: in its steps */
	double part_ns[DIFF_PARTS];
	double interval_squares; /* of half the 95 % intervals, summed over workers */
	uint64_t count;		 /* evaluations; of a circuit: its steps */
	size_t match;		 /* the other profile's node; SIZE_MAX for none */
};

/* One of the two profiles. */
struct diff_side {
	struct string_pool strings;
	size_t workers; /* that were looked at */
	uint64_t steps; /* of all of them */
	uint64_t window_ns;
	double row_ns[DIFF_ROWS];
	bool has_row[DIFF_ROWS]; /* it was measured: DBSP's own profiles lack the kernel's share */
	bool has_part[DIFF_PARTS]; /* of operators, likewise */
	struct diff_node *nodes;   /* sorted by id, without the root */
	size_t count;
	size_t capacity;
	bool intervals; /* some times are estimates */
};

/* An operator in either profile or both. */
struct diff_entry {
	const struct diff_node *before; /* NULL: only after */
	const struct diff_node *after;	/* NULL: only before */
	double change_ns;		/* for a step or second; positive: slower */
	double interval_ns;		/* half the 95 % interval of the change; 0 when exact */
	bool noise;			/* the change is no larger than that */
};

struct diff {
	struct diff_side before;
	struct diff_side after;
	bool per_second;     /* no step ended in one of them */
	double before_units; /* steps or seconds of all workers */
	double after_units;
	struct diff_entry *entries; /* operators in both: certain changes first, the slower first */
	size_t both;		    /* that many of them */
	size_t count;		    /* then those in one only, the longest first */
	struct diff_entry *circuits; /* nested ones in both, the slower first */
	size_t circuit_count;
};

/*
 * Compares @worker, by its number in the pipeline, or all. Returns 0, -ENOMEM, an error of a
 * source, -ENOENT when a profile lacks the worker, -EINVAL when the two have no node in common;
 * with a sentence.
 */
int diff__make(struct profile_source *before, struct profile_source *after, size_t worker,
	       struct diff *ret_diff, struct fail *fail);
void diff__clear(struct diff *diff);

/* Whether both profiles tell of it. */
bool diff__has_row(const struct diff *diff, unsigned int row);
bool diff__has_part(const struct diff *diff, unsigned int part);

/* Time for a step or a second. */
double diff__before(const struct diff *diff, double nanos);
double diff__after(const struct diff *diff, double nanos);

struct diff_show {
	const char *names[2]; /* of the two files */
	size_t top;	      /* rows of each list; SIZE_MAX for all */
	int width;	      /* columns; 80 when not positive */
	bool colours;
};

/* Return 0, -ENOMEM or the error of the stream. */
int diff__write_text(const struct diff *diff, const struct diff_show *show, FILE *out);
int diff__write_json(const struct diff *diff, const struct diff_show *show, FILE *out);

#endif
