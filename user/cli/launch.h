/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts a program that waits before its first instruction until it is being profiled. */
#ifndef DBPROF_CLI_LAUNCH_H
#define DBPROF_CLI_LAUNCH_H

#include <sys/types.h>

#include "util/fail.h"

/* Starts @command and stops it right after its exec. Returns 0, -ENOENT, another errno. */
int launch__start(char **command, pid_t *ret_pid, struct fail *fail);
/* Lets it run. */
int launch__release(pid_t pid);
/* Kills it, for when it cannot be profiled. */
void launch__abort(pid_t pid);
/* Waits for its end. Returns 0 or a negative errno. */
int launch__wait(pid_t pid);

#endif
