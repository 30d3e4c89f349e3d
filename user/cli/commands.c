// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const struct command commands[] = {
	{ "export", "Write a profile in another format", command_export },
	{ "merge", "Join the profiles of a pipeline's hosts", command_merge },
	{ "record", "Profile, and keep all that was measured in a file", command_record },
	{ "report", "Print what a profile says", command_report },
	{ "diff", "Compare two profiles of a pipeline", command_diff },
	{ "serve", "Profile every pipeline of the host, all the time", command_serve },
	{ "layout", "Make a layout file from a build with debug info", command_layout },
	{ "check", "Say what profiling needs, and what of that there is", command_check },
	{ "help", "Print this list", command_help },
};

const struct command *command__all(size_t *ret_count)
{
	*ret_count = sizeof(commands) / sizeof(commands[0]);
	return commands;
}

const struct command *command__find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* As `dbprof-bpf COMMAND --help`. */
static enum exit_status help_of(const char *name)
{
	const struct command *command = command__find(name);
	char title[64], option[] = "--help";
	char *argv[] = { title, option, NULL };

	if (!command) {
		fprintf(stderr,
			"dbprof-bpf: there is no command '%s'; 'dbprof-bpf help' lists all\n",
			name);
		return STATUS_USAGE;
	}
	snprintf(title, sizeof(title), "dbprof-bpf %s", command->name);
	return command->run(2, argv);
}

enum exit_status command_help(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "help") != 0 && strcmp(argv[1], "--help") != 0)
		return help_of(argv[1]);
	printf("Usage: dbprof-bpf --pid N [OPTION...]     profile a running pipeline\n"
	       "       dbprof-bpf [OPTION...] -- COMMAND  start a pipeline and profile it\n"
	       "       dbprof-bpf COMMAND ...\n\nCommands:\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("\n'dbprof-bpf --help' lists the options for profiling, 'dbprof-bpf COMMAND --help' "
	       "those of a command.\n");
	if (fflush(stdout) == 0)
		return STATUS_COMPLETE;
	fprintf(stderr, "dbprof-bpf: the list cannot be written: %s\n", strerror(errno));
	return STATUS_FAILED;
}

enum exit_status command__failed(const struct fail *fail, int err)
{
	fprintf(stderr, "dbprof-bpf: %s\n", fail->text[0] ? fail->text : strerror(-err));
	return STATUS_FAILED;
}
