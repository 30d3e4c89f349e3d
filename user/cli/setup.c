// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the command line to an open window. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/launch.h"
#include "cli/output.h"
#include "cli/run.h"
#include "session/tick.h"
#include "util/clock.h"

/* Of the budget, for the sampler; the rest is for probes and programs. */
#define SAMPLER_SHARE 0.25
/* Room for operators of workers that build their circuit later. */
#define SPARE_OPERATORS	  4096
#define UNKNOWN_OPERATORS 32768 /* of a program that has built none yet */

/* Signals are read, so that no moment is wrong for one. */
int run__catch_signals(struct run *run)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? -errno : 0;
}

bool run__interrupted(const struct run *run)
{
	struct pollfd signals = { .fd = run->signals, .events = POLLIN };

	return poll(&signals, 1, 0) > 0;
}

void run__let_signals(const struct run *run)
{
	struct signalfd_siginfo info;
	sigset_t none;

	/* The one that ended the window has had its effect. */
	while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int run__launch(struct run *run)
{
	int err = launch__start(run->options->command, &run->pids[0], &run->fail);

	if (err)
		return err;
	run->launched = true;
	run->count = 1;
	return 0;
}

int run__open_processes(struct run *run)
{
	const struct observer_options options = {
		.layout_file = run->options->layout,
		.steps = run->options->steps,
		.mode = run->options->mode,
	};
	int err = 0;

	for (size_t i = 0; !err && i < run->count; i++) {
		err = output__check(run->options, run->pids[i], &run->fail);
		if (!err)
			err = observer__open(run->pids[i], &options, &run->observers[i],
					     &run->fail);
		if (err)
			break;
		/* Bound to the process that was opened: it is checked again once we hold it. */
		run->pidfds[i] = (int)syscall(SYS_pidfd_open, run->pids[i], 0);
		if (run->pidfds[i] < 0 || !observer__alive(run->observers[i]))
			err = fail__set(&run->fail, -ESRCH,
					"process %d ended before it could be profiled",
					run->pids[i]);
	}
	return err;
}

int run__open_session(struct run *run)
{
	struct session_options options = {
		.max_threads = run->options->max_threads,
		.max_circuits = run->options->max_circuits,
		.max_operators = SPARE_OPERATORS,
		.perf_uprobes = run->options->uprobes == UPROBES_PERF,
	};
	int err;

	for (size_t i = 0; i < run->count; i++) {
		size_t nodes = observer__nodes(run->observers[i]);

		options.max_operators += nodes ? (uint32_t)nodes * 2 : UNKNOWN_OPERATORS;
	}
	if (run->options->max_operators)
		options.max_operators = run->options->max_operators;
	err = session__open(&options, &run->session, &run->fail);

	if (!err)
		err = session__load(run->session, &run->fail);
	if (!err && run->options->uprobes == UPROBES_MULTI &&
	    strcmp(session__uprobe_kind(run->session), "uprobe_multi"))
		err = fail__set(
			&run->fail, -ENOTSUP,
			"this kernel has no uprobe_multi (6.6 or newer has); use --uprobes auto");
	if (!err && run->options->verbose && run->options->uprobes == UPROBES_AUTO &&
	    strcmp(session__uprobe_kind(run->session), "uprobe_multi"))
		fprintf(stderr, "dbprof-bpf: this kernel has no uprobe_multi; falling back to perf "
				"uprobes\n");
	return err;
}

static int start_sampler(struct run *run)
{
	bool wanted = false;

	for (size_t i = 0; i < run->count; i++)
		wanted |= observer__mode(run->observers[i]) == MODE_SAMPLED;
	if (!wanted)
		return 0;
	run->tick_ns = tick__cost_ns();
	run->frequency_hz =
		run->options->frequency_hz
			? run->options->frequency_hz
			: tick__frequency(run->tick_ns, run->options->budget * SAMPLER_SHARE);
	return session__sample(run->session, run->frequency_hz, &run->fail);
}

int run__attach(struct run *run)
{
	int err = start_sampler(run);

	for (size_t i = 0; !err && i < run->count; i++) {
		err = observer__attach(run->observers[i], run->session, &run->fail);
		if (err && !observer__alive(run->observers[i])) {
			run->fail.text[0] = '\0';
			fail__set(&run->fail, -ESRCH,
				  "process %d ended before it could be profiled", run->pids[i]);
		}
	}
	if (!err)
		err = session__begin(run->session, &run->start);
	for (size_t i = 0; !err && i < run->count; i++)
		observer__mark_begin(run->observers[i]);
	if (!err)
		meter__begin(&run->cost, run->session, run->frequency_hz, run->tick_ns);
	return err;
}
