/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of the JSON profile, each one value.
 */
#ifndef DBPROF_EXPORT_JSON_PARTS_H
#define DBPROF_EXPORT_JSON_PARTS_H

#include "model/model.h"
#include "snapshot/snapshot.h"
#include "util/json_writer.h"

/* {"secs":1,"nanos":2}, as serde writes a Duration. */
void json_duration(struct json_writer *json, struct duration duration);
/* A MetaItem: {"type":...,"value":...}, or a bare array or map. */
void json_value(struct json_writer *json, const struct value *value);
void json_graph(struct json_writer *json, const struct profile_graph *graph);
/* The key "dbprof": how the profile was made, what is missing, and the closed books. */
void json_about(struct json_writer *json, const struct profile *profile,
		const struct snapshot *snapshot);

#endif
