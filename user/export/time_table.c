// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/time_table.h"
#include "model/kernel_names.h"

#define NANOS_PER_MICRO	 1000u
#define NANOS_PER_SECOND 1000000000u
#define GRAPH_DEPTH_MAX	 1024 /* far beyond what the engine can nest */

bool graph_node__is_circuit(const struct profile_graph_node *node)
{
	return node->cluster && !strstr(node->id, "_r");
}

static int compare_ids(const void *left, const void *right, void *context)
{
	const struct profile_graph *graph = context;

	return strcmp(graph->nodes[*(const size_t *)left].id,
		      graph->nodes[*(const size_t *)right].id);
}

/* The place of @id in the graph; the number of nodes when it is not there. */
static size_t place_of(const struct time_table *table, const char *id)
{
	size_t low = 0, high = table->graph->node_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(id, table->graph->nodes[table->by_id[middle]].id);

		if (order == 0)
			return table->by_id[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return table->graph->node_count;
}

/* Finds the circuits, each with the one around it. */
static int find_circuits(struct time_table *table, struct fail *fail)
{
	const struct profile_graph *graph = table->graph;
	size_t around[GRAPH_DEPTH_MAX] = { 0 }; /* the circuit of each open cluster */
	uint32_t open = 0;			/* clusters */

	for (size_t i = 0; i < graph->node_count; i++) {
		const struct profile_graph_node *node = &graph->nodes[i];
		size_t parent;

		if (node->depth > open || (i > 0) != (node->depth > 0) ||
		    node->depth >= GRAPH_DEPTH_MAX || (i == 0 && !node->cluster))
			return fail__set(fail, -EPROTO, "the profile's graph is no tree at node %s",
					 node->id);
		open = node->depth + node->cluster;
		parent = node->depth ? around[node->depth - 1] : 0;
		around[node->depth] = parent;
		if (!graph_node__is_circuit(node))
			continue;
		around[node->depth] = table->count;
		table->counts[table->count++] =
			(struct circuit_time){ .node = i, .parent = parent };
	}
	return 0;
}

int time_table__init(struct time_table *table, const struct profile_source *source,
		     struct fail *fail)
{
	const struct profile_graph *graph = source->graph;
	size_t circuits = 0;
	int err;

	*table = (struct time_table){ .graph = graph };
	if (!graph || graph->node_count == 0)
		return fail__set(fail, -ENODATA,
				 "the profile has no circuit graph, which this format is made of; "
				 "write it as json");
	for (size_t i = 0; i < graph->node_count; i++)
		circuits += graph_node__is_circuit(&graph->nodes[i]);
	table->by_id = calloc(graph->node_count, sizeof(*table->by_id));
	table->entries = calloc(graph->node_count + 1, sizeof(*table->entries));
	table->counts = calloc(circuits + 1, sizeof(*table->counts));
	if (!table->by_id || !table->entries || !table->counts)
		err = -ENOMEM;
	else
		err = find_circuits(table, fail);
	if (err) {
		time_table__clear(table);
		return err;
	}
	for (size_t i = 0; i < graph->node_count; i++)
		table->by_id[i] = i;
	qsort_r(table->by_id, graph->node_count, sizeof(*table->by_id), compare_ids, (void *)graph);
	return 0;
}

void time_table__clear(struct time_table *table)
{
	free(table->by_id);
	free(table->entries);
	free(table->counts);
	*table = (struct time_table){ 0 };
}

void time_table__reset(struct time_table *table)
{
	memset(table->entries, 0, (table->graph->node_count + 1) * sizeof(*table->entries));
	for (size_t i = 0; i < table->count; i++)
		memset(table->counts[i].wait_ns, 0, sizeof(table->counts[i].wait_ns));
	table->steps = (struct step_time){ 0 };
}

static uint64_t nanos_of(const struct profile_reading *reading)
{
	uint64_t nanos;

	if (reading->value.kind != VALUE_DURATION)
		return 0;
	if (__builtin_mul_overflow(reading->value.duration.secs, NANOS_PER_SECOND, &nanos))
		return UINT64_MAX;
	return nanos__add(nanos, reading->value.duration.nanos);
}

static uint64_t number_of(const struct profile_reading *reading)
{
	bool number = reading->value.kind == VALUE_INT || reading->value.kind == VALUE_COUNT;

	return number ? reading->value.number : 0;
}

static uint64_t percent_micros(const struct profile_reading *reading)
{
	uint64_t nanos;

	if (reading->value.kind != VALUE_PERCENT)
		return 0;
	if (__builtin_mul_overflow(reading->value.percent.numerator, NANOS_PER_MICRO, &nanos))
		return UINT64_MAX;
	return nanos;
}

/* The value of the reading's only label. */
static const char *label_of(const struct profile_reading *reading)
{
	return reading->label_count == 1 ? reading->labels[0].value : "";
}

static unsigned int blocked_part(const char *cause)
{
	for (unsigned int i = 0; i < DBPROF_CAUSES; i++)
		if (strcmp(cause, cause_name(i)) == 0)
			return PART_BLOCKED + i;
	return PART_BLOCKED + DBPROF_CAUSE_OTHER;
}

/* The place of a wait reason; a newer engine may have some that we have not heard of. */
static size_t reason_place(struct time_table *table, const char *name)
{
	size_t last = WAIT_REASONS_MAX - 1;

	for (size_t i = 0; i < table->reason_count; i++)
		if (strncmp(table->reasons[i], name, WAIT_NAME_MAX - 1) == 0)
			return i;
	if (table->reason_count > last)
		return last;
	if (table->reason_count == last)
		name = "other reasons";
	strncpy(table->reasons[table->reason_count], name, WAIT_NAME_MAX - 1);
	return table->reason_count++;
}

static struct circuit_time *circuit_at(struct time_table *table, size_t place)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->counts[middle].node == place)
			return &table->counts[middle];
		if (place < table->counts[middle].node)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static void add_to(uint64_t *to, uint64_t what)
{
	*to = nanos__add(*to, what);
}

