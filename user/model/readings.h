/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readings on their way to one node.
 */
#ifndef DBPROF_MODEL_READINGS_H
#define DBPROF_MODEL_READINGS_H

#include "model/model.h"

/* The first error sticks and makes the rest a no-op. */
struct readings {
	struct profile *profile;
	struct profile_node *node;
	int err; /* 0 or -ENOMEM */
};

void readings__int(struct readings *to, const char *metric, uint64_t number);
void readings__count(struct readings *to, const char *metric, uint64_t count);
void readings__duration(struct readings *to, const char *metric, struct duration duration);
void readings__nanos(struct readings *to, const char *metric, uint64_t nanos);
void readings__labelled(struct readings *to, const char *metric, const char *key, const char *value,
			uint64_t nanos);
/* Both in microseconds, as the engine compares durations. */
void readings__percent(struct readings *to, const char *metric, uint64_t numerator,
		       uint64_t denominator);

/* An operator that was evaluated; @total is the wall time of all operators of its worker. */
void readings__operator(struct readings *to, const struct snapshot_operator *op,
			struct duration total);
/* What the kernel did to a circuit's steps. */
void readings__circuit_share(struct readings *to, const struct snapshot_circuit *circuit);
/* Where the worker's CPU time went, for its root. */
void readings__cpu(struct readings *to, const struct snapshot_cpu *cpu, enum snapshot_mode mode);

#endif
