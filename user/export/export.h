/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats that a profile can be written in.
 */
#ifndef DBPROF_EXPORT_EXPORT_H
#define DBPROF_EXPORT_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "model/model.h"
#include "snapshot/snapshot.h"

#ifndef DBPROF_VERSION
#define DBPROF_VERSION "unknown"
#endif

struct exporter {
	const char *name;      /* as on the command line */
	const char *extension; /* of the file's name, without the dot */
	/*
	 * Writes the profile as a stream, with memory that does not grow with it. @snapshot is what
	 * the profile was made from, or NULL when it was not made from one. Returns 0 or a
	 * negative errno.
	 */
	int (*write)(const struct profile *profile, const struct snapshot *snapshot, FILE *out);
};

/* NULL when there is no such format. */
const struct exporter *exporter__find(const char *name);
const struct exporter *exporter__all(size_t *ret_count);

/* What DbspProfile::as_json() of src/profile.rs writes, and the keys "threads" and "dbprof". */
int export_json(const struct profile *profile, const struct snapshot *snapshot, FILE *out);

#endif
