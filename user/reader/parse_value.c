// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Values: {"type":...,"value":...}, or the bare array or map of them (Serialize for MetaItem).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/parser.h"
#include "util/text.h"
#include "util/utf8.h"

static int parse(struct parser *parser, unsigned int depth, struct value *ret_value);

/* @array with room for one more of @count elements of @size bytes, in the arena. */
static void *grow(struct parser *parser, void *array, size_t count, size_t size)
{
	void *grown;

	/* Powers of two are full. */
	if (count & (count - 1))
		return array;
	grown = parser__alloc(parser, size * (count ? 2 * count : 1));
	if (grown && count)
		memcpy(grown, array, size * count);
	return grown;
}

static int parse_array(struct parser *parser, unsigned int depth, struct value *ret_value)
{
	struct value value = { .kind = VALUE_ARRAY };
	int err;

	for (;;) {
		err = parser__next(parser);
		if (err)
			return err;
		if (parser->token.kind == TOKEN_ARRAY_END)
			break;
		value.array.items = grow(parser, value.array.items, value.array.count,
					 sizeof(*value.array.items));
		if (!value.array.items)
			return -ENOMEM;
		err = parse(parser, depth + 1, &value.array.items[value.array.count]);
		if (err)
			return err;
		value.array.count++;
	}
	*ret_value = value;
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct value_entry *a = left, *b = right;

	return utf8__compare(a->key, b->key);
}

/* The order of a BTreeMap, which the engine has written them in. */
static int sort_entries(struct parser *parser, struct value_map *map)
{
	bool sorted = true;
	char text[64];

	for (size_t i = 1; i < map->count && sorted; i++)
		sorted = compare_entries(&map->entries[i - 1], &map->entries[i]) < 0;
	if (sorted)
		return 0;
	qsort(map->entries, map->count, sizeof(*map->entries), compare_entries);
	for (size_t i = 1; i < map->count; i++) {
		if (compare_entries(&map->entries[i - 1], &map->entries[i]) != 0)
			continue;
		text__printable(map->entries[i].key, text, sizeof(text));
		return parser__refuse(parser, "the key '%s' stands there twice", text);
	}
	return 0;
}

/* One entry; @key was taken, and so was the first token of its value. */
static int parse_entry(struct parser *parser, unsigned int depth, const char *key,
		       struct value_map *map)
{
	int err;

	map->entries = grow(parser, map->entries, map->count, sizeof(*map->entries));
	if (!map->entries)
		return -ENOMEM;
	map->entries[map->count].key = key;
	err = parse(parser, depth + 1, &map->entries[map->count].value);
	if (!err)
		map->count++;
	return err;
}

/* A map, of which the first key was taken, and the first token of its value. */
static int parse_map(struct parser *parser, unsigned int depth, const char *key,
		     struct value *ret_value)
{
	struct value value = { .kind = VALUE_MAP };
	int err = parse_entry(parser, depth, key, &value.map);

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		key = parser__text(parser);
		if (!key)
			return -ENOMEM;
		err = parser__next(parser);
		if (!err)
			err = parse_entry(parser, depth, key, &value.map);
	}
	if (!err)
		err = sort_entries(parser, &value.map);
	if (!err)
		*ret_value = value;
	return err;
}

/* An u64, or an i64 below zero. */
static int parse_numerator(struct parser *parser, struct value_percent *percent)
{
	int64_t number;
	char *end;

	if (parser->token.kind != TOKEN_NUMBER || parser->token.text[0] != '-')
		return parser__uint(parser, UINT64_MAX, &percent->numerator);
	errno = 0;
	number = strtoll(parser->token.text, &end, 10);
	if (errno || *end || number == 0)
		return parser__refuse(parser, "the numerator is not a whole number of 64 bits");
	percent->numerator = (uint64_t)number;
	percent->negative = true;
	return 0;
}

static int parse_percent(struct parser *parser, struct value *value)
{
	static const char *const names[] = { "numerator", "denominator" };
	struct value_percent percent = { 0 };
	unsigned int seen = 0;
	size_t index;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "an object");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parser__key(parser, names, 2, &seen, &index);
		if (!err)
			err = parser__next(parser);
		if (!err)
			err = index == 0 ? parse_numerator(parser, &percent)
					 : parser__uint(parser, UINT64_MAX, &percent.denominator);
	}
	if (!err && seen != 3)
		err = parser__refuse(parser, "numerator and denominator belong together");
	if (!err)
		value->percent = percent;
	return err;
}

