// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/merge.h"
#include "model/summed_source.h"

#define VALUE_DEPTH_MAX 64 /* arrays and maps inside each other */

struct summed_source {
	struct profile_source source; /* first: the one is cast to the other */
	struct profile_source_ops ops;
	struct profile_source *from;
	struct profile *profile; /* with the sum as its only worker */
};

static struct summed_source *whole(struct profile_source *source)
{
	return (struct summed_source *)source;
}

static int copy_value(struct profile *profile, const struct value *from, unsigned int depth,
		      struct value *ret_value);

static int copy_array(struct profile *profile, const struct value_array *from, unsigned int depth,
		      struct value *to)
{
	int err = 0;

	to->array.count = 0;
	to->array.items = calloc(from->count + 1, sizeof(*to->array.items));
	if (!to->array.items)
		return -ENOMEM;
	for (size_t i = 0; i < from->count && !err; i++) {
		err = copy_value(profile, &from->items[i], depth, &to->array.items[i]);
		if (!err)
			to->array.count++;
	}
	return err;
}

static int copy_map(struct profile *profile, const struct value_map *from, unsigned int depth,
		    struct value *to)
{
	int err = 0;

	to->map.count = 0;
	to->map.entries = calloc(from->count + 1, sizeof(*to->map.entries));
	if (!to->map.entries)
		return -ENOMEM;
	for (size_t i = 0; i < from->count && !err; i++) {
		struct value_entry *entry = &to->map.entries[i];

		entry->key = string_pool__add(&profile->strings, from->entries[i].key);
		err = entry->key
			      ? copy_value(profile, &from->entries[i].value, depth, &entry->value)
			      : -ENOMEM;
		if (!err)
			to->map.count++;
	}
	return err;
}

/* Recursion ends at VALUE_DEPTH_MAX. */
static int copy_value(struct profile *profile, const struct value *from, unsigned int depth,
		      struct value *ret_value)
{
	struct value value = *from;
	int err = 0;

	if (depth > VALUE_DEPTH_MAX)
		return -E2BIG;
	if (value.kind == VALUE_STRING) {
		value.string = string_pool__add(&profile->strings, from->string);
		err = value.string ? 0 : -ENOMEM;
	} else if (value.kind == VALUE_ARRAY) {
		err = copy_array(profile, &from->array, depth + 1, &value);
	} else if (value.kind == VALUE_MAP) {
		err = copy_map(profile, &from->map, depth + 1, &value);
	}
	if (err)
		value__clear(&value);
	else
		*ret_value = value;
	return err;
}

static int copy_node(struct profile *profile, const struct profile_node *from)
{
	struct profile_node *to = profile_worker__node(&profile->workers[0], &from->id);
	int err = to ? 0 : -ENOMEM;

	for (size_t i = 0; i < from->count && !err; i++) {
		const struct profile_reading *reading = &from->readings[i];
		struct value value;

		err = copy_value(profile, &reading->value, 0, &value);
		if (!err)
			err = profile_node__set(profile, to, reading->metric, reading->labels,
						reading->label_count, value);
	}
	return err;
}

static int compare_nodes(const void *left, const void *right)
{
	const struct profile_node *a = left;
	const struct profile_node *b = right;

	return node_path__compare(&a->id, &b->id);
}

/* A node that the first worker does not have is left out, as the engine does. */
static int add_node(void *context, size_t worker, const struct profile_node *node)
{
	struct profile *profile = context;
	struct profile_worker *sum = &profile->workers[0];
	struct profile_node *to;

	if (worker == 0)
		return copy_node(profile, node);
	to = sum->count ? bsearch(node, sum->nodes, sum->count, sizeof(*node), compare_nodes)
			: NULL;
	return to ? profile_node__merge(profile, to, node) : 0;
}

static int visit(struct profile_source *source, const struct profile_visitor *visitor,
		 void *context, struct fail *fail)
{
	const struct profile *profile = whole(source)->profile;
	int err = 0;

	(void)fail;
	if (source->worker_count == 0)
		return 0;
	if (visitor->worker_begin)
		err = visitor->worker_begin(context, 0);
	for (size_t i = 0; i < profile->workers[0].count && !err && visitor->node; i++)
		err = visitor->node(context, 0, &profile->workers[0].nodes[i]);
	if (!err && visitor->worker_end)
		err = visitor->worker_end(context, 0);
	return err;
}

static int metrics(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	return profile_source__metrics(whole(source)->from, json, fail);
}

static int members(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	return profile_source__members(whole(source)->from, json, fail);
}

static void close_source(struct profile_source *source)
{
	profile__free(whole(source)->profile);
	free(source);
}

static struct profile *make_profile(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->workers = calloc(1, sizeof(*profile->workers));
	if (!profile->workers) {
		free(profile);
		return NULL;
	}
	profile->worker_count = 1;
	return profile;
}

int summed_source__open(struct profile_source *from, struct profile_source **ret_source,
			struct fail *fail)
{
	static const struct profile_visitor visitor = { .node = add_node };
	struct summed_source *summed = calloc(1, sizeof(*summed));
	int err;

	if (!summed)
		return -ENOMEM;
	summed->profile = make_profile();
	err = summed->profile ? profile_source__visit(from, &visitor, summed->profile, fail)
			      : -ENOMEM;
	if (err) {
		close_source(&summed->source);
		return err;
	}
	summed->from = from;
	summed->source = *from;
	summed->source.worker_count = from->worker_count > 0 ? 1 : 0;
	summed->ops = (struct profile_source_ops){ .visit = visit, .close = close_source };
	if (from->ops->metrics)
		summed->ops.metrics = metrics;
	if (from->ops->members)
		summed->ops.members = members;
	summed->source.ops = &summed->ops;
	*ret_source = &summed->source;
	return 0;
}
