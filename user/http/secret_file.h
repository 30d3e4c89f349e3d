/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that the listener is given: certificate, key and token.
 */
#ifndef DBPROF_HTTP_SECRET_FILE_H
#define DBPROF_HTTP_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/fail.h"

/*
 * Reads a regular file of at most @max bytes, ended by a NUL; free it. A @secret one must belong to
 * root or to our user, and others may neither read nor write it, nor may its group write it.
 * @what names it in sentences: "the token". Returns 0, -EFBIG, -EPERM for its owner or mode, or the
 * error of the file.
 */
int secret_file__read(const char *path, const char *what, bool secret, size_t max, char **ret_text,
		      size_t *ret_len, struct fail *fail);

/* Overwrites and frees it. NULL is fine. */
void secret_file__free(char *text, size_t len);

#endif
