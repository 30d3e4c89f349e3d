/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What to probe in a DBSP executable, and where. Pure: takes the file's contents and a layout.
 */
#ifndef DBPROF_PLAN_PLAN_H
#define DBPROF_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/dbprof.h"
#include "layout/layout.h"
#include "target/elf_image.h"
#include "util/fail.h"

enum plan_probe_kind {
	PLAN_PARK,
	PLAN_UNPARK,
	PLAN_STEP_BEGIN,
	PLAN_STEP_END,
	PLAN_STEP_LEFT, /* after the end, when the engine has noted down what its profiler saw */
	PLAN_POLL_ENTER,
	PLAN_POLL_LEAVE, /* a return probe */
	PLAN_EXACT,	 /* where Timed::poll branches on Ready or Pending; see its cookie */
	PLAN_TASK_ENTRY, /* short-lived: entry of an operator's task; cookie: index of a frame */
	PLAN_PROBE_KINDS,
};

struct plan_probe {
	enum plan_probe_kind kind;
	uint64_t address;     /* virtual, as in the file */
	uint64_t file_offset; /* bytes */
	uint64_t cookie;
	bool emulated; /* the kernel need not single-step it */
};

/* How steps are probed, cheapest and most exact first. */
enum plan_steps {
	/* The first of the following that the code allows, per function; events if profiled. */
	PLAN_STEPS_AUTO,
	PLAN_STEPS_PATHS,  /* the paths of a first and a last poll (step_code.c) */
	PLAN_STEPS_EVENTS, /* where the engine logs begin and end (event_code.c) */
	PLAN_STEPS_POLLS,  /* every poll, entered and left */
};

struct plan_options {
	enum plan_steps steps;
	bool exact;    /* plan exact probes, too */
	bool profiled; /* the engine's own profiler is on */
	bool totals;   /* the engine's own sums of waits can be read in its memory */
};

/* A call of Timed::poll from an operator's task; see task_code.h. Addresses are virtual. */
struct plan_frame {
	uint64_t return_address;
	uint32_t entry_to_slot;	 /* the slot lies so far below the stack pointer at task entry */
	int32_t state_from_slot; /* bytes */
	uint32_t inner;
	uint64_t counted[3]; /* return addresses: CPU clock, operator, elapsed time */
	uint32_t entry;	     /* cookie of the task entry probe that tells its depth */
};

#define PLAN_PROBES_MAX 128
#define PLAN_FRAMES_MAX 4

struct plan {
	struct plan_probe probes[PLAN_PROBES_MAX];
	size_t probe_count;
	struct dbprof_process process; /* what the programs must know */
	size_t step_functions;
	size_t missing_functions; /* found, but not to be probed in any way */
	size_t event_functions;	  /* of them, those probed at their events */
	size_t polled_functions;  /* and those that need a probe at every poll */
	struct plan_frame frames[PLAN_FRAMES_MAX];
	size_t frame_count;
	const char *frames_missing; /* why some or all are, for people; NULL: all are there */
	const char *exact_missing;  /* why there is no exact probe, though asked for; else NULL */
	bool parks;		    /* park and unpark can be probed */
	bool reasons;		    /* park reasons can be read */
	bool blocking;		    /* blocking system calls can be told */
};

/* "park", "step begin", ... */
const char *plan_probe_kind__name(enum plan_probe_kind kind);

/*
 * Makes the plan. Returns 0 also when a part is missing (see
 * the flags), -ENOENT with a sentence when there is no step function or no park to probe.
 */
int plan__make(const struct elf_image *image, const struct layout *layout,
	       const struct plan_options *options, struct plan *ret_plan, struct fail *fail);

#endif
