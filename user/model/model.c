// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "util/array.h"
#include "util/utf8.h"

static void clear_reading(struct profile_reading *reading)
{
	free(reading->labels);
	value__clear(&reading->value);
}

void profile_node__clear(struct profile_node *node)
{
	for (size_t i = 0; i < node->count; i++)
		clear_reading(&node->readings[i]);
	node->count = 0;
}

void profile_worker__clear(struct profile_worker *worker)
{
	for (size_t i = 0; i < worker->count; i++) {
		profile_node__clear(&worker->nodes[i]);
		free(worker->nodes[i].readings);
	}
	free(worker->nodes);
	*worker = (struct profile_worker){ 0 };
}

void profile__free(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->worker_count; i++)
		profile_worker__clear(&profile->workers[i]);
	free(profile->workers);
	free(profile->graph.nodes);
	free(profile->graph.edges);
	string_pool__clear(&profile->strings);
	free(profile);
}

/* Position of @id, or where it belongs. Nodes mostly come in order, so the end is tried first. */
static size_t node_position(const struct profile_worker *worker, const struct node_path *id)
{
	size_t low = 0, high = worker->count;

	if (high > 0 && node_path__compare(&worker->nodes[high - 1].id, id) < 0)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (node_path__compare(&worker->nodes[middle].id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct profile_node *profile_worker__node(struct profile_worker *worker, const struct node_path *id)
{
	size_t at = node_position(worker, id);
	struct profile_node *nodes;

	if (at < worker->count && node_path__compare(&worker->nodes[at].id, id) == 0)
		return &worker->nodes[at];
	nodes = array__reserve(worker->nodes, &worker->capacity, worker->count, sizeof(*nodes));
	if (!nodes)
		return NULL;
	worker->nodes = nodes;
	memmove(&worker->nodes[at + 1], &worker->nodes[at],
		(worker->count - at) * sizeof(*worker->nodes));
	worker->nodes[at] = (struct profile_node){ .id = *id };
	worker->count++;
	return &worker->nodes[at];
}

/* Vec<(str, str)>'s order: element by element, then the shorter one first. */
static int compare_labels(const struct profile_label *a, size_t a_count,
			  const struct profile_label *b, size_t b_count)
{
	for (size_t i = 0; i < a_count && i < b_count; i++) {
		int order = utf8__compare(a[i].key, b[i].key);

		if (order == 0)
			order = utf8__compare(a[i].value, b[i].value);
		if (order != 0)
			return order;
	}
	return (a_count > b_count) - (a_count < b_count);
}

static int compare_reading(const struct profile_reading *reading, const char *metric,
			   const struct profile_label *labels, size_t label_count)
{
	int order = utf8__compare(reading->metric, metric);

	if (order != 0)
		return order;
	return compare_labels(reading->labels, reading->label_count, labels, label_count);
}

int profile_reading__compare(const struct profile_reading *a, const struct profile_reading *b)
{
	return compare_reading(a, b->metric, b->labels, b->label_count);
}

/* A reading of our own from the caller's strings. Returns 0 or -ENOMEM. */
static int make_reading(struct profile *profile, const char *metric,
			const struct profile_label *labels, size_t label_count,
			struct profile_reading *ret_reading)
{
	struct profile_reading reading = { .label_count = label_count };

	reading.metric = string_pool__add(&profile->strings, metric);
	if (!reading.metric)
		return -ENOMEM;
	if (label_count > 0) {
		reading.labels = calloc(label_count, sizeof(*labels));
		if (!reading.labels)
			return -ENOMEM;
	}
	for (size_t i = 0; i < label_count; i++) {
		reading.labels[i].key = string_pool__add(&profile->strings, labels[i].key);
		reading.labels[i].value = string_pool__add(&profile->strings, labels[i].value);
		if (!reading.labels[i].key || !reading.labels[i].value) {
			free(reading.labels);
			return -ENOMEM;
		}
	}
	*ret_reading = reading;
	return 0;
}

static int insert_reading(struct profile_node *node, size_t at, struct profile_reading *reading)
{
	struct profile_reading *readings =
		array__reserve(node->readings, &node->capacity, node->count, sizeof(*readings));

	if (!readings) {
		free(reading->labels);
		return -ENOMEM;
	}
	node->readings = readings;
	memmove(&node->readings[at + 1], &node->readings[at],
		(node->count - at) * sizeof(*node->readings));
	node->readings[at] = *reading;
	node->count++;
	return 0;
}

/* Position of the reading, true; or where it belongs, false. */
static bool reading_position(const struct profile_node *node, const char *metric,
			     const struct profile_label *labels, size_t label_count,
			     size_t *ret_position)
{
	size_t low = 0, high = node->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_reading(&node->readings[middle], metric, labels, label_count);

		if (order == 0) {
			*ret_position = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_position = low;
	return false;
}

struct profile_reading *profile_node__find(const struct profile_node *node, const char *metric,
					   const struct profile_label *labels, size_t label_count)
{
	size_t at;

	return reading_position(node, metric, labels, label_count, &at) ? &node->readings[at]
									: NULL;
}

void profile_node__remove(struct profile_node *node, struct profile_reading *reading)
{
	size_t at = (size_t)(reading - node->readings);

	clear_reading(reading);
	node->count--;
	memmove(reading, reading + 1, (node->count - at) * sizeof(*reading));
}

int profile_node__set(struct profile *profile, struct profile_node *node, const char *metric,
		      const struct profile_label *labels, size_t label_count, struct value value)
{
	struct profile_reading reading;
	size_t at;
	int err;

	if (reading_position(node, metric, labels, label_count, &at)) {
		value__clear(&node->readings[at].value);
		node->readings[at].value = value;
		return 0;
	}
	err = make_reading(profile, metric, labels, label_count, &reading);
	if (!err) {
		reading.value = value;
		err = insert_reading(node, at, &reading);
	}
	if (err)
		value__clear(&value);
	return err;
}
