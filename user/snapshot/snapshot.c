// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "snapshot/snapshot.h"

void snapshot__free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		graph__free(snapshot->workers[i].graph);
		free(snapshot->workers[i].circuits);
	}
	free(snapshot->workers);
	free(snapshot->threads);
	free(snapshot->exe);
	free(snapshot->build_id);
	free(snapshot->dbsp_version);
	free(snapshot->rustc_version);
	free(snapshot->layout);
	free(snapshot->mode);
	free(snapshot);
}

bool snapshot__incomplete(const struct snapshot *snapshot)
{
	const struct snapshot_losses *losses = &snapshot->losses;

	return losses->threads || losses->circuits || losses->reads || losses->steps ||
	       losses->missed || losses->workers || losses->unresolved || losses->probes;
}
