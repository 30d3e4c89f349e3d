// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "snapshot/books.h"
#include "snapshot/turns.h"

#define SHARE_WORDS (sizeof(struct dbprof_kernel_share) / sizeof(__u64))

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

static uint64_t sum(const __u64 *parts, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(total, parts[i], &total))
			return UINT64_MAX;
	return total;
}

uint64_t share__preempted(const struct dbprof_kernel_share *share)
{
	return sum(share->preempted_ns, DBPROF_PARTIES);
}

uint64_t share__blocked(const struct dbprof_kernel_share *share)
{
	return sum(share->blocked_ns, DBPROF_CAUSES);
}

void share__add(struct dbprof_kernel_share *total, const struct dbprof_kernel_share *part)
{
	for (size_t i = 0; i < SHARE_WORDS; i++)
		((__u64 *)total)[i] += ((const __u64 *)part)[i];
}

uint64_t share__close(struct dbprof_kernel_share *share, uint64_t whole)
{
	uint64_t left = whole, woken;

	share->run_queue_ns = take(share->run_queue_ns, &left);
	for (size_t i = 0; i < DBPROF_PARTIES; i++)
		share->preempted_ns[i] = take(share->preempted_ns[i], &left);
	for (size_t i = 0; i < DBPROF_CAUSES; i++)
		share->blocked_ns[i] = take(share->blocked_ns[i], &left);
	/* Who woke is another view of the blocked time. */
	woken = share__blocked(share);
	for (size_t i = 0; i < DBPROF_PARTIES; i++)
		share->woken_ns[i] = take(share->woken_ns[i], &woken);
	return left;
}

static uint64_t thread_end(const struct dbprof_thread *thread, const struct window *window)
{
	return thread->ended ? clamp(thread->ended, window) : window->end;
}

/* The time off the CPU that is open at @end; all zero when there is none. */
static struct dbprof_kernel_share open_share(const struct dbprof_thread *thread, uint64_t end)
{
	struct dbprof_kernel_share share = {};
	uint64_t off = between(thread->off_since, end), woken = thread->woken_at;

	if (!thread->off_since || thread->on_since || thread->ended)
		return share;
	if (thread->off == DBPROF_OFF_PREEMPTED) {
		if (thread->off_taker < DBPROF_PARTIES)
			share.preempted_ns[thread->off_taker] = off;
		return share;
	}
	if (woken > thread->off_since && woken < end) {
		share.run_queue_ns = end - woken;
		off = woken - thread->off_since;
		if (thread->waker < DBPROF_PARTIES)
			share.woken_ns[thread->waker] = off;
	}
	if (thread->off_cause < DBPROF_CAUSES)
		share.blocked_ns[thread->off_cause] = off;
	return share;
}

void books__close_thread(struct snapshot_thread *thread, uint64_t on_cpu_ns)
{
	uint64_t left = thread->observed_ns;

	thread->on_cpu_ns = take(on_cpu_ns, &left);
	thread->unobserved_ns = share__close(&thread->share, left);
	thread->run_queue_ns = thread->share.run_queue_ns;
	thread->preempted_ns = share__preempted(&thread->share);
	thread->blocked_ns = share__blocked(&thread->share);
}

void books__thread(const struct dbprof_thread *thread, const struct window *window,
		   struct snapshot_thread *ret_thread)
{
	uint64_t end = thread_end(thread, window), on = thread->on_cpu_ns;
	struct dbprof_kernel_share open = open_share(thread, end);

	if (thread->on_since)
		on += between(thread->on_since, end);
	ret_thread->observed_ns = between(clamp(thread->since, window), end);
	ret_thread->share = thread->share;
	share__add(&ret_thread->share, &open);
	books__close_thread(ret_thread, on);
}

/*
 * Without a context switch a thread ran for the whole window or not at all; what /proc tells of its
 * CPU time is read a little before and after it.
 */
static bool ran_all_along(const struct silent_thread *silent, uint64_t whole)
{
	return silent->ran_ns >= whole / 2;
}

/* Where a thread without a context switch was for the whole window. */
static struct dbprof_kernel_share silent_share(const struct silent_thread *silent, uint64_t whole)
{
	struct dbprof_kernel_share share = {};

	if (ran_all_along(silent, whole))
		return share;
	if (silent->state == 'R')
		share.run_queue_ns = whole;
	else
		share.blocked_ns[silent->cause < DBPROF_CAUSES ? silent->cause
							       : DBPROF_CAUSE_OTHER] = whole;
	return share;
}

void books__silent_thread(const struct silent_thread *silent, const struct window *window,
			  struct snapshot_thread *ret_thread)
{
	uint64_t whole = between(window->start, window->end);

