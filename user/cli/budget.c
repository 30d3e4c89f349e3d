// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "cli/budget.h"
#include "cli/run.h"
#include "util/clock.h"

/* How long all probes are in before their cost is looked at for the first time, and again. */
#define LOOK_NS 100000000ULL
/* How long steps are watched in a turn, and the cost of that. */
#define TURN_NS 200000000ULL
/* A program that idles before it is busy makes a look late; its turn was no longer than that. */
#define TURN_MAX_NS 1000000000ULL
/* Of the budget, for probes on steps; the rest is for the sampler and the scheduler's programs. */
#define STEPS_SHARE 0.4

/* When the cost is to be looked at next, while steps are watched. */
static uint64_t next_look(const struct budget *budget)
{
	return budget->since + (budget->in_turns ? TURN_NS : LOOK_NS);
}

static uint64_t targets_ran(const struct run *run)
{
	uint64_t ran = 0;

	for (size_t i = 0; i < run->count; i++)
		ran += observer__ran_ns(run->observers[i]);
	return ran;
}

static void say(const struct run *run, double share, const char *what)
{
	if (run->options->verbose)
		fprintf(stderr,
			"dbprof-bpf: the probes cost %.1f %% of the program's CPU time, more than "
			"the budget of %.1f %%: %s from now on\n",
			share * 100, run->options->budget * 100, what);
}

static void drop_parks(struct run *run, double share)
{
	for (size_t i = 0; i < run->count; i++)
		if (observer__mode(run->observers[i]) == MODE_SAMPLED)
			observer__drop_parks(run->observers[i]);
	run->budget.no_parks = true;
	say(run, share, "wait reasons are read from the engine's own totals");
}

static void watch_steps(struct run *run, bool watch)
{
	for (size_t i = 0; i < run->count; i++)
		if (observer__alive(run->observers[i]))
			observer__watch_steps(run->observers[i], watch ? TURN_NS : 0);
}

/* Ends the turn; the next one comes when the whole has cost no more than it may. */
static void rest(struct run *run, double share, uint64_t now)
{
	double allowed = run->options->budget * STEPS_SHARE;
	uint64_t since = run->budget.since;
	double turn_ns = (double)(now - since < TURN_MAX_NS ? now - since : TURN_MAX_NS);

	if (!run->budget.in_turns)
		say(run, share, "steps are watched in turns");
	run->budget.in_turns = true;
	watch_steps(run, false);
	run->budget.rest_until = now + (uint64_t)(turn_ns * (share / allowed - 1));
}

static void begin_turn(struct run *run)
{
	watch_steps(run, true);
	run->budget.rest_until = 0;
	run->budget.since = clock__now();
	meter__restart(&run->cost, run->session, targets_ran(run));
}

void budget__keep(struct run *run, uint64_t now)
{
	struct budget *budget = &run->budget;
	double share;

	if (run->options->mode != OBSERVER_AUTO)
		return;
	if (budget->rest_until) {
		if (now >= budget->rest_until)
			begin_turn(run);
		return;
	}
	if (!budget->since)
		budget->since = run->start;
	if (now < next_look(budget) ||
	    !meter__probe_share(&run->cost, run->session, targets_ran(run), &share))
		return;
	/* Who starts a program under the profiler wants all of its steps. */
	if (share > run->options->budget && budget->no_parks && !run->launched) {
		rest(run, share, now);
		return;
	}
	if (share > run->options->budget && !budget->no_parks)
		drop_parks(run, share);
	watch_steps(run, true);
	budget->since = now;
}

int budget__poll_ms(const struct run *run, uint64_t now)
{
	uint64_t next = run->budget.rest_until ? run->budget.rest_until : next_look(&run->budget);

	if (run->options->mode != OBSERVER_AUTO || next > now + 1000000000ULL)
		return 1000;
	return next > now ? (int)((next - now) / 1000000) + 1 : 200;
}

void budget__note(const struct run *run, struct snapshot_cost *cost)
{
	cost->budget = run->options->mode == OBSERVER_AUTO ? run->options->budget : 0;
	cost->dropped = run->budget.in_turns   ? SNAPSHOT_IN_TURNS
			: run->budget.no_parks ? SNAPSHOT_NO_PARKS
					       : NULL;
}
