/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_MODEL_JOINED_SOURCE_H
#define DBPROF_MODEL_JOINED_SOURCE_H

#include "model/source.h"

/* The profile of one host of a pipeline. */
struct joined_part {
	struct profile_source *source;
	const char *name; /* for messages */
};

/*
 * The profiles of a pipeline's hosts as one, as Feldera's coordinator joins them: the workers of
 * all one after the other, metrics and graph of the first. What each part says beyond that comes
 * into the member "hosts", with the number of its first worker; without any such thing there is no
 * such member.
 *
 * Workers count from the first part's first_worker on. Refused is a part whose graph has other
 * nodes than the first one's. The parts must outlive it. Returns 0, or a negative errno with its
 * sentence in @fail.
 */
int joined_source__open(const struct joined_part *parts, size_t count,
			struct profile_source **ret_source, struct fail *fail);

#endif
