/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sections of a snapshot file, each written and read by the same function. */
#ifndef DBPROF_SNAPSHOT_SNAPSHOT_CODE_H
#define DBPROF_SNAPSHOT_SNAPSHOT_CODE_H

#include "snapshot/coder.h"
#include "snapshot/snapshot.h"

/* What is known of the process and the window, the cost, the losses; and how much follows. */
void code_about(struct coder *coder, struct snapshot *snapshot, uint32_t *graphs,
		uint32_t *workers);
void code_threads(struct coder *coder, struct snapshot *snapshot);
/*
 * A graph. When reading, *@graph is made, and closed: circuits, regions, edges and parents lie in
 * it, every node lies in one region, every region hangs on its circuit's root region.
 */
void code_graph(struct coder *coder, struct graph **graph);
/* A worker; *@graph counts from 1 among @graphs, 0 for none. Circuits and operators are in it. */
void code_worker(struct coder *coder, struct snapshot_worker *worker, uint32_t *graph,
		 struct graph **graphs, uint32_t graph_count);

/* Used by all of them. */
void code_path(struct coder *coder, struct node_path *path);
void code_share(struct coder *coder, struct dbprof_kernel_share *share);

#endif
