/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compresses what is written to it into a stream, as gzip does, without name or time in the header:
 * the same data give the same bytes.
 */
#ifndef DBPROF_UTIL_GZIP_WRITER_H
#define DBPROF_UTIL_GZIP_WRITER_H

#include <stddef.h>
#include <stdio.h>

struct gzip_writer;

/* Returns 0 or -ENOMEM. */
int gzip_writer__open(FILE *out, struct gzip_writer **ret_writer);
/* Return 0 or the negative errno of the stream. Finish once, at the end. */
int gzip_writer__write(struct gzip_writer *writer, const void *data, size_t size);
int gzip_writer__finish(struct gzip_writer *writer);
/* NULL is fine. */
void gzip_writer__close(struct gzip_writer *writer);

#endif
