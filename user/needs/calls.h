/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether system calls are let through to the kernel, or refused by a filter before.
 */
#ifndef DBPROF_NEEDS_CALLS_H
#define DBPROF_NEEDS_CALLS_H

#include <stdbool.h>

enum call {
	CALL_BPF,
	CALL_PERF_EVENT_OPEN,
	CALL_PIDFD_OPEN,
	CALLS,
};

const char *call__name(enum call call);

/*
 * Makes the call with arguments that the kernel itself refuses for another reason than privileges,
 * in a child, since a filter may kill. Returns 0 when it got through, -ENOSYS when the kernel or
 * a filter does not know it, -EPERM or another errno when it was refused, -EINTR when that killed
 * the child.
 */
int call__try(enum call call);

/* Whether this process is under a seccomp filter, as containers and services are. */
bool calls__filtered(void);

#endif
