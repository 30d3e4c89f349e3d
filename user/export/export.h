/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats that a profile can be written in.
 */
#ifndef DBPROF_EXPORT_EXPORT_H
#define DBPROF_EXPORT_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "model/source.h"

#ifndef DBPROF_VERSION
#define DBPROF_VERSION "unknown"
#endif

struct exporter {
	const char *name;      /* as on the command line */
	const char *extension; /* of the file's name, without the dot */
	/*
	 * Writes the profile as a stream, with memory that does not grow with its workers. Returns
	 * 0 or a negative errno, with a sentence in @fail when there is more to say than that the
	 * output cannot be written.
	 */
	int (*write)(struct profile_source *source, FILE *out, struct fail *fail);
	/* Instead of it, for a format that is a folder: writes into the empty folder @path. */
	int (*write_folder)(struct profile_source *source, const char *path, struct fail *fail);
};

/* NULL when there is no such format. */
const struct exporter *exporter__find(const char *name);
const struct exporter *exporter__all(size_t *ret_count);

/* What DbspProfile::as_json() of src/profile.rs writes, and what else the source has to tell. */
int export_json(struct profile_source *source, FILE *out, struct fail *fail);

/* The metrics of docs/metrics.md, in each of the dialects of export/metrics_text.h. */
int export_openmetrics(struct profile_source *source, FILE *out, struct fail *fail);
int export_prometheus(struct profile_source *source, FILE *out, struct fail *fail);

#endif
