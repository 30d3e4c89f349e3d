// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/check_output.h"
#include "cli/commands.h"
#include "needs/needs.h"

enum { KEY_JSON = 0x100 };

#define WIDTH_DEFAULT 100 /* columns where there is no terminal */

struct check_options {
	pid_t pid;
	const char *layout;
	bool json;
};

static const struct argp_option argp_options[] = {
	{ "pid", 'p', "N", 0, "Check process N, too; nothing is attached to it", 0 },
	{ "layout", 'l', "FILE", 0, "Layout of the engine's types, as for profiling", 0 },
	{ "json", KEY_JSON, NULL, 0, "Write JSON", 0 },
	{ 0 },
};

static pid_t parse_pid(struct argp_state *state, const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || !number || number > INT32_MAX)
		argp_error(state, "--pid takes a number from 1 to %d, not '%s'", INT32_MAX, text);
	return (pid_t)number;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct check_options *options = state->input;

	switch (key) {
	case 'p':
		if (options->pid)
			argp_error(state, "one process at a time");
		options->pid = parse_pid(state, arg);
		break;
	case 'l':
		options->layout = arg;
		break;
	case KEY_JSON:
		options->json = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s'? Give a process by --pid", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int check_all(struct need_list *needs, const struct check_options *options)
{
	int err = needs__check_kernel(needs);

	if (!err)
		err = needs__check_privileges(needs, options->pid);
	if (!err)
		err = needs__check_trial(needs);
	if (!err && options->pid)
		err = needs__check_program(needs, options->pid, options->layout);
	return err;
}

static int write_all(const struct need_list *needs, const struct check_options *options)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct winsize size = { 0 };
	int err = 0;

	if (options->json)
		err = check_output__json(needs, options->pid, stdout);
	else if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		check_output__text(needs, WIDTH_DEFAULT, false, stdout);
	else
		check_output__text(needs, size.ws_col, !getenv("NO_COLOR"), stdout);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -errno;
	return err;
}

enum exit_status command_check(int argc, char **argv)
{
	static const char doc[] = "Says what profiling needs of this machine and of a program, "
				  "what of that there is, "
				  "what is lost without the rest, and what to do. Needs no "
				  "privileges itself, but sees "
				  "more with those that profiling takes."
				  "\v"
				  "Exit status: 0 all is there, 3 profiling works but something is "
				  "lost, 1 it does not "
				  "work, 2 wrong usage.";
	static const enum exit_status status[NEED_VERDICTS] = {
		[NEED_OK] = STATUS_COMPLETE,
		[NEED_DEGRADED] = STATUS_INCOMPLETE,
		[NEED_MISSING] = STATUS_FAILED,
	};
	const struct argp argp = { argp_options, parse_option, NULL, doc, NULL, NULL, NULL };
	struct check_options options = { 0 };
	struct need_list needs = { 0 };
	enum need_verdict verdict;
	struct fail fail = { 0 };
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = check_all(&needs, &options);
	if (!err) {
		err = write_all(&needs, &options);
		if (err)
			fail__set(&fail, err, "the result cannot be written: %s", strerror(-err));
	}
	verdict = needs__verdict(&needs);
	needs__free(&needs);
	return err ? command__failed(&fail, err) : status[verdict];
}
