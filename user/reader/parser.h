/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The grammar of a profile (Serialize in src/profile.rs and src/circuit/metadata.rs), part by part.
 *
 * Each function returns 0, or a negative errno with its sentence in the parser's @fail. Those that
 * parse a value find its first token taken and leave with its last one taken.
 */
#ifndef DBPROF_READER_PARSER_H
#define DBPROF_READER_PARSER_H

#include "model/source.h"
#include "reader/tokens.h"
#include "util/arena.h"

#define PARSER_NODE_MAX	  (32u << 20) /* bytes of memory for the readings of one node */
#define PARSER_VALUE_MAX  32	      /* how deep arrays and maps of values nest */
#define PARSER_GRAPH_MAX  256	      /* how deep clusters nest */
#define PARSER_NODES_MAX  (1u << 20)  /* nodes of a graph */
#define PARSER_EDGES_MAX  (1u << 22)
#define PARSER_LABELS_MAX (256u << 20) /* bytes of all texts of a graph */

struct parser {
	struct input *input;
	struct tokens *tokens;
	struct fail *fail;
	struct token token; /* the last one taken */

	/* The node that is read; its readings, with all they point at, are in the arena. */
	struct arena arena;
	struct profile_node node;

	/* Where we are, for messages. */
	bool in_worker;
	size_t worker;
	bool in_node;
	const char *metric;
};

int parser__open(struct parser *parser, struct input *input, uint64_t offset, struct fail *fail);
void parser__close(struct parser *parser);

/* Takes the next token. */
int parser__next(struct parser *parser);
/* Takes the next token, which must be of @kind; @what says in words what was expected. */
int parser__expect(struct parser *parser, enum token_kind kind, const char *what);
/* Fails when the token is not of @kind. */
int parser__check(struct parser *parser, enum token_kind kind, const char *what);
/* Goes to the end of the value whose first token was taken. */
int parser__skip(struct parser *parser);
/* Refuses the file, saying where in it. Returns -EINVAL. */
int parser__refuse(struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Which of @names the token, a key, is. Refuses other keys, and those for which *@seen has its bit
 * already, which is set.
 */
int parser__key(struct parser *parser, const char *const *names, size_t count, unsigned int *seen,
		size_t *ret_index);

/* A whole number up to @max. */
int parser__uint(struct parser *parser, uint64_t max, uint64_t *ret_number);
int parser__bool(struct parser *parser, bool *ret_value);
/* Takes tokens: an object of exactly these members, all whole numbers. */
int parser__numbers(struct parser *parser, const char *const *names, size_t count,
		    const uint64_t *max, uint64_t *ret_numbers);
int parser__duration(struct parser *parser, struct duration *ret_duration);

/* A copy of the token's text in the arena; NULL, and a sentence, when memory is short. */
const char *parser__text(struct parser *parser);
/* @size bytes of the arena; NULL, and a sentence, when there is no room. */
void *parser__alloc(struct parser *parser, size_t size);

int parser__value(struct parser *parser, struct value *ret_value);

/* The readings of a node into parser->node, whose id is set. */
int parser__readings(struct parser *parser);

/* The array of all workers, told to @visitor. */
int parser__workers(struct parser *parser, const struct profile_visitor *visitor, void *context,
		    size_t *ret_count);

/* A graph; its strings go to @strings. What was read of it is to be freed also after a failure. */
int parser__graph(struct parser *parser, struct string_pool *strings, struct profile_graph *graph);

#endif
