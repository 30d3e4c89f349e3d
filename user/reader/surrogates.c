// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "reader/surrogates.h"

#define ESCAPE_LEN 6 /* \uXXXX */

enum { PAIR_NONE, PAIR_WANTED };

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A whole \uXXXX was seen. */
static bool take_code(struct surrogates *state)
{
	bool first = state->code >= 0xd800 && state->code <= 0xdbff;
	bool second = state->code >= 0xdc00 && state->code <= 0xdfff;
	bool wanted = state->pending == PAIR_WANTED;

	state->pending = first ? PAIR_WANTED : PAIR_NONE;
	return wanted == second;
}

/* One character of an escape that is open. Other faults of escapes are left to yajl. */
static bool take_escaped(struct surrogates *state, char c)
{
	int digit;

	if (state->escape == 1 && c != 'u') {
		state->escape = 0;
		return state->pending == PAIR_NONE;
	}
	if (state->escape > 1) {
		digit = hex_digit(c);
		if (digit < 0) {
			state->escape = 0;
			return state->pending == PAIR_NONE;
		}
		state->code = (uint16_t)(state->code << 4 | digit);
	}
	if (++state->escape < ESCAPE_LEN)
		return true;
	state->escape = 0;
	return take_code(state);
}

bool surrogates__feed(struct surrogates *state, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		if (state->escape > 0) {
			if (!take_escaped(state, *text++))
				return false;
			continue;
		}
		if (state->pending == PAIR_NONE)
			text = memchr(text, '\\', (size_t)(end - text));
		else if (*text != '\\')
			return false;
		if (!text)
			break;
		text++;
		state->escape = 1;
		state->code = 0;
	}
	return true;
}
