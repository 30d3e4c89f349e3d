/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unpacks a gzip, with its checksums, which libarchive does not look at.
 */
#ifndef DBPROF_READER_GUNZIP_H
#define DBPROF_READER_GUNZIP_H

#include "reader/packed.h"

struct gunzip;

/* What is packed comes by @read. Returns 0 or -ENOMEM. */
int gunzip__open(packed_read read, void *context, struct gunzip **ret_gunzip);
/*
 * Up to @len bytes. Returns how many, 0 at the end, -EBADMSG when it is damaged or cut off, or the
 * error of @read.
 */
ssize_t gunzip__read(struct gunzip *gunzip, void *buffer, size_t len);
/* NULL is fine. */
void gunzip__close(struct gunzip *gunzip);

#endif
