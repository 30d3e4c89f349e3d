// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/write_profile.h"
#include "model/joined_source.h"
#include "reader/reader.h"

#define HOSTS_MAX 500 /* open files */

struct merge_options {
	const char *inputs[HOSTS_MAX];
	size_t count;
	size_t offsets[HOSTS_MAX];
	size_t offset_count; /* 0: not given */
	const char *output;
	const struct exporter *exporter;
};

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "Where the profile goes; - is the standard output", 0 },
	{ "format", 'f', "FORMAT", 0, "What to write (default: json)", 0 },
	{ "offset", 'O', "N,...", 0,
	  "Number of the first worker of each host (default: hosts follow upon each other from 0)",
	  0 },
	{ 0 },
};

static void parse_offsets(struct argp_state *state, const char *text)
{
	struct merge_options *options = state->input;
	const char *at = text;
	unsigned long number;
	char *end;

	options->offset_count = 0;
	do {
		errno = 0;
		number = strtoul(at, &end, 10);
		if (*at < '0' || *at > '9' || errno || number > UINT32_MAX ||
		    (*end && *end != ',') || options->offset_count == HOSTS_MAX) {
			argp_error(state, "--offset takes numbers such as 0,8,16, not '%s'", text);
			return;
		}
		options->offsets[options->offset_count++] = number;
		at = end + 1;
	} while (*end);
}

static void check(struct argp_state *state)
{
	struct merge_options *options = state->input;

	if (options->count < 2)
		argp_error(state, "which profiles? Two or more are merged");
	else if (!options->output)
		argp_error(state, "where to? Give --output");
	else if (options->offset_count && options->offset_count != options->count)
		argp_error(state, "--offset takes one number for each of the %zu profiles, not %zu",
			   options->count, options->offset_count);
}

static void add_input(struct argp_state *state, const char *path)
{
	struct merge_options *options = state->input;

	if (options->count == HOSTS_MAX) {
		argp_error(state, "at most %d profiles can be merged", HOSTS_MAX);
		return;
	}
	for (size_t i = 0; i < options->count; i++)
		if (strcmp(path, "-") == 0 && strcmp(options->inputs[i], "-") == 0)
			argp_error(state, "the standard input can be read once");
	options->inputs[options->count++] = path;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct merge_options *options = state->input;

	switch (key) {
	case 'f':
		options->exporter = write_profile__format(state, arg);
		break;
	case 'o':
		options->output = arg;
		if (!*arg)
			argp_error(state, "--output takes a file name");
		break;
	case 'O':
		parse_offsets(state, arg);
		break;
	case ARGP_KEY_ARG:
		add_input(state, arg);
		break;
	case ARGP_KEY_END:
		check(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Workers are numbered without gaps, or those of the merged profile would have wrong numbers. */
static int check_offsets(const struct merge_options *options, const struct joined_part *parts,
			 struct fail *fail)
{
	size_t next = options->offset_count ? options->offsets[0] : parts[0].source->first_worker;

	parts[0].source->first_worker = next;
	for (size_t i = 0; i < options->offset_count; i++) {
		if (options->offsets[i] != next)
			return fail__set(
				fail, -EINVAL,
				"%s cannot begin with worker %zu, since %zu is the next one "
				"behind those of the hosts before it; name all profiles, "
				"in the order of their workers",
				parts[i].name, options->offsets[i], next);
		next += parts[i].source->worker_count;
	}
	return 0;
}

static int merge(const struct merge_options *options, struct joined_part *parts, struct fail *fail)
{
	struct profile_source *joined = NULL;
	int err = 0;

	for (size_t i = 0; i < options->count && !err; i++) {
		parts[i].name = options->inputs[i];
		err = profile_reader__open(options->inputs[i], &parts[i].source, fail);
	}
	if (!err)
		err = check_offsets(options, parts, fail);
	if (!err)
		err = joined_source__open(parts, options->count, &joined, fail);
	if (!err)
		err = write_profile(joined, options->exporter, options->output, fail);
	profile_source__close(joined);
	return err;
}

enum exit_status command_merge(int argc, char **argv)
{
	static const char doc[] =
		"Joins the profiles of the hosts of one pipeline: the workers of all, in the order "
		"of the files, with the metrics and the graph of the first."
		"\v"
		"Example:\n"
		"  dbprof-bpf merge host0.json host1.json --output pipeline.json";
	const struct argp argp = {
		argp_options, parse_option, "FILE FILE...", doc, NULL, NULL, NULL
	};
	struct merge_options *options = calloc(1, sizeof(*options));
	struct joined_part *parts = calloc(HOSTS_MAX, sizeof(*parts));
	struct fail fail = { 0 };
	int err = -ENOMEM;

	if (options && parts) {
		options->exporter = exporter__find("json");
		argp_parse(&argp, argc, argv, 0, NULL, options);
		err = merge(options, parts, &fail);
		for (size_t i = 0; i < options->count; i++)
			profile_source__close(parts[i].source);
	}
	free(options);
	free(parts);
	return err ? command__failed(&fail, err) : STATUS_COMPLETE;
}
