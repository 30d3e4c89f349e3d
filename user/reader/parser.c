// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/parser.h"
#include "util/text.h"

int parser__open(struct parser *parser, struct input *input, uint64_t offset, struct fail *fail)
{
	*parser = (struct parser){ .input = input, .fail = fail };
	if (tokens__open(input, offset, &parser->tokens))
		return fail__set(fail, -ENOMEM, "not enough memory to read %s", input__name(input));
	return 0;
}

void parser__close(struct parser *parser)
{
	tokens__close(parser->tokens);
	arena__clear(&parser->arena);
	free(parser->node.readings);
	*parser = (struct parser){ 0 };
}

int parser__next(struct parser *parser)
{
	return tokens__next(parser->tokens, &parser->token, parser->fail);
}

/* ", worker 3, node nn4, metric steps_count": as much of it as is known. */
static void describe_place(const struct parser *parser, char *text, size_t size)
{
	char id[NODE_ID_TEXT_MAX], metric[64];
	size_t used = 0;

	text[0] = '\0';
	if (parser->in_worker)
		used += (size_t)snprintf(text, size, ", worker %zu", parser->worker);
	if (parser->in_node) {
		node_path__format(&parser->node.id, id);
		used += (size_t)snprintf(text + used, size - used, ", node %s", id);
	}
	if (parser->metric) {
		text__printable(parser->metric, metric, sizeof(metric));
		snprintf(text + used, size - used, ", metric %s", metric);
	}
}

int parser__refuse(struct parser *parser, const char *format, ...)
{
	char place[NODE_ID_TEXT_MAX + 128];
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	describe_place(parser, place, sizeof(place));
	return fail__set(parser->fail, -EINVAL, "%s is no profile, before byte %" PRIu64 "%s: %s",
			 input__name(parser->input), parser->token.end, place, what);
}

int parser__check(struct parser *parser, enum token_kind kind, const char *what)
{
	return parser->token.kind == kind ? 0 : parser__refuse(parser, "%s was expected", what);
}

int parser__expect(struct parser *parser, enum token_kind kind, const char *what)
{
	int err = parser__next(parser);

	return err ? err : parser__check(parser, kind, what);
}

int parser__skip(struct parser *parser)
{
	size_t depth = 0;
	int err = 0;

	for (;;) {
		enum token_kind kind = parser->token.kind;

		if (kind == TOKEN_OBJECT_BEGIN || kind == TOKEN_ARRAY_BEGIN)
			depth++;
		else if (kind == TOKEN_OBJECT_END || kind == TOKEN_ARRAY_END)
			depth--;
		if (depth == 0)
			return 0;
		err = parser__next(parser);
		if (err)
			return err;
	}
}

int parser__key(struct parser *parser, const char *const *names, size_t count, unsigned int *seen,
		size_t *ret_index)
{
	char text[64];

	for (size_t i = 0; i < count; i++) {
		if (strcmp(parser->token.text, names[i]) != 0)
			continue;
		if (*seen >> i & 1)
			return parser__refuse(parser, "%s stands there twice", names[i]);
		*seen |= 1u << i;
		*ret_index = i;
		return 0;
	}
	text__printable(parser->token.text, text, sizeof(text));
	return parser__refuse(parser, "'%s' is no member that DBSP writes there", text);
}

int parser__uint(struct parser *parser, uint64_t max, uint64_t *ret_number)
{
	const char *at = parser->token.text;
	uint64_t number = 0;
	char text[48];

	if (parser->token.kind != TOKEN_NUMBER)
		return parser__refuse(parser, "a number was expected");
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			break;
	if (*at == '\0' && number <= max) {
		*ret_number = number;
		return 0;
	}
	text__printable(parser->token.text, text, sizeof(text));
	return parser__refuse(parser, "%s is not a whole number from 0 to %" PRIu64, text, max);
}

int parser__bool(struct parser *parser, bool *ret_value)
{
	if (parser->token.kind != TOKEN_TRUE && parser->token.kind != TOKEN_FALSE)
		return parser__refuse(parser, "true or false was expected");
	*ret_value = parser->token.kind == TOKEN_TRUE;
	return 0;
}

int parser__numbers(struct parser *parser, const char *const *names, size_t count,
		    const uint64_t *max, uint64_t *ret_numbers)
{
	unsigned int seen = 0;
	size_t index;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "an object");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parser__key(parser, names, count, &seen, &index);
		if (!err)
			err = parser__next(parser);
		if (!err)
			err = parser__uint(parser, max[index], &ret_numbers[index]);
	}
	if (!err && seen != (1u << count) - 1)
		return parser__refuse(parser, "%s and %s belong together", names[0], names[1]);
	return err;
}

int parser__duration(struct parser *parser, struct duration *ret_duration)
{
	static const char *const names[] = { "secs", "nanos" };
	static const uint64_t max[] = { UINT64_MAX, 999999999 };
	uint64_t numbers[2];
	int err = parser__numbers(parser, names, 2, max, numbers);

	if (!err)
		*ret_duration = (struct duration){ numbers[0], (uint32_t)numbers[1] };
	return err;
}

void *parser__alloc(struct parser *parser, size_t size)
{
	void *memory;

	if (parser->arena.total > PARSER_NODE_MAX || size > PARSER_NODE_MAX) {
		parser__refuse(parser, "a node with more readings than any node has");
		return NULL;
	}
	memory = arena__alloc(&parser->arena, size);
	if (!memory)
		fail__set(parser->fail, -ENOMEM, "not enough memory to read %s",
			  input__name(parser->input));
	return memory;
}

const char *parser__text(struct parser *parser)
{
	const char *text;

	if (parser->arena.total > PARSER_NODE_MAX) {
		parser__refuse(parser, "a node with more readings than any node has");
		return NULL;
	}
	text = arena__text(&parser->arena, parser->token.text, parser->token.len);
	if (!text)
		fail__set(parser->fail, -ENOMEM, "not enough memory to read %s",
			  input__name(parser->input));
	return text;
}
