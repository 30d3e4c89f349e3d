// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/commands.h"
enum exit_status command_report(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return STATUS_FAILED;
}
