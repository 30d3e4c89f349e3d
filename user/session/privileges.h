/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this process may do: its capabilities, and where it runs.
 */
#ifndef DBPROF_SESSION_PRIVILEGES_H
#define DBPROF_SESSION_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* The effective capabilities, a bit for each CAP_*. Returns 0 or a negative errno. */
int privileges__effective(uint64_t *ret_mask);

/*
 * Whether @mask has the capability. CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON, which were
 * split off it (capabilities(7)).
 */
bool privileges__has(uint64_t mask, unsigned int capability);

#endif
