// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "reader/raw_json.h"

#define BLOCK_SIZE 16384

/* Bytes of white space and, if the value has not begun, its colon, at the beginning of @text. */
static size_t lead_in(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && memchr(" \t\r\n:", text[at], 5))
		at++;
	return at;
}

int raw_json__write(const struct raw_json *raw, struct input *input, struct json_writer *json,
		    struct fail *fail)
{
	struct json_elements state = { 0 };
	char block[BLOCK_SIZE];
	uint64_t at = raw->begin;

	while (at < raw->end && !json->error) {
		size_t want = raw->end - at < BLOCK_SIZE ? (size_t)(raw->end - at) : BLOCK_SIZE;
		ssize_t got = input__read(input, block, want, at, fail);
		size_t skip = 0;

		if (got < 0)
			return (int)got;
		if (got == 0)
			return fail__set(fail, -ESTALE,
					 "%s was changed while it was read; try again",
					 input__name(input));
		if (!state.begun)
			skip = lead_in(block, (size_t)got);
		json__elements_part(json, &state, block + skip, (size_t)got - skip);
		at += (uint64_t)got;
	}
	return 0;
}
