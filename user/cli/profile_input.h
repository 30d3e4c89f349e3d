/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any file that holds a profile, told apart by how it begins. */
#ifndef DBPROF_CLI_PROFILE_INPUT_H
#define DBPROF_CLI_PROFILE_INPUT_H

#include "model/source.h"
#include "snapshot/snapshot.h"
#include "util/fail.h"

struct profile_input {
	struct profile_source *source;
	struct snapshot *snapshot; /* NULL unless it is a snapshot file */
};

/*
 * Opens the profile in the file @path, "-" for the standard input: a snapshot file, or what
 * profile_reader__open() takes. Returns 0, or a negative errno with a sentence that names the file.
 */
int profile_input__open(const char *path, struct profile_input *ret_input, struct fail *fail);
/* The same of a snapshot file that is open; @path is its name for people. @fd stays open. */
int profile_input__open_snapshot(int fd, const char *path, struct profile_input *ret_input,
				 struct fail *fail);
void profile_input__close(struct profile_input *input);

#endif