static int parse_cache_counts(struct parser *parser, struct value_cache_counts *counts)
{
	static const char *const names[] = { "count", "bytes", "elapsed" };
	unsigned int seen = 0;
	size_t index;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "an object");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parser__key(parser, names, 3, &seen, &index);
		if (!err)
			err = parser__next(parser);
		if (err)
			break;
		if (index == 2)
			err = parser__duration(parser, &counts->elapsed);
		else
			err = parser__uint(parser, UINT64_MAX,
					   index == 0 ? &counts->count : &counts->bytes);
	}
	if (!err && seen != 7)
		return parser__refuse(parser, "count, bytes and elapsed belong together");
	return err;
}

static int parse_string(struct parser *parser, struct value *value)
{
	int err = parser__check(parser, TOKEN_STRING, "a text");

	if (err)
		return err;
	value->string = parser__text(parser);
	return value->string ? 0 : -ENOMEM;
}

/* What stands under "value". */
static int parse_bare(struct parser *parser, struct value *value)
{
	switch (value->kind) {
	case VALUE_INT:
	case VALUE_COUNT:
	case VALUE_BYTES:
		return parser__uint(parser, UINT64_MAX, &value->number);
	case VALUE_PERCENT:
		return parse_percent(parser, value);
	case VALUE_CACHE_COUNTS:
		return parse_cache_counts(parser, &value->cache_counts);
	case VALUE_STRING:
		return parse_string(parser, value);
	case VALUE_DURATION:
		return parser__duration(parser, &value->duration);
	case VALUE_BOOL:
		return parser__bool(parser, &value->boolean);
	case VALUE_ARRAY:
	case VALUE_MAP:
		break;
	}
	return -EINVAL;
}

static int parse_kind(struct parser *parser, enum value_kind *ret_kind)
{
	static const struct {
		const char *name;
		enum value_kind kind;
	} kinds[] = {
		{ "int", VALUE_INT },		{ "count", VALUE_COUNT },
		{ "percent", VALUE_PERCENT },	{ "cachecounts", VALUE_CACHE_COUNTS },
		{ "string", VALUE_STRING },	{ "bytes", VALUE_BYTES },
		{ "duration", VALUE_DURATION }, { "bool", VALUE_BOOL },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(parser->token.text, kinds[i].name) == 0) {
			*ret_kind = kinds[i].kind;
			return 0;
		}
	text__printable(parser->token.text, text, sizeof(text));
	return parser__refuse(parser, "'%s' is no type of a value that DBSP has", text);
}

/* {"type":, of which the name of the type is the token. */
static int parse_typed(struct parser *parser, struct value *ret_value)
{
	struct value value = { 0 };
	int err = parse_kind(parser, &value.kind);

	if (!err)
		err = parser__expect(parser, TOKEN_KEY, "the member value");
	if (!err && strcmp(parser->token.text, "value") != 0)
		err = parser__refuse(parser, "the member value was expected");
	if (!err)
		err = parser__next(parser);
	if (!err)
		err = parse_bare(parser, &value);
	if (!err)
		err = parser__expect(parser, TOKEN_OBJECT_END, "the end of the value");
	if (!err)
		*ret_value = value;
	return err;
}

/* A map whose first key is "type" has a value there, never a text. */
static int parse_object(struct parser *parser, unsigned int depth, struct value *ret_value)
{
	const char *key;
	bool type;
	int err = parser__next(parser);

	if (err)
		return err;
	if (parser->token.kind == TOKEN_OBJECT_END) {
		*ret_value = (struct value){ .kind = VALUE_MAP };
		return 0;
	}
	type = strcmp(parser->token.text, "type") == 0;
	key = parser__text(parser);
	if (!key)
		return -ENOMEM;
	err = parser__next(parser);
	if (err)
		return err;
	if (type && parser->token.kind == TOKEN_STRING)
		return parse_typed(parser, ret_value);
	return parse_map(parser, depth, key, ret_value);
}

static int parse(struct parser *parser, unsigned int depth, struct value *ret_value)
{
	if (depth > PARSER_VALUE_MAX)
		return parser__refuse(parser, "values that nest too deep");
	if (parser->token.kind == TOKEN_ARRAY_BEGIN)
		return parse_array(parser, depth, ret_value);
	if (parser->token.kind == TOKEN_OBJECT_BEGIN)
		return parse_object(parser, depth, ret_value);
	return parser__refuse(parser,
			      "a value was expected: {\"type\":...,\"value\":...}, an array "
			      "or a map of values");
}

int parser__value(struct parser *parser, struct value *ret_value)
{
	return parse(parser, 0, ret_value);
}
