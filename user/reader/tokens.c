// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "reader/surrogates.h"
#include "reader/tokens.h"
#include "util/array.h"
#include "util/utf8.h"

#define BLOCK_SIZE 32768u

struct queued {
	uint8_t kind;
	uint32_t end;  /* in the block */
	uint32_t text; /* in the texts */
	uint32_t len;
};

struct tokens {
	struct input *input;
	yajl_handle yajl;
	struct surrogates surrogates;
	uint64_t block_at; /* offset of the block in the text */
	uint64_t idle;	   /* bytes since the last token */
	uint32_t depth;
	bool ended;

	/* What the block held: tokens, and their texts. */
	struct queued *queue;
	size_t count;
	size_t capacity;
	size_t next;
	char *texts;
	size_t texts_used;
	size_t texts_size;

	/* The first fault, told when the tokens before it were taken. */
	int err;
	const char *why;
	struct fail fault;

	unsigned char block[BLOCK_SIZE];
	size_t block_len;
};

static int stop(struct tokens *tokens, int err, const char *why)
{
	tokens->err = err;
	tokens->why = why;
	return 0; /* yajl's word for it */
}

static struct queued *add(struct tokens *tokens, enum token_kind kind)
{
	struct queued *queue =
		array__reserve(tokens->queue, &tokens->capacity, tokens->count, sizeof(*queue));
	struct queued *queued;

	if (!queue) {
		stop(tokens, -ENOMEM, NULL);
		return NULL;
	}
	tokens->queue = queue;
	queued = &queue[tokens->count++];
	*queued = (struct queued){
		.kind = (uint8_t)kind,
		.end = (uint32_t)yajl_get_bytes_consumed(tokens->yajl),
	};
	tokens->idle = 0;
	return queued;
}

/* Room for a text of @len bytes, all of which may be U+0000, and its NUL. */
static char *reserve_text(struct tokens *tokens, size_t len)
{
	size_t need = tokens->texts_used + 2 * len + 1;
	char *texts;

	if (need > tokens->texts_size) {
		texts = realloc(tokens->texts, 2 * need);
		if (!texts)
			return NULL;
		tokens->texts = texts;
		tokens->texts_size = 2 * need;
	}
	return tokens->texts + tokens->texts_used;
}

/* Copies a text that is not plain ASCII. Returns its new length, SIZE_MAX when it is not UTF-8. */
static size_t copy_text(char *to, const char *text, size_t len)
{
	size_t used = 0, part;
	uint32_t ch;

	for (; len > 0; text += part, len -= part) {
		part = utf8__next(text, len, &ch);
		if (ch == UTF8_INVALID || (ch == 0 && part > 1))
			return SIZE_MAX;
		memcpy(to + used, ch == 0 ? UTF8_NUL : text, ch == 0 ? 2 : part);
		used += ch == 0 ? 2 : part;
	}
	return used;
}

/* Whether all bytes are from 01 to 7f, which are copied as they are. */
static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((signed char)text[i] <= 0)
			return false;
	return true;
}

static int add_text(struct tokens *tokens, enum token_kind kind, const char *text, size_t len)
{
	struct queued *queued;
	char *to;

	if (len > TOKEN_MAX)
		return stop(tokens, -E2BIG, "a text or a number of more than a megabyte");
	to = reserve_text(tokens, len);
	queued = to ? add(tokens, kind) : NULL;
	if (!queued)
		return stop(tokens, -ENOMEM, NULL);
	if (is_plain(text, len))
		memcpy(to, text, len);
	else
		len = copy_text(to, text, len);
	if (len == SIZE_MAX) {
		tokens->count--;
		return stop(tokens, -EINVAL, "a text that is not UTF-8");
	}
	to[len] = '\0';
	queued->text = (uint32_t)tokens->texts_used;
	queued->len = (uint32_t)len;
	tokens->texts_used += len + 1;
	return 1;
}

static int on_null(void *context)
{
	return add(context, TOKEN_NULL) != NULL;
}

static int on_boolean(void *context, int value)
{
	return add(context, value ? TOKEN_TRUE : TOKEN_FALSE) != NULL;
}

static int on_number(void *context, const char *text, size_t len)
{
	return add_text(context, TOKEN_NUMBER, text, len);
}

static int on_string(void *context, const unsigned char *text, size_t len)
{
	return add_text(context, TOKEN_STRING, (const char *)text, len);
}

static int on_key(void *context, const unsigned char *text, size_t len)
{
	return add_text(context, TOKEN_KEY, (const char *)text, len);
}

static int begin(struct tokens *tokens, enum token_kind kind)
{
	if (++tokens->depth > TOKENS_DEPTH_MAX)
		return stop(tokens, -EINVAL, "brackets that nest too deep");
	return add(tokens, kind) != NULL;
}

static int end(struct tokens *tokens, enum token_kind kind)
{
	tokens->depth--;
	return add(tokens, kind) != NULL;
}

