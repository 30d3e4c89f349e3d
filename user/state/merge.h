/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our readings and the engine's of one worker, node by node.
 */
#ifndef DBPROF_STATE_MERGE_H
#define DBPROF_STATE_MERGE_H

#include "state/measured.h"
#include "state/pull.h"

/* What the merged profile does not hold. */
struct merge_losses {
	uint64_t nodes;	   /* of the engine's, with no place in the graph: no viewer opens those */
	uint64_t readings; /* ours, of another kind than the engine's of the same metric */
};

/*
 * Tells @ours and @engine as one. @ids are the ids of the graph's nodes, sorted by strcmp().
 * Returns as profile_source__visit() does.
 */
int merge__visit(struct profile_source *ours, struct profile_source *engine,
		 const struct measured *measured, const char *const *ids, size_t id_count,
		 const struct profile_visitor *visitor, void *context,
		 struct merge_losses *ret_losses, struct fail *fail);

#endif
