// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "snapshot/snapshot.h"

const char *snapshot_mode__name(enum snapshot_mode mode)
{
	switch (mode) {
	case MODE_ENGINE:
		return "engine";
	case MODE_SAMPLED:
		return "sampled";
	case MODE_EXACT:
		return "exact";
	case MODE_WAITS:
		return "waits";
	case SNAPSHOT_MODES:
		break;
	}
	return "unknown";
}

const char *thread_role__name(enum thread_role role)
{
	switch (role) {
	case ROLE_WORKER:
		return "worker";
	case ROLE_MERGER:
		return "merger";
	case ROLE_IO:
		return "io";
	case ROLE_OTHER:
	case THREAD_ROLES:
		break;
	}
	return "other";
}

void snapshot__free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		if (!snapshot->workers[i].graph_borrowed)
			graph__free(snapshot->workers[i].graph);
		free(snapshot->workers[i].circuits);
		free(snapshot->workers[i].operators);
	}
	free(snapshot->workers);
	free(snapshot->threads);
	free(snapshot->exe);
	free(snapshot->pipeline);
	free(snapshot->pipeline_name);
	free(snapshot->build_id);
	free(snapshot->dbsp_version);
	free(snapshot->rustc_version);
	free(snapshot->layout);
	free(snapshot->dropped);
	free(snapshot);
}

bool snapshot__incomplete(const struct snapshot *snapshot)
{
	const struct snapshot_losses *losses = &snapshot->losses;

	return losses->threads || losses->circuits || losses->operators || losses->reads ||
	       losses->slots || losses->steps || losses->missed || losses->torn ||
	       losses->workers || losses->unresolved || losses->probes;
}
