/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bearer token (RFC 6750) that a request must come with.
 */
#ifndef DBPROF_HTTP_TOKEN_H
#define DBPROF_HTTP_TOKEN_H

#include <stdbool.h>

#include "util/fail.h"

#define TOKEN_MIN 16 /* characters; a shorter one can be guessed */
#define TOKEN_MAX 512

struct token {
	char text[TOKEN_MAX + 1]; /* filled up with NULs */
};

/*
 * Reads the token in the file @path, whose only line it is: TOKEN_MIN to TOKEN_MAX visible ASCII
 * characters, in a file that others cannot open. Returns 0 or a negative errno with a sentence.
 */
int token__read(const char *path, struct token *ret_token, struct fail *fail);

/*
 * Whether the value of a header Authorization is "Bearer" and this token; NULL is no header. Takes
 * the same time wherever the two differ, also in length.
 */
bool token__allows(const struct token *token, const char *authorization);

#endif
