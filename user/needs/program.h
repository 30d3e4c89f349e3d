/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that look at a program share. */
#ifndef DBPROF_NEEDS_PROGRAM_H
#define DBPROF_NEEDS_PROGRAM_H

#include <stdbool.h>

#include "layout/layout.h"
#include "needs/needs.h"
#include "plan/plan.h"
#include "snapshot/observer.h"
#include "target/target.h"
#include "util/fail.h"

struct program {
	struct need_list *needs;
	struct target *target;
	struct layout layout;
	int layout_err;
	struct fail layout_fail;
	struct observer *observer; /* NULL when profiling it could not begin */
	struct fail observer_fail;
	bool profiled; /* the engine's own CPU profiler is on, so that no probe is needed */
	struct plan plan;
	int plan_err;
	struct fail plan_fail;
};

/* needs__add() to the program's group. */
int program__add(struct program *program, const char *name, enum need_verdict verdict,
		 const char *lost, const char *remedy, const char *detail);

/* What the code has places for, and which mode that makes. Returns 0 or -ENOMEM. */
int program__check_places(struct program *program);

#endif
