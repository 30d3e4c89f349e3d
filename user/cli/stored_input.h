/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles of a store, named by a time: --store, --at and --pid of report and diff. */
#ifndef DBPROF_CLI_STORED_INPUT_H
#define DBPROF_CLI_STORED_INPUT_H

#include <argp.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/profile_input.h"
#include "util/fail.h"

#define STORED_TIMES 2

enum {
	KEY_STORE = 0x200,
	KEY_AT,
	KEY_STORE_PID,
};

struct stored_options {
	const char *store; /* NULL without */
	const char *at[STORED_TIMES];
	int64_t at_ns[STORED_TIMES];
	size_t at_count;
	pid_t pid; /* 0 for any */
};

/* For the options of a command. */
#define STORED_OPTIONS(group)                                                                     \
	{                                                                                         \
		"store", KEY_STORE, "DIR", 0, "Take profiles out of a store of dbprof-bpf serve", \
		group                                                                             \
	},                                                                                        \
		{ "at",                                                                           \
		  KEY_AT,                                                                         \
		  "TIME",                                                                         \
		  0,                                                                              \
		  "The one of this time: 2026-11-30T21:57:54Z, without Z in local time, now, or " \
		  "-10m for "                                                                     \
		  "ten minutes ago",                                                              \
		  group },                                                                        \
	{                                                                                         \
		"pid", KEY_STORE_PID, "N", 0, "The one of this process", group                    \
	}

/* Returns 0, or ARGP_ERR_UNKNOWN for another option. */
error_t stored_options__parse(int key, char *arg, struct argp_state *state,
			      struct stored_options *options);
/* Refuses what is not @times times, or goes with files. @files: how many were named. */
void stored_options__check(struct argp_state *state, const struct stored_options *options,
			   size_t times, size_t files);

/*
 * Opens the profile of time @index. When there is none whose window holds the time it is the
 * nearest one, and a line on stderr says so. Returns 0, or a negative errno with a sentence.
 */
int stored_input__open(const struct stored_options *options, size_t index,
		       struct profile_input *ret_input, struct fail *fail);

#endif
