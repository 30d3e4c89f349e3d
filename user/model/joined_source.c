// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/joined_source.h"
#include "util/text.h"

#define TEXT_ID_MAX 100

struct joined_source {
	struct profile_source source; /* first: the one is cast to the other */
	struct profile_source_ops ops;
	struct joined_part *parts;
	size_t count;
};

/* Passes on what a part tells, with the numbers that its workers have in the whole. */
struct shift {
	const struct profile_visitor *visitor;
	void *context;
	size_t first;
};

static struct joined_source *whole(struct profile_source *source)
{
	return (struct joined_source *)source;
}

static int worker_begin(void *context, size_t worker)
{
	const struct shift *shift = context;

	if (!shift->visitor->worker_begin)
		return 0;
	return shift->visitor->worker_begin(shift->context, shift->first + worker);
}

static int node(void *context, size_t worker, const struct profile_node *node)
{
	const struct shift *shift = context;

	if (!shift->visitor->node)
		return 0;
	return shift->visitor->node(shift->context, shift->first + worker, node);
}

static int worker_end(void *context, size_t worker)
{
	const struct shift *shift = context;

	if (!shift->visitor->worker_end)
		return 0;
	return shift->visitor->worker_end(shift->context, shift->first + worker);
}

static int visit(struct profile_source *source, const struct profile_visitor *visitor,
		 void *context, struct fail *fail)
{
	static const struct profile_visitor shifted = { worker_begin, node, worker_end };
	struct joined_source *joined = whole(source);
	struct shift shift = { .visitor = visitor, .context = context };
	int err = 0;

	for (size_t i = 0; i < joined->count && !err; i++) {
		struct profile_source *part = joined->parts[i].source;

		err = profile_source__visit(part, &shifted, &shift, fail);
		shift.first += part->worker_count;
	}
	return err;
}

static int metrics(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	return profile_source__metrics(whole(source)->parts[0].source, json, fail);
}

static int members(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	struct joined_source *joined = whole(source);
	size_t first = source->first_worker;
	int err = 0;

	json__member_array_begin(json, "hosts");
	for (size_t i = 0; i < joined->count && !err; i++) {
		struct profile_source *part = joined->parts[i].source;

		json__object_begin(json);
		json__member_uint(json, "first_worker", first);
		json__member_uint(json, "workers", part->worker_count);
		json__member_object_begin(json, "members");
		err = profile_source__members(part, json, fail);
		json__object_end(json);
		json__object_end(json);
		first += part->worker_count;
	}
	json__array_end(json);
	return err;
}

static void close_source(struct profile_source *source)
{
	free(whole(source)->parts);
	free(source);
}

static int compare_ids(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

/* The ids of a graph's nodes, sorted. NULL when memory is short. */
static const char **sorted_ids(const struct profile_graph *graph)
{
	const char **ids = malloc((graph->node_count + 1) * sizeof(*ids));

	if (!ids)
		return NULL;
	for (size_t i = 0; i < graph->node_count; i++)
		ids[i] = graph->nodes[i].id;
	qsort(ids, graph->node_count, sizeof(*ids), compare_ids);
	return ids;
}

static int refuse(const struct joined_part *has, const struct joined_part *lacks, const char *id,
		  struct fail *fail)
{
	char text[TEXT_ID_MAX];

	text__printable(id, text, sizeof(text));
	return fail__set(fail, -EINVAL,
			 "these are not hosts of one pipeline: the graph of %s has the node %s, "
			 "that of %s does not",
			 has->name, text, lacks->name);
}

/* The first node, in the order of their ids, that only one of them has. */
static int compare_graphs(const struct joined_part *a, const struct joined_part *b,
			  struct fail *fail)
{
	const struct profile_graph *left = a->source->graph, *right = b->source->graph;
	const char **a_ids = sorted_ids(left), **b_ids = sorted_ids(right);
	size_t i = 0, j = 0;
	int err = a_ids && b_ids ? 0 : -ENOMEM;

	while (!err && (i < left->node_count || j < right->node_count)) {
		int order;

		if (i == left->node_count)
			order = 1;
		else if (j == right->node_count)
			order = -1;
		else
			order = strcmp(a_ids[i], b_ids[j]);
		if (order < 0)
			err = refuse(a, b, a_ids[i], fail);
		else if (order > 0)
			err = refuse(b, a, b_ids[j], fail);
		i++;
		j++;
	}
	free(a_ids);
	free(b_ids);
	return err;
}

static int check_graphs(const struct joined_part *parts, size_t count, struct fail *fail)
{
	int err = 0;

	for (size_t i = 1; i < count && !err; i++) {
		if (!parts[0].source->graph != !parts[i].source->graph)
			return fail__set(fail, -EINVAL,
					 "these are not hosts of one pipeline: %s has no graph",
					 parts[parts[0].source->graph ? i : 0].name);
		if (parts[0].source->graph)
			err = compare_graphs(&parts[0], &parts[i], fail);
	}
	return err;
}

static bool has_members(const struct joined_source *joined)
{
	if (joined->source.first_worker > 0)
		return true;
	for (size_t i = 0; i < joined->count; i++)
		if (joined->parts[i].source->ops->members)
			return true;
	return false;
}

static void describe(struct joined_source *joined)
{
	const struct profile_source *first = joined->parts[0].source;
	struct profile_source *source = &joined->source;

	*source = (struct profile_source){
		.ops = &joined->ops,
		.graph = first->graph,
		.first_worker = first->first_worker,
		.dbsp_version = first->dbsp_version,
		.start_unix_ns = first->start_unix_ns,
		.elapsed_ns = first->elapsed_ns,
	};
	for (size_t i = 0; i < joined->count; i++)
		source->worker_count += joined->parts[i].source->worker_count;
	joined->ops = (struct profile_source_ops){ .visit = visit, .close = close_source };
	if (first->ops->metrics)
		joined->ops.metrics = metrics;
	if (has_members(joined))
		joined->ops.members = members;
}

int joined_source__open(const struct joined_part *parts, size_t count,
			struct profile_source **ret_source, struct fail *fail)
{
	struct joined_source *joined;
	int err = check_graphs(parts, count, fail);

	if (err)
		return err;
	joined = calloc(1, sizeof(*joined));
	if (!joined)
		return -ENOMEM;
	joined->parts = malloc(count * sizeof(*parts));
	if (!joined->parts) {
		free(joined);
		return -ENOMEM;
	}
	memcpy(joined->parts, parts, count * sizeof(*parts));
	joined->count = count;
	describe(joined);
	*ret_source = &joined->source;
	return 0;
}