	ret_thread->observed_ns = whole;
	ret_thread->share = silent_share(silent, whole);
	books__close_thread(ret_thread, ran_all_along(silent, whole) ? whole : 0);
}

void books__exited(const struct dbprof_exited *exited, struct snapshot_thread *ret_thread)
{
	ret_thread->observed_ns = exited->observed_ns;
	ret_thread->share = exited->share;
	books__close_thread(ret_thread, exited->on_cpu_ns);
}

/* A wait that was open at the end, seen by probes or, if they saw nothing, in memory. */
static void add_open_wait(const struct dbprof_thread *thread, const struct engine_park *park,
			  struct thread_totals *totals)
{
	uint64_t since = 0;

	if (thread && thread->park_since) {
		totals->open_reason = (int)thread->park_reason;
		/* A reason that could not be read when the park began. */
		if (thread->park_reason >= PARK_REASONS && park && park->parked)
			totals->open_reason = (int)park->reason;
		since = thread->park_since;
	} else if (thread && thread->blocked_reason) {
		totals->open_reason = (int)thread->blocked_reason - 1;
		since = thread->off_since;
	} else if ((!thread || !thread->parks_seen || thread->synced) && park && park->parked &&
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

/* Waits that the engine has counted since the programs last looked. */
static void add_unsynced(const struct dbprof_thread *thread, const struct engine_park *park,
			 struct thread_totals *totals)
{
	if (!thread->synced || !park)
		return;
	for (size_t i = 0; i < PARK_REASONS; i++)
		totals->wait_ns[i] += between(thread->synced_ns[i], park->by_reason_ns[i]);
}

static void add_seen(const struct dbprof_thread *thread, const struct window *window,
		     struct thread_totals *totals)
{
	totals->since = clamp(thread->since, window);
	totals->end = thread_end(thread, window);
	totals->cpu_ns = thread->cpu_ns;
	if (thread->on_since)
		totals->cpu_ns += between(thread->on_since, totals->end);
	memcpy(totals->wait_ns, thread->wait_ns, sizeof(totals->wait_ns));
	totals->share = thread->share;
	totals->step_share = thread->step_share;
	totals->open_share = open_share(thread, totals->end);
	share__add(&totals->share, &totals->open_share);
	if (thread->off_in_step)
		share__add(&totals->step_share, &totals->open_share);
	if (thread->off_since) {
		totals->open_circuit = thread->off_circuit;
		totals->open_node = thread->off_node;
	}
}

void books__totals(const struct dbprof_thread *thread, const struct engine_park *park,
		   const struct silent_thread *silent, const struct window *window,
		   struct thread_totals *ret_totals)
{
	*ret_totals = (struct thread_totals){
		.since = window->start,
		.end = window->end,
		.open_reason = -1,
	};
	if (thread) {
		add_seen(thread, window, ret_totals);
		add_unsynced(thread, park, ret_totals);
	} else {
		ret_totals->cpu_ns =
			ran_all_along(silent, window->end - window->start) ? silent->ran_ns : 0;
		ret_totals->share = silent_share(silent, between(window->start, window->end));
		/* In a step or not, it was so all along: only then will this be used. */
		ret_totals->step_share = ret_totals->share;
	}
	add_open_wait(thread, park, ret_totals);
	ret_totals->steps_end = ret_totals->end;
	ret_totals->watching = true;
}

void books__watch_steps(const struct dbprof_process *process, struct thread_totals *totals)
{
	totals->steps_end = turns__clock(process, totals->end);
	totals->watching = turns__watching(process);
	totals->turn = process->turn;
}

static void open_step(const struct thread_totals *totals, uint64_t since, bool exact,
		      struct snapshot_circuit *circuit)
{
	circuit->step_open = true;
	circuit->step_age_ns = between(since, totals->end);
	circuit->step_age_exact = exact;
	circuit->open_reason = totals->open_reason;
	if (totals->open_reason >= 0)
		circuit->open_reason_ns = between(totals->open_since, totals->end);
	/* A park lies inside its step, so that the step is no younger. */
	if (!exact && circuit->step_age_ns < circuit->open_reason_ns)
		circuit->step_age_ns = circuit->open_reason_ns;
}

static void scale(uint64_t *value, uint64_t to, uint64_t from)
{
	*value = (uint64_t)((unsigned __int128)*value * to / from);
}

/* What was @from of a circuit's time becomes @to: where it went stays in proportion. */
static void spread(uint64_t to, uint64_t from, struct snapshot_circuit *circuit)
{
	if (!from || to == from)
		return;
	scale(&circuit->cpu_ns, to, from);
	for (size_t i = 0; i < PARK_REASONS; i++)
		scale(&circuit->wait_ns[i], to, from);
	for (size_t i = 0; i < SHARE_WORDS; i++)
		scale((uint64_t *)&circuit->share + i, to, from);
}

/* No step began or ended: either one was open all along, or the circuit was idle. */
static void silent_circuit(const struct engine_step *step, const struct thread_totals *totals,
			   struct snapshot_circuit *circuit)
{
	uint64_t whole = between(totals->since, totals->steps_end);

	if (!step || !step->open) {
		circuit->edge_idle_ns = whole;
		return;
	}
	circuit->runtime_ns = whole;
	circuit->cpu_ns = totals->cpu_ns;
	memcpy(circuit->wait_ns, totals->wait_ns, sizeof(circuit->wait_ns));
	circuit->share = totals->share;
	spread(whole, between(totals->since, totals->end), circuit);
	circuit->step_open_before = true;
	open_step(totals, step->since_ns ? step->since_ns : totals->since, step->since_ns != 0,
		  circuit);
}

static void add_share_since(struct dbprof_kernel_share *total,
			    const struct dbprof_kernel_share *from,
			    const struct dbprof_kernel_share *to)
{
	for (size_t i = 0; i < SHARE_WORDS; i++)
		((__u64 *)total)[i] += between(((const __u64 *)from)[i], ((const __u64 *)to)[i]);
}

/* A step that is open at the end, and was watched since it began. */
static void cut_step(const struct dbprof_circuit *counted, const struct thread_totals *totals,
		     struct snapshot_circuit *circuit)
{
	circuit->cpu_ns += between(counted->start_cpu_ns, totals->cpu_ns);
	for (size_t i = 0; i < PARK_REASONS; i++)
		circuit->wait_ns[i] += between(counted->start_wait_ns[i], totals->wait_ns[i]);
	add_share_since(&circuit->share, &counted->start_share, &totals->share);
	open_step(totals, counted->start, true, circuit);
}

/* A step that was not watched whole, if it is open: memory may tell since when. */
static void unwatched_step(const struct engine_step *step, const struct thread_totals *totals,
			   struct snapshot_circuit *circuit)
{
	uint64_t since = step && step->open ? step->since_ns : 0;

	open_step(totals, since ? since : totals->end, since != 0, circuit);
}

static void counted_circuit(const struct dbprof_circuit *counted, const struct engine_step *step,
			    const struct thread_totals *totals, struct snapshot_circuit *circuit)
{
	uint64_t begun = counted->first_start, end = totals->steps_end, part = counted->part_ns;
	bool seen = totals->watching && counted->turn == totals->turn;

	circuit->steps = counted->steps / DBPROF_PACE;
	circuit->runtime_ns = counted->runtime_ns;
	circuit->cpu_ns = counted->cpu_ns;
	circuit->idle_ns = counted->idle_ns;
	circuit->share = counted->share;
	memcpy(circuit->wait_ns, counted->wait_ns, sizeof(circuit->wait_ns));
	circuit->edge_idle_ns = counted->leaving_ns;
	if (!counted->cut)
		circuit->edge_idle_ns += between(totals->since, begun < end ? begun : end);
	/* A step that begins when its trap is over, after the end: the pause ends with the window.
	 */
	circuit->idle_ns =
		between(counted->last_end ? between(end, counted->start) : 0, circuit->idle_ns);
	if (!counted->start)
		circuit->edge_idle_ns += between(counted->last_end, end);
	else
		circuit->runtime_ns += between(counted->start, end);
	if (counted->start && seen && end == totals->end) {
		cut_step(counted, totals, circuit);
	} else {
		/* What the thread did in it is not known, nor whether it is open still. */
		part += counted->start ? between(counted->start, end) : 0;
		if (seen ? counted->start != 0 : step && step->open)
			unwatched_step(seen ? NULL : step, totals, circuit);
	}
	/* Steps not watched whole did what the others did. */
	spread(circuit->runtime_ns, between(part, circuit->runtime_ns), circuit);
}

void books__circuit(const struct dbprof_circuit *counted, const struct engine_step *step,
		    const struct thread_totals *totals, struct snapshot_circuit *ret_circuit)
{
	ret_circuit->open_reason = -1;
	if (counted)
		counted_circuit(counted, step, totals, ret_circuit);
	else
		silent_circuit(step, totals, ret_circuit);
	books__close_circuit(ret_circuit);
}

void books__close_circuit(struct snapshot_circuit *circuit)
{
	uint64_t left = circuit->runtime_ns;

	/* The CPU clock and the wall clock differ by what was read between them. */
	circuit->cpu_ns = take(circuit->cpu_ns, &left);
	circuit->unobserved_ns = share__close(&circuit->share, left);
}

void books__close_operator(struct snapshot_operator *op)
{
	uint64_t left = between(op->cpu_ns, op->runtime_ns);

	op->unobserved_ns = share__close(&op->share, left);
}
