/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_EXPORT_METRIC_TABLE_H
#define DBPROF_EXPORT_METRIC_TABLE_H

#include "util/json_writer.h"

/*
 * Writes, as elements of an array, the descriptions of the metrics of DBSP @version (of the nearest
 * version that we have a table of; of the newest one when it is NULL or "") and of our own.
 */
void metric_table__write(const char *version, struct json_writer *json);

#endif
