/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The name of a profile in a store, of fixed length, which says what the file holds:
 *
 *   dbprof-20261130T215754.123456789Z-0000060000ms-p0000004321-s00000000000000123456-c.dbprof
 *
 * begin of the window, its length, process id, when the process started, and how good it is. Names
 * of one store in their alphabetical order are in the order of time.
 */
#ifndef DBPROF_STORE_STORED_NAME_H
#define DBPROF_STORE_STORED_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "snapshot/snapshot.h"

#define STORED_NAME_SIZE 160 /* more than it needs, as compilers count */

enum stored_quality {
	STORED_EMPTY,	   /* 'e': nothing was seen, no step and no thread */
	STORED_INCOMPLETE, /* 'i': something was lost */
	STORED_COMPLETE,   /* 'c' */
};

struct stored_name {
	int64_t unix_ns;    /* begin of the window */
	uint64_t window_ns; /* in whole milliseconds */
	pid_t pid;
	uint64_t start_ticks; /* clock ticks from boot to the start of the process */
	enum stored_quality quality;
};

/* The name of a snapshot's file. */
struct stored_name stored_name__of(const struct snapshot *snapshot, uint64_t start_ticks);

/* Returns 0, or -ERANGE for numbers that it has no room for. */
int stored_name__format(const struct stored_name *name, char text[STORED_NAME_SIZE]);

/* False for every text that stored_name__format() does not write. */
bool stored_name__parse(const char *text, struct stored_name *ret_name);

/* The instant at which the window ends. */
int64_t stored_name__end(const struct stored_name *name);

#endif
