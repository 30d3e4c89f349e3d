// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "http/query.h"
#include "util/utf8.h"

static int hex(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* Decodes in place. False when an escape is not whole. */
static bool unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '%') {
			int high = hex(text[1]), low = high < 0 ? -1 : hex(text[2]);

			if (low < 0)
				return false;
			*to++ = (char)(high * 16 + low);
			text += 2;
			/* A NUL would hide what comes behind it. */
			if (to[-1] == '\0')
				return false;
		} else {
			*to++ = *text == '+' ? ' ' : *text;
		}
	}
	*to = '\0';
	return true;
}

static bool is_text(const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		uint32_t code;
		size_t size = utf8__next(text, len, &code);

		if (code == UTF8_INVALID || code < 0x20 || (code >= 0x7f && code < 0xa0))
			return false;
		text += size;
		len -= size;
	}
	return true;
}

static int add(struct http_query *query, char *name, struct fail *fail)
{
	char *value = strchr(name, '=');

	if (query->count == HTTP_QUERY_PARAMETERS)
		return fail__set(fail, -EINVAL, "there are more than %d parameters",
				 HTTP_QUERY_PARAMETERS);
	if (value)
		*value++ = '\0';
	else
		value = strchr(name, '\0');
	if (!unescape(name) || !unescape(value) || !is_text(name) || !is_text(value))
		return fail__set(fail, -EINVAL, "the parameters are not escaped UTF-8 text");
	if (!*name)
		return fail__set(fail, -EINVAL, "there is a parameter without a name");
	if (http_query__text(query, name))
		return fail__set(fail, -EINVAL, "the parameter '%s' is given twice", name);
	query->parameters[query->count++] = (struct http_parameter){ name, value };
	return 0;
}

int http_query__parse(const char *text, struct http_query *ret_query, struct fail *fail)
{
	size_t len = text ? strlen(text) : 0;
	char *rest = ret_query->text, *part;
	int err = 0;

	ret_query->count = 0;
	ret_query->text[0] = '\0';
	if (len > HTTP_QUERY_LEN_MAX)
		return fail__set(fail, -EINVAL, "the parameters are longer than %d bytes",
				 HTTP_QUERY_LEN_MAX);
	if (len > 0)
		memcpy(ret_query->text, text, len + 1);
	while (!err && (part = strsep(&rest, "&")))
		if (*part)
			err = add(ret_query, part, fail);
	if (err)
		ret_query->count = 0;
	return err;
}

static bool is_one_of(const char *name, const char *const names[])
{
	for (size_t i = 0; names[i]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

int http_query__only(const struct http_query *query, const char *const names[], struct fail *fail)
{
	for (size_t i = 0; i < query->count; i++)
		if (!is_one_of(query->parameters[i].name, names))
			return fail__set(fail, -EINVAL, "there is no parameter '%.64s' here",
					 query->parameters[i].name);
	return 0;
}

const char *http_query__text(const struct http_query *query, const char *name)
{
	for (size_t i = 0; i < query->count; i++)
		if (!strcmp(query->parameters[i].name, name))
			return query->parameters[i].value;
	return NULL;
}

/* Digits alone, and no more than fit. */
static bool parse_number(const char *text, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
			return false;
	}
	*ret_number = number;
	return true;
}

int http_query__number(const struct http_query *query, const char *name, uint64_t min, uint64_t max,
		       uint64_t *value, struct fail *fail)
{
	const char *text = http_query__text(query, name);
	uint64_t number;

	if (!text)
		return 0;
	if (!parse_number(text, &number) || number < min || number > max)
		return fail__set(fail, -EINVAL,
				 "%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%.64s'",
				 name, min, max, text);
	*value = number;
	return 0;
}

int http_query__choice(const struct http_query *query, const char *name,
		       const char *const choices[], size_t *value, struct fail *fail)
{
	const char *text = http_query__text(query, name);
	char list[256] = "";
	size_t len = 0;

	for (size_t i = 0; text && choices[i]; i++) {
		if (!strcmp(text, choices[i])) {
			*value = i;
			return 0;
		}
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
						i ? ", " : "", choices[i]);
	}
	if (!text)
		return 0;
	return fail__set(fail, -EINVAL, "%s takes one of %s, not '%.64s'", name, list, text);
}
