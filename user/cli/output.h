/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where profiles and summaries go. */
#ifndef DBPROF_CLI_OUTPUT_H
#define DBPROF_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/engine_state.h"
#include "cli/options.h"
#include "snapshot/snapshot.h"
#include "util/fail.h"

#define OUTPUT_NAME_MAX 4096

/*
 * The file for process @pid: the one given, with "-PID" before its extension when there are several
 * processes, or dbprof-PID.EXTENSION; with "-0001" before the extension for window 1 of a series, 0
 * for none. Returns 0 or -ENAMETOOLONG.
 */
int output__name(const struct options *options, pid_t pid, unsigned int window,
		 char name[OUTPUT_NAME_MAX]);

/* Whether a profile can be written there at all, asked before the profiling and not after it. */
int output__check(const struct options *options, pid_t pid, struct fail *fail);

/*
 * Writes what was measured, with the engine's profile where @state is not NULL: all of it, or
 * nothing and the file that was there stays. @window as in output__name().
 */
int output__profile(const struct options *options, const struct snapshot *snapshot,
		    struct engine_state *state, unsigned int window, struct fail *fail);

/* Prints the summary: on stdout, or on stderr when the profile goes to stdout. */
void output__summary(const struct options *options, const struct snapshot *snapshot,
		     const struct engine_state *state);
/* The summary alone, as wide as the terminal, in colours if it has any. */
int output__print_summary(FILE *stream, const struct snapshot *snapshot);

/* Columns of the terminal behind @stream, 80 when there is none; whether it takes colours. */
int output__width(FILE *stream);
bool output__colours(FILE *stream);

/* One line for window @window of a series, with a heading before the first of the run. */
void output__window(const struct options *options, const struct snapshot *snapshot,
		    unsigned int window);

#endif
