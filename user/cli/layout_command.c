// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "layout/layout.h"

static error_t parse_argument(int key, char *arg, struct argp_state *state)
{
	const char **binary = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*binary)
			argp_error(state, "one file at a time");
		*binary = arg;
		return 0;
	case ARGP_KEY_END:
		if (!*binary)
			argp_error(state, "which file? It needs debug info of the dbsp crate");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

enum exit_status command_layout(int argc, char **argv)
{
	static const char doc[] =
		"Writes a layout file for --layout: where the fields of the engine's types lie, as "
		"the debug info of BINARY tells. It fits every build of the same dbsp and rustc "
		"version, with debug info or without."
		"\vExample:\n  dbprof-bpf layout target/debug-info/pipeline >dbsp-0.354.0.json";
	const struct argp argp = { NULL, parse_argument, "BINARY", doc, NULL, NULL, NULL };
	const char *binary = NULL;
	struct fail fail = {};
	struct layout layout;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &binary);
	err = layout__from_dwarf(binary, &layout, &fail);
	if (!err) {
		err = layout__write(&layout, stdout);
		if (!err && fflush(stdout))
			err = -errno;
		if (err)
			fail__set(&fail, err, "the layout cannot be written: %s", strerror(-err));
	}
	if (!err)
		return STATUS_COMPLETE;
	return command__failed(&fail, err);
}
