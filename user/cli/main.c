// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <signal.h>
#include <stdio.h>

#include "cli/commands.h"

static enum exit_status run_command(const struct command *command, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), "dbprof-bpf %s", command->name);
	argv[0] = name;
	argp_err_exit_status = STATUS_USAGE;
	return command->run(argc, argv);
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 1 ? command__find(argv[1]) : NULL;
	struct options options;

	/* A reader that goes away is an error of a write, not the end of the program. */
	signal(SIGPIPE, SIG_IGN);
	if (command)
		return run_command(command, argc - 1, argv + 1);
	options__parse(argc, argv, &options);
	return command_profile(&options);
}
