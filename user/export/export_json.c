// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The engine's JSON profile. Encodings are those of the Serialize implementations in
 * src/circuit/metadata.rs and src/profile.rs, written by serde_json.
 */
#include "export/export.h"
#include "export/json_parts.h"
#include "export/metric_table.h"

void json_duration(struct json_writer *json, struct duration duration)
{
	json__object_begin(json);
	json__member_uint(json, "secs", duration.secs);
	json__member_uint(json, "nanos", duration.nanos);
	json__object_end(json);
}

void json_nanos(struct json_writer *json, const char *key, uint64_t nanos)
{
	json__key(json, key);
	json_duration(json, duration__from_nanos(nanos));
}

static void percent(struct json_writer *json, const struct value_percent *value)
{
	json__object_begin(json);
	json__key(json, "numerator");
	if (value->negative)
		json__int(json, (int64_t)value->numerator);
	else
		json__uint(json, value->numerator);
	json__member_uint(json, "denominator", value->denominator);
	json__object_end(json);
}

static void cache_counts(struct json_writer *json, const struct value_cache_counts *value)
{
	json__object_begin(json);
	json__member_uint(json, "count", value->count);
	json__member_uint(json, "bytes", value->bytes);
	json__key(json, "elapsed");
	json_duration(json, value->elapsed);
	json__object_end(json);
}

static const char *type_name(enum value_kind kind)
{
	switch (kind) {
	case VALUE_INT:
		return "int";
	case VALUE_COUNT:
		return "count";
	case VALUE_PERCENT:
		return "percent";
	case VALUE_CACHE_COUNTS:
		return "cachecounts";
	case VALUE_STRING:
		return "string";
	case VALUE_BYTES:
		return "bytes";
	case VALUE_DURATION:
		return "duration";
	case VALUE_BOOL:
		return "bool";
	case VALUE_ARRAY:
	case VALUE_MAP:
		break;
	}
	return NULL;
}

/* What stands under "value". */
static void bare_value(struct json_writer *json, const struct value *value)
{
	switch (value->kind) {
	case VALUE_INT:
	case VALUE_COUNT:
	case VALUE_BYTES:
		json__uint(json, value->number);
		break;
	case VALUE_PERCENT:
		percent(json, &value->percent);
		break;
	case VALUE_CACHE_COUNTS:
		cache_counts(json, &value->cache_counts);
		break;
	case VALUE_STRING:
		json__string(json, value->string);
		break;
	case VALUE_DURATION:
		json_duration(json, value->duration);
		break;
	case VALUE_BOOL:
		json__bool(json, value->boolean);
		break;
	case VALUE_ARRAY:
	case VALUE_MAP:
		break;
	}
}

void json_value(struct json_writer *json, const struct value *value)
{
	if (value->kind == VALUE_ARRAY) {
		json__array_begin(json);
		for (size_t i = 0; i < value->array.count; i++)
			json_value(json, &value->array.items[i]);
		json__array_end(json);
	} else if (value->kind == VALUE_MAP) {
		json__object_begin(json);
		for (size_t i = 0; i < value->map.count; i++) {
			json__key(json, value->map.entries[i].key);
			json_value(json, &value->map.entries[i].value);
		}
		json__object_end(json);
	} else {
		json__object_begin(json);
		json__member_string(json, "type", type_name(value->kind));
		json__key(json, "value");
		bare_value(json, value);
		json__object_end(json);
	}
}

void json_reading(struct json_writer *json, const struct profile_reading *reading)
{
	json__member_string(json, "metric_id", reading->metric);
	if (reading->label_count > 0) {
		json__member_array_begin(json, "labels");
		for (size_t i = 0; i < reading->label_count; i++) {
			json__array_begin(json);
			json__string(json, reading->labels[i].key);
			json__string(json, reading->labels[i].value);
			json__array_end(json);
		}
		json__array_end(json);
	}
	json__key(json, "value");
	json_value(json, &reading->value);
}

static int worker_begin(void *context, size_t worker)
{
	struct json_writer *json = context;

	(void)worker;
	json__object_begin(json);
	json__member_object_begin(json, "metadata");
	return json->error;
}

static int node(void *context, size_t worker, const struct profile_node *node)
{
	struct json_writer *json = context;
	char id[NODE_ID_TEXT_MAX];

	(void)worker;
	node_path__format(&node->id, id);
	json__member_array_begin(json, id);
	for (size_t i = 0; i < node->count; i++) {
		json__object_begin(json);
		json_reading(json, &node->readings[i]);
		json__object_end(json);
	}
	json__array_end(json);
	return json->error;
}

static int worker_end(void *context, size_t worker)
{
	struct json_writer *json = context;

	(void)worker;
	json__object_end(json);
	json__object_end(json);
	return json->error;
}

/* ProfileJsonWriter's phases. */
static int begin(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	int err = 0;

	json__object_begin(json);
	if (source->ops->metrics) {
		json__member_array_begin(json, "metrics");
		err = profile_source__metrics(source, json, fail);
		json__array_end(json);
	}
	json__member_array_begin(json, "worker_profiles");
	return err;
}

static void finish(struct profile_source *source, struct json_writer *json)
{
	json__array_end(json);
	json__key(json, "graph");
	if (source->graph)
		json_graph(json, source->graph);
	else
		json__null(json);
}

int export_json(struct profile_source *source, FILE *out, struct fail *fail)
{
	static const struct profile_visitor visitor = {
		.worker_begin = worker_begin,
		.node = node,
		.worker_end = worker_end,
	};
	struct json_writer json;
	int err;

	json__begin(&json, out);
	err = begin(source, &json, fail);
	if (!err)
		err = profile_source__visit(source, &visitor, &json, fail);
	if (err)
		return err;
	finish(source, &json);
	err = profile_source__members(source, &json, fail);
	json__object_end(&json);
	return err ? err : json__end(&json);
}
