/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any file that holds a profile, told apart by how it begins. */
#ifndef DBPROF_CLI_INPUT_H
#define DBPROF_CLI_INPUT_H

#include "model/source.h"
#include "snapshot/snapshot.h"
#include "util/fail.h"

struct input {
	struct profile_source *source;
	struct snapshot *snapshot; /* NULL unless it is a snapshot file */
};

/*
 * Opens the profile in the file @path, "-" for the standard input. Returns 0, or a negative errno
 * with a sentence that names the file.
 */
int input__open(const char *path, struct input *ret_input, struct fail *fail);
void input__close(struct input *input);

#endif
