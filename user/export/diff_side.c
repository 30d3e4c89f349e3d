// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One profile, added up over its workers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/diff_side.h"
#include "model/kernel_names.h"
#include "util/array.h"

struct reading_side {
	struct diff_side *side;
	size_t worker;	    /* position of the only one to be read; DIFF_ALL_WORKERS */
	uint64_t filled_ns; /* steps and pauses of a root: the window when it is not known */
};

static double nanos(const struct profile_reading *reading)
{
	if (reading->value.kind != VALUE_DURATION)
		return 0;
	return (double)reading->value.duration.secs * 1e9 + reading->value.duration.nanos;
}

static uint64_t number(const struct profile_reading *reading)
{
	enum value_kind kind = reading->value.kind;

	return kind == VALUE_INT || kind == VALUE_COUNT ? reading->value.number : 0;
}

/* The row that a reading of the root belongs to, DIFF_ROWS for none. */
static unsigned int labelled_row(const struct profile_reading *reading)
{
	const char *label = reading->label_count == 1 ? reading->labels[0].value : NULL;

	if (!label)
		return DIFF_ROWS;
	if (!strcmp(reading->metric, "circuit_wait_by_reason_seconds")) {
		for (unsigned int i = 0; i < PARK_REASONS; i++)
			if (!strcmp(label, park_reason_name(i)))
				return DIFF_WAIT + i;
	} else if (!strcmp(reading->metric, "blocked_seconds")) {
		for (unsigned int i = 0; i < DBPROF_CAUSES; i++)
			if (!strcmp(label, cause_name(i)))
				return DIFF_BLOCKED + i;
	}
	return DIFF_ROWS;
}

