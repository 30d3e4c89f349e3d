/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tokens of a JSON text, one after the other, with memory for one block of it (by yajl).
 *
 * Stricter than yajl: strings are UTF-8 and surrogates come in pairs, brackets do not nest without
 * an end, and no token is longer than TOKEN_MAX.
 */
#ifndef DBPROF_READER_TOKENS_H
#define DBPROF_READER_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/input.h"

#define TOKEN_MAX	 (1u << 20) /* bytes, as written */
#define TOKENS_DEPTH_MAX 1200	    /* open brackets */

enum token_kind {
	TOKEN_END, /* of the text */
	TOKEN_NULL,
	TOKEN_FALSE,
	TOKEN_TRUE,
	TOKEN_NUMBER, /* its text, as written */
	TOKEN_STRING, /* its text, without quotes and escapes; U+0000 is UTF8_NUL */
	TOKEN_KEY,    /* the same */
	TOKEN_OBJECT_BEGIN,
	TOKEN_OBJECT_END,
	TOKEN_ARRAY_BEGIN,
	TOKEN_ARRAY_END,
};

struct token {
	enum token_kind kind;
	const char *text; /* valid until the next token is taken; ends with a NUL */
	size_t len;
	uint64_t end; /* offset of the byte behind it */
};

struct tokens;

/* The tokens of @input, which must outlive it, from the byte at @offset. Returns 0 or -ENOMEM. */
int tokens__open(struct input *input, uint64_t offset, struct tokens **ret_tokens);

/* The next token. Returns 0, or a negative errno with its sentence in @fail. */
int tokens__next(struct tokens *tokens, struct token *ret_token, struct fail *fail);

/* NULL is fine. */
void tokens__close(struct tokens *tokens);

#endif
