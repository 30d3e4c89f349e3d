// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Edges: where the windows of processes end and the next ones begin. */
#include <errno.h>
#include <string.h>

#include "serve/serve_internal.h"
#include "util/clock.h"

struct edge {
	uint64_t when;
	bool regular; /* the end of an interval */
	struct session_data *data;
	struct cost_reading cost;
};

static uint64_t minus(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* Whether the edge is for this process. */
static bool takes_part(const struct served *process, bool regular, uint64_t now)
{
	if (process->state != SERVED_PROFILED)
		return false;
	return regular || process->ended ||
	       (process->job && profile_job__is_due(process->job, now));
}

/* The programs' losses are those since they were loaded; those of a process, since it came. */
static struct session_data since_it_came(const struct served *process,
					 const struct session_data *data)
{
	const struct dbprof_losses *before = &process->losses_before;
	struct session_data own = *data;

	own.losses.threads = minus(own.losses.threads, before->threads);
	own.losses.circuits = minus(own.losses.circuits, before->circuits);
	own.losses.reads = minus(own.losses.reads, before->reads);
	own.losses.steps = minus(own.losses.steps, before->steps);
	own.losses.operators = minus(own.losses.operators, before->operators);
	own.losses.slots = minus(own.losses.slots, before->slots);
	own.missed = minus(own.missed, process->missed_before);
	return own;
}

void serve__set_cost(const struct serve *serve, const struct served *process,
		     const struct cost_reading *from, const struct cost_reading *to,
		     struct snapshot *window)
{
	meter__between(&serve->meter, from, to, &window->cost);
	window->cost.budget = serve->options.observer.mode == OBSERVER_AUTO ? serve->options.budget
									    : 0;
	window->cost.dropped = process->in_turns	? SNAPSHOT_IN_TURNS
			       : process->parks_dropped ? SNAPSHOT_NO_PARKS
							: NULL;
}

/* What fails is said once, and once it works again. */
static void keep_window(struct serve *serve, const struct served *process,
			const struct snapshot *window)
{
	struct fail fail = {};
	int err;

	if (!serve->store)
		return;
	err = store__put(serve->store, window, observer__start_ticks(process->observer), &fail);
	/* One without content has no right to another's place. */
	if (err == -ENODATA)
		return;
	serve->errors.store += err != 0;
	if (err && !serve->store_fails)
		serve__say(serve, "%s; profiling goes on",
			   fail.text[0] ? fail.text : strerror(-err));
	if (!err && serve->store_fails)
		serve__say(serve, "profiles are kept again");
	serve->store_fails = err != 0;
}

static int add_window(struct serve *serve, struct served *process, const struct snapshot *until,
		      const struct edge *edge)
{
	struct snapshot *window = NULL;
	int err = series__next(process->series, until, &window);

	if (err)
		return err;
	serve__set_cost(serve, process, &process->cost_until, &edge->cost, window);
	process->cost_until = edge->cost;
	err = metrics_sums__add(process->sums, window);
	keep_window(serve, process, window);
	snapshot__free(window);
	return err;
}

/* A process without a circuit has no window yet: its first one begins where it came. */
static void end_window(struct serve *serve, struct served *process, const struct edge *edge)
{
	struct session_data own = since_it_came(process, edge->data);
	struct snapshot *until = NULL;
	int err = 0;

	if (observer__workers(process->observer))
		err = observer__snapshot(process->observer, &own, process->start, edge->when,
					 &until);
	if (until && (edge->regular || process->ended))
		err = add_window(serve, process, until, edge);
	serve->errors.windows += err != 0;
	if (process->job)
		serve__advance_job(serve, process, until, edge->when, &edge->cost);
	snapshot__free(until);
}

static void set_next_edge(struct serve *serve)
{
	uint64_t now = clock__now();

	/* One that has passed already is left out: that window is longer. */
	do
		serve->edge_at += serve->options.interval_ns;
	while (serve->edge_at <= now);
}

static int read_edge(struct serve *serve, uint64_t now, struct edge *edge)
{
	int err = session__mark_edge(serve->session, &edge->when);

	for (size_t i = 0; !err && i < serve->process_count; i++)
		if (takes_part(serve->processes[i], edge->regular, now))
			observer__freeze(serve->processes[i]->observer);
	if (!err)
		err = session__read_edge(serve->session, &edge->data);
	return err;
}

void serve__mark_edge(struct serve *serve, uint64_t now)
{
	struct edge edge = { .regular = now >= serve->edge_at };
	struct snapshot_cost cost = { 0 };
	int err = read_edge(serve, now, &edge);

	serve->errors.edges += err != 0;
	meter__read(&serve->meter, serve->session, &edge.cost);
	meter__between(&serve->meter, &serve->cost_until, &edge.cost, &cost);
	metrics_cost__add(&serve->cost, &cost);
	serve->cost_until = edge.cost;
	for (size_t i = 0; i < serve->process_count; i++) {
		struct served *process = serve->processes[i];
		bool ends = process->ended;

		if (!takes_part(process, edge.regular, now))
			continue;
		if (!err)
			end_window(serve, process, &edge);
		else if (process->job && ends)
			serve__advance_job(serve, process, NULL, edge.when, &edge.cost);
		if (ends)
			serve__detach_process(serve, process);
	}
	session_data__free(edge.data);
	serve__choose_sampler(serve, false, NULL);
	if (edge.regular)
		set_next_edge(serve);
}
