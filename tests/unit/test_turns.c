// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Steps watched in turns: the clock of what is watched, and what follows from it. */
#include <stdlib.h>

#include "check.h"
#include "snapshot/turns.h"

#define SECOND 1000000000ULL
#define LENGTH 200000000ULL

static struct dbprof_process whole(void)
{
	struct dbprof_process process = {};

	turns__whole(&process);
	return process;
}

/* While all is watched the clock is the time itself. */
static void the_whole_is_itself(void)
{
	struct dbprof_process process = whole();

	CHECK(turns__watching(&process) && !turns__is_estimate(&process));
	CHECK(turns__clock(&process, 0) == 0);
	CHECK(turns__clock(&process, 5 * SECOND) == 5 * SECOND);
	CHECK(turns__clock(&process, UINT64_MAX / 2) == UINT64_MAX / 2);
}

/* It stands between turns, never goes back, never runs ahead, and is right at a turn's length. */
static void the_clock_makes_up(void)
{
	struct dbprof_process process = whole();
	uint64_t now = 3 * SECOND, last = 0;

	for (int turn = 0; turn < 1000; turn++) {
		uint64_t rest = (uint64_t)rand() % (5 * SECOND), stood;

		now += LENGTH + (uint64_t)rand() % LENGTH;
		turns__end(&process, now);
		stood = turns__clock(&process, now);
		CHECK(!turns__watching(&process) && stood <= now && stood >= last);
		CHECK(turns__clock(&process, now + rest) == stood);
		now += rest;
		turns__begin(&process, now, LENGTH);
		CHECK(turns__clock(&process, now) == stood);
		turns__end(&process, DBPROF_NEVER);
		CHECK(turns__watching(&process) && turns__is_estimate(&process));
		for (uint64_t at = now, before = stood; at <= now + LENGTH; at += LENGTH / 8) {
			uint64_t clock = turns__clock(&process, at);

			CHECK(clock >= before && clock <= at);
			before = clock;
		}
		/* But for what the pace's unit is too coarse for. */
		CHECK(now + LENGTH - turns__clock(&process, now + LENGTH) <= LENGTH / DBPROF_PACE);
		last = turns__clock(&process, now + LENGTH);
	}
}

/* Turns that all tell the same leave no doubt; those that do not, the more the less there are. */
static void intervals(void)
{
	struct snapshot_circuit root = { .steps = 1000, .runtime_ns = 5 * SECOND };
	struct snapshot_worker worker = { .circuits = &root,
					  .circuit_count = 1,
					  .observed_ns = 10 * SECOND,
					  .watched_ns = 2 * SECOND };
	struct snapshot_turn turn = { LENGTH, SECOND, 100, SECOND / 2 };
	double steps = 7, fewer;
	uint64_t runtime = 7;

	CHECK(!turns__interval(&worker, &steps, &runtime));
	turns__add(&worker.turns, &turn);
	CHECK(!turns__interval(&worker, &steps, &runtime));
	for (int i = 0; i < 9; i++)
		turns__add(&worker.turns, &turn);
	CHECK(turns__interval(&worker, &steps, &runtime) && steps == 0 && runtime == 0);
	worker.turns = (struct snapshot_turns){};
	for (int i = 0; i < 4; i++) {
		turn.steps = i % 2 ? 90 : 110;
		turn.runtime_ns = i % 2 ? SECOND / 2 : SECOND / 4;
		turns__add(&worker.turns, &turn);
	}
	/* Four turns: sum 400, deviations 10 each, 1 - 1/5 not watched, t = 3.18. */
	CHECK(turns__interval(&worker, &fewer, &runtime));
	CHECK(fewer > 65.6 && fewer < 65.8);
	CHECK(runtime > SECOND * 8 / 10 && runtime < SECOND * 83 / 100);
	worker.watched_ns = worker.observed_ns;
	CHECK(turns__interval(&worker, &steps, &runtime) && steps == 0 && runtime == 0);
}

/* A difference of sums is the sum of the difference. */
static void sums(void)
{
	struct snapshot_turn turn = { LENGTH, 3 * LENGTH, 12, LENGTH };
	struct snapshot_turns part = {}, all = {};

	turns__add(&part, &turn);
	all = part;
	turn.steps = 17;
	turns__add(&all, &turn);
	turns__subtract(&all, &part);
	CHECK(all.count == 1 && all.steps == 17 && all.steps_squared == 17 * 17);
	turns__sum(&all, &part);
	CHECK(all.count == 2 && all.steps == 29);
	turns__subtract(&part, &all);
	CHECK(part.count == 0 && part.steps == 0);
}

/* What is left of the window is told by the rest of it, and the books stay closed. */
static void extended(void)
{
	struct snapshot_circuit root = {
		.steps = 80,
		.runtime_ns = 600,
		.cpu_ns = 300,
		.idle_ns = 150,
		.edge_idle_ns = 50,
		.wait_ns = { [2] = 200 },
		.share = { .run_queue_ns = 100, .blocked_ns = { 150 } },
	};
	struct snapshot_operator op = { .id = { .depth = 1, .id = { 3 } },
					.has_invocations = true };
	struct snapshot_worker worker = { .circuits = &root,
					  .circuit_count = 1,
					  .operators = &op,
					  .operator_count = 1,
					  .observed_ns = 1000,
					  .watched_ns = 400,
					  .wait_ns = { [2] = 260, [4] = 5 } };
	struct snapshot snapshot = { .workers = &worker, .worker_count = 1 };

	snapshot__extend(&snapshot);
	CHECK(root.steps == 100 && op.invocations == 100);
	CHECK(root.runtime_ns == 750 && root.cpu_ns == 375 && root.edge_idle_ns == 62);
	CHECK(root.runtime_ns + root.idle_ns + root.edge_idle_ns == 1000);
	CHECK(root.wait_ns[2] == 260 && root.wait_ns[4] == 5);
	CHECK(root.cpu_ns + root.share.run_queue_ns + root.share.blocked_ns[0] +
		      root.unobserved_ns ==
	      root.runtime_ns);
	CHECK(snapshot.runtime_elapsed_ns == 1500);
	/* What is known to have been waited is no estimate, and the steps are no shorter. */
	root.runtime_ns = 500;
	root.idle_ns = 400;
	root.edge_idle_ns = 100;
	worker.wait_ns[2] = 920;
	snapshot__extend(&snapshot);
	CHECK(root.runtime_ns == 925 && root.idle_ns + root.edge_idle_ns == 75);
	CHECK(root.wait_ns[2] == 920);
	root.runtime_ns = 750;
	/* Nothing is estimated where all was watched. */
	worker.watched_ns = 1000;
	root.steps = 7;
	snapshot__extend(&snapshot);
	CHECK(root.steps == 7 && root.runtime_ns == 750);
}

int main(void)
{
	srand(7);
	the_whole_is_itself();
	the_clock_makes_up();
	intervals();
	sums();
	extended();
	return CHECK_RESULT();
}
