/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The result of `dbprof-bpf check`. */
#ifndef DBPROF_CLI_CHECK_OUTPUT_H
#define DBPROF_CLI_CHECK_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "needs/needs.h"

/* For people, in lines of @width columns. */
void check_output__text(const struct need_list *needs, size_t width, bool colours, FILE *out);

/*
 * For programs: {"verdict", "mode", "pid", "needs": [{"group", "name", "verdict", "detail", "lost",
 * "remedy"}]}. Returns 0 or a negative errno.
 */
int check_output__json(const struct need_list *needs, pid_t pid, FILE *out);

#endif
