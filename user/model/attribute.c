// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/attribute.h"
#include "model/value_format.h"
#include "util/text.h"

#define TEXT_MAX 120 /* bytes of a name or value in a sentence */

struct each {
	const struct attribute_query *query;
	attribute_tell tell;
	void *context;
};

static int tell_node(void *context, size_t worker, const struct profile_node *node)
{
	const struct each *each = context;
	const struct attribute_query *query = each->query;
	int err = 0;

	if (query->one_worker && worker != query->worker)
		return 0;
	if (query->node && node_path__compare(query->node, &node->id) != 0)
		return 0;
	for (size_t i = 0; i < node->count && !err; i++)
		if (!query->metric || strcmp(node->readings[i].metric, query->metric) == 0)
			err = each->tell(each->context, worker, &node->id, &node->readings[i]);
	return err;
}

int attribute__each(struct profile_source *source, const struct attribute_query *query,
		    attribute_tell tell, void *context, struct fail *fail)
{
	static const struct profile_visitor visitor = { .node = tell_node };
	struct each each = { query, tell, context };

	return profile_source__visit(source, &visitor, &each, fail);
}

struct adding {
	enum value_kind kind;
	size_t first_worker;
	struct attribute_total total;
	struct fail *fail;
};

static const char *kind_name(enum value_kind kind)
{
	static const char *const names[] = {
		[VALUE_INT] = "a plain number",	 [VALUE_COUNT] = "a count",
		[VALUE_PERCENT] = "a percent",	 [VALUE_CACHE_COUNTS] = "cache counts",
		[VALUE_STRING] = "a text",	 [VALUE_ARRAY] = "an array",
		[VALUE_MAP] = "a map",		 [VALUE_BYTES] = "a number of bytes",
		[VALUE_DURATION] = "a duration", [VALUE_BOOL] = "true or false",
	};

	return names[kind];
}

/* The engine's functions fail with the value itself. */
static int refuse(const struct adding *adding, size_t worker, const struct node_path *node,
		  const struct profile_reading *reading)
{
	char metric[TEXT_MAX], value[TEXT_MAX], id[NODE_ID_TEXT_MAX];
	char *text = value__text(&reading->value);

	text__printable(reading->metric, metric, sizeof(metric));
	text__printable(text, value, sizeof(value));
	free(text);
	node_path__format(node, id);
	return fail__set(adding->fail, -EDOM,
			 "%s is no metric of %s: in node %s of worker %zu it is %s, %s", metric,
			 adding->kind == VALUE_BYTES ? "bytes" : "counts", id,
			 adding->first_worker + worker, kind_name(reading->value.kind), value);
}

static int add(void *context, size_t worker, const struct node_path *node,
	       const struct profile_reading *reading)
{
	struct adding *adding = context;

	/* Bytes come from attribute_profile(), which knows no labels. */
	if (adding->kind == VALUE_BYTES && reading->label_count > 0)
		return 0;
	if (reading->value.kind != adding->kind)
		return refuse(adding, worker, node, reading);
	adding->total.readings++;
	adding->total.total += reading->value.number;
	if (node->depth == 0)
		adding->total.root += reading->value.number;
	return 0;
}

static int total(struct profile_source *source, const struct attribute_query *query,
		 enum value_kind kind, struct attribute_total *ret_total, struct fail *fail)
{
	struct adding adding = {
		.kind = kind,
		.first_worker = source->first_worker,
		.fail = fail,
	};
	int err = attribute__each(source, query, add, &adding, fail);

	if (!err)
		*ret_total = adding.total;
	return err;
}

int attribute__total_as_bytes(struct profile_source *source, const struct attribute_query *query,
			      struct attribute_total *ret_total, struct fail *fail)
{
	return total(source, query, VALUE_BYTES, ret_total, fail);
}

int attribute__total_as_count(struct profile_source *source, const struct attribute_query *query,
			      struct attribute_total *ret_total, struct fail *fail)
{
	return total(source, query, VALUE_COUNT, ret_total, fail);
}

/* Passes on the readings without labels. */
struct unlabelled {
	attribute_tell tell;
	void *context;
};

static int tell_unlabelled(void *context, size_t worker, const struct node_path *node,
			   const struct profile_reading *reading)
{
	const struct unlabelled *to = context;

	return reading->label_count > 0 ? 0 : to->tell(to->context, worker, node, reading);
}

int attribute__profile_as_bytes(struct profile_source *source, const struct attribute_query *query,
				attribute_tell tell, void *context, struct fail *fail)
{
	struct unlabelled to = { tell, context };
	struct attribute_total ignored;
	int err = attribute__total_as_bytes(source, query, &ignored, fail);

	return err ? err : attribute__each(source, query, tell_unlabelled, &to, fail);
}

int attribute__total_used_bytes(struct profile_source *source, struct attribute_total *ret_total,
				struct fail *fail)
{
	const struct attribute_query query = { .metric = USED_MEMORY_BYTES };

	return total(source, &query, VALUE_BYTES, ret_total, fail);
}

int attribute__total_storage_size(struct profile_source *source, struct attribute_total *ret_total,
				  struct fail *fail)
{
	const struct attribute_query query = { .metric = SPINE_STORAGE_SIZE_BYTES };

	return total(source, &query, VALUE_BYTES, ret_total, fail);
}
