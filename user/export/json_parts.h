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
/* The same with its key, from nanoseconds. */
void json_nanos(struct json_writer *json, const char *key, uint64_t nanos);
/* A MetaItem: {"type":...,"value":...}, or a bare array or map. */
void json_value(struct json_writer *json, const struct value *value);
/* "metric_id", "labels" if there are any, "value": members of the object that is open. */
void json_reading(struct json_writer *json, const struct profile_reading *reading);
void json_graph(struct json_writer *json, const struct profile_graph *graph);
/* The books of one thread, as members of the object that is open. */
void json_books(struct json_writer *json, const struct snapshot_thread *thread);
/* The thread that drives @worker, NULL when it was not seen. */
const struct snapshot_thread *json_thread_of(const struct snapshot *snapshot,
					     const struct snapshot_worker *worker);
/* The key "threads": all threads but the workers, then those that exited in the window, as one. */
void json_threads(struct json_writer *json, const struct snapshot *snapshot);
/* The key "dbprof": how the profile was made, what is missing, and the closed books. */
void json_about(struct json_writer *json, const struct profile *profile,
		const struct snapshot *snapshot);

#endif