/* The kernel's share, of an operator or (for the root) of steps. */
static void add_share(struct time_entry *entry, const struct profile_reading *reading)
{
	unsigned int part;

	if (strcmp(reading->metric, "run_queue_seconds") == 0)
		part = PART_RUN_QUEUE;
	else if (strcmp(reading->metric, "preempted_seconds") == 0)
		part = PART_PREEMPTED;
	else if (strcmp(reading->metric, "unobserved_seconds") == 0)
		part = PART_NOT_OBSERVED;
	else if (strcmp(reading->metric, "blocked_seconds") == 0)
		part = blocked_part(label_of(reading));
	else
		return;
	entry->shared = true;
	add_to(&entry->share.ns[part], nanos_of(reading));
}

static void add_operator(struct time_table *table, struct time_entry *entry,
			 const struct profile_reading *reading)
{
	if (strcmp(reading->metric, "runtime_seconds") == 0) {
		entry->timed = true;
		add_to(&entry->wall_ns, nanos_of(reading));
	} else if (strcmp(reading->metric, "nonblocking_percent") == 0) {
		add_to(&entry->cpu_ns, percent_micros(reading));
	} else if (strcmp(reading->metric, "invocations_count") == 0) {
		add_to(&entry->invocations, number_of(reading));
	} else if (strcmp(reading->metric, "runtime_samples_count") == 0) {
		table->steps.sampled = true;
	} else {
		add_share(entry, reading);
	}
}

/* The root's own. */
static void add_steps(struct step_time *steps, const struct profile_reading *reading)
{
	const struct {
		const char *metric;
		uint64_t *to;
	} sums[] = {
		{ "circuit_runtime_seconds", &steps->runtime_ns },
		{ "circuit_cpu_time_seconds", &steps->cpu_ns },
		{ "circuit_idle_time_seconds", &steps->idle_ns },
		{ "circuit_edge_idle_seconds", &steps->idle_ns },
		{ "outside_step_cpu_seconds", &steps->outside_cpu_ns },
		{ "engine_timing_seconds", &steps->engine_timing_ns },
		{ "circuit_open_step_seconds", &steps->open_step_ns },
	};

	if (strcmp(reading->metric, "steps_count") == 0)
		add_to(&steps->steps, number_of(reading));
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (strcmp(reading->metric, sums[i].metric) == 0)
			add_to(sums[i].to, nanos_of(reading));
	if (strcmp(reading->metric, "circuit_runtime_seconds") == 0)
		steps->known = true;
}

void time_table__add(struct time_table *table, const struct profile_node *node)
{
	char id[NODE_ID_TEXT_MAX];
	struct circuit_time *circuit;
	size_t place;

	node_path__format(&node->id, id);
	place = place_of(table, id);
	circuit = circuit_at(table, place);
	for (size_t i = 0; i < node->count; i++) {
		const struct profile_reading *reading = &node->readings[i];

		if (circuit && strcmp(reading->metric, "circuit_wait_by_reason_seconds") == 0)
			add_to(&circuit->wait_ns[reason_place(table, label_of(reading))],
			       nanos_of(reading));
		if (node->id.depth > 0)
			add_operator(table, &table->entries[place], reading);
		else
			add_steps(&table->steps, reading);
		if (node->id.depth == 0 && place == 0)
			add_share(&table->entries[0], reading);
	}
}

struct time_parts time_entry__parts(const struct time_entry *entry)
{
	struct time_parts parts = entry->share;

	if (entry->shared) {
		/* Books that are closed: what is left is CPU time, to the nanosecond. */
		time_parts__fit(&parts, entry->wall_ns, PART_COMPUTING);
	} else {
		parts.ns[PART_COMPUTING] = entry->cpu_ns;
		time_parts__fit(&parts, entry->wall_ns, PART_OFF_CPU);
	}
	return parts;
}

struct time_parts time_table__step_parts(const struct time_table *table)
{
	struct time_parts parts = table->entries[0].share;

	parts.ns[PART_COMPUTING] = table->steps.cpu_ns;
	time_parts__fit(&parts, table->steps.runtime_ns,
			table->entries[0].shared ? PART_NOT_OBSERVED : PART_OFF_CPU);
	return parts;
}
