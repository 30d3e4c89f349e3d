/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of `dbprof-bpf --pid N` and `dbprof-bpf -- COMMAND`. */
#ifndef DBPROF_CLI_OPTIONS_H
#define DBPROF_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/state_options.h"
#include "export/export.h"
#include "plan/plan.h"
#include "snapshot/observer.h"

#define OPTIONS_PIDS_MAX 64

enum uprobe_choice {
	UPROBES_AUTO,
	UPROBES_MULTI,
	UPROBES_PERF,
};

struct options {
	pid_t pids[OPTIONS_PIDS_MAX];
	size_t pid_count;
	char **command;	      /* NULL-terminated; NULL when pids are given */
	uint64_t duration_ns; /* 0: until interrupted or the program ends */
	uint64_t interval_ns; /* of the windows of a series; 0: one window */
	const char *output;   /* NULL: dbprof-PID.EXTENSION */
	const struct exporter *exporter;
	const char *layout;
	enum uprobe_choice uprobes;
	enum plan_steps steps;
	enum observer_mode mode;
	double budget;	       /* share of the target's CPU time that the profiler may cost */
	uint32_t frequency_hz; /* of the sampler; 0: the highest that the budget allows */
	uint32_t max_threads;
	uint32_t max_circuits;
	uint32_t max_operators; /* 0: as many as are known, and some more */
	struct state_options state;
	unsigned int verbose;
	bool quiet;
};

/*
 * Parses the command line; on a mistake says so on stderr and exits with status 2. The profile is
 * written in @format unless an option says otherwise.
 */
void options__parse(int argc, char **argv, const char *format, struct options *ret_options);

/* "10s", "500ms", "2m", "1.5h", "3" (seconds). Returns 0, -EINVAL or -ERANGE. */
int duration__parse(const char *text, uint64_t *ret_ns);

#endif