static unsigned int row_of(const struct profile_reading *reading)
{
	static const struct {
		const char *metric;
		unsigned int row;
	} rows[] = {
		{ "circuit_runtime_seconds", DIFF_STEP },
		{ "circuit_cpu_time_seconds", DIFF_CPU },
		{ "run_queue_seconds", DIFF_RUN_QUEUE },
		{ "preempted_seconds", DIFF_PREEMPTED },
		{ "unobserved_seconds", DIFF_UNOBSERVED },
		{ "circuit_idle_time_seconds", DIFF_IDLE },
		{ "circuit_edge_idle_seconds", DIFF_IDLE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(reading->metric, rows[i].metric))
			return rows[i].row;
	return labelled_row(reading);
}

static void read_root(struct reading_side *to, const struct profile_node *node)
{
	double filled = 0;

	for (size_t i = 0; i < node->count; i++) {
		const struct profile_reading *reading = &node->readings[i];
		unsigned int row = row_of(reading);

		if (!strcmp(reading->metric, "steps_count"))
			to->side->steps += number(reading);
		if (row == DIFF_ROWS)
			continue;
		to->side->row_ns[row] += nanos(reading);
		to->side->has_row[row] = true;
		if (row == DIFF_STEP || row == DIFF_IDLE)
			filled += nanos(reading);
	}
	if (filled > (double)to->filled_ns)
		to->filled_ns = (uint64_t)filled;
}

/* A nested circuit's steps; it is an operator as well, but its operators are there themselves. */
static void read_circuit(struct diff_node *node, const struct profile_node *from)
{
	node->circuit = true;
	for (size_t i = 0; i < from->count; i++) {
		const struct profile_reading *reading = &from->readings[i];

		if (!strcmp(reading->metric, "steps_count"))
			node->count += number(reading);
		else if (!strcmp(reading->metric, "circuit_runtime_seconds"))
			node->wall_ns += nanos(reading);
		else if (!strcmp(reading->metric, "circuit_cpu_time_seconds"))
			node->part_ns[DIFF_PART_CPU] += nanos(reading);
	}
	node->timed = true;
}

static void add_part(struct reading_side *to, struct diff_node *node, enum diff_part part,
		     double time)
{
	node->part_ns[part] += time;
	to->side->has_part[part] = true;
}

static void read_operator_metric(struct reading_side *to, struct diff_node *node,
				 const struct profile_reading *reading)
{
	const char *metric = reading->metric;
	double time = nanos(reading);

	if (!strcmp(metric, "invocations_count")) {
		node->count += number(reading);
	} else if (!strcmp(metric, "runtime_seconds")) {
		node->wall_ns += time;
		node->timed = true;
	} else if (!strcmp(metric, "nonblocking_percent")) {
		/* Microseconds on a CPU of those of wall time. */
		if (reading->value.kind == VALUE_PERCENT)
			add_part(to, node, DIFF_PART_CPU,
				 (double)reading->value.percent.numerator * 1e3);
	} else if (!strcmp(metric, "preempted_seconds")) {
		add_part(to, node, DIFF_PART_PREEMPTED, time);
	} else if (!strcmp(metric, "run_queue_seconds")) {
		/* Whoever measures it measures what blocks, too, and leaves out what is zero. */
		add_part(to, node, DIFF_PART_RUN_QUEUE, time);
		add_part(to, node, DIFF_PART_BLOCKED, 0);
	} else if (!strcmp(metric, "blocked_seconds")) {
		add_part(to, node, DIFF_PART_BLOCKED, time);
	} else if (!strcmp(metric, "runtime_interval_seconds")) {
		/* Workers are sampled independently: the squares add up. */
		node->interval_squares += time * time;
		node->timed = true;
		to->side->intervals |= time > 0;
	}
}

static void read_operator(struct reading_side *to, struct diff_node *node,
			  const struct profile_node *from)
{
	for (size_t i = 0; i < from->count; i++)
		read_operator_metric(to, node, &from->readings[i]);
}

/* The node with that id, made when it is new; nodes come in order. NULL when memory is short. */
static struct diff_node *node_at(struct diff_side *side, const struct node_path *id)
{
	size_t low = 0, high = side->count;
	struct diff_node *nodes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = node_path__compare(&side->nodes[middle].id, id);

		if (!order)
			return &side->nodes[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	nodes = array__reserve(side->nodes, &side->capacity, side->count, sizeof(*nodes));
	if (!nodes)
		return NULL;
	side->nodes = nodes;
	memmove(&nodes[low + 1], &nodes[low], (side->count - low) * sizeof(*nodes));
	nodes[low] = (struct diff_node){ .id = *id, .label = "", .match = SIZE_MAX };
	side->count++;
	return &nodes[low];
}

static bool is_circuit(const struct profile_node *node)
{
	for (size_t i = 0; i < node->count; i++)
		if (!strcmp(node->readings[i].metric, "steps_count"))
			return true;
	return false;
}

static int read_node(void *context, size_t worker, const struct profile_node *node)
{
	struct reading_side *to = context;
	struct diff_node *at;

	if (to->worker != DIFF_ALL_WORKERS && to->worker != worker)
		return 0;
	if (!node->id.depth) {
		read_root(to, node);
		return 0;
	}
	at = node_at(to->side, &node->id);
	if (!at)
		return -ENOMEM;
	if (is_circuit(node))
		read_circuit(at, node);
	else
		read_operator(to, at, node);
	return 0;
}

struct name {
	char id[NODE_ID_TEXT_MAX];
	const char *label;
	bool cluster;
};

static int compare_names(const void *left, const void *right)
{
	return strcmp(((const struct name *)left)->id, ((const struct name *)right)->id);
}

/* Labels of the nodes, which the graph has by the text of their ids. */
static int read_labels(const struct profile_graph *graph, struct diff_side *side)
{
	struct name *names = calloc(graph->node_count + 1, sizeof(*names)), key = { 0 }, *found;
	int err = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < graph->node_count && !err; i++) {
		snprintf(names[i].id, sizeof(names[i].id), "%s", graph->nodes[i].id);
		names[i].label = graph->nodes[i].label;
		names[i].cluster = graph->nodes[i].cluster;
	}
	if (!err)
		qsort(names, graph->node_count, sizeof(*names), compare_names);
	for (size_t i = 0; i < side->count && !err; i++) {
		node_path__format(&side->nodes[i].id, key.id);
		found = bsearch(&key, names, graph->node_count, sizeof(*names), compare_names);
		if (!found)
			continue;
		side->nodes[i].circuit |= found->cluster;
		side->nodes[i].label = string_pool__add(&side->strings, found->label);
		if (!side->nodes[i].label)
			err = -ENOMEM;
	}
	free(names);
	return err;
}

int diff_side__read(struct profile_source *source, size_t worker, struct diff_side *side,
		    struct fail *fail)
{
	static const struct profile_visitor visitor = { .node = read_node };
	struct reading_side to = { .side = side, .worker = DIFF_ALL_WORKERS };
	int err;

	if (worker != DIFF_ALL_WORKERS) {
		if (worker < source->first_worker ||
		    worker - source->first_worker >= source->worker_count)
			return fail__set(fail, -ENOENT, "it has no worker %zu", worker);
		to.worker = worker - source->first_worker;
	}
	side->workers = worker == DIFF_ALL_WORKERS ? source->worker_count : 1;
	err = profile_source__visit(source, &visitor, &to, fail);
	if (!err && source->graph)
		err = read_labels(source->graph, side);
	side->window_ns = source->elapsed_ns ? source->elapsed_ns : to.filled_ns;
	return err;
}

void diff_side__clear(struct diff_side *side)
{
	free(side->nodes);
	string_pool__clear(&side->strings);
	*side = (struct diff_side){ 0 };
}
