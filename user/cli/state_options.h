/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --state and what belongs to it, on the command line of more than one command. */
#ifndef DBPROF_CLI_STATE_OPTIONS_H
#define DBPROF_CLI_STATE_OPTIONS_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

#include "state/headers.h"

/* The engine's own profile, to be put together with ours. */
struct state_options {
	const char *from; /* a file or an URL; NULL: none */
	const char *headers[HEADERS_MAX];
	size_t header_count;
	uint64_t timeout_ns; /* for the answer of an URL; 0: not given */
};

/* A child of the command's own; its input is a struct state_options. */
extern const struct argp state_argp;

#endif
