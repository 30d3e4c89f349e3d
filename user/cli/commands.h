/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands. Each takes its own name and arguments, as main() does, and returns the status. */
#ifndef DBPROF_CLI_COMMANDS_H
#define DBPROF_CLI_COMMANDS_H

#include "cli/exit_status.h"
#include "cli/options.h"

/* Profiles as the options say. */
enum exit_status command_profile(const struct options *options);

/* `dbprof-bpf record OPTIONS`: profiles, and writes a snapshot file. */
enum exit_status command_record(int argc, char **argv);

/* `dbprof-bpf report FILE`: prints the summary of a snapshot file. */
enum exit_status command_report(int argc, char **argv);

/* `dbprof-bpf export FILE`: writes a profile in another format. */
enum exit_status command_export(int argc, char **argv);

/* `dbprof-bpf diff BEFORE AFTER`: what became slower from one profile to another. */
enum exit_status command_diff(int argc, char **argv);

/* `dbprof-bpf layout BINARY`: writes the layout of a build with debug info to the output. */
enum exit_status command_layout(int argc, char **argv);

#endif
