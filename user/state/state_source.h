/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One profile of two: ours, and the engine's own of the same pipeline, which has the metrics that
 * only the engine knows: memory, storage, batches, spines, caches.
 *
 * A metric that the engine's profile has is the engine's, under its name; our readings of it get
 * the label source=dbprof. Metrics that it lacks are ours alone. Told worker by worker, so that one
 * worker of each is in memory at a time.
 */
#ifndef DBPROF_STATE_STATE_SOURCE_H
#define DBPROF_STATE_STATE_SOURCE_H

#include "model/source.h"

/* The member of the output that says where the engine's profile came from. */
#define STATE_MEMBER "engine_profile"

struct state_origin {
	const char *from;      /* a file or an URL */
	const char *error;     /* why there is none; NULL when there is one */
	int64_t asked_unix_ns; /* when it was asked for, or its file read */
	uint64_t answer_ns;    /* how long the answer took; 0 for a file */
};

/*
 * @engine may be NULL: then the profile is ours, and says that the engine's is missing. On success
 * both sources belong to the new one, @origin is copied, and *ret_source tells both. On failure
 * they are still the caller's. Returns 0, -ENOMEM, or an error with its sentence, among them -EXDEV
 * for the profile of another circuit (same_circuit.h, measured.h).
 */
int state_source__open(struct profile_source *ours, struct profile_source *engine,
		       const struct state_origin *origin, struct profile_source **ret_source,
		       struct fail *fail);

/* Whether the engine's profile is in @source already. Returns 0, or the error of the telling. */
int state_source__is_merged(struct profile_source *source, bool *ret_merged, struct fail *fail);

#endif
