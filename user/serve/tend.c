// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is due for each process while it is profiled, and the budget of the host. */
#include <errno.h>
#include <unistd.h>

#include "serve/serve_internal.h"
#include "session/tick.h"
#include "util/clock.h"

#define BUSY_POLL_NS 50000000ULL    /* while workers may come, and nothing tells of them */
#define CALM_POLL_NS 500000000ULL   /* where the kernel does */
#define POLL_NS	     1000000000ULL  /* else: whether it is still the same program */
#define BUDGET_NS    1000000000ULL  /* how often the cost is looked at, and a turn's length */
#define KEEP_NS	     60000000000ULL /* sums of one that has ended */
/* Of the budget, for the sampler; the rest is for probes and programs. */
#define SAMPLER_SHARE 0.25
/* Pipelines that idle before they are busy make a look late; the turn was no longer than that. */
#define TURN_MAX_NS (2 * BUDGET_NS)
/* Of the budget, for probes on steps; the rest is for the sampler and the scheduler's programs. */
#define STEPS_SHARE 0.4

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_poll(const struct serve *serve, const struct served *process, bool waits,
			  uint64_t now)
{
	bool told = session__started_fd(serve->session) >= 0;

	if (now >= process->busy_until)
		return now + POLL_NS;
	return now + (waits || !told ? BUSY_POLL_NS : CALM_POLL_NS);
}

static void poll_process(const struct serve *serve, struct served *process, uint64_t now)
{
	unsigned int ms = observer__poll_ms(process->observer);
	bool waits = !observer__workers(process->observer) || observer__unread(process->observer) ||
		     ms < 40;

	if (!observer__alive(process->observer)) {
		/* Its descriptor tells when it ends; before that it runs something else. */
		process->ended = process->execs = true;
		return;
	}
	if (waits || now < process->busy_until || observer__mode(process->observer) == MODE_ENGINE)
		observer__poll(process->observer);
	process->poll_at = next_poll(serve, process, waits, now);
}

static uint64_t tend(struct serve *serve, struct served *process, uint64_t now)
{
	switch (process->state) {
	case SERVED_STARTING:
	case SERVED_REFUSED:
		if (now >= process->try_at && !process->ended)
			serve__try_process(serve, process, now);
		return process->state == SERVED_PROFILED ? process->poll_at : process->try_at;
	case SERVED_PROFILED:
		if (now >= process->poll_at && !process->ended)
			poll_process(serve, process, now);
		if (process->job)
			return least(process->poll_at, profile_job__due_at(process->job));
		return process->poll_at;
	default:
		return process->ended_at + KEEP_NS;
	}
}

/* Whether nothing is left to be read of it. */
static bool is_over(const struct served *process, uint64_t now)
{
	if (process->state == SERVED_ENDED)
		return now >= process->ended_at + KEEP_NS;
	return process->state != SERVED_PROFILED && process->ended;
}

uint64_t serve__tend(struct serve *serve, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < serve->process_count;) {
		if (is_over(serve->processes[i], now)) {
			serve__remove_process(serve, i);
			continue;
		}
		next = least(next, tend(serve, serve->processes[i], now));
		i++;
	}
	return next;
}

bool serve__has_ended(const struct serve *serve)
{
	for (size_t i = 0; i < serve->process_count; i++)
		if (serve->processes[i]->state == SERVED_PROFILED && serve->processes[i]->ended)
			return true;
	return false;
}

/* CPU time that all processes have used since the last look, added to what they used before. */
static uint64_t targets_ran(struct serve *serve)
{
	for (size_t i = 0; i < serve->process_count; i++) {
		struct served *process = serve->processes[i];
		struct timespec ran;
		uint64_t ns;

		if (process->state != SERVED_PROFILED || clock_gettime(process->clock, &ran))
			continue;
		ns = (uint64_t)ran.tv_sec * 1000000000ULL + (uint64_t)ran.tv_nsec;
		if (ns > process->ran_ns)
			serve->targets_ran_ns += ns - process->ran_ns;
		process->ran_ns = ns;
	}
	return serve->targets_ran_ns;
}

