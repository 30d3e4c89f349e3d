// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/commands.h"

enum exit_status command_record(int argc, char **argv)
{
	struct options options;

	options__parse(argc, argv, "snapshot", &options);
	return command_profile(&options);
}
