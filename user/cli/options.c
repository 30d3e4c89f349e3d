// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/write_profile.h"

enum {
	KEY_UPROBES = 0x100,
	KEY_STEPS,
	KEY_BUDGET,
	KEY_MAX_THREADS,
	KEY_MAX_CIRCUITS,
	KEY_MAX_OPERATORS,
	KEY_INTERVAL,
};

#define INTERVAL_MIN_NS 20000000 /* less would be spent on the edges alone */

static const char doc[] =
	"Profiles running DBSP pipelines from outside: per worker, circuit and operator, where the "
	"time of a window went. The pipelines need no rebuild and no restart."
	"\v"
	"Examples:\n"
	"  sudo dbprof-bpf --pid 1234 --duration 10s\n"
	"      profiles process 1234 for ten seconds, writes dbprof-1234.json\n"
	"  sudo dbprof-bpf --pid 1234 --output slow.json\n"
	"      until Ctrl-C\n"
	"  sudo dbprof-bpf --output start.json -- ./pipeline --threads 8\n"
	"      starts the program and profiles it from its first step\n"
	"  sudo dbprof-bpf --pid 1234 --interval 1s\n"
	"      writes dbprof-1234-0001.json, dbprof-1234-0002.json, ... without a gap\n"
	"  sudo dbprof-bpf record --pid 1234 --duration 10s -o slow.dbprof\n"
	"      keeps all that was measured; dbprof-bpf report slow.dbprof shows it anywhere\n"
	"  dbprof-bpf layout ./pipeline-with-debug-info >layout.json\n"
	"      makes a layout file for --layout\n"
	"\n"
	"Exit status: 0 complete, 1 failed and nothing written, 2 wrong usage, 3 written but "
	"something could not be observed.";

static const struct argp_option argp_options[] = {
	{ "pid", 'p', "N", 0, "Profile process N; may be given several times", 1 },
	{ "duration", 'd', "TIME", 0,
	  "Length of the window: 10s, 500ms, 2m (default: until Ctrl-C)", 1 },
	{ "interval", KEY_INTERVAL, "TIME", 0,
	  "Write a series: a profile of each such time, with its number in the file's name, and at "
	  "the end that of the whole, to which they add up",
	  1 },
	{ "output", 'o', "FILE", 0,
	  "Where the profile goes; - is the standard output (default: dbprof-N.json; with several "
	  "processes N is put into FILE's name)",
	  1 },
	{ "format", 'f', "FORMAT", 0,
	  "Format of the profile (default json); '--format help' lists all", 1 },
	{ "mode", 'm', "MODE", 0,
	  "How operators are measured: engine (the engine's own counters, read from memory), "
	  "sampled, "
	  "exact (a trap for each evaluation), waits (not at all), or auto, the default: engine "
	  "when "
	  "DBSP's CPU profiler is on, else sampled",
	  1 },
	{ "budget", KEY_BUDGET, "PERCENT", 0,
	  "What the profiler may cost, of the program's CPU time, before auto gives up probes "
	  "(default 1)",
	  1 },
	{ "frequency", 'F', "HZ", 0,
	  "Samples a second on each CPU (default: the highest rate that the budget allows)", 1 },
	{ "layout", 'l', "FILE", 0,
	  "Layout of the engine's types, for versions without a built-in one", 2 },
	{ "uprobes", KEY_UPROBES, "KIND", 0, "How probes are attached: auto, multi, perf", 2 },
	{ "steps", KEY_STEPS, "KIND", 0, "How steps are probed: auto, paths, events, polls", 2 },
	{ "max-threads", KEY_MAX_THREADS, "N", 0, "Threads that can be observed (default 4096)",
	  2 },
	{ "max-circuits", KEY_MAX_CIRCUITS, "N", 0, "Circuits that can be observed (default 4096)",
	  2 },
	{ "max-operators", KEY_MAX_OPERATORS, "N", 0,
	  "Operators that can be observed, each worker's for itself (default: those that there "
	  "are, "
	  "and 4096)",
	  2 },
	{ "verbose", 'v', NULL, 0, "Say on the standard error what is done", 3 },
	{ "quiet", 'q', NULL, 0, "No summary and no progress", 3 },
	{},
};

static void add_pid(struct argp_state *state, const char *text)
{
	struct options *options = state->input;
	pid_t pid = (pid_t)numbers__count(state, "pid", text, 1, INT32_MAX);

	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return;
	if (options->pid_count == OPTIONS_PIDS_MAX)
		argp_error(state, "at most %d processes can be profiled at once", OPTIONS_PIDS_MAX);
	else
		options->pids[options->pid_count++] = pid;
}

