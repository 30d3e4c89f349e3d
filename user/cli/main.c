// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <signal.h>
#include <string.h>

#include "cli/commands.h"

static const struct {
	const char *name;
	enum exit_status (*run)(int argc, char **argv);
} commands[] = {
	{ "record", command_record }, { "report", command_report }, { "export", command_export },
	{ "diff", command_diff },     { "layout", command_layout },
};

int main(int argc, char **argv)
{
	struct options options;

	/* A reader that goes away is an error of a write, not the end of the program. */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	options__parse(argc, argv, "json", &options);
	return command_profile(&options);
}
