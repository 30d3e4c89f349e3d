/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile inside a zip or a gzip, as a stream.
 */
#ifndef DBPROF_READER_PACKED_H
#define DBPROF_READER_PACKED_H

#include <stddef.h>
#include <sys/types.h>

#include "util/fail.h"

enum packed_kind {
	PACKED_NOT,
	PACKED_ZIP,
	PACKED_GZIP,
};

/* What a file is by its first bytes. */
enum packed_kind packed__kind(const char *head, size_t len);

struct packed;

/* Reads the next bytes of the packed file. Returns how many, 0 at the end, or a negative errno. */
typedef ssize_t (*packed_read)(void *context, void *buffer, size_t len);

/*
 * Opens the profile in it, which comes by @read; a zip in a file, whose directory is at its end, by
 * @fd instead, which is -1 otherwise. @name is for people and must outlive it. Returns 0,
 * or a negative errno with its sentence in @fail.
 */
int packed__open(enum packed_kind kind, packed_read read, void *context, int fd, const char *name,
		 struct packed **ret_packed, struct fail *fail);

/* Up to @len bytes of the profile. Returns how many, 0 at the end, or a negative errno. */
ssize_t packed__read(struct packed *packed, void *buffer, size_t len, struct fail *fail);

/* NULL is fine. */
void packed__close(struct packed *packed);

#endif
