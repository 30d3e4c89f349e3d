/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_EXPORT_COST_H
#define DBPROF_EXPORT_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

/* All CPU time that profiling took: traps, the programs in them, and the profiler's own process. */
uint64_t cost__total_ns(const struct snapshot_cost *cost);

/* The same as a share of the target's CPU time; false when the target used none. */
bool cost__share(const struct snapshot_cost *cost, double *ret_share);

#endif
