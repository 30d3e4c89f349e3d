// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"

static error_t parse_argument(int key, char *arg, struct argp_state *state)
{
	const char **file = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*file)
			argp_error(state, "one file at a time");
		*file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!*file)
			argp_error(state, "which file? dbprof-bpf record writes one");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int report(const char *path, struct fail *fail)
{
	struct input input;
	int err = input__open(path, &input, fail);

	if (err)
		return err;
	err = output__print_summary(stdout, input.snapshot);
	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		fail__set(fail, err, "the summary cannot be written: %s", strerror(-err));
	input__close(&input);
	return err;
}

enum exit_status command_report(int argc, char **argv)
{
	static const char doc[] =
		"Prints the summary of a profile that dbprof-bpf record has written, as it is "
		"shown "
		"at the end of a run. It needs no privileges, and not the machine of the profile."
		"\vExample:\n  dbprof-bpf report slow.dbprof";
	const struct argp argp = { NULL, parse_argument, "FILE", doc, NULL, NULL, NULL };
	char name[] = "dbprof-bpf report";
	const char *file = NULL;
	struct fail fail = {};
	int err;

	argv[0] = name;
	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &file);
	err = report(file, &fail);
	if (!err)
		return STATUS_COMPLETE;
	fprintf(stderr, "dbprof-bpf: %s\n", fail.text[0] ? fail.text : strerror(-err));
	return STATUS_FAILED;
}
