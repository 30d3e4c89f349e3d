/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon may do: no more than it needs once it is at work. */
#ifndef DBPROF_SERVE_CAPABILITIES_H
#define DBPROF_SERVE_CAPABILITIES_H

#include <stdbool.h>

#include "util/fail.h"
#include "util/json_writer.h"

/*
 * Gives up all capabilities but those that attaching to processes and reading their memory takes;
 * @perf_uprobes tells that probes need CAP_SYS_ADMIN on this kernel. Programs that it would execute
 * get none. To be called before there are other threads. Returns 0 or a negative errno.
 */
int capabilities__drop(bool perf_uprobes, struct fail *fail);

/* The effective ones as an array of names, in the order of their numbers. */
void capabilities__write(struct json_writer *json);

#endif
