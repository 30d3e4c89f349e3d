/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The circuit graph for graphviz: one for all workers, with the sums of their numbers.
 */
#ifndef DBPROF_EXPORT_DOT_GRAPH_H
#define DBPROF_EXPORT_DOT_GRAPH_H

#include <stdio.h>

#include "export/time_table.h"

/*
 * Writes the graph of @table, to which all workers were added. The redder a node, the larger its
 * share of the time of all operators; nested circuits and regions are boxes around their nodes, and
 * a nested circuit has a node of its own for its scheduler. Returns 0 or -EIO.
 */
int dot_graph__write(FILE *out, const struct time_table *table, size_t workers);

#endif
