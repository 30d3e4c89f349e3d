// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <signal.h>
#include <string.h>

#include "cli/commands.h"

int main(int argc, char **argv)
{
	struct options options;

	/* A reader that goes away is an error of a write, not the end of the program. */
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1 && !strcmp(argv[1], "layout"))
		return command_layout(argc - 1, argv + 1);
	options__parse(argc, argv, &options);
	return command_profile(&options);
}
