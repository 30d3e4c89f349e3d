/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JSON of a profile, wherever it lies: a file, the standard input, a zip or a gzip of it.
 *
 * What cannot be read twice goes, as it is read, to a temporary file without a name.
 */
#ifndef DBPROF_READER_INPUT_H
#define DBPROF_READER_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/fail.h"

struct input;

/*
 * @path is a file; "-" is the standard input. Of a zip, the first entry named profile.json or
 * ending in circuit_profile.json is taken, as Feldera's viewer does with support bundles. Returns
 * 0, or a negative errno with its sentence in @fail.
 */
int input__open(const char *path, struct input **ret_input, struct fail *fail);
/* The name for people: the path, "the standard input". */
const char *input__name(const struct input *input);

/*
 * Reads up to @len bytes at @offset, which is at most the end of what was read before. Returns how
 * many, 0 only at the end; or a negative errno with its sentence in @fail.
 */
ssize_t input__read(struct input *input, void *buffer, size_t len, uint64_t offset,
		    struct fail *fail);

/* 0, or -ESTALE with its sentence when the file has changed since it was opened. */
int input__check(const struct input *input, struct fail *fail);

/* NULL is fine. */
void input__close(struct input *input);

#endif
