// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/profile_input.h"
#include "cli/stored_input.h"
#include "export/attribute_report.h"
#include "export/overview.h"

enum {
	KEY_METRIC = 0x100,
	KEY_TOTAL,
	KEY_AS,
	KEY_WORKER,
	KEY_NODE,
	KEY_USED_BYTES,
	KEY_STORAGE_SIZE,
	KEY_JSON,
};

struct report_options {
	const char *input; /* NULL with a store */
	struct stored_options stored;
	const char *metric;
	const char *total;
	bool used_bytes;
	bool storage_size;
	bool json;
	bool has_as;
	enum value_kind as; /* VALUE_BYTES or VALUE_COUNT */
	bool has_worker;
	size_t worker; /* in the pipeline */
	bool has_node;
	struct node_path node;
};

static const struct argp_option argp_options[] = {
	{ "metric", KEY_METRIC, "ID", 0, "Print a metric's readings, one a line", 1 },
	{ "total", KEY_TOTAL, "ID", 0,
	  "Print the sum of a metric over all nodes and workers, as DBSP adds it up", 1 },
	{ "as", KEY_AS, "KIND", 0,
	  "What all readings of --metric or --total must be: bytes, which have no labels, or, for "
	  "--total, count (default of --total: bytes when the metric's name ends in _bytes, else "
	  "count)",
	  1 },
	{ "used-bytes", KEY_USED_BYTES, NULL, 0, "The total of used_memory_bytes", 1 },
	{ "storage-size", KEY_STORAGE_SIZE, NULL, 0, "The total of spine_storage_size_bytes", 1 },
	{ "worker", KEY_WORKER, "N", 0, "Only this worker", 2 },
	{ "node", KEY_NODE, "ID", 0, "Only this node, such as nn4; alone, all its readings", 2 },
	{ "json", KEY_JSON, NULL, 0, "Print readings and totals as JSON", 2 },
	STORED_OPTIONS(3),
	{ 0 },
};

static void parse_as(struct argp_state *state, const char *text)
{
	struct report_options *options = state->input;

	options->has_as = true;
	if (strcmp(text, "bytes") == 0)
		options->as = VALUE_BYTES;
	else if (strcmp(text, "count") == 0)
		options->as = VALUE_COUNT;
	else
		argp_error(state, "--as takes bytes or count, not '%s'", text);
}

static void parse_worker(struct argp_state *state, const char *text)
{
	struct report_options *options = state->input;
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		argp_error(state, "--worker takes the number of a worker, not '%s'", text);
	options->has_worker = true;
	options->worker = number;
}

static void check(struct argp_state *state)
{
	const struct report_options *options = state->input;
	int asked = (options->metric != NULL) + (options->total != NULL) + options->used_bytes +
		    options->storage_size;

	stored_options__check(state, &options->stored, 1, options->input != NULL);
	if (!options->input && !options->stored.store)
		argp_error(state, "which profile?");
	else if (asked > 1)
		argp_error(state, "one of --metric, --total, --used-bytes and --storage-size at a "
				  "time");
	else if (options->has_as && !options->total &&
		 !(options->metric && options->as == VALUE_BYTES))
		argp_error(state,
			   "--as bytes belongs to --metric or --total, --as count to --total");
	else if (options->json && !asked && !options->has_node)
		argp_error(state, "--json prints readings and totals: give --metric, --node or "
				  "--total");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case KEY_METRIC:
		options->metric = arg;
		break;
	case KEY_TOTAL:
		options->total = arg;
		break;
	case KEY_AS:
		parse_as(state, arg);
		break;
	case KEY_USED_BYTES:
		options->used_bytes = true;
		break;
	case KEY_STORAGE_SIZE:
		options->storage_size = true;
		break;
	case KEY_WORKER:
		parse_worker(state, arg);
		break;
	case KEY_NODE:
		options->has_node = true;
		if (node_path__parse(arg, &options->node))
			argp_error(state, "--node takes the id of a node, such as nn4_n2, not '%s'",
				   arg);
		break;
	case KEY_JSON:
		options->json = true;
		break;
	case ARGP_KEY_ARG:
		if (options->input)
			argp_error(state, "one profile at a time");
		options->input = arg;
		break;
	case ARGP_KEY_END:
		check(state);
		break;
	default:
		return stored_options__parse(key, arg, state, &options->stored);
	}
	return 0;
}

