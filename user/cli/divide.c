// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A series of windows: each begins where the one before has ended, while counting goes on. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/run.h"
#include "util/clock.h"

int run__begin_series(struct run *run)
{
	int err = 0;

	run->divide_at = UINT64_MAX;
	if (!run->options->interval_ns)
		return 0;
	run->divide_at = run->start + run->options->interval_ns;
	for (size_t i = 0; i < run->count && !err; i++)
		err = series__open(&run->series[i]);
	return err;
}

void run__set_cost(const struct snapshot_cost *cost, struct snapshot *snapshot)
{
	uint64_t target_cpu_ns = snapshot->cost.target_cpu_ns;

	snapshot->cost = *cost;
	snapshot->cost.target_cpu_ns = target_cpu_ns;
}

void run__complain(struct run *run, int err)
{
	fprintf(stderr, "dbprof-bpf: %s\n", run->fail.text[0] ? run->fail.text : strerror(-err));
	fail__clear(&run->fail);
}

int run__add_window(struct run *run, size_t i, const struct snapshot *until)
{
	struct snapshot *window = NULL;
	int err = series__next(run->series[i], until, &window);

	if (err)
		return err;
	run__set_cost(&run->lap, window);
	err = output__profile(run->options, window, NULL, ++run->windows[i], &run->fail);
	if (!err) {
		output__window(run->options, window, run->windows[i]);
		run->written++;
		run->incomplete |= snapshot__incomplete(window);
	}
	run->ended[i] = window->losses.target_exited;
	snapshot__free(window);
	return err;
}

/* A process without a circuit has no window yet: its first one begins where all began. */
static int divide_process(struct run *run, size_t i, const struct session_data *data, uint64_t edge)
{
	struct snapshot *until = NULL;
	int err;

	if (run->ended[i] || !observer__workers(run->observers[i]))
		return 0;
	err = observer__snapshot(run->observers[i], data, run->start, edge, &until);
	if (!err)
		err = run__add_window(run, i, until);
	snapshot__free(until);
	return err;
}

static void set_next_edge(struct run *run)
{
	uint64_t now = clock__now();

	/* One that has passed already is left out: that window is longer. */
	do
		run->divide_at += run->options->interval_ns;
	while (run->divide_at <= now);
}

void run__divide(struct run *run)
{
	struct session_data *data = NULL;
	uint64_t edge = 0;
	int err = session__mark_edge(run->session, &edge);

	for (size_t i = 0; !err && i < run->count; i++)
		if (!run->ended[i])
			observer__freeze(run->observers[i]);
	if (!err)
		err = session__read_edge(run->session, &data);
	run__lap_cost(run);
	if (err) {
		run->failed = err;
		fail__set(&run->fail, err, "the counters cannot be read at the end of a window: %s",
			  strerror(-err));
		run__complain(run, err);
	}
	for (size_t i = 0; !err && i < run->count; i++) {
		int failed = divide_process(run, i, data, edge);

		if (!failed)
			continue;
		run->failed = failed;
		run__complain(run, failed);
	}
	session_data__free(data);
	set_next_edge(run);
}
