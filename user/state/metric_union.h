/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_STATE_METRIC_UNION_H
#define DBPROF_STATE_METRIC_UNION_H

#include "model/source.h"

/*
 * The descriptions of the metrics of both: all of @first, then those of @second whose names @first
 * lacks. Returns 0, -ENOMEM, -EFBIG for a list of more than a few MB, or the sources' errors.
 */
int metric_union__write(struct profile_source *first, struct profile_source *second,
			struct json_writer *json, struct fail *fail);

#endif
