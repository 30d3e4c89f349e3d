/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A temporary file without a name, in which the engine's profile lies while it is used: it is gone
 * with the process, and nobody changes it.
 */
#ifndef DBPROF_STATE_SPOOL_H
#define DBPROF_STATE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

#define SPOOL_BYTES_MAX (1ULL << 30) /* more than the engine's profile of any pipeline we know */
#define SPOOL_PATH_MAX	40

/* In $TMPDIR, else /var/tmp, else /tmp. Returns the descriptor or a negative errno. */
int spool__open(struct fail *fail);

/* Writes all. Returns 0 or a negative errno. */
int spool__write(int fd, const void *data, size_t len);

/*
 * A copy of the file at @path, at most @max bytes. Returns its descriptor, or a negative errno:
 * -EFBIG when it is longer, -EINVAL when it is no file.
 */
int spool__copy(const char *path, uint64_t max, struct fail *fail);

/* A path by which this process can open the file. */
void spool__path(int fd, char path[SPOOL_PATH_MAX]);

#endif
