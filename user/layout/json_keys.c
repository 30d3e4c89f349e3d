// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "layout/json_keys.h"

static size_t skip_string(const char *text, size_t len, size_t at)
{
	for (at++; at < len && text[at] != '"'; at++) {
		if (text[at] == '\\')
			at++;
	}
	return at + 1;
}

static size_t skip_space(const char *text, size_t len, size_t at)
{
	while (at < len && strchr(" \t\r\n", text[at]))
		at++;
	return at;
}

/*
 * Whether the object that the name at [@from, @end) belongs to has it again: looks at the names
 * at the same depth up to the object's end.
 */
static bool comes_again(const char *text, size_t len, size_t from, size_t end)
{
	size_t at = end, depth = 1;

	while (at < len && depth) {
		if (text[at] == '"') {
			size_t next = skip_string(text, len, at);
			size_t colon = skip_space(text, len, next);

			if (depth == 1 && colon < len && text[colon] == ':' &&
			    next - at == end - from &&
			    memcmp(text + at, text + from, end - from) == 0)
				return true;
			at = next;
			continue;
		}
		if (text[at] == '{' || text[at] == '[')
			depth++;
		else if (text[at] == '}' || text[at] == ']')
			depth--;
		at++;
	}
	return false;
}

bool json_keys__duplicate(const char *text, size_t len, char *ret_key, size_t size)
{
	size_t at = 0;

	while (at < len) {
		size_t next, colon;

		if (text[at] != '"') {
			at++;
			continue;
		}
		next = skip_string(text, len, at);
		colon = skip_space(text, len, next);
		if (colon < len && text[colon] == ':' && comes_again(text, len, at, next)) {
			snprintf(ret_key, size, "%.*s", (int)(next - at - 2), text + at + 1);
			return true;
		}
		at = next;
	}
	return false;
}
