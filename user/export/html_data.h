/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The data of the HTML page: one JSON object, which user/html/data.js reads.
 *
 * {"program": "dbprof-bpf 0.1.0", "source": {...}, what struct profile_source knows;
 *  "main": the names of the main numbers,
 *  "workers": [{"rows": [[node, main numbers...], ...],    for each worker and node; what is
 *               "root": [key, number, ...]}, ...]          missing at the end of a row is unknown
 *  "keys": [[metric, part, labels, unit, fold], ...],      kinds of readings
 *  "nodes": [[id, label, depth, is cluster, [key, number, ...]], ...],   sums of all workers
 *  "edges": [from, to, ...],                               places in "nodes"
 *  "metrics": [...], "members": {...},                     as in the JSON profile
 *  "left_out": numbers and edges without a place}
 *
 * Times are nanoseconds. A percentage is two numbers, the part and the whole. Only the main numbers
 * are there for each worker, so the size is about 40 bytes for each worker and operator, and 10 for
 * each other reading of a node, whatever the number of workers: 13 MB for 64 workers of 5,000.
 */
#ifndef DBPROF_EXPORT_HTML_DATA_H
#define DBPROF_EXPORT_HTML_DATA_H

#include <stdio.h>

#include "model/source.h"

/* Returns 0 or a negative errno, as an exporter. Memory: the nodes' sums, whatever the workers. */
int html_data__write(struct profile_source *source, FILE *out, struct fail *fail);

#endif
