// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/profile_input.h"
#include "cli/stored_input.h"
#include "cli/output.h"
#include "export/diff.h"

enum {
	KEY_WORKER = 0x100,
	KEY_TOP,
	KEY_ALL,
	KEY_JSON,
};

#define TOP_DEFAULT 10

struct diff_options {
	const char *files[2]; /* names of the two, also of those of a store */
	struct stored_options stored;
	size_t count;
	size_t worker;
	size_t top;
	bool json;
};

static size_t parse_number(struct argp_state *state, const char *option, const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number > UINT32_MAX)
		argp_error(state, "--%s takes a number, not '%s'", option, text);
	return number;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct diff_options *options = state->input;

	switch (key) {
	case KEY_WORKER:
		options->worker = parse_number(state, "worker", arg);
		return 0;
	case KEY_TOP:
		options->top = parse_number(state, "top", arg);
		return 0;
	case KEY_ALL:
		options->top = SIZE_MAX;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->count == 2)
			argp_error(state, "two files are compared");
		else
			options->files[options->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		stored_options__check(state, &options->stored, 2, options->count);
		if (options->stored.store)
			memcpy(options->files, options->stored.at, sizeof(options->files));
		else if (options->count < 2)
			argp_error(state, "which files? One from before and one from after");
		else if (!strcmp(options->files[0], "-") && !strcmp(options->files[1], "-"))
			argp_error(state, "only one of the two can be the standard input");
		return 0;
	default:
		return stored_options__parse(key, arg, state, &options->stored);
	}
}

static int show(const struct diff *diff, const struct diff_options *options, struct fail *fail)
{
	const struct diff_show how = {
		.names = { options->files[0], options->files[1] },
		.top = options->top,
		.width = output__width(stdout),
		.colours = output__colours(stdout),
	};
	int err = options->json ? diff__write_json(diff, &how, stdout)
				: diff__write_text(diff, &how, stdout);

	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		fail__set(fail, err, "the comparison cannot be written: %s", strerror(-err));
	return err;
}

static int open_side(const struct diff_options *options, size_t side,
		     struct profile_input *ret_input, struct fail *fail)
{
	if (options->stored.store)
		return stored_input__open(&options->stored, side, ret_input, fail);
	return profile_input__open(options->files[side], ret_input, fail);
}

static int compare(const struct diff_options *options, struct fail *fail)
{
	struct profile_input before = { 0 }, after = { 0 };
	struct diff diff = { 0 };
	int err = open_side(options, 0, &before, fail);

	if (!err)
		err = open_side(options, 1, &after, fail);
	if (!err)
		err = diff__make(before.source, after.source, options->worker, &diff, fail);
	if (!err) {
		err = show(&diff, options, fail);
		diff__clear(&diff);
	}
	profile_input__close(&before);
	profile_input__close(&after);
	return err;
}

enum exit_status command_diff(int argc, char **argv)
{
	static const struct argp_option argp_options[] = {
		{ "worker", KEY_WORKER, "N", 0, "Compare worker N alone (default: all together)",
		  0 },
		{ "top", KEY_TOP, "N", 0, "Rows of each list (default 10)", 0 },
		{ "all", KEY_ALL, NULL, 0, "All rows", 0 },
		{ "json", KEY_JSON, NULL, 0, "Write JSON, which always has all rows", 0 },
		STORED_OPTIONS(1),
		{},
	};
	static const char doc[] =
		"Compares two profiles of one pipeline: what became slower for a step, worst "
		"first, "
		"and by what; and what became faster. The files are snapshots of dbprof-bpf record "
		"or JSON profiles, of dbprof-bpf or of DBSP itself."
		"\vExamples:\n  dbprof-bpf diff monday.dbprof tuesday.dbprof\n"
		"  dbprof-bpf diff --worker 3 --all before.json after.json\n"
		"  dbprof-bpf diff --store /var/lib/dbprof-bpf --pid 4321 --at -1h --at now";
	const struct argp argp = {
		argp_options, parse_option, "BEFORE AFTER", doc, NULL, NULL, NULL
	};
	struct diff_options options = { .worker = DIFF_ALL_WORKERS, .top = TOP_DEFAULT };
	struct fail fail = {};
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = compare(&options, &fail);
	return err ? command__failed(&fail, err) : STATUS_COMPLETE;
}
