// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "util/json_writer.h"
#include "util/utf8.h"

/* A stream belongs to one thread, and its lock would take a third of the time of writing. */
static void put(struct json_writer *json, const char *bytes, size_t len)
{
	bool written;

	if (json->error || len == 0)
		return;
	errno = 0;
	if (len == 1)
		written = putc_unlocked(bytes[0], json->out) != EOF;
	else
		written = fwrite_unlocked(bytes, 1, len, json->out) == len;
	if (!written)
		json->error = errno ? -errno : -EIO;
}

static void put_text(struct json_writer *json, const char *text)
{
	put(json, text, strlen(text));
}

/* What stands before a value: a comma, unless it is the first of its array or follows a key. */
static void before(struct json_writer *json)
{
	if (json->comma)
		put(json, ",", 1);
	json->comma = true;
}

static void open_bracket(struct json_writer *json, const char *bracket)
{
	before(json);
	put(json, bracket, 1);
	json->comma = false;
	json->depth++;
}

static void close_bracket(struct json_writer *json, const char *bracket)
{
	if (json->depth == 0) {
		if (!json->error)
			json->error = -EINVAL;
		return;
	}
	put(json, bracket, 1);
	json->comma = true;
	json->depth--;
}

/* The escape of a character, NULL when it stands for itself (serde_json's ESCAPE table). */
static const char *escape(uint32_t ch, char buf[8])
{
	switch (ch) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\b':
		return "\\b";
	case '\f':
		return "\\f";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	case UTF8_INVALID:
		return "\xef\xbf\xbd";
	default:
		if (ch >= 0x20)
			return NULL;
		snprintf(buf, 8, "\\u%04x", (unsigned int)ch);
		return buf;
	}
}

/* Bytes at the beginning of @text that stand for themselves, as most do: ASCII without escapes. */
static size_t plain_length(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && (signed char)text[at] >= 0x20 && text[at] != '"' && text[at] != '\\')
		at++;
	return at;
}

static void put_quoted(struct json_writer *json, const char *text)
{
	size_t left = strlen(text);
	const char *plain = text; /* start of what needs no escape */
	const char *instead;
	uint32_t ch;
	size_t len;
	char buf[8];

	put(json, "\"", 1);
	for (; left > 0; left -= len, text += len) {
		len = plain_length(text, left);
		if (len > 0)
			continue;
		len = utf8__next(text, left, &ch);
		instead = escape(ch, buf);
		if (!instead)
			continue;
		put(json, plain, (size_t)(text - plain));
		put_text(json, instead);
		plain = text + len;
	}
	put(json, plain, (size_t)(text - plain));
	put(json, "\"", 1);
}

void json__begin(struct json_writer *json, FILE *out)
{
	*json = (struct json_writer){ .out = out };
}

int json__end(struct json_writer *json)
{
	if (!json->error && json->depth > 0)
		json->error = -EINVAL;
	return json->error;
}

void json__object_begin(struct json_writer *json)
{
	open_bracket(json, "{");
}

void json__object_end(struct json_writer *json)
{
	close_bracket(json, "}");
}

void json__array_begin(struct json_writer *json)
{
	open_bracket(json, "[");
}

void json__array_end(struct json_writer *json)
{
	close_bracket(json, "]");
}

void json__key(struct json_writer *json, const char *key)
{
	before(json);
	put_quoted(json, key);
	put(json, ":", 1);
	json->comma = false;
}

void json__string(struct json_writer *json, const char *text)
{
	if (!text) {
		json__null(json);
		return;
	}
	before(json);
	put_quoted(json, text);
}

void json__uint(struct json_writer *json, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	before(json);
	put_text(json, text);
}

void json__int(struct json_writer *json, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	before(json);
	put_text(json, text);
}

void json__bool(struct json_writer *json, bool value)
{
	before(json);
	put_text(json, value ? "true" : "false");
}

void json__null(struct json_writer *json)
{
	before(json);
	put_text(json, "null");
}

void json__member_string(struct json_writer *json, const char *key, const char *text)
{
	json__key(json, key);
	json__string(json, text);
}

void json__member_uint(struct json_writer *json, const char *key, uint64_t value)
{
	json__key(json, key);
	json__uint(json, value);
}

void json__member_int(struct json_writer *json, const char *key, int64_t value)
{
	json__key(json, key);
	json__int(json, value);
}

void json__member_bool(struct json_writer *json, const char *key, bool value)
{
	json__key(json, key);
	json__bool(json, value);
}

void json__member_object_begin(struct json_writer *json, const char *key)
{
	json__key(json, key);
	json__object_begin(json);
}

void json__member_array_begin(struct json_writer *json, const char *key)
{
	json__key(json, key);
	json__array_begin(json);
}

/* Whether the character is written: white space between tokens is not. */
static bool take_element_char(struct json_elements *state, char c)
{
	if (!state->quoted) {
		state->quoted = c == '"';
		return c != ' ' && c != '\t' && c != '\r' && c != '\n';
	}
	if (state->escaped)
		state->escaped = false;
	else if (c == '\\')
		state->escaped = true;
	else if (c == '"')
		state->quoted = false;
	return true;
}

void json__elements_part(struct json_writer *json, struct json_elements *state, const char *text,
			 size_t len)
{
	size_t plain = 0; /* start of what is written as it is */

	for (size_t i = 0; i < len; i++) {
		if (!take_element_char(state, text[i])) {
			put(json, &text[plain], i - plain);
			plain = i + 1;
		} else if (!state->begun) {
			state->begun = true;
			before(json);
		}
	}
	put(json, &text[plain], len - plain);
}

void json__elements(struct json_writer *json, const char *text, size_t len)
{
	struct json_elements state = { 0 };

	json__elements_part(json, &state, text, len);
}
