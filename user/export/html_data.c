// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/html_data.h"
#include "export/html_sums.h"
#include "util/array.h"

#define NANOS_PER_MICRO 1000u

/* Numbers that are there for each worker and node; what only our profiles have comes last. */
static const struct {
	const char *name;
	const char *metric;
} mains[] = {
	{ "runtime", "runtime_seconds" },
	{ "cpu", "nonblocking_percent" }, /* its part, which is in microseconds */
	{ "invocations", "invocations_count" },
	{ "run_queue", "run_queue_seconds" },
	{ "preempted", "preempted_seconds" },
	{ "blocked", "blocked_seconds" }, /* for whatever cause */
	{ "unobserved", "unobserved_seconds" },
};

#define MAINS (sizeof(mains) / sizeof(mains[0]))

struct html_data {
	struct json_writer json;
	struct html_keys keys;
	struct name_index ids; /* those of the graph first */
	struct html_row *rows; /* by number of the id */
	size_t row_count;
	size_t row_capacity;
	struct html_row root; /* of the worker that is told */
};

static const char *const unit_names[] = {
	[HTML_COUNT] = "count",	    [HTML_NANOS] = "ns",	[HTML_BYTES] = "bytes",
	[HTML_PERCENT] = "percent", [HTML_WORKERS] = "workers",
};

static const char *const fold_names[] = {
	[HTML_ADD] = "sum",
	[HTML_MOST] = "max",
	[HTML_LEAST] = "min",
};

/* The number of the node, with its row. NAME_NONE when memory is short. */
static uint32_t number_of(struct html_data *data, const char *id)
{
	uint32_t number = name_index__add(&data->ids, id);
	struct html_row *rows;

	while (number != NAME_NONE && data->row_count < data->ids.count) {
		rows = array__reserve(data->rows, &data->row_capacity, data->row_count,
				      sizeof(*rows));
		if (!rows)
			return NAME_NONE;
		data->rows = rows;
		rows[data->row_count++] = (struct html_row){ 0 };
	}
	return number;
}

/* Twice the same id: the readings are those of the first. */
static int number_graph(struct html_data *data, const struct profile_graph *graph)
{
	for (size_t i = 0; graph && i < graph->node_count; i++)
		if (number_of(data, graph->nodes[i].id) == NAME_NONE)
			return -ENOMEM;
	return 0;
}

static uint64_t main_number(size_t column, const struct value *value, uint64_t before)
{
	uint64_t number;

	switch (value->kind) {
	case VALUE_DURATION:
		return html__add(before, html__nanos(value->duration));
	case VALUE_PERCENT:
		if (__builtin_mul_overflow(value->percent.numerator, NANOS_PER_MICRO, &number))
			number = UINT64_MAX;
		return column == 1 ? number : before;
	case VALUE_INT:
	case VALUE_COUNT:
		return html__add(before, value->number);
	default:
		return before;
	}
}

/* The row of one operator of one worker, nothing when it has no main number. */
static void write_main(struct json_writer *json, uint32_t number, const struct profile_node *node)
{
	uint64_t values[MAINS] = { 0 };
	bool known[MAINS] = { false };
	size_t count = 0;

	for (size_t i = 0; i < node->count; i++)
		for (size_t j = 0; j < MAINS; j++) {
			if (strcmp(node->readings[i].metric, mains[j].metric) != 0)
				continue;
			values[j] = main_number(j, &node->readings[i].value, values[j]);
			known[j] = true;
			count = count > j ? count : j + 1;
		}
	if (count == 0)
		return;
	json__array_begin(json);
	json__uint(json, number);
	for (size_t j = 0; j < count; j++) {
		if (known[j])
			json__uint(json, values[j]);
		else
			json__null(json);
	}
	json__array_end(json);
}

static void write_sums(struct json_writer *json, const struct html_keys *keys,
		       const struct html_row *row)
{
	json__array_begin(json);
	for (size_t i = 0; i < row->count; i++) {
		json__uint(json, row->sums[i].key);
		json__uint(json, row->sums[i].number);
		if (keys->keys[row->sums[i].key].unit == HTML_PERCENT)
			json__uint(json, row->sums[i].whole);
	}
	json__array_end(json);
}

static int worker_begin(void *context, size_t worker)
{
	struct html_data *data = context;

	(void)worker;
	json__object_begin(&data->json);
	json__member_array_begin(&data->json, "rows");
	return data->json.error;
}

static int node(void *context, size_t worker, const struct profile_node *node)
{
	struct html_data *data = context;
	char id[NODE_ID_TEXT_MAX];
	uint32_t number;
	int err = 0;

	(void)worker;
	node_path__format(&node->id, id);
	number = number_of(data, id);
	if (number == NAME_NONE)
		return -ENOMEM;
	for (size_t i = 0; i < node->count && !err; i++) {
		err = html_row__add(&data->rows[number], &data->keys, &node->readings[i]);
		if (!err && node->id.depth == 0)
			err = html_row__add(&data->root, &data->keys, &node->readings[i]);
	}
	if (!err && node->id.depth > 0)
		write_main(&data->json, number, node);
	return err ? err : data->json.error;
}

