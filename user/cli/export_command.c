// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/write_profile.h"
#include "reader/reader.h"

enum { KEY_FIRST_WORKER = 0x100 };

struct export_options {
	const char *input;
	const char *output;
	const struct exporter *exporter;
	bool has_first_worker;
	size_t first_worker;
};

static const struct argp_option argp_options[] = {
	{ "format", 'f', "FORMAT", 0, "What to write; 'dbprof-bpf export --format help' lists all",
	  0 },
	{ "output", 'o', "FILE", 0,
	  "Where it goes; - is the standard output (default: the name of the profile with the "
	  "extension of the format)",
	  0 },
	{ "first-worker", KEY_FIRST_WORKER, "N", 0,
	  "Number of the first worker, for a profile of one host of several (default: what the "
	  "profile says, or 0)",
	  0 },
	{ 0 },
};

static size_t parse_worker(struct argp_state *state, const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number > UINT32_MAX)
		argp_error(state, "--first-worker takes a number from 0, not '%s'", text);
	return number;
}

static void check(struct argp_state *state)
{
	struct export_options *options = state->input;

	if (!options->input)
		argp_error(state, "which profile?");
	else if (!options->exporter)
		argp_error(state, "which format? Give --format");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct export_options *options = state->input;

	switch (key) {
	case 'f':
		options->exporter = write_profile__format(state, arg);
		break;
	case 'o':
		options->output = arg;
		if (!*arg)
			argp_error(state, "--output takes a file name");
		break;
	case KEY_FIRST_WORKER:
		options->has_first_worker = true;
		options->first_worker = parse_worker(state, arg);
		break;
	case ARGP_KEY_ARG:
		if (options->input)
			argp_error(state,
				   "one profile at a time; 'dbprof-bpf merge' joins several");
		options->input = arg;
		break;
	case ARGP_KEY_END:
		check(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The file's name, which must not become that of the input unless it was asked for. */
static int choose_output(const struct export_options *options, char name[WRITE_NAME_MAX],
			 struct fail *fail)
{
	if (options->output) {
		if (strlen(options->output) >= WRITE_NAME_MAX)
			return fail__set(fail, -ENAMETOOLONG, "the output's name is too long");
		strcpy(name, options->output);
		return 0;
	}
	if (write_profile__name(options->input, options->exporter, name))
		return fail__set(fail, -ENAMETOOLONG, "the output's name is too long");
	if (strcmp(name, options->input) == 0)
		return fail__set(fail, -EEXIST,
				 "%s would be replaced by itself; name the output with --output",
				 name);
	return 0;
}

enum exit_status command_export(int argc, char **argv)
{
	static const char doc[] =
		"Writes a profile in another format. FILE is a profile of DBSP or of dbprof-bpf: "
		"JSON, a zip or gzip of it, or - for the standard input."
		"\v"
		"Examples:\n"
		"  dbprof-bpf export slow.json --format json --output - | jq .graph\n"
		"  dbprof-bpf export bundle.zip --format json --output slow.json";
	const struct argp argp = { argp_options, parse_option, "FILE", doc, NULL, NULL, NULL };
	struct export_options options = { 0 };
	struct profile_source *source = NULL;
	char name[WRITE_NAME_MAX];
	struct fail fail = { 0 };
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = choose_output(&options, name, &fail);
	if (!err)
		err = profile_reader__open(options.input, &source, &fail);
	if (!err && options.has_first_worker)
		source->first_worker = options.first_worker;
	if (!err)
		err = write_profile(source, options.exporter, name, &fail);
	profile_source__close(source);
	return err ? command__failed(&fail, err) : STATUS_COMPLETE;
}
