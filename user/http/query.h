/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of a request's address behind the question mark: NAME=VALUE&NAME=VALUE.
 *
 * Nothing in it is trusted: it is of limited length, its escapes are whole, and decoded text is
 * UTF-8 without control characters. What is not so is refused as a whole.
 */
#ifndef DBPROF_HTTP_QUERY_H
#define DBPROF_HTTP_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

#define HTTP_QUERY_LEN_MAX    2048 /* bytes, escapes included */
#define HTTP_QUERY_PARAMETERS 16

struct http_parameter {
	const char *name;
	const char *value; /* "" without one */
};

struct http_query {
	struct http_parameter parameters[HTTP_QUERY_PARAMETERS];
	size_t count;
	char text[HTTP_QUERY_LEN_MAX + 1]; /* what they point into */
};

/*
 * Decodes @text, NULL for none. A name may come once. Returns 0, or -EINVAL with a sentence, and
 * then the query is empty.
 */
int http_query__parse(const char *text, struct http_query *ret_query, struct fail *fail);

/* -EINVAL with a sentence when there is a parameter that is not in @names, which NULL ends. */
int http_query__only(const struct http_query *query, const char *const names[], struct fail *fail);

/* The value of a parameter, NULL when it was not given. */
const char *http_query__text(const struct http_query *query, const char *name);

/*
 * A decimal number from @min to @max. Returns 0 also when it was not given, and then *@value stays,
 * the caller's default; -EINVAL with a sentence when it is something else.
 */
int http_query__number(const struct http_query *query, const char *name, uint64_t min, uint64_t max,
		       uint64_t *value, struct fail *fail);

/* The place of the value in @choices, which NULL ends. Returns the same. */
int http_query__choice(const struct http_query *query, const char *name,
		       const char *const choices[], size_t *value, struct fail *fail);

#endif
