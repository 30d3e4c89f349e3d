/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot as a file, for a later time or another machine.
 *
 * The file: eight bytes of magic, the version of the format, sections, each with a tag of four
 * letters and its length, and at last a section with a checksum of all bytes before it. Numbers are
 * little-endian. A file is read by programs that know its version, and refused by others.
 */
#ifndef DBPROF_SNAPSHOT_SNAPSHOT_FILE_H
#define DBPROF_SNAPSHOT_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "snapshot/snapshot.h"
#include "util/fail.h"

/* Goes up with every change of what is written, also of the order of enumerations in it. */
#define SNAPSHOT_FILE_VERSION 2
#define SNAPSHOT_FILE_MAGIC   8 /* bytes that tell a snapshot file from others */

/* Whether a file that begins with these bytes claims to be one. */
bool snapshot_file__is_one(const void *bytes, size_t len);

/* Returns 0, -ENOMEM or the error of the stream. */
int snapshot_file__write(const struct snapshot *snapshot, FILE *out);

/*
 * Reads the stream to its end. Nothing in it is trusted: what is returned is as whole as a snapshot
 * that was just taken, with graphs that are closed. Takes memory in proportion to the file. Returns
 * 0, -ENOMEM, the error of the stream, -EBADMSG when it is damaged or none, -ENOTSUP for another
 * version, with a sentence in @fail.
 */
int snapshot_file__read(FILE *in, struct snapshot **ret_snapshot, struct fail *fail);

#endif