/* What the options ask for, with the worker's place in this profile. */
static int make_query(const struct report_options *options, const struct profile_source *source,
		      struct attribute_query *query, struct fail *fail)
{
	const char *name = options->input ? options->input : "the profile";
	size_t first = source->first_worker;

	*query = (struct attribute_query){
		.metric = options->metric,
		.node = options->has_node ? &options->node : NULL,
		.one_worker = options->has_worker,
		.worker = options->worker - first,
	};
	if (!options->has_worker ||
	    (options->worker >= first && query->worker < source->worker_count))
		return 0;
	if (source->worker_count == 0)
		return fail__set(fail, -ENOENT, "%s has no worker", name);
	return fail__set(fail, -ENOENT, "%s has no worker %zu, but those from %zu to %zu", name,
			 options->worker, first, first + source->worker_count - 1);
}

static int report_readings(const struct report_options *options, struct profile_source *source,
			   const struct attribute_query *query, struct fail *fail)
{
	char id[NODE_ID_TEXT_MAX];
	size_t count;
	int err = attribute_report__readings(source, query, options->has_as, options->json, stdout,
					     &count, fail);

	if (err || count > 0)
		return err;
	if (query->metric)
		return fail__set(fail, -ENOENT, "there is no reading of '%s' there", query->metric);
	node_path__format(&options->node, id);
	return fail__set(fail, -ENOENT, "there is no reading of the node %s", id);
}

static bool ends_in_bytes(const char *metric)
{
	size_t len = strlen(metric);

	return len >= 6 && strcmp(metric + len - 6, "_bytes") == 0;
}

static int report_total(const struct report_options *options, struct profile_source *source,
			struct attribute_query *query, const char *metric, struct fail *fail)
{
	enum value_kind kind = options->as;
	struct attribute_total total;
	int err;

	if (!options->has_as)
		kind = ends_in_bytes(metric) ? VALUE_BYTES : VALUE_COUNT;
	query->metric = metric;
	if (kind == VALUE_BYTES)
		err = attribute__total_as_bytes(source, query, &total, fail);
	else
		err = attribute__total_as_count(source, query, &total, fail);
	if (!err)
		attribute_report__total(metric, kind, &total, options->json, stdout);
	return err;
}

static int report(const struct report_options *options, const struct profile_input *input,
		  struct fail *fail)
{
	struct profile_source *source = input->source;
	struct attribute_query query;
	int err = make_query(options, source, &query, fail);

	if (err)
		return err;
	if (options->total)
		return report_total(options, source, &query, options->total, fail);
	if (options->used_bytes)
		return report_total(options, source, &query, USED_MEMORY_BYTES, fail);
	if (options->storage_size)
		return report_total(options, source, &query, SPINE_STORAGE_SIZE_BYTES, fail);
	if (options->metric || options->has_node)
		return report_readings(options, source, &query, fail);
	/* A snapshot says what the terminal showed at the end of the run. */
	if (input->snapshot && !options->has_worker)
		return output__print_summary(stdout, input->snapshot);
	return overview__write(source, options->has_worker ? &query.worker : NULL, stdout, fail);
}

enum exit_status command_report(int argc, char **argv)
{
	static const char doc[] =
		"Prints what a profile says. FILE is a profile of DBSP or of dbprof-bpf: a "
		"snapshot, JSON, a zip or gzip of it, or - for the standard input. Without "
		"options, an "
		"overview; of a snapshot the summary that was shown at the end of the run."
		"\v"
		"Examples:\n"
		"  dbprof-bpf report slow.json\n"
		"  dbprof-bpf report slow.json --metric runtime_seconds --worker 0\n"
		"  dbprof-bpf report slow.json --total used_memory_bytes --as bytes\n"
		"  dbprof-bpf report --store /var/lib/dbprof-bpf --at -10m --pid 4321";
	const struct argp argp = { argp_options, parse_option, "FILE", doc, NULL, NULL, NULL };
	struct report_options options = { 0 };
	struct profile_input input = { 0 };
	struct fail fail = { 0 };
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = options.input ? profile_input__open(options.input, &input, &fail)
			    : stored_input__open(&options.stored, 0, &input, &fail);
	if (!err)
		err = report(&options, &input, &fail);
	errno = 0;
	if (!err && (fflush(stdout) != 0 || ferror(stdout)))
		err = errno ? -errno : -EIO;
	if (err)
		fail__set(&fail, err, "the report cannot be written: %s", strerror(-err));
	profile_input__close(&input);
	return err ? command__failed(&fail, err) : STATUS_COMPLETE;
}
