// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/output.h"
#include "cli/run.h"
#include "snapshot/turns.h"
#include "util/clock.h"

/* The profile of the whole window, which is the sum of a series if there is one. */
static int write_whole(struct run *run, size_t i, struct snapshot *snapshot)
{
	int err;

	run__set_cost(&run->reported, snapshot);
	err = output__profile(run->options, snapshot, run->state, 0, &run->fail);
	if (err)
		return err;
	engine_state__complain(run->state);
	output__summary(run->options, snapshot, run->state);
	if (run->windows[i] && !run->options->quiet)
		printf("and its %u windows beside it\n", run->windows[i]);
	run->written++;
	run->incomplete |= snapshot__incomplete(snapshot) || engine_state__error(run->state);
	return 0;
}

static int write_profile(struct run *run, const struct session_data *data, size_t i)
{
	struct snapshot *snapshot = NULL;
	int err = 0;

	if (!observer__workers(run->observers[i]))
		return fail__set(
			&run->fail, -ENODATA,
			"process %d: no worker thread with a circuit was found, so there is "
			"nothing to write; is its circuit built yet?",
			run->pids[i]);
	/* One that has ended before has had its last window. */
	if (!run->ended[i])
		err = observer__snapshot(run->observers[i], data, run->start, run->end, &snapshot);
	if (!err && run->series[i] && !run->ended[i])
		err = run__add_window(run, i, snapshot);
	else if (!err && !run->series[i])
		snapshot__extend(snapshot);
	if (!err)
		err = write_whole(run, i, run->series[i] ? series__sum(run->series[i]) : snapshot);
	snapshot__free(snapshot);
	return err;
}

static int finish(struct run *run)
{
	struct session_data *data = NULL;
	int err = session__end(run->session, &run->end), result = 0;

	for (size_t i = 0; !err && i < run->count; i++)
		if (!run->ended[i])
			observer__freeze(run->observers[i]);
	if (!err)
		run__settle_cost(run);
	/*
	 * The window is closed, so nothing changes any more; the probes go with the session. On a
	 * busy machine the kernel takes its time for that (synchronize_srcu() on the release of a
	 * uprobe link), for which no profile should wait.
	 */
	if (!err)
		err = session__read(run->session, &data);
	if (err)
		return fail__set(&run->fail, err, "the counters cannot be read: %s",
				 strerror(-err));
	engine_state__end(run->state, run->signals);
	/* A process that fails does not take the others' profiles with it. */
	for (size_t i = 0; i < run->count; i++) {
		err = write_profile(run, data, i);
		if (!err)
			continue;
		result = err;
		run__complain(run, err);
	}
	session_data__free(data);
	return result ? result : run->failed;
}

static int profile(struct run *run)
{
	int err = engine_state__open(&run->options->state, &run->state, &run->fail);

	if (!err)
		err = session__check(&run->fail);
	if (!err)
		err = run__catch_signals(run);
	if (!err && run->options->command)
		err = run__launch(run);
	if (!err)
		err = run__open_processes(run);
	if (!err)
		err = run__open_session(run);
	if (!err)
		err = run__attach(run);
	if (!err)
		err = run__begin_series(run);
	if (err) {
		run__complain(run, err);
		return err;
	}
	if (run__interrupted(run)) {
		fprintf(stderr,
			"dbprof-bpf: interrupted before the window began; nothing is written\n");
		return -EINTR;
	}
	run__say_attached(run);
	if (run->launched)
		launch__release(run->pids[0]);
	engine_state__begin(run->state, run->launched);
	run__watch(run);
	err = finish(run);
	/* Like a shell: the program that we started is not left behind. */
	if (run->launched) {
		run__let_signals(run);
		launch__wait(run->pids[0]);
	}
	return err;
}

static enum exit_status status_of(const struct run *run, int err)
{
	/* Of several processes one may have failed: what was written is not all. */
	if (err)
		return run->written ? STATUS_INCOMPLETE : STATUS_FAILED;
	return run->incomplete ? STATUS_INCOMPLETE : STATUS_COMPLETE;
}

enum exit_status command_profile(const struct options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	enum exit_status status;
	int err;

	if (!run)
		return STATUS_FAILED;
	run->options = options;
	run->began = clock__now();
	run->signals = -1;
	run->count = options->pid_count;
	memcpy(run->pids, options->pids, sizeof(run->pids));
	for (size_t i = 0; i < OPTIONS_PIDS_MAX; i++)
		run->pidfds[i] = -1;
	err = profile(run);
	if (err && run->launched && !run->end)
		launch__abort(run->pids[0]);
	status = status_of(run, err);
	for (size_t i = 0; i < OPTIONS_PIDS_MAX; i++) {
		series__close(run->series[i]);
		observer__close(run->observers[i]);
		if (run->pidfds[i] >= 0)
			close(run->pidfds[i]);
	}
	if (run->signals >= 0)
		close(run->signals);
	session__free(run->session);
	engine_state__free(run->state);
	free(run);
	return status;
}