static int worker_end(void *context, size_t worker)
{
	struct html_data *data = context;

	(void)worker;
	json__array_end(&data->json);
	json__key(&data->json, "root");
	write_sums(&data->json, &data->keys, &data->root);
	json__object_end(&data->json);
	html_row__clear(&data->root);
	return data->json.error;
}

static void write_source(struct json_writer *json, const struct profile_source *source)
{
	json__member_string(json, "program", "dbprof-bpf " DBPROF_VERSION);
	json__member_object_begin(json, "source");
	json__member_uint(json, "workers", source->worker_count);
	json__member_uint(json, "first_worker", source->first_worker);
	json__member_string(json, "dbsp", source->dbsp_version);
	json__member_int(json, "start_unix_ms", source->start_unix_ns / 1000000);
	json__member_uint(json, "elapsed_ns", source->elapsed_ns);
	json__member_int(json, "pid", source->pid);
	json__object_end(json);
	json__member_array_begin(json, "main");
	for (size_t i = 0; i < MAINS; i++)
		json__string(json, mains[i].name);
	json__array_end(json);
}

static void write_keys(struct json_writer *json, const struct html_keys *keys)
{
	json__member_array_begin(json, "keys");
	for (size_t i = 0; i < keys->names.count; i++) {
		json__array_begin(json);
		json__string(json, keys->keys[i].metric);
		json__string(json, keys->keys[i].part);
		json__string(json, keys->keys[i].labels);
		json__string(json, unit_names[keys->keys[i].unit]);
		json__string(json, fold_names[keys->keys[i].fold]);
		json__array_end(json);
	}
	json__array_end(json);
}

static void write_node(struct html_data *data, uint32_t number,
		       const struct profile_graph_node *shown)
{
	struct json_writer *json = &data->json;

	json__array_begin(json);
	json__string(json, data->ids.names[number]);
	if (shown) {
		json__string(json, shown->label);
		json__uint(json, shown->depth);
		json__uint(json, shown->cluster);
	} else {
		json__string(json, "");
		json__null(json);
		json__uint(json, 0);
	}
	write_sums(json, &data->keys, &data->rows[number]);
	json__array_end(json);
}

/* The graph's nodes in its order, which says what is inside what, then those that it lacks. */
static void write_nodes(struct html_data *data, const struct profile_graph *graph)
{
	size_t shown = 0; /* so many ids of the graph are written */

	json__member_array_begin(&data->json, "nodes");
	for (size_t i = 0; graph && i < graph->node_count; i++)
		if (name_index__find(&data->ids, graph->nodes[i].id) == shown)
			write_node(data, (uint32_t)shown++, &graph->nodes[i]);
	for (; shown < data->ids.count; shown++)
		write_node(data, (uint32_t)shown, NULL);
	json__array_end(&data->json);
}

static void write_edges(struct html_data *data, const struct profile_graph *graph)
{
	uint64_t left_out = data->keys.left_out;

	json__member_array_begin(&data->json, "edges");
	for (size_t i = 0; graph && i < graph->edge_count; i++) {
		uint32_t from = name_index__find(&data->ids, graph->edges[i].from);
		uint32_t to = name_index__find(&data->ids, graph->edges[i].to);

		if (from == NAME_NONE || to == NAME_NONE) {
			left_out++;
			continue;
		}
		json__uint(&data->json, from);
		json__uint(&data->json, to);
	}
	json__array_end(&data->json);
	json__member_uint(&data->json, "left_out", left_out);
}

static int write_object(struct html_data *data, struct profile_source *source, struct fail *fail)
{
	static const struct profile_visitor visitor = {
		.worker_begin = worker_begin,
		.node = node,
		.worker_end = worker_end,
	};
	struct json_writer *json = &data->json;
	int err;

	json__object_begin(json);
	write_source(json, source);
	json__member_array_begin(json, "workers");
	err = profile_source__visit(source, &visitor, data, fail);
	if (err)
		return err;
	json__array_end(json);
	write_keys(json, &data->keys);
	write_nodes(data, source->graph);
	write_edges(data, source->graph);
	json__member_array_begin(json, "metrics");
	err = profile_source__metrics(source, json, fail);
	if (err)
		return err;
	json__array_end(json);
	json__member_object_begin(json, "members");
	err = profile_source__members(source, json, fail);
	json__object_end(json);
	json__object_end(json);
	return err ? err : json__end(json);
}

int html_data__write(struct profile_source *source, FILE *out, struct fail *fail)
{
	struct html_data data = { 0 };
	int err;

	json__begin(&data.json, out);
	err = number_graph(&data, source->graph);
	if (!err)
		err = write_object(&data, source, fail);
	for (size_t i = 0; i < data.row_count; i++)
		html_row__clear(&data.rows[i]);
	free(data.rows);
	html_row__clear(&data.root);
	html_keys__clear(&data.keys);
	name_index__clear(&data.ids);
	return err;
}
