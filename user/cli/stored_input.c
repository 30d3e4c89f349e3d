// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/stored_input.h"
#include "store/store.h"
#include "util/instant.h"

#define PATH_TEXT_MAX 4352

static void take_time(struct argp_state *state, const char *text, struct stored_options *options)
{
	uint64_t before;

	if (options->at_count == STORED_TIMES) {
		argp_error(state, "--at is given once, and twice for diff");
		return;
	}
	options->at[options->at_count] = text;
	if (text[0] == '-' && !duration__parse(text + 1, &before))
		options->at_ns[options->at_count] = instant__now() - (int64_t)before;
	else if (instant__parse(text, &options->at_ns[options->at_count]))
		argp_error(
			state,
			"--at takes a time, such as 2026-11-30T21:57:54Z, now, or -10m, not '%s'",
			text);
	options->at_count++;
}

static void take_pid(struct argp_state *state, const char *text, struct stored_options *options)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number < 1 || number > INT32_MAX)
		argp_error(state, "--pid takes the id of a process, not '%s'", text);
	options->pid = (pid_t)number;
}

error_t stored_options__parse(int key, char *arg, struct argp_state *state,
			      struct stored_options *options)
{
	switch (key) {
	case KEY_STORE:
		options->store = arg;
		return 0;
	case KEY_AT:
		take_time(state, arg, options);
		return 0;
	case KEY_STORE_PID:
		take_pid(state, arg, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void stored_options__check(struct argp_state *state, const struct stored_options *options,
			   size_t times, size_t files)
{
	if (!options->store) {
		if (options->at_count || options->pid)
			argp_error(state, "--at and --pid belong to --store");
		return;
	}
	if (files)
		argp_error(state, "either files or --store");
	else if (options->at_count != times)
		argp_error(state, times == 1 ? "--store needs --at TIME, once"
					     : "--store needs --at TIME twice: before and after");
}

/* Says which one was taken for a time that no profile holds. */
static void tell_nearest(const struct stored_options *options, size_t index,
			 const struct stored_name *name)
{
	int64_t at = options->at_ns[index];
	char begin[INSTANT_TEXT_MAX], end[INSTANT_TEXT_MAX];

	if (at >= name->unix_ns && at < stored_name__end(name))
		return;
	if (instant__format(name->unix_ns, begin) && instant__format(stored_name__end(name), end))
		fprintf(stderr,
			"dbprof-bpf: no profile holds %s; the nearest one, of process %d, is from "
			"%s to %s\n",
			options->at[index], name->pid, begin, end);
}

static int open_file(const struct store *store, const struct stored_name *name, const char *folder,
		     struct profile_input *ret_input, struct fail *fail)
{
	char path[PATH_TEXT_MAX], text[STORED_NAME_SIZE] = "";
	int fd = store__read(store, name, fail);
	int err;

	if (fd < 0)
		return fd;
	(void)stored_name__format(name, text);
	snprintf(path, sizeof(path), "%.4096s/%s", folder, text);
	err = profile_input__open_snapshot(fd, path, ret_input, fail);
	close(fd);
	return err;
}

int stored_input__open(const struct stored_options *options, size_t index,
		       struct profile_input *ret_input, struct fail *fail)
{
	struct store_file file;
	struct store *store;
	int err = store__open_to_read(options->store, &store, fail);

	if (err)
		return err;
	err = store__at(store, options->pid, options->at_ns[index], &file, fail);
	if (!err)
		err = open_file(store, &file.name, options->store, ret_input, fail);
	if (!err)
		tell_nearest(options, index, &file.name);
	store__close(store);
	return err;
}
