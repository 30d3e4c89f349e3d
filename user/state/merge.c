// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/merge.h"
#include "util/array.h"

struct merge {
	const struct measured *measured;
	const char *const *ids;
	size_t id_count;
	const struct profile_visitor *visitor;
	void *context;
	struct pull *pull;
	const struct profile_worker *engine; /* the worker that is being told */
	size_t next;			     /* its first node that was not told yet */
	struct profile_node
		node; /* readings of both; values are theirs, of ours labels are copies */
	struct profile_label *labels;
	size_t label_count;
	size_t label_capacity;
	struct merge_losses *losses;
	struct fail *fail;
};

static int compare_ids(const void *left, const void *right)
{
	return strcmp(left, *(const char *const *)right);
}

static bool in_graph(const struct merge *merge, const struct node_path *id)
{
	char text[NODE_ID_TEXT_MAX];

	node_path__format(id, text);
	return bsearch(text, merge->ids, merge->id_count, sizeof(*merge->ids), compare_ids);
}

static int tell(struct merge *merge, size_t worker, const struct profile_node *node)
{
	return merge->visitor->node ? merge->visitor->node(merge->context, worker, node) : 0;
}

/* The engine's nodes before @id, or all that are left; of those we have measured nothing. */
static int tell_engine_until(struct merge *merge, size_t worker, const struct node_path *id)
{
	int err = 0;

	for (; merge->next < merge->engine->count && !err; merge->next++) {
		const struct profile_node *node = &merge->engine->nodes[merge->next];

		if (id && node_path__compare(&node->id, id) >= 0)
			break;
		if (in_graph(merge, &node->id))
			err = tell(merge, worker, node);
		else
			merge->losses->nodes++;
	}
	return err;
}

static int compare_readings(const void *left, const void *right)
{
	return profile_reading__compare(left, right);
}

static int append(struct merge *merge, const struct profile_reading *reading)
{
	struct profile_node *node = &merge->node;
	struct profile_reading *readings =
		array__reserve(node->readings, &node->capacity, node->count, sizeof(*readings));

	if (!readings)
		return -ENOMEM;
	node->readings = readings;
	readings[node->count++] = *reading;
	return 0;
}

/* Room for the labels of all of @node's readings with one more each, so that none is moved. */
static int reserve_labels(struct merge *merge, const struct profile_node *node)
{
	size_t count = 0;
	struct profile_label *labels;

	for (size_t i = 0; i < node->count; i++)
		count += node->readings[i].label_count + 1;
	merge->label_count = 0;
	if (count <= merge->label_capacity)
		return 0;
	labels = reallocarray(merge->labels, count, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	merge->labels = labels;
	merge->label_capacity = count;
	return 0;
}

static struct profile_reading labelled(struct merge *merge, const struct profile_reading *from)
{
	static const struct profile_label source = { SECOND_LABEL_KEY, SECOND_LABEL_VALUE };
	struct profile_reading reading = *from;

	reading.labels = &merge->labels[merge->label_count];
	for (size_t i = 0; i < from->label_count; i++)
		merge->labels[merge->label_count++] = from->labels[i];
	merge->labels[merge->label_count++] = source;
	reading.label_count++;
	return reading;
}

static int append_ours(struct merge *merge, const struct profile_node *node)
{
	int err = reserve_labels(merge, node);

	for (size_t i = 0; i < node->count && !err; i++) {
		const struct profile_reading *ours = &node->readings[i];
		const struct measured_metric *engine =
			measured__find(merge->measured, ours->metric);
		struct profile_reading reading;

		if (!engine) {
			err = append(merge, ours);
			continue;
		}
		if (!measured__same_kind(engine->kind, ours->value.kind)) {
			merge->losses->readings++;
			continue;
		}
		reading = labelled(merge, ours);
		err = append(merge, &reading);
	}
	return err;
}

static int node(void *context, size_t worker, const struct profile_node *node)
{
	struct merge *merge = context;
	const struct profile_node *engine;
	int err = tell_engine_until(merge, worker, &node->id);

	if (err)
		return err;
	merge->node.id = node->id;
	merge->node.count = 0;
	engine = merge->next < merge->engine->count ? &merge->engine->nodes[merge->next] : NULL;
	if (engine && node_path__compare(&engine->id, &node->id) == 0) {
		for (size_t i = 0; i < engine->count && !err; i++)
			err = append(merge, &engine->readings[i]);
		merge->next++;
	}
	if (!err)
		err = append_ours(merge, node);
	if (err)
		return err;
	/* Our labels may have changed our order, too. */
	qsort(merge->node.readings, merge->node.count, sizeof(*merge->node.readings),
	      compare_readings);
	return tell(merge, worker, &merge->node);
}

static int worker_begin(void *context, size_t worker)
{
	struct merge *merge = context;
	int err = pull__next(merge->pull, &merge->engine, merge->fail);

	merge->next = 0;
	if (!err && merge->visitor->worker_begin)
		err = merge->visitor->worker_begin(merge->context, worker);
	return err;
}

static int worker_end(void *context, size_t worker)
{
	struct merge *merge = context;
	int err = tell_engine_until(merge, worker, NULL);

	if (!err && merge->visitor->worker_end)
		err = merge->visitor->worker_end(merge->context, worker);
	return err;
}

int merge__visit(struct profile_source *ours, struct profile_source *engine,
		 const struct measured *measured, const char *const *ids, size_t id_count,
		 const struct profile_visitor *visitor, void *context,
		 struct merge_losses *ret_losses, struct fail *fail)
{
	static const struct profile_visitor merging = {
		.worker_begin = worker_begin,
		.node = node,
		.worker_end = worker_end,
	};
	struct merge merge = {
		.measured = measured,
		.ids = ids,
		.id_count = id_count,
		.visitor = visitor,
		.context = context,
		.losses = ret_losses,
		.fail = fail,
	};
	int err = pull__start(engine, &merge.pull);

	*ret_losses = (struct merge_losses){ 0 };
	if (!err)
		err = profile_source__visit(ours, &merging, &merge, fail);
	pull__end(merge.pull);
	free(merge.node.readings);
	free(merge.labels);
	return err;
}
