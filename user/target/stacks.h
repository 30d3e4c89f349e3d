/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the stacks of threads are.
 */
#ifndef DBPROF_TARGET_STACKS_H
#define DBPROF_TARGET_STACKS_H

#include <stdint.h>
#include <sys/types.h>

struct target_stacks;

int stacks__new(struct target_stacks **ret_stacks);
void stacks__free(struct target_stacks *stacks);

/*
 * The user stack pointer of the thread @tid (of the caller's PID namespace) when it runs next,
 * by a perf event that samples it. Returns 0, -EBUSY when it did not run for @timeout_ms,
 * -EPERM without CAP_PERFMON, -ESRCH.
 */
int stacks__sample_sp(pid_t tid, int timeout_ms, uint64_t *ret_sp);

#endif
