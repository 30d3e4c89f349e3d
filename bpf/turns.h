/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps watched in turns, where probing all of them would cost too much.
 *
 * A circuit's moments are by the clock of what is watched, so that what is known of two turns joins
 * up. A step or a pause that is open at a turn's end goes on in the next one, unless its first
 * event says otherwise: then the change came between, and counts from the turn's begin. What a
 * thread did in a step that was not watched whole is not known.
 */
#ifndef DBPROF_BPF_TURNS_H
#define DBPROF_BPF_TURNS_H

#include "hit.h"
#include "state.h"

/* Whether steps are watched at the moment of the hit. */
static __always_inline bool turn_take(const struct hit *hit)
{
	const struct dbprof_process *process = hit->process;

	if (hit->now < process->turn_start || hit->now >= process->turn_end)
		return false;
	if (hit->thread->turn != process->turn) {
		hit->thread->turn = process->turn;
		/* Which steps are open their ends will tell. */
		hit->thread->in_step = 0;
	}
	return true;
}

/* How many events one that is seen now stands for, in 1 / DBPROF_PACE. */
static __always_inline __u64 turn_weight(const struct dbprof_process *process, __u64 now)
{
	return dbprof_clock(process, now) < now ? process->turn_pace : DBPROF_PACE;
}

/* Before a step's begin: a step that is still open ended between the turns. */
static __always_inline void turn_begin_step(const struct dbprof_process *process,
					    struct dbprof_circuit *step)
{
	if (step->turn == process->turn)
		return;
	step->turn = process->turn;
	if (!step->start)
		return;
	step->runtime_ns += elapsed(step->start, process->turn_clock);
	step->part_ns += elapsed(step->start, process->turn_clock);
	step->start = 0;
	step->part = 0;
	step->last_end = process->turn_clock;
}

/* Before a step's end: an open step has been so all along, a pause ended between the turns. */
static __always_inline void turn_end_step(const struct dbprof_process *process,
					  struct dbprof_circuit *step)
{
	if (step->turn == process->turn)
		return;
	step->turn = process->turn;
	step->part = 1;
	if (step->start || !step->last_end)
		return;
	step->idle_ns += elapsed(step->last_end, process->turn_clock);
	step->start = process->turn_clock;
}

#endif
