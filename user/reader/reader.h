/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile in a file: DBSP's JSON (DbspProfile::as_json() of src/profile.rs), ours, which has more
 * members, or a zip or gzip of it.
 */
#ifndef DBPROF_READER_READER_H
#define DBPROF_READER_READER_H

#include "model/source.h"

/*
 * Opens the profile at @path; "-" is the standard input. Everything in it is checked now, and what
 * stays in memory is the graph; each visit() reads the file again. Nodes are told in the order of
 * the file, readings in that of the engine's map. Members that DBSP does not write are kept as they
 * are and written behind the graph.
 *
 * Returns 0, or a negative errno with its sentence in @fail. Close it with profile_source__close().
 */
int profile_reader__open(const char *path, struct profile_source **ret_source, struct fail *fail);

#endif
