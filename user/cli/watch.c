// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* While the window is open: progress, late workers, the budget, the end. */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/run.h"
#include "util/clock.h"

#define POLL_MS 200 /* how often new workers are looked for and the progress line is drawn */

void run__say_attached(const struct run *run)
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
	double elapsed = (double)(clock__now() - run->start) / 1e9;
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

	for (size_t i = 0; i < run->count; i++)
		fds[i] = (struct pollfd){ .fd = run->pidfds[i], .events = POLLIN };
	fds[run->count] = (struct pollfd){ .fd = run->signals, .events = POLLIN };
	if (poll(fds, run->count + 1, ms) > 0 && fds[run->count].revents)
		return true;
	for (size_t i = 0; i < run->count; i++) {
		if (fds[i].fd < 0 || !fds[i].revents)
			continue;
		/* It stays readable; the others are waited for without it. */
		close(run->pidfds[i]);
		run->pidfds[i] = -1;
	}
	for (size_t i = 0; i < run->count; i++)
		if (run->pidfds[i] >= 0)
			return false;
	return true;
}

static void poll_process(struct run *run, size_t i)
{
	const char *missing;

	observer__poll(run->observers[i]);
	/* Another program in the same process, by exec, is none of ours. */
	if (!observer__alive(run->observers[i])) {
		close(run->pidfds[i]);
		run->pidfds[i] = -1;
	}
	missing = observer__missing(run->observers[i]);
	if (!missing || run->complained[i])
		return;
	draw_progress(run, true);
	fprintf(stderr, "dbprof-bpf: process %d: %s\n", run->pids[i], missing);
	run->complained[i] = true;
}

static uint64_t next_stop(const struct run *run, uint64_t until)
{
	return run->divide_at < until ? run->divide_at : until;
}

void run__watch(struct run *run)
{
	uint64_t until = run->options->duration_ns ? run->start + run->options->duration_ns
						   : UINT64_MAX;

	for (;;) {
		uint64_t now = clock__now();
		int ms = POLL_MS;

		for (size_t i = 0; i < run->count; i++)
			if ((int)observer__poll_ms(run->observers[i]) < ms)
				ms = (int)observer__poll_ms(run->observers[i]);
		if (now >= until)
			break;
		if (now >= run->divide_at) {
			draw_progress(run, true);
			run__divide(run);
			continue;
		}
		if (budget__poll_ms(run, now) < ms)
			ms = budget__poll_ms(run, now);
		if ((next_stop(run, until) - now) / 1000000 < (uint64_t)ms)
			ms = (int)((next_stop(run, until) - now) / 1000000) + 1;
		if (wait_for_end(run, ms))
			break;
		for (size_t i = 0; i < run->count; i++)
			if (run->pidfds[i] >= 0)
				poll_process(run, i);
		budget__keep(run, clock__now());
		draw_progress(run, false);
	}
	draw_progress(run, true);
}

void run__lap_cost(struct run *run)
{
	meter__lap(&run->cost, run->session, &run->lap);
	budget__note(run, &run->lap);
}

void run__settle_cost(struct run *run)
{
	meter__end(&run->cost, run->session, &run->reported, &run->lap);
	budget__note(run, &run->reported);
	budget__note(run, &run->lap);
}
