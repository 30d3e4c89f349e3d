/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values on the command line; what is none is a usage error, which ends the program. */
#ifndef DBPROF_CLI_NUMBERS_H
#define DBPROF_CLI_NUMBERS_H

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/observer.h"

uint32_t numbers__count(struct argp_state *state, const char *option, const char *text,
			unsigned long min, unsigned long max);
/* A time such as "10s", in nanoseconds. */
uint64_t numbers__time(struct argp_state *state, const char *option, const char *text,
		       uint64_t min_ns);
/* A size such as "500M" or "10G", in bytes: units are powers of 1024. */
uint64_t numbers__bytes(struct argp_state *state, const char *option, const char *text,
			uint64_t min);
/* Per cent, with or without the sign, as a share. */
double numbers__budget(struct argp_state *state, const char *text);

/* The place of @text among @names. */
size_t numbers__choice(struct argp_state *state, const char *option, const char *text,
		       const char *const *names, size_t count);
/* How operators are measured. */
enum observer_mode numbers__mode(struct argp_state *state, const char *text);

#endif
