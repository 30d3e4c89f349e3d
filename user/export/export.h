/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats that a profile can be written in.
 */
#ifndef DBPROF_EXPORT_EXPORT_H
#define DBPROF_EXPORT_EXPORT_H

#include <stdbool.h>
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
	/* Whether what it needs of the machine is there, to be asked before a window; may be NULL.
	 */
	int (*check)(struct fail *fail);
	bool window_only; /* made of a window or a snapshot alone, without --state */
};

/* NULL when there is no such format. */
const struct exporter *exporter__find(const char *name);
const struct exporter *exporter__all(size_t *ret_count);

/* What DbspProfile::as_json() of src/profile.rs writes, and what else the source has to tell. */
int export_json(struct profile_source *source, FILE *out, struct fail *fail);
/* A page for a browser that needs nothing but itself. */
int export_html(struct profile_source *source, FILE *out, struct fail *fail);

/* Stacks with their times for `pprof` (gzip'd protobuf), and for flame graphs, one a line. */
int export_pprof(struct profile_source *source, FILE *out, struct fail *fail);
int export_folded(struct profile_source *source, FILE *out, struct fail *fail);
/* The graph of all workers together, coloured by time, drawn by graphviz. */
int export_svg(struct profile_source *source, FILE *out, struct fail *fail);
int export_svg__check(struct fail *fail);
/* The same in a zip archive, as DbspProfile::as_json_zip() has it: one entry, profile.json. */
int export_json_zip(struct profile_source *source, FILE *out, struct fail *fail);
/* A support bundle with nothing but the profile, for Feldera's viewer. */
int export_bundle(struct profile_source *source, FILE *out, struct fail *fail);

/*
 * What GraphProfile::dump() and write_zip() write: for each worker N.dot, its circuit for graphviz,
 * and N.txt, the same as a text; and a Makefile. The folder has them in one that is named by the
 * microseconds of the window.
 */
int export_dot_dir(struct profile_source *source, const char *path, struct fail *fail);
int export_dot_zip(struct profile_source *source, FILE *out, struct fail *fail);
/* The workers' graphs, one after the other, quoted so that graphviz takes every label. */
int export_dot(struct profile_source *source, FILE *out, struct fail *fail);

/* A snapshot file (snapshot/snapshot_file.h); -EINVAL when the source is not a window of ours. */
int export_snapshot(struct profile_source *source, FILE *out, struct fail *fail);
/* The metrics of docs/metrics.md, in each of the dialects of export/metrics_text.h. */
int export_openmetrics(struct profile_source *source, FILE *out, struct fail *fail);
int export_prometheus(struct profile_source *source, FILE *out, struct fail *fail);

#endif
