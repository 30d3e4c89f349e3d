// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "snapshot/books.h"

static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static uint64_t clamp(uint64_t when, const struct window *window)
{
	if (when < window->start)
		return window->start;
	return when > window->end ? window->end : when;
}

/* Takes at most @*left for a part, so that the parts never exceed the whole. */
static uint64_t take(uint64_t part, uint64_t *left)
{
	uint64_t taken = part < *left ? part : *left;

	*left -= taken;
	return taken;
}

static uint64_t thread_end(const struct dbprof_thread *thread, const struct window *window)
{
	return thread->ended ? clamp(thread->ended, window) : window->end;
}

void books__thread(const struct dbprof_thread *thread, const struct window *window,
		   struct snapshot_thread *ret_thread)
{
	uint64_t end = thread_end(thread, window);
	uint64_t on = thread->on_cpu_ns, blocked = thread->blocked_ns;
	uint64_t queued = thread->run_queue_ns, preempted = thread->preempted_ns;
	uint64_t left = between(clamp(thread->since, window), end);

	if (thread->on_since) {
		on += between(thread->on_since, end);
	} else if (thread->off_since && !thread->ended) {
		uint64_t woken = thread->woken_at;

		if (thread->off == DBPROF_OFF_PREEMPTED) {
			preempted += between(thread->off_since, end);
		} else if (woken > thread->off_since && woken < end) {
			blocked += woken - thread->off_since;
			queued += end - woken;
		} else {
			blocked += between(thread->off_since, end);
		}
	}
	ret_thread->observed_ns = left;
	ret_thread->on_cpu_ns = take(on, &left);
	ret_thread->run_queue_ns = take(queued, &left);
	ret_thread->preempted_ns = take(preempted, &left);
	ret_thread->blocked_ns = take(blocked, &left);
	ret_thread->unobserved_ns = left;
}

uint64_t books__rest(const struct snapshot_thread *thread)
{
	uint64_t left = thread->observed_ns;

	take(thread->on_cpu_ns, &left);
	take(thread->run_queue_ns, &left);
	take(thread->preempted_ns, &left);
	take(thread->blocked_ns, &left);
	return left;
}

void books__silent_thread(uint64_t ran_ns, char state, const struct window *window,
			  struct snapshot_thread *ret_thread)
{
	uint64_t whole = between(window->start, window->end);

	ret_thread->observed_ns = whole;
	ret_thread->on_cpu_ns = ret_thread->run_queue_ns = 0;
	ret_thread->preempted_ns = ret_thread->blocked_ns = ret_thread->unobserved_ns = 0;
	/* Without a context switch it did one thing for the whole window. */
	if (ran_ns)
		ret_thread->on_cpu_ns = whole;
	else if (state == 'R')
		ret_thread->run_queue_ns = whole;
	else
		ret_thread->blocked_ns = whole;
}

/* A wait that was open at the end, seen by probes or, if they saw nothing, in memory. */
static void add_open_wait(const struct dbprof_thread *thread, const struct engine_park *park,
			  struct thread_totals *totals)
{
	uint64_t since = 0;

	if (thread && thread->park_since) {
		totals->open_reason = (int)thread->park_reason;
		since = thread->park_since;
	} else if (thread && thread->blocked_reason) {
		totals->open_reason = (int)thread->blocked_reason - 1;
		since = thread->off_since;
	} else if ((!thread || !thread->parks_seen) && park && park->parked &&
		   park->since_ns < totals->end) {
		totals->open_reason = (int)park->reason;
		since = park->since_ns;
	}
	if (totals->open_reason < 0)
		return;
	if (totals->open_reason >= PARK_REASONS) {
		totals->open_reason = -1;
		return;
	}
	totals->open_since = since;
	totals->wait_ns[totals->open_reason] +=
		between(since > totals->since ? since : totals->since, totals->end);
}

void books__totals(const struct dbprof_thread *thread, const struct engine_park *park,
		   uint64_t silent_cpu_ns, const struct window *window,
		   struct thread_totals *ret_totals)
{
	*ret_totals = (struct thread_totals){
		.since = window->start,
		.end = window->end,
		.cpu_ns = silent_cpu_ns,
		.open_reason = -1,
	};
	if (thread) {
		ret_totals->since = clamp(thread->since, window);
		ret_totals->end = thread_end(thread, window);
		ret_totals->cpu_ns = thread->cpu_ns;
		if (thread->on_since)
			ret_totals->cpu_ns += between(thread->on_since, ret_totals->end);
		memcpy(ret_totals->wait_ns, thread->wait_ns, sizeof(ret_totals->wait_ns));
	}
	add_open_wait(thread, park, ret_totals);
}

static void open_step(const struct thread_totals *totals, uint64_t since, bool exact,
		      struct snapshot_circuit *circuit)
{
	circuit->step_open = true;
	circuit->step_age_ns = between(since, totals->end);
	circuit->step_age_exact = exact;
	circuit->open_reason = totals->open_reason;
	circuit->open_reason_ns =
		totals->open_reason < 0 ? 0 : between(totals->open_since, totals->end);
	/* A park lies inside its step, so that the step is no younger. */
	if (!exact && circuit->step_age_ns < circuit->open_reason_ns)
		circuit->step_age_ns = circuit->open_reason_ns;
}

/* No step began or ended: either one was open all along, or the circuit was idle. */
static void silent_circuit(const struct engine_step *step, const struct thread_totals *totals,
			   struct snapshot_circuit *circuit)
{
	uint64_t whole = between(totals->since, totals->end);

	if (!step || !step->open) {
		circuit->edge_idle_ns = whole;
		return;
	}
	circuit->runtime_ns = whole;
	circuit->cpu_ns = totals->cpu_ns;
	memcpy(circuit->wait_ns, totals->wait_ns, sizeof(circuit->wait_ns));
	circuit->step_open_before = true;
	open_step(totals, step->since_ns ? step->since_ns : totals->since, step->since_ns != 0,
		  circuit);
}

void books__circuit(const struct dbprof_circuit *counted, const struct engine_step *step,
		    const struct thread_totals *totals, struct snapshot_circuit *ret_circuit)
{
	struct snapshot_circuit *circuit = ret_circuit;

	circuit->open_reason = -1;
	if (!counted) {
		silent_circuit(step, totals, circuit);
		return;
	}
	circuit->steps = counted->steps;
	circuit->runtime_ns = counted->runtime_ns;
	circuit->cpu_ns = counted->cpu_ns;
	circuit->idle_ns = counted->idle_ns;
	memcpy(circuit->wait_ns, counted->wait_ns, sizeof(circuit->wait_ns));
	if (!counted->cut)
		circuit->edge_idle_ns = between(totals->since, counted->first_start);
	if (!counted->start) {
		circuit->edge_idle_ns += between(counted->last_end, totals->end);
		return;
	}
	circuit->runtime_ns += between(counted->start, totals->end);
	circuit->cpu_ns += between(counted->start_cpu_ns, totals->cpu_ns);
	for (size_t i = 0; i < PARK_REASONS; i++)
		circuit->wait_ns[i] += between(counted->start_wait_ns[i], totals->wait_ns[i]);
	open_step(totals, counted->start, true, circuit);
}
