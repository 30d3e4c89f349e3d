// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/output.h"
#include "session/session.h"
#include "snapshot/observer.h"

#define POLL_MS 200 /* how often new workers are looked for and the progress line is drawn */

struct run {
	const struct options *options;
	struct fail fail;
	pid_t pids[OPTIONS_PIDS_MAX];
	size_t count;
	struct observer *observers[OPTIONS_PIDS_MAX];
	int pidfds[OPTIONS_PIDS_MAX];
	int signals;
	struct session *session;
	bool launched; /* our own child, still held before its first instruction */
	bool incomplete;
	uint64_t began; /* when the program was started, for the time to first data */
	uint64_t start;
	uint64_t end;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Signals are read, so that no moment is wrong for one. */
static int catch_signals(struct run *run)
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

static int launch(struct run *run)
{
	int err = launch__start(run->options->command, &run->pids[0], &run->fail);

	if (err)
		return err;
	run->launched = true;
	run->count = 1;
	return 0;
}

static int open_processes(struct run *run)
{
	int err = 0;

	for (size_t i = 0; !err && i < run->count; i++) {
		err = output__check(run->options, run->pids[i], &run->fail);
		if (!err)
			err = observer__open(run->pids[i], run->options->layout,
					     run->options->steps, &run->observers[i], &run->fail);
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

static int open_session(struct run *run)
{
	const struct session_options options = {
		.max_threads = run->options->max_threads,
		.max_circuits = run->options->max_circuits,
		.perf_uprobes = run->options->uprobes == UPROBES_PERF,
	};
	int err = session__open(&options, &run->session, &run->fail);

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

static int attach(struct run *run)
{
	int err = 0;

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
	return err;
}

static void say_attached(const struct run *run)
{
	if (!run->options->verbose)
		return;
	for (size_t i = 0; i < run->count; i++) {
		char text[1024];

		observer__describe(run->observers[i], text, sizeof(text));
		fprintf(stderr, "dbprof-bpf: attached to %d in %.0f ms: %s\n", run->pids[i],
			(double)(run->start - run->began) / 1e6, text);
	}
}

static void draw_progress(const struct run *run, bool last)
{
	double elapsed = (double)(now_ns() - run->start) / 1e9;
	size_t workers = 0;

	if (run->options->quiet || !isatty(STDERR_FILENO))
		return;
	if (last) {
		fprintf(stderr, "\r\033[K");
		return;
	}
	for (size_t i = 0; i < run->count; i++)
		workers += observer__workers(run->observers[i]);
	fprintf(stderr, "\r\033[KProfiling %zu worker%s for %.1f s", workers,
		workers == 1 ? "" : "s", elapsed);
	if (run->options->duration_ns)
		fprintf(stderr, " of %.1f s", (double)run->options->duration_ns / 1e9);
	else
		fprintf(stderr, ", Ctrl-C ends it");
}

/* Waits up to @ms for a signal or the end of all processes. Returns whether either came. */
static bool wait_for_end(struct run *run, int ms)
{
	struct pollfd fds[OPTIONS_PIDS_MAX + 1];
	size_t ended = 0;

	for (size_t i = 0; i < run->count; i++)
		fds[i] = (struct pollfd){ .fd = run->pidfds[i], .events = POLLIN };
	fds[run->count] = (struct pollfd){ .fd = run->signals, .events = POLLIN };
	if (poll(fds, run->count + 1, ms) <= 0)
		return false;
	if (fds[run->count].revents)
		return true;
	for (size_t i = 0; i < run->count; i++) {
		if (!fds[i].revents)
			continue;
		ended++;
		/* It stays readable; the others are waited for without it. */
		close(run->pidfds[i]);
		run->pidfds[i] = -1;
	}
	for (size_t i = 0; i < run->count; i++)
		if (run->pidfds[i] >= 0)
			return false;
	return ended > 0;
}

static void watch(struct run *run)
{
	uint64_t until = run->options->duration_ns ? run->start + run->options->duration_ns
						   : UINT64_MAX;

	for (;;) {
		uint64_t now = now_ns();
		int ms = POLL_MS;

		if (now >= until)
			break;
		if ((until - now) / 1000000 < POLL_MS)
			ms = (int)((until - now) / 1000000) + 1;
		if (wait_for_end(run, ms))
			break;
		for (size_t i = 0; i < run->count; i++)
			if (run->pidfds[i] >= 0)
				observer__poll(run->observers[i]);
		draw_progress(run, false);
	}
	draw_progress(run, true);
}

static int write_profile(struct run *run, const struct session_data *data, size_t i)
{
	struct snapshot *snapshot = NULL;
	int err;

	if (!observer__workers(run->observers[i]))
		return fail__set(
			&run->fail, -ENODATA,
			"process %d: no worker thread with a circuit was found, so there is "
			"nothing to write; is its circuit built yet?",
			run->pids[i]);
	err = observer__snapshot(run->observers[i], data, run->start, run->end, &snapshot);
	if (!err)
		err = output__profile(run->options, snapshot, &run->fail);
	if (!err) {
		output__summary(run->options, snapshot);
		run->incomplete |= snapshot__incomplete(snapshot);
	}
	snapshot__free(snapshot);
	return err;
}

static int finish(struct run *run)
{
	struct session_data *data = NULL;
	int err = session__end(run->session, &run->end), result = 0;

	for (size_t i = 0; !err && i < run->count; i++)
		observer__freeze(run->observers[i]);
	if (!err)
		err = session__detach(run->session);
	if (!err)
		err = session__read(run->session, &data);
	if (err)
		return fail__set(&run->fail, err, "the counters cannot be read: %s",
				 strerror(-err));
	/* A process that fails does not take the others' profiles with it. */
	for (size_t i = 0; i < run->count; i++) {
		err = write_profile(run, data, i);
		if (!err)
			continue;
		result = err;
		fprintf(stderr, "dbprof-bpf: %s\n",
			run->fail.text[0] ? run->fail.text : strerror(-err));
		fail__clear(&run->fail);
	}
	session_data__free(data);
	return result;
}

static int profile(struct run *run)
{
	int err = session__check(&run->fail);

	if (!err)
		err = catch_signals(run);
	if (!err && run->options->command)
		err = launch(run);
	if (!err)
		err = open_processes(run);
	if (!err)
		err = open_session(run);
	if (!err)
		err = attach(run);
	if (err) {
		fprintf(stderr, "dbprof-bpf: %s\n",
			run->fail.text[0] ? run->fail.text : strerror(-err));
		return err;
	}
	say_attached(run);
	if (run->launched)
		launch__release(run->pids[0]);
	watch(run);
	err = finish(run);
	/* Like a shell: the program that we started is not left behind. */
	if (run->launched)
		launch__wait(run->pids[0]);
	return err;
}

enum exit_status command_profile(const struct options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	enum exit_status status;
	int err;

	if (!run)
		return STATUS_FAILED;
	run->options = options;
	run->began = now_ns();
	run->signals = -1;
	run->count = options->pid_count;
	memcpy(run->pids, options->pids, sizeof(run->pids));
	for (size_t i = 0; i < OPTIONS_PIDS_MAX; i++)
		run->pidfds[i] = -1;
	err = profile(run);
	if (err && run->launched && !run->end)
		launch__abort(run->pids[0]);
	status = err ? STATUS_FAILED : run->incomplete ? STATUS_INCOMPLETE : STATUS_COMPLETE;
	for (size_t i = 0; i < OPTIONS_PIDS_MAX; i++) {
		observer__close(run->observers[i]);
		if (run->pidfds[i] >= 0)
			close(run->pidfds[i]);
	}
	if (run->signals >= 0)
		close(run->signals);
	session__free(run->session);
	free(run);
	return status;
}
