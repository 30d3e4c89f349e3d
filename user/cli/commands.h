/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_CLI_COMMANDS_H
#define DBPROF_CLI_COMMANDS_H

#include <stddef.h>

#include "cli/exit_status.h"
#include "cli/options.h"

/* One word behind the program's name, as in `dbprof-bpf export FILE`. */
struct command {
	const char *name;
	const char *help; /* one line */
	/* @argv begins with the command's name as people know it: "dbprof-bpf export". */
	enum exit_status (*run)(int argc, char **argv);
};

/* NULL when there is no such command. */
const struct command *command__find(const char *name);
const struct command *command__all(size_t *ret_count);

/* Profiles as the options say: what the program does without a command. */
enum exit_status command_profile(const struct options *options);

/* `dbprof-bpf record OPTIONS`: profiles, and writes a snapshot file. */
enum exit_status command_record(int argc, char **argv);

/* `dbprof-bpf diff BEFORE AFTER`: what became slower from one profile to another. */
enum exit_status command_diff(int argc, char **argv);

/* `dbprof-bpf serve`: the daemon. */
enum exit_status command_serve(int argc, char **argv);

/* `dbprof-bpf layout BINARY`: writes the layout of a build with debug info to the output. */
enum exit_status command_layout(int argc, char **argv);

/* `dbprof-bpf export FILE --format F`: a profile in another format. */
enum exit_status command_export(int argc, char **argv);

/* `dbprof-bpf merge A B -o C`: the profiles of a pipeline's hosts as one. */
enum exit_status command_merge(int argc, char **argv);

/* `dbprof-bpf report FILE`: what a profile says, for people. */
enum exit_status command_report(int argc, char **argv);

/* `dbprof-bpf check`: what profiling needs, and what of that there is. */
enum exit_status command_check(int argc, char **argv);

/* `dbprof-bpf help`: the commands. */
enum exit_status command_help(int argc, char **argv);

/* Says on stderr what went wrong: the sentence of @fail, or that of @err. Returns STATUS_FAILED. */
enum exit_status command__failed(const struct fail *fail, int err);

#endif
