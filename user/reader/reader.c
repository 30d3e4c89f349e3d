// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/about.h"
#include "reader/node_set.h"
#include "reader/parser.h"
#include "reader/raw_json.h"
#include "reader/reader.h"
#include "util/text.h"

#define MEMBERS_MAX 64 /* that DBSP does not write */

struct member {
	const char *name;
	struct raw_json value;
};

struct reader {
	struct profile_source source; /* first: the one is cast to the other */
	struct profile_source_ops ops;
	struct input *input;
	struct string_pool strings;
	struct profile_graph graph;
	struct about about;
	uint64_t workers_at;	 /* offset of the array */
	struct raw_json metrics; /* the elements */
	struct member members[MEMBERS_MAX];
	size_t member_count;

	/* While it is opened. */
	struct parser parser;
	struct node_set nodes;
	bool has_workers;
	bool has_metrics;
	bool has_graph;
};

static struct reader *whole(struct profile_source *source)
{
	return (struct reader *)source;
}

static int visit(struct profile_source *source, const struct profile_visitor *visitor,
		 void *context, struct fail *fail)
{
	struct reader *reader = whole(source);
	struct parser parser;
	size_t count = 0;
	int err = input__check(reader->input, fail);

	if (!err)
		err = parser__open(&parser, reader->input, reader->workers_at, fail);
	if (err)
		return err;
	err = parser__next(&parser);
	if (!err)
		err = parser__workers(&parser, visitor, context, &count);
	if (!err)
		err = input__check(reader->input, fail);
	parser__close(&parser);
	return err;
}

static int metrics(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	struct reader *reader = whole(source);

	return raw_json__write(&reader->metrics, reader->input, json, fail);
}

static int members(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	struct reader *reader = whole(source);
	int err = 0;

	for (size_t i = 0; i < reader->member_count && !err; i++) {
		json__key(json, reader->members[i].name);
		err = raw_json__write(&reader->members[i].value, reader->input, json, fail);
	}
	return err;
}

static void close_source(struct profile_source *source)
{
	struct reader *reader = whole(source);

	input__close(reader->input);
	parser__close(&reader->parser);
	node_set__clear(&reader->nodes);
	string_pool__clear(&reader->strings);
	free(reader->graph.nodes);
	free(reader->graph.edges);
	free(reader);
}

static int note_node(void *context, size_t worker, const struct profile_node *node)
{
	struct reader *reader = context;
	int err = node_set__add(&reader->nodes, &node->id, worker);

	if (err == -EEXIST)
		return parser__refuse(&reader->parser, "the node stands there twice");
	if (err == -E2BIG)
		return parser__refuse(&reader->parser, "more than a million nodes");
	return err;
}

static int open_metrics(struct reader *reader)
{
	struct parser *parser = &reader->parser;
	int err = parser__next(parser);

	if (!err)
		err = parser__check(parser, TOKEN_ARRAY_BEGIN, "an array of metrics");
	if (err)
		return err;
	reader->has_metrics = true;
	reader->metrics.begin = parser->token.end;
	err = parser__skip(parser);
	reader->metrics.end = parser->token.end - 1;
	return err;
}

static int open_workers(struct reader *reader)
{
	static const struct profile_visitor visitor = { .node = note_node };
	int err = parser__next(&reader->parser);

	if (err)
		return err;
	reader->has_workers = true;
	reader->workers_at = reader->parser.token.end - 1;
	return parser__workers(&reader->parser, &visitor, reader, &reader->source.worker_count);
}

static int open_graph(struct reader *reader)
{
	int err = parser__next(&reader->parser);

	reader->has_graph = true;
	if (err || reader->parser.token.kind == TOKEN_NULL)
		return err;
	reader->source.graph = &reader->graph;
	return parser__graph(&reader->parser, &reader->strings, &reader->graph);
}

