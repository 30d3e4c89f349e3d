// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/attribute_report.h"
#include "export/graph_labels.h"
#include "export/json_parts.h"
#include "model/value_format.h"
#include "util/text.h"

#define TEXT_MAX    200
#define NODE_WIDTH  8
#define VALUE_WIDTH 16

struct lines {
	struct profile_source *source;
	const struct attribute_query *query;
	bool as_bytes;
	struct graph_labels labels;
	struct json_writer json;
	FILE *out;
	size_t count;
};

/* The labels as the engine's dot profiles have them: "reason=peers, slot=0". */
static void print_labels(const struct profile_reading *reading, FILE *out)
{
	char key[TEXT_MAX], value[TEXT_MAX];

	for (size_t i = 0; i < reading->label_count; i++) {
		text__printable(reading->labels[i].key, key, sizeof(key));
		text__printable(reading->labels[i].value, value, sizeof(value));
		fprintf(out, "%s%s=%s", i ? ", " : "  [", key, value);
	}
	if (reading->label_count > 0)
		fputc(']', out);
}

static int print_line(void *context, size_t worker, const struct node_path *node,
		      const struct profile_reading *reading)
{
	struct lines *lines = context;
	char *text = value__text(&reading->value);
	char id[NODE_ID_TEXT_MAX], value[TEXT_MAX], metric[TEXT_MAX];
	size_t columns;

	if (!text)
		return -ENOMEM;
	if (lines->count == 0)
		fprintf(lines->out, "%6s  %-*s  %*s  %s\n", "worker", NODE_WIDTH, "node",
			VALUE_WIDTH, "value", lines->query->metric ? "operator" : "metric");
	text__printable(text, value, sizeof(value));
	free(text);
	node_path__format(node, id);
	columns = text__columns(value);
	fprintf(lines->out, "%6zu  %-*s  %*s%s", lines->source->first_worker + worker, NODE_WIDTH,
		id, columns < VALUE_WIDTH ? (int)(VALUE_WIDTH - columns) : 0, "", value);
	if (!lines->query->metric) {
		text__printable(reading->metric, metric, sizeof(metric));
		fprintf(lines->out, "  %s", metric);
	}
	print_labels(reading, lines->out);
	if (lines->query->metric)
		fprintf(lines->out, "  %s", graph_labels__of(&lines->labels, node));
	fputc('\n', lines->out);
	lines->count++;
	return ferror(lines->out) ? -EIO : 0;
}

static int write_element(void *context, size_t worker, const struct node_path *node,
			 const struct profile_reading *reading)
{
	struct lines *lines = context;
	struct json_writer *json = &lines->json;
	char id[NODE_ID_TEXT_MAX];

	if (lines->count == 0)
		json__array_begin(json);
	node_path__format(node, id);
	json__object_begin(json);
	json__member_uint(json, "worker", lines->source->first_worker + worker);
	json__member_string(json, "node", id);
	json_reading(json, reading);
	json__object_end(json);
	lines->count++;
	return json->error;
}

static int each(struct lines *lines, attribute_tell tell, struct fail *fail)
{
	if (lines->as_bytes)
		return attribute__profile_as_bytes(lines->source, lines->query, tell, lines, fail);
	return attribute__each(lines->source, lines->query, tell, lines, fail);
}

static int write_lines(struct lines *lines, struct fail *fail)
{
	int err = 0;

	if (lines->query->metric)
		err = graph_labels__make(&lines->labels, lines->source->graph);
	if (err)
		return err;
	err = each(lines, print_line, fail);
	graph_labels__clear(&lines->labels);
	return err;
}

static int write_array(struct lines *lines, struct fail *fail)
{
	int err;

	json__begin(&lines->json, lines->out);
	err = each(lines, write_element, fail);
	if (err || lines->count == 0)
		return err;
	json__array_end(&lines->json);
	fputc('\n', lines->out);
	return json__end(&lines->json);
}

int attribute_report__readings(struct profile_source *source, const struct attribute_query *query,
			       bool as_bytes, bool json, FILE *out, size_t *ret_count,
			       struct fail *fail)
{
	struct lines lines = {
		.source = source,
		.query = query,
		.as_bytes = as_bytes,
		.out = out,
	};
	int err = json ? write_array(&lines, fail) : write_lines(&lines, fail);

	*ret_count = lines.count;
	return err;
}

static void write_total(const char *metric, enum value_kind kind,
			const struct attribute_total *total, const char *text, FILE *out)
{
	struct json_writer json;

	json__begin(&json, out);
	json__object_begin(&json);
	json__member_string(&json, "metric_id", metric);
	json__member_string(&json, "type", kind == VALUE_BYTES ? "bytes" : "count");
	json__member_uint(&json, "total", total->total);
	json__member_uint(&json, "root", total->root);
	json__member_uint(&json, "readings", total->readings);
	json__member_string(&json, "text", text);
	json__object_end(&json);
	fputc('\n', out);
}

void attribute_report__total(const char *metric, enum value_kind kind,
			     const struct attribute_total *total, bool json, FILE *out)
{
	struct value value = { .kind = kind, .number = total->total };
	char *text = value__text(&value);
	char name[TEXT_MAX];

	text__printable(metric, name, sizeof(name));
	if (json) {
		write_total(metric, kind, total, text, out);
	} else {
		fprintf(out, "%s: %" PRIu64 " (%s), the sum of %" PRIu64 " readings", name,
			total->total, text ? text : "?", total->readings);
		if (total->root > 0)
			fprintf(out,
				"; %" PRIu64 " of it in the root, which is the sum of its nodes",
				total->root);
		fputc('\n', out);
	}
	free(text);
}
