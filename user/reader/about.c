// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reader/about.h"

#define NANOS_PER_SECOND 1000000000

/* Whether the token is a whole number up to @max. */
static bool is_number(const struct parser *parser, uint64_t max, uint64_t *ret_number)
{
	const char *text = parser->token.text;
	uint64_t number;

	if (parser->token.kind != TOKEN_NUMBER || text[strspn(text, "0123456789")] ||
	    strlen(text) > 19)
		return false;
	number = strtoull(text, NULL, 10);
	if (number > max)
		return false;
	*ret_number = number;
	return true;
}

/* "2026-11-30T20:53:00.123456789Z", as json_about() writes it. */
static void take_instant(const struct parser *parser, int64_t *ret_unix_ns)
{
	unsigned int nanos;
	struct tm tm = { 0 };
	const char *rest;
	int used = 0;

	if (parser->token.kind != TOKEN_STRING)
		return;
	rest = strptime(parser->token.text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest || sscanf(rest, ".%9uZ%n", &nanos, &used) != 1 || used != 11 || rest[used] ||
	    tm.tm_year < 70 || tm.tm_year > 300)
		return;
	*ret_unix_ns = (int64_t)timegm(&tm) * NANOS_PER_SECOND + nanos;
}

/* One member of an object; the first token of its value was taken. Leaves with its last one. */
typedef int (*take_member)(struct parser *parser, const char *key, void *context);

static int each_member(struct parser *parser, take_member take, void *context)
{
	char key[32];
	int err = 0;

	if (parser->token.kind != TOKEN_OBJECT_BEGIN)
		return parser__skip(parser);
	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		snprintf(key, sizeof(key), "%s", parser->token.text);
		err = parser__next(parser);
		if (!err)
			err = take(parser, key, context);
	}
	return err;
}

static int take_length(struct parser *parser, const char *key, void *context)
{
	struct duration *length = context;
	uint64_t number;

	if (strcmp(key, "secs") == 0 &&
	    is_number(parser, INT64_MAX / NANOS_PER_SECOND - 1, &number))
		length->secs = number;
	if (strcmp(key, "nanos") == 0 && is_number(parser, NANOS_PER_SECOND - 1, &number))
		length->nanos = (uint32_t)number;
	return parser__skip(parser);
}

static int take_window(struct parser *parser, const char *key, void *context)
{
	struct about *about = context;
	struct duration length = { 0 };
	int err;

	if (strcmp(key, "start") == 0)
		take_instant(parser, &about->start_unix_ns);
	if (strcmp(key, "length") != 0)
		return parser__skip(parser);
	err = each_member(parser, take_length, &length);
	about->elapsed_ns = length.secs * NANOS_PER_SECOND + length.nanos;
	return err;
}

static int take_dbprof(struct parser *parser, const char *key, void *context)
{
	struct about *about = context;
	uint64_t number;

	if (strcmp(key, "dbsp") == 0 && parser->token.kind == TOKEN_STRING &&
	    parser->token.len < sizeof(about->dbsp_version))
		memcpy(about->dbsp_version, parser->token.text, parser->token.len + 1);
	if (strcmp(key, "pid") == 0 && is_number(parser, INT32_MAX, &number))
		about->pid = (pid_t)number;
	if (strcmp(key, "window") == 0)
		return each_member(parser, take_window, about);
	return parser__skip(parser);
}

int about__dbprof(struct parser *parser, struct about *about)
{
	return each_member(parser, take_dbprof, about);
}

static int take_host(struct parser *parser, const char *key, void *context)
{
	struct about *about = context;
	uint64_t number;

	if (strcmp(key, "first_worker") == 0 && is_number(parser, UINT32_MAX, &number))
		about->first_worker = (size_t)number;
	return parser__skip(parser);
}

int about__hosts(struct parser *parser, struct about *about)
{
	struct about others;
	int err = 0;

	if (parser->token.kind != TOKEN_ARRAY_BEGIN)
		return parser__skip(parser);
	for (size_t i = 0; !err; i++) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_ARRAY_END)
			break;
		err = each_member(parser, take_host, i == 0 ? about : &others);
	}
	return err;
}
