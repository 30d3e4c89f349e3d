// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workers, their nodes, and the readings of these (Serialize for WorkerProfile, OperatorMeta).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/parser.h"
#include "util/array.h"
#include "util/text.h"

#define READING_LABELS_MAX 64

/* One ["key","value"], of which the bracket was taken. */
static int parse_label(struct parser *parser, struct profile_label *label)
{
	int err =
		parser__check(parser, TOKEN_ARRAY_BEGIN, "a label, which is [\"name\",\"value\"],");

	if (!err)
		err = parser__expect(parser, TOKEN_STRING, "the name of a label");
	if (err)
		return err;
	label->key = parser__text(parser);
	if (!label->key)
		return -ENOMEM;
	err = parser__expect(parser, TOKEN_STRING, "the value of a label");
	if (err)
		return err;
	label->value = parser__text(parser);
	if (!label->value)
		return -ENOMEM;
	return parser__expect(parser, TOKEN_ARRAY_END, "the end of a label");
}

static int parse_labels(struct parser *parser, struct profile_reading *reading)
{
	struct profile_label labels[READING_LABELS_MAX];
	size_t count = 0;
	int err = parser__check(parser, TOKEN_ARRAY_BEGIN, "an array of labels");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_ARRAY_END)
			break;
		if (count == READING_LABELS_MAX)
			return parser__refuse(parser, "a reading with more than %d labels",
					      READING_LABELS_MAX);
		err = parse_label(parser, &labels[count++]);
	}
	if (err || count == 0)
		return err;
	reading->labels = parser__alloc(parser, count * sizeof(*labels));
	if (!reading->labels)
		return -ENOMEM;
	memcpy(reading->labels, labels, count * sizeof(*labels));
	reading->label_count = count;
	return 0;
}

static int parse_metric(struct parser *parser, struct profile_reading *reading)
{
	int err = parser__check(parser, TOKEN_STRING, "the name of a metric");

	if (err)
		return err;
	reading->metric = parser__text(parser);
	parser->metric = reading->metric;
	return reading->metric ? 0 : -ENOMEM;
}

/* {"metric_id":,"labels":,"value":}, of which the bracket was taken. */
static int parse_reading(struct parser *parser, struct profile_reading *reading)
{
	static const char *const names[] = { "metric_id", "labels", "value" };
	unsigned int seen = 0;
	size_t index;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "a reading");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parser__key(parser, names, 3, &seen, &index);
		if (!err)
			err = parser__next(parser);
		if (err)
			break;
		if (index == 0)
			err = parse_metric(parser, reading);
		else if (index == 1)
			err = parse_labels(parser, reading);
		else
			err = parser__value(parser, &reading->value);
	}
	if (!err && (seen & 5) != 5)
		return parser__refuse(parser, "a reading without metric_id or value");
	return err;
}

static int compare_readings(const void *left, const void *right)
{
	return profile_reading__compare(left, right);
}

/* The order of the engine's map, in which readings stand already when the engine has written them.
 */
static int sort_readings(struct parser *parser)
{
	struct profile_node *node = &parser->node;
	bool sorted = true;

	for (size_t i = 1; i < node->count && sorted; i++)
		sorted = compare_readings(&node->readings[i - 1], &node->readings[i]) < 0;
	if (sorted)
		return 0;
	qsort(node->readings, node->count, sizeof(*node->readings), compare_readings);
	for (size_t i = 1; i < node->count; i++) {
		parser->metric = node->readings[i].metric;
		if (compare_readings(&node->readings[i - 1], &node->readings[i]) == 0)
			return parser__refuse(parser, "it stands there twice with the same labels");
	}
	return 0;
}

static struct profile_reading *add_reading(struct parser *parser)
{
	struct profile_node *node = &parser->node;
	struct profile_reading *readings;

	if (node->count * sizeof(*readings) > PARSER_NODE_MAX) {
		parser__refuse(parser, "a node with more readings than any node has");
		return NULL;
	}
	readings = array__reserve(node->readings, &node->capacity, node->count, sizeof(*readings));
	if (!readings)
		return NULL;
	node->readings = readings;
	readings[node->count] = (struct profile_reading){ 0 };
	return &readings[node->count++];
}

int parser__readings(struct parser *parser)
{
	struct profile_reading *reading;
	int err = parser__check(parser, TOKEN_ARRAY_BEGIN, "an array of readings");

	parser->node.count = 0;
	arena__reset(&parser->arena);
	while (!err) {
		parser->metric = NULL;
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_ARRAY_END)
			break;
		reading = add_reading(parser);
		err = reading ? parse_reading(parser, reading) : -ENOMEM;
	}
	if (!err)
		err = sort_readings(parser);
	parser->metric = NULL;
	return err;
}

/* A node with its readings, of which the id was taken. */
static int parse_node(struct parser *parser, const struct profile_visitor *visitor, void *context)
{
	char text[64];
	int err;

	if (node_path__parse(parser->token.text, &parser->node.id)) {
		text__printable(parser->token.text, text, sizeof(text));
		return parser__refuse(parser, "'%s' is no id of a node", text);
	}
	parser->in_node = true;
	err = parser__next(parser);
	if (!err)
		err = parser__readings(parser);
	if (!err && visitor->node)
		err = visitor->node(context, parser->worker, &parser->node);
	parser->in_node = false;
	return err;
}

/* {"metadata":{...}}, of which the first bracket was taken. */
static int parse_worker(struct parser *parser, const struct profile_visitor *visitor, void *context)
{
	static const char *const names[] = { "metadata" };
	unsigned int seen = 0;
	size_t index;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "a worker's profile");

	if (!err && visitor->worker_begin)
		err = visitor->worker_begin(context, parser->worker);
	if (!err)
		err = parser__expect(parser, TOKEN_KEY, "the member metadata");
	if (!err)
		err = parser__key(parser, names, 1, &seen, &index);
	if (!err)
		err = parser__expect(parser, TOKEN_OBJECT_BEGIN, "an object of nodes");
	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parse_node(parser, visitor, context);
	}
	if (!err)
		err = parser__expect(parser, TOKEN_OBJECT_END, "the end of a worker's profile");
	if (!err && visitor->worker_end)
		err = visitor->worker_end(context, parser->worker);
	return err;
}

int parser__workers(struct parser *parser, const struct profile_visitor *visitor, void *context,
		    size_t *ret_count)
{
	int err = parser__check(parser, TOKEN_ARRAY_BEGIN, "an array of workers");

	parser->worker = 0;
	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_ARRAY_END)
			break;
		parser->in_worker = true;
		err = parse_worker(parser, visitor, context);
		parser->in_worker = false;
		if (!err)
			parser->worker++;
	}
	if (!err)
		*ret_count = parser->worker;
	return err;
}
