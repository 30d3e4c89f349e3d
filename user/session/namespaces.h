/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The namespaces that this process runs in: in containers they are not the host's.
 */
#ifndef DBPROF_SESSION_NAMESPACES_H
#define DBPROF_SESSION_NAMESPACES_H

#include <stdbool.h>

enum namespace_kind {
	NAMESPACE_PID,
	NAMESPACE_USER,
};

/* Whether it is the host's own; true also where the kernel has none of that kind. */
bool namespace__is_hosts(enum namespace_kind kind);

/* Whether /proc numbers processes as system calls do: it is of our PID namespace. */
bool namespace__has_proc(void);

/* Whether our clocks are set off against the host's. */
bool namespace__clocks_differ(void);

#endif