static enum uprobe_choice parse_uprobes(struct argp_state *state, const char *text)
{
	static const char *const names[] = { "auto", "multi", "perf" };

	return (enum uprobe_choice)numbers__choice(state, "uprobes", text, names, 3);
}

static enum plan_steps parse_steps(struct argp_state *state, const char *text)
{
	static const char *const names[] = { "auto", "paths", "events", "polls" };

	return (enum plan_steps)numbers__choice(state, "steps", text, names, 4);
}

static void check(struct argp_state *state)
{
	struct options *options = state->input;

	if (!options->pid_count && !options->command)
		argp_error(state, "nothing to profile: give --pid N, or -- COMMAND");
	else if (options->pid_count && options->command)
		argp_error(state, "give --pid or a command, not both");
	else if (options->pid_count > 1 && options->output && !strcmp(options->output, "-"))
		argp_error(state, "the profiles of several processes cannot go to one output");
	else if (options->pid_count > 1 && options->state.from)
		argp_error(state, "--state is the profile of one process; give one --pid");
	else if (options->interval_ns && options->state.from)
		argp_error(state, "--state goes with one window, not with --interval");
	else if (options->exporter->window_only && options->state.from)
		argp_error(state, "the format %s has no room for what --state adds; leave it out",
			   options->exporter->name);
	else if (options->interval_ns && options->output && !strcmp(options->output, "-"))
		argp_error(state, "the profiles of a series cannot go to one output");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->state;
		break;
	case 'p':
		add_pid(state, arg);
		break;
	case 'd':
		options->duration_ns = numbers__time(state, "duration", arg, 1);
		break;
	case KEY_INTERVAL:
		options->interval_ns = numbers__time(state, "interval", arg, INTERVAL_MIN_NS);
		break;
	case 'o':
		options->output = arg;
		if (!*arg)
			argp_error(state, "--output takes a file name");
		break;
	case 'f':
		options->exporter = write_profile__format(state, arg);
		break;
	case 'l':
		options->layout = arg;
		break;
	case KEY_UPROBES:
		options->uprobes = parse_uprobes(state, arg);
		break;
	case 'm':
		options->mode = numbers__mode(state, arg);
		break;
	case KEY_BUDGET:
		options->budget = numbers__budget(state, arg);
		break;
	case 'F':
		options->frequency_hz = numbers__count(state, "frequency", arg, 1, 10000);
		break;
	case KEY_STEPS:
		options->steps = parse_steps(state, arg);
		break;
	case KEY_MAX_THREADS:
		options->max_threads = numbers__count(state, "max-threads", arg, 1, 1 << 20);
		break;
	case KEY_MAX_CIRCUITS:
		options->max_circuits = numbers__count(state, "max-circuits", arg, 1, 1 << 20);
		break;
	case KEY_MAX_OPERATORS:
		options->max_operators = numbers__count(state, "max-operators", arg, 1, 1 << 24);
		break;
	case 'v':
		options->verbose++;
		break;
	case 'q':
		options->quiet = true;
		break;
	case ARGP_KEY_ARGS:
		options->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		check(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The commands, below everything else. */
static char *help_filter(int key, const char *text, void *input)
{
	const struct command *commands;
	char *help = NULL;
	size_t count, len;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)text;
	out = open_memstream(&help, &len);
	if (!out)
		return NULL;
	commands = command__all(&count);
	fprintf(out, "Commands, each with a --help of its own:\n");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fclose(out);
	return help;
}

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "dbprof-bpf %s\n", DBPROF_VERSION);
}

void options__parse(int argc, char **argv, const char *format, struct options *ret_options)
{
	static const struct argp_child children[] = { { &state_argp, 0, NULL, 1 }, { 0 } };
	const struct argp argp = { argp_options,
				   parse_option,
				   "--pid N [--pid M ...]\n-- COMMAND [ARG ...]\nCOMMAND ...",
				   doc,
				   children,
				   help_filter,
				   NULL };

	*ret_options = (struct options){
		.exporter = exporter__find(format),
		.budget = 0.01,
		.max_threads = 4096,
		.max_circuits = 4096,
	};
	argp_err_exit_status = STATUS_USAGE;
	argp_program_version_hook = print_version;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, ret_options);
}
