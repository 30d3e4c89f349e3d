/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON written straight to a stream, byte for byte as serde_json writes it in its compact form.
 *
 * The caller keeps brackets in balance and keys before the values of objects; commas, colons and
 * escapes come from here. The first error sticks and makes the rest a no-op.
 */
#ifndef DBPROF_UTIL_JSON_WRITER_H
#define DBPROF_UTIL_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
	FILE *out;
	int error;    /* negative errno of the first failed write */
	bool comma;   /* a value came before in this array or object */
	size_t depth; /* open brackets */
};

void json__begin(struct json_writer *json, FILE *out);
/* Returns 0, the first error, or -EINVAL when brackets are left open. Does not flush. */
int json__end(struct json_writer *json);

void json__object_begin(struct json_writer *json);
void json__object_end(struct json_writer *json);
void json__array_begin(struct json_writer *json);
void json__array_end(struct json_writer *json);
void json__key(struct json_writer *json, const char *key);

/* NULL is written as null; bytes that are not UTF-8 as U+FFFD. */
void json__string(struct json_writer *json, const char *text);
void json__uint(struct json_writer *json, uint64_t value);
void json__int(struct json_writer *json, int64_t value);
void json__bool(struct json_writer *json, bool value);
void json__null(struct json_writer *json);

/* A member of an object: its key, and its value or the bracket that opens it. */
void json__member_string(struct json_writer *json, const char *key, const char *text);
void json__member_uint(struct json_writer *json, const char *key, uint64_t value);
void json__member_int(struct json_writer *json, const char *key, int64_t value);
void json__member_bool(struct json_writer *json, const char *key, bool value);
void json__member_object_begin(struct json_writer *json, const char *key);
void json__member_array_begin(struct json_writer *json, const char *key);

/* Elements that are JSON already, one or more with commas between; white space is left out. */
void json__elements(struct json_writer *json, const char *text, size_t len);

/* The same part by part, cut anywhere. All zero before the first part. */
struct json_elements {
	bool begun;
	bool quoted;  /* in a string */
	bool escaped; /* behind a backslash */
};

void json__elements_part(struct json_writer *json, struct json_elements *state, const char *text,
			 size_t len);

#endif
