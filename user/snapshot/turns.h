/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps watched in turns, where probing all of them would cost more than is allowed: see
 * bpf/turns.h for what the programs make of it.
 *
 * What a circuit did is counted by a clock that stands still between turns and makes up for it in
 * them (dbprof_clock()), so that each turn stands for the time since the last one, too. What is
 * left when the window ends is estimated by the whole: snapshot__extend().
 */
#ifndef DBPROF_SNAPSHOT_TURNS_H
#define DBPROF_SNAPSHOT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/dbprof.h"
#include "snapshot/snapshot.h"

/* Whether steps are watched now. */
bool turns__watching(const struct dbprof_process *process);

/*
 * The moment @when (CLOCK_MONOTONIC, ns), not before the last turn, by the clock of what is
 * watched.
 */
uint64_t turns__clock(const struct dbprof_process *process, uint64_t when);

/* Whether it goes, or went, faster in the last turn. */
bool turns__is_estimate(const struct dbprof_process *process);

/* All steps are watched: so it begins. */
void turns__whole(struct dbprof_process *process);

/*
 * Ends the present turn at @when; begins the next one then, which is to make up for the pause in
 * @length_ns. The end of the last one stays: no event counts until that is set anew.
 */
void turns__end(struct dbprof_process *process, uint64_t when);
void turns__begin(struct dbprof_process *process, uint64_t when, uint64_t length_ns);

/* One that has ended: how long it was, what it stood for, and the root's part of that. */
struct snapshot_turn {
	uint64_t watched_ns;
	uint64_t stood_for_ns;
	uint64_t steps;
	uint64_t runtime_ns;
};

void turns__add(struct snapshot_turns *turns, const struct snapshot_turn *turn);

/* @sum plus @part, or minus it; all at least 0. */
void turns__sum(struct snapshot_turns *sum, const struct snapshot_turns *part);
void turns__subtract(struct snapshot_turns *all, const struct snapshot_turns *part);

/*
 * Half the 95 % interval around the number of steps and the time in them that were estimated for
 * the worker's root circuit. False when there are too few turns to tell; all 0 when all was
 * watched.
 */
bool turns__interval(const struct snapshot_worker *worker, double *ret_steps,
		     uint64_t *ret_runtime_ns);

/*
 * Where steps were watched for a part of the window only, makes the books of circuits those of all
 * of it: times and steps in proportion, waits of a root circuit by what its thread has waited. The
 * parts add up as before.
 */
void snapshot__extend(struct snapshot *snapshot);

#endif
