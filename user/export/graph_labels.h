/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the graph calls a node, for terminals.
 */
#ifndef DBPROF_EXPORT_GRAPH_LABELS_H
#define DBPROF_EXPORT_GRAPH_LABELS_H

#include "model/model.h"
#include "model/node_index.h"

#define GRAPH_LABEL_MAX 80

struct graph_labels {
	struct node_index index;
	const char **labels; /* the graph's, by the index's numbers */
	char text[GRAPH_LABEL_MAX];
};

/* Of no graph, all labels are empty. Returns 0, -ENOMEM or -E2BIG. */
int graph_labels__make(struct graph_labels *ret_labels, const struct profile_graph *graph);
/* Printable, and cut when it is long; valid until the next call. */
const char *graph_labels__of(struct graph_labels *labels, const struct node_path *id);
void graph_labels__clear(struct graph_labels *labels);

#endif
