/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where profiles and summaries go. */
#ifndef DBPROF_CLI_OUTPUT_H
#define DBPROF_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/engine_state.h"
#include "cli/options.h"
#include "snapshot/snapshot.h"
#include "util/fail.h"

#define OUTPUT_NAME_MAX 4096

/*
 * The file for process @pid: the one given, with "-PID" before its extension when there are several
 * processes, or dbprof-PID.EXTENSION. Returns 0 or -ENAMETOOLONG.
 */
int output__name(const struct options *options, pid_t pid, char name[OUTPUT_NAME_MAX]);

/* Whether a profile can be written there at all, asked before the profiling and not after it. */
int output__check(const struct options *options, pid_t pid, struct fail *fail);

/*
 * Writes the profile, with the engine's where @state is not NULL: all of it, or nothing and the
 * file that was there stays.
 */
int output__profile(const struct options *options, const struct snapshot *snapshot,
		    struct engine_state *state, struct fail *fail);

/* Prints the summary: on stdout, or on stderr when the profile goes to stdout. */
void output__summary(const struct options *options, const struct snapshot *snapshot,
		     const struct engine_state *state);

#endif