static int on_object_begin(void *context)
{
	return begin(context, TOKEN_OBJECT_BEGIN);
}

static int on_object_end(void *context)
{
	return end(context, TOKEN_OBJECT_END);
}

static int on_array_begin(void *context)
{
	return begin(context, TOKEN_ARRAY_BEGIN);
}

static int on_array_end(void *context)
{
	return end(context, TOKEN_ARRAY_END);
}

int tokens__open(struct input *input, uint64_t offset, struct tokens **ret_tokens)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null,
		.yajl_boolean = on_boolean,
		.yajl_number = on_number,
		.yajl_string = on_string,
		.yajl_map_key = on_key,
		.yajl_start_map = on_object_begin,
		.yajl_end_map = on_object_end,
		.yajl_start_array = on_array_begin,
		.yajl_end_array = on_array_end,
	};
	struct tokens *tokens = calloc(1, sizeof(*tokens));

	if (!tokens)
		return -ENOMEM;
	tokens->yajl = yajl_alloc(&callbacks, NULL, tokens);
	if (!tokens->yajl) {
		free(tokens);
		return -ENOMEM;
	}
	/* Done by us, since yajl lets overlong forms pass. */
	yajl_config(tokens->yajl, yajl_dont_validate_strings, 1);
	tokens->input = input;
	tokens->block_at = offset;
	*ret_tokens = tokens;
	return 0;
}

void tokens__close(struct tokens *tokens)
{
	if (!tokens)
		return;
	yajl_free(tokens->yajl);
	free(tokens->queue);
	free(tokens->texts);
	free(tokens);
}

/* "lexical error: invalid string in json text.\n", and the like. */
static void set_yajl_fault(struct tokens *tokens)
{
	unsigned char *text = yajl_get_error(tokens->yajl, 0, NULL, 0);
	size_t len = text ? strcspn((const char *)text, "\n") : 0;

	while (len > 0 && (text[len - 1] == '.' || text[len - 1] == ' '))
		len--;
	tokens->err = -EINVAL;
	fail__set(&tokens->fault, 0, "%.*s", (int)len, text ? (const char *)text : "");
	tokens->why = tokens->fault.text;
	if (text)
		yajl_free_error(tokens->yajl, text);
}

static void take_block(struct tokens *tokens)
{
	if (!surrogates__feed(&tokens->surrogates, (const char *)tokens->block, tokens->block_len))
		stop(tokens, -EINVAL, "half of a surrogate pair in a text");
	else if (yajl_parse(tokens->yajl, tokens->block, tokens->block_len) != yajl_status_ok &&
		 !tokens->err)
		set_yajl_fault(tokens);
	else if (!tokens->err && tokens->idle > TOKEN_MAX)
		stop(tokens, -E2BIG, "a text or a gap of more than a megabyte");
}

static void take_end(struct tokens *tokens)
{
	tokens->ended = true;
	if (yajl_complete_parse(tokens->yajl) == yajl_status_ok)
		return;
	stop(tokens, -EINVAL, "the text ends too early: the file was cut off");
}

/* Reads the next block when all tokens of the last one were taken. */
static int fill(struct tokens *tokens, struct fail *fail)
{
	ssize_t got;

	tokens->block_at += tokens->block_len;
	tokens->block_len = 0;
	tokens->count = tokens->next = tokens->texts_used = 0;
	got = input__read(tokens->input, tokens->block, BLOCK_SIZE, tokens->block_at, fail);
	if (got < 0)
		return (int)got;
	tokens->block_len = (size_t)got;
	tokens->idle += (uint64_t)got;
	if (got > 0)
		take_block(tokens);
	else
		take_end(tokens);
	return 0;
}

static int tell_fault(struct tokens *tokens, struct fail *fail)
{
	uint64_t at = tokens->block_at + yajl_get_bytes_consumed(tokens->yajl);

	if (tokens->err == -ENOMEM)
		return fail__set(fail, -ENOMEM, "not enough memory to read %s",
				 input__name(tokens->input));
	return fail__set(fail, tokens->err, "%s is no profile, near byte %" PRIu64 ": %s",
			 input__name(tokens->input), at, tokens->why);
}

int tokens__next(struct tokens *tokens, struct token *ret_token, struct fail *fail)
{
	const struct queued *queued;
	int err;

	while (tokens->next == tokens->count) {
		if (tokens->err)
			return tell_fault(tokens, fail);
		if (tokens->ended) {
			*ret_token = (struct token){ .kind = TOKEN_END, .text = "" };
			return 0;
		}
		err = fill(tokens, fail);
		if (err)
			return err;
	}
	queued = &tokens->queue[tokens->next++];
	*ret_token = (struct token){
		.kind = (enum token_kind)queued->kind,
		.text = tokens->texts ? tokens->texts + queued->text : "",
		.len = queued->len,
		.end = tokens->block_at + queued->end,
	};
	return 0;
}
