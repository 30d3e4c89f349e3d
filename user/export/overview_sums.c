// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "export/overview_sums.h"
#include "util/array.h"

/* The sums of a node, NULL when memory is short. */
static struct node_sums *sums_of(struct overview_sums *sums, const struct node_path *id)
{
	struct node_sums *nodes;
	size_t number;

	if (node_index__add(&sums->index, id, &number))
		return NULL;
	if (number == sums->count) {
		nodes = array__reserve(sums->nodes, &sums->capacity, sums->count, sizeof(*nodes));
		if (!nodes)
			return NULL;
		sums->nodes = nodes;
		nodes[sums->count++] = (struct node_sums){ 0 };
	}
	return &sums->nodes[number];
}

/* Durations without labels, by metric. */
static void add_duration(struct overview_sums *sums, struct node_sums *node, const char *metric,
			 struct duration duration)
{
	static const struct {
		const char *metric;
		size_t offset;
	} fields[] = {
		{ "runtime_seconds", offsetof(struct node_sums, runtime) },
		{ "circuit_runtime_seconds", offsetof(struct node_sums, steps_time) },
		{ "circuit_cpu_time_seconds", offsetof(struct node_sums, cpu) },
		{ "circuit_wait_time_seconds", offsetof(struct node_sums, waits) },
		{ "circuit_idle_time_seconds", offsetof(struct node_sums, idle) },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct duration *sum = (struct duration *)((char *)node + fields[i].offset);

		if (strcmp(metric, fields[i].metric) != 0)
			continue;
		*sum = duration__add(*sum, duration);
		if (sum == &node->runtime) {
			node->is_operator = true;
			sums->operators = duration__add(sums->operators, duration);
		}
		if (sum == &node->steps_time)
			node->is_circuit = true;
	}
}

/* Further reasons than there is room for are left out; the engine has ten. */
static int add_reason(struct overview_sums *sums, const char *name, struct duration time)
{
	struct reason_sum *reason = sums->reasons;
	struct reason_sum *end = sums->reasons + sums->reason_count;

	while (reason < end && strcmp(reason->name, name) != 0)
		reason++;
	if (reason == end) {
		if (sums->reason_count == OVERVIEW_REASONS_MAX)
			return 0;
		*reason = (struct reason_sum){ .name = string_pool__add(&sums->strings, name) };
		if (!reason->name)
			return -ENOMEM;
		sums->reason_count++;
	}
	reason->time = duration__add(reason->time, time);
	return 0;
}

static bool is_reason(const struct profile_reading *reading)
{
	return reading->label_count == 1 && reading->value.kind == VALUE_DURATION &&
	       strcmp(reading->metric, "circuit_wait_by_reason_seconds") == 0 &&
	       strcmp(reading->labels[0].key, "reason") == 0;
}

static int add_node(void *context, size_t worker, const struct profile_node *node)
{
	struct overview_sums *sums = context;
	struct node_sums *to;
	int err = 0;

	if (sums->worker && *sums->worker != worker)
		return 0;
	to = sums_of(sums, &node->id);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < node->count && !err; i++) {
		const struct profile_reading *reading = &node->readings[i];
		const struct value *value = &reading->value;

		if (node->id.depth == 0 && is_reason(reading))
			err = add_reason(sums, reading->labels[0].value, value->duration);
		if (reading->label_count > 0)
			continue;
		if (value->kind == VALUE_DURATION)
			add_duration(sums, to, reading->metric, value->duration);
		else if (value->kind == VALUE_COUNT &&
			 strcmp(reading->metric, "invocations_count") == 0)
			to->invocations += value->number;
		else if (value->kind == VALUE_INT && strcmp(reading->metric, "steps_count") == 0)
			to->steps = value->number > to->steps ? value->number : to->steps;
	}
	return err;
}

int overview_sums__take(struct overview_sums *sums, struct profile_source *source,
			struct fail *fail)
{
	static const struct profile_visitor visitor = { .node = add_node };

	return profile_source__visit(source, &visitor, sums, fail);
}

void overview_sums__clear(struct overview_sums *sums)
{
	node_index__clear(&sums->index);
	string_pool__clear(&sums->strings);
	free(sums->nodes);
	*sums = (struct overview_sums){ 0 };
}
