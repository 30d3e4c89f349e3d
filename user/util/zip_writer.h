/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A zip archive written as a stream: no entry is ever in memory as a whole, and the output need
 * not be seekable.
 */
#ifndef DBPROF_UTIL_ZIP_WRITER_H
#define DBPROF_UTIL_ZIP_WRITER_H

#include <stdint.h>
#include <stdio.h>

#include "util/fail.h"

struct zip_writer;

/* Writes to @out. @unix_seconds is the time of all entries. Returns 0 or a negative errno. */
int zip_writer__open(FILE *out, int64_t unix_seconds, struct zip_writer **ret_writer,
		     struct fail *fail);

/*
 * Ends the entry before, if any, and begins the entry @name. Returns the stream to write it to,
 * which is the writer's; NULL when that fails, and zip_writer__finish() says why.
 */
FILE *zip_writer__entry(struct zip_writer *writer, const char *name);

/* Ends the archive. Returns 0 or the first error; @out is not flushed. */
int zip_writer__finish(struct zip_writer *writer, struct fail *fail);

/* NULL is fine. Without zip_writer__finish() what was written is no archive. */
void zip_writer__close(struct zip_writer *writer);

#endif
