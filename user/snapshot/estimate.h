/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a worker's CPU time went, by its samples or by what was counted. Pure arithmetic.
 */
#ifndef DBPROF_SNAPSHOT_ESTIMATE_H
#define DBPROF_SNAPSHOT_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

/* Whether so many samples were blind that the shares of the others are bent. */
bool estimate__is_blinded(const struct snapshot_cpu *cpu);

/*
 * Shares the @cpu_ns of the worker's thread out over its samples, which are in its operators and in
 * its cpu, and sets the times of operators; what they were off the CPU is in their shares already.
 */
void estimate__operators(struct snapshot_worker *worker, uint64_t cpu_ns);

/* Splits @cpu_ns over operators, the engine's clock reads, the scheduler and the rest, exactly. */
void estimate__cpu(struct snapshot_worker *worker, enum snapshot_mode mode, uint64_t cpu_ns);

/* The sum of that split: the CPU time that it was made of. */
uint64_t estimate__cpu_ns(const struct snapshot_cpu *cpu);

#endif