static bool has_parks(const struct served *process)
{
	return process->state == SERVED_PROFILED && !process->parks_dropped && !process->ended &&
	       observer__mode(process->observer) == MODE_SAMPLED;
}

/* Returns how many processes had park probes until now. */
static size_t drop_parks(struct serve *serve)
{
	size_t dropped = 0;

	for (size_t i = 0; i < serve->process_count; i++) {
		struct served *process = serve->processes[i];

		if (!has_parks(process))
			continue;
		observer__drop_parks(process->observer);
		process->parks_dropped = true;
		dropped++;
	}
	return dropped;
}

static void watch_steps(struct serve *serve, uint64_t turn_ns)
{
	for (size_t i = 0; i < serve->process_count; i++) {
		struct served *process = serve->processes[i];

		if (process->state == SERVED_PROFILED && !process->ended)
			observer__watch_steps(process->observer, turn_ns);
		if (!turn_ns)
			process->in_turns = true;
	}
}

/* Ends the turn of watching steps; the next one comes when all has cost no more than it may. */
static void rest(struct serve *serve, double share, uint64_t now)
{
	double allowed = serve->options.budget * STEPS_SHARE;
	uint64_t turn_ns = least(now - serve->turn_since, TURN_MAX_NS);

	if (!serve->in_turns)
		serve__say(serve,
			   "the probes cost %.1f %% of the pipelines' CPU time, more than the "
			   "budget of %.1f %%: steps are watched in turns from now on",
			   share * 100, serve->options.budget * 100);
	serve->in_turns = serve->rests = true;
	watch_steps(serve, 0);
	serve->budget_at = now + (uint64_t)((double)turn_ns * (share / allowed - 1));
}

static void begin_turn(struct serve *serve)
{
	watch_steps(serve, BUDGET_NS);
	serve->rests = false;
	serve->turn_since = clock__now();
	meter__restart(&serve->meter, serve->session, targets_ran(serve));
}

void serve__keep_budget(struct serve *serve, uint64_t now)
{
	double share = 0;
	size_t dropped;

	if (now < serve->budget_at)
		return;
	serve->budget_at = now + BUDGET_NS;
	if (serve->rests) {
		begin_turn(serve);
		return;
	}
	if (!meter__probe_share(&serve->meter, serve->session, targets_ran(serve), &share) ||
	    serve->options.observer.mode != OBSERVER_AUTO)
		return;
	dropped = share > serve->options.budget ? drop_parks(serve) : 0;
	if (share > serve->options.budget && !dropped) {
		rest(serve, share, now);
		return;
	}
	watch_steps(serve, BUDGET_NS);
	serve->turn_since = now;
	if (dropped)
		serve__say(serve,
			   "the probes cost %.1f %% of the pipelines' CPU time, more than the "
			   "budget of %.1f %%: wait reasons of %zu processes are read from the "
			   "engine's own totals from now on",
			   share * 100, serve->options.budget * 100, dropped);
}

int serve__choose_sampler(struct serve *serve, bool wanted, struct fail *fail)
{
	int err;

	for (size_t i = 0; i < serve->process_count && !wanted; i++)
		wanted = serve->processes[i]->state == SERVED_PROFILED &&
			 observer__mode(serve->processes[i]->observer) == MODE_SAMPLED;
	if (wanted == (serve->frequency_hz != 0))
		return 0;
	if (!wanted) {
		session__stop_sampling(serve->session);
		serve->frequency_hz = 0;
	} else {
		uint32_t hz =
			tick__frequency(serve->tick_ns, serve->options.budget * SAMPLER_SHARE);

		err = session__sample(serve->session, hz, fail);
		if (err) {
			session__stop_sampling(serve->session);
			return err;
		}
		serve->frequency_hz = hz;
	}
	meter__set_sampler(&serve->meter, serve->frequency_hz, serve->tick_ns);
	return 0;
}
