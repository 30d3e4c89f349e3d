/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a JSON text that are written again as they are.
 */
#ifndef DBPROF_READER_RAW_JSON_H
#define DBPROF_READER_RAW_JSON_H

#include "reader/input.h"
#include "util/json_writer.h"

/*
 * From where to where it lies: a value with the colon before it, or elements of an array with the
 * commas between them. Known to be valid.
 */
struct raw_json {
	uint64_t begin;
	uint64_t end;
};

/* Writes it without white space. Returns 0, or a negative errno with its sentence in @fail. */
int raw_json__write(const struct raw_json *raw, struct input *input, struct json_writer *json,
		    struct fail *fail);

#endif
