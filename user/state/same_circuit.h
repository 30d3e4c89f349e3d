/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_STATE_SAME_CIRCUIT_H
#define DBPROF_STATE_SAME_CIRCUIT_H

#include "model/source.h"

/*
 * Whether @engine is a profile of the circuit that @ours is one of: as many workers, and the same
 * nodes, with their labels and nesting, and edges, in any order. Returns 0, -ENOMEM, or -EXDEV with
 * a sentence that says what differs, which begins with "it".
 */
int same_circuit(const struct profile_source *ours, const struct profile_source *engine,
		 struct fail *fail);

#endif
