/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the engine adds readings up (src/circuit/metadata.rs, src/profile.rs).
 *
 * Numbers wrap around at 2^64, as they do in the engine, which is built without checks of that;
 * durations stay at the longest one. (For the duration in cache counts the engine panics; ours
 * stays at the longest one there, too.)
 */
#ifndef DBPROF_MODEL_MERGE_H
#define DBPROF_MODEL_MERGE_H

#include "model/model.h"

/* MetaItem::is_mergeable(): counts, bytes, cache counts, durations and percents. */
bool value__is_mergeable(const struct value *value);

/* MetaItem::merge(): the sum of two mergeable values of one kind. False for all others. */
bool value__merge(const struct value *a, const struct value *b, struct value *ret_sum);

/*
 * OperatorMeta::merge(): adds the mergeable readings of @src to those of @dst. A reading that
 * @dst does not have is copied; one that it has with another kind of value is removed from it.
 * The strings are put into the pool of @profile. Returns 0 or -ENOMEM.
 */
int profile_node__merge(struct profile *profile, struct profile_node *dst,
			const struct profile_node *src);

/* WorkerProfile::merge(): that for each node of @dst which @src has, too. Returns 0 or -ENOMEM. */
int profile_worker__merge(struct profile *profile, struct profile_worker *dst,
			  const struct profile_worker *src);

#endif
