// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"

struct export_options {
	const char *file;
	const char *output;
	const struct exporter *exporter;
};

static error_t parse_argument(int key, char *arg, struct argp_state *state)
{
	struct export_options *options = state->input;

	switch (key) {
	case 'f':
		options->exporter = exporter__find(arg);
		if (!options->exporter)
			argp_error(state, "there is no format '%s'", arg);
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->file)
			argp_error(state, "one file at a time");
		options->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->file)
			argp_error(state, "which file?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

enum exit_status command_export(int argc, char **argv)
{
	static const struct argp_option argp_options[] = {
		{ "format", 'f', "FORMAT", 0, "Format to write: json (the default), snapshot", 0 },
		{ "output", 'o', "FILE", 0, "Where it goes (default: the standard output)", 0 },
		{},
	};
	static const char doc[] =
		"Writes a profile in another format, with the same bytes as it would have been "
		"written in while profiling.";
	const struct argp argp = { argp_options, parse_argument, "FILE", doc, NULL, NULL, NULL };
	struct export_options options = { .output = "-", .exporter = exporter__find("json") };
	char name[] = "dbprof-bpf export";
	struct input input = { 0 };
	struct fail fail = {};
	int err;

	argv[0] = name;
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = input__open(options.file, &input, &fail);
	if (!err)
		err = output__write(options.output, options.exporter, input.source, &fail);
	input__close(&input);
	if (!err)
		return STATUS_COMPLETE;
	fprintf(stderr, "dbprof-bpf: %s\n", fail.text[0] ? fail.text : strerror(-err));
	return STATUS_FAILED;
}
