/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output folder that appears whole or not at all: it is filled beside its place and renamed. One
 * that is there already and holds something is never touched.
 */
#ifndef DBPROF_UTIL_ATOMIC_FOLDER_H
#define DBPROF_UTIL_ATOMIC_FOLDER_H

#include "util/fail.h"

struct atomic_folder;

/* Makes an empty folder that is to become @path. Returns 0 or a negative errno. */
int atomic_folder__open(const char *path, struct atomic_folder **ret_folder, struct fail *fail);
/* Where to write until the commit. */
const char *atomic_folder__path(const struct atomic_folder *folder);

/* Puts the folder into its place, once. Returns 0, or a negative errno and nothing has changed. */
int atomic_folder__commit(struct atomic_folder *folder, struct fail *fail);

/* Ends it; what was not committed is removed. NULL is fine. */
void atomic_folder__close(struct atomic_folder *folder);

#endif
