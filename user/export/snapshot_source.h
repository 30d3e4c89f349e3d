/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_EXPORT_SNAPSHOT_SOURCE_H
#define DBPROF_EXPORT_SNAPSHOT_SOURCE_H

#include "model/source.h"
#include "snapshot/snapshot.h"

/*
 * The profile of @snapshot, which must outlive it, told one worker at a time. Close it with
 * profile_source__close(). Returns 0, -ENOMEM, or -EPROTO when a graph contradicts itself.
 */
int snapshot_source__open(const struct snapshot *snapshot, struct profile_source **ret_source);

/* The snapshot that @source tells of; NULL when it is a profile of another kind. */
const struct snapshot *snapshot_source__snapshot(const struct profile_source *source);

#endif