/* A member that DBSP does not write; its key was taken. */
static int open_member(struct reader *reader)
{
	struct parser *parser = &reader->parser;
	struct member *member = &reader->members[reader->member_count];
	const char *name = parser->token.text;
	int err;

	if (reader->member_count == MEMBERS_MAX)
		return parser__refuse(parser, "a profile with too many members");
	for (size_t i = 0; i < reader->member_count; i++)
		if (strcmp(reader->members[i].name, name) == 0)
			return parser__refuse(parser, "a member stands there twice");
	name = string_pool__add(&reader->strings, name);
	if (!name)
		return -ENOMEM;
	*member = (struct member){ .name = name, .value.begin = parser->token.end };
	err = parser__next(parser);
	if (err)
		return err;
	if (strcmp(name, "dbprof") == 0)
		err = about__dbprof(parser, &reader->about);
	else if (strcmp(name, "hosts") == 0)
		err = about__hosts(parser, &reader->about);
	else
		err = parser__skip(parser);
	member->value.end = parser->token.end;
	reader->member_count++;
	return err;
}

static int open_any(struct reader *reader)
{
	const struct {
		const char *name;
		bool seen;
		int (*open)(struct reader *reader);
	} parts[] = {
		{ "metrics", reader->has_metrics, open_metrics },
		{ "worker_profiles", reader->has_workers, open_workers },
		{ "graph", reader->has_graph, open_graph },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(reader->parser.token.text, parts[i].name) != 0)
			continue;
		if (parts[i].seen)
			return parser__refuse(&reader->parser, "%s stands there twice",
					      parts[i].name);
		return parts[i].open(reader);
	}
	return open_member(reader);
}

/* The whole text: one object and nothing behind it. */
static int read_all(struct reader *reader)
{
	struct parser *parser = &reader->parser;
	int err = parser__expect(parser, TOKEN_OBJECT_BEGIN, "an object");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = open_any(reader);
	}
	if (!err)
		err = parser__expect(parser, TOKEN_END, "the end of the text");
	if (!err && !reader->has_workers)
		return parser__refuse(parser, "it has no worker_profiles");
	return err;
}

/* Viewers refuse readings of a node that the graph lacks, and the engine writes none. */
static int check_nodes(struct reader *reader, struct fail *fail)
{
	char text[NODE_ID_TEXT_MAX];
	struct node_path id;
	size_t worker;

	if (!reader->source.graph ||
	    !node_set__unknown(&reader->nodes, &reader->graph, &id, &worker))
		return 0;
	node_path__format(&id, text);
	return fail__set(fail, -EINVAL,
			 "%s is no complete profile: worker %zu has readings of node %s, which its "
			 "graph lacks",
			 input__name(reader->input), worker, text);
}

static int open_reader(struct reader *reader, const char *path, struct fail *fail)
{
	int err = input__open(path, &reader->input, fail);

	if (!err)
		err = parser__open(&reader->parser, reader->input, 0, fail);
	if (!err)
		err = read_all(reader);
	if (!err)
		err = check_nodes(reader, fail);
	if (!err)
		err = input__check(reader->input, fail);
	parser__close(&reader->parser);
	node_set__clear(&reader->nodes);
	return err;
}

/* What is known of the profile by now. */
static void set_about(struct reader *reader)
{
	struct profile_source *source = &reader->source;

	if (reader->has_metrics)
		reader->ops.metrics = metrics;
	if (reader->member_count > 0)
		reader->ops.members = members;
	if (reader->about.dbsp_version[0])
		source->dbsp_version = reader->about.dbsp_version;
	source->start_unix_ns = reader->about.start_unix_ns;
	source->elapsed_ns = reader->about.elapsed_ns;
	source->pid = reader->about.pid;
	source->first_worker = reader->about.first_worker;
}

int profile_reader__open(const char *path, struct profile_source **ret_source, struct fail *fail)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->source.ops = &reader->ops;
	reader->ops = (struct profile_source_ops){ .visit = visit, .close = close_source };
	err = open_reader(reader, path, fail);
	if (err) {
		close_source(&reader->source);
		return fail__set(fail, err, "cannot read %s: %s", path, strerror(-err));
	}
	set_about(reader);
	*ret_source = &reader->source;
	return 0;
}
