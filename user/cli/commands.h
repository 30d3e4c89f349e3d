/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_CLI_COMMANDS_H
#define DBPROF_CLI_COMMANDS_H

#include "cli/exit_status.h"
#include "cli/options.h"

/* Profiles as the options say. */
enum exit_status command_profile(const struct options *options);

/* `dbprof-bpf layout BINARY`: writes the layout of a build with debug info to the output. */
enum exit_status command_layout(int argc, char **argv);

#endif
