/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output file that appears whole or not at all.
 *
 * It is written beside its place, without a name where the file system can do that, and takes the
 * place of what was there only when every byte is on the disk. Devices and pipes have no beside:
 * they are written directly, and so is "-", the standard output.
 */
#ifndef DBPROF_UTIL_ATOMIC_FILE_H
#define DBPROF_UTIL_ATOMIC_FILE_H

#include <stdio.h>

#include "util/fail.h"

struct atomic_file;

/* Returns 0 or a negative errno. What is at @path stays as it is until the commit. */
int atomic_file__open(const char *path, struct atomic_file **ret_file, struct fail *fail);
FILE *atomic_file__stream(struct atomic_file *file);

/* Puts the file into its place, once. Returns 0, or a negative errno and nothing has changed. */
int atomic_file__commit(struct atomic_file *file, struct fail *fail);

/* Ends it; what was not committed is gone. */
void atomic_file__close(struct atomic_file *file);

#endif
