/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps what the probes cost within the budget: park probes go first, since the engine's own totals
 * tell wait reasons, too. If those of steps cost too much still, steps are watched in turns.
 */
#ifndef DBPROF_CLI_BUDGET_H
#define DBPROF_CLI_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct run;
struct snapshot_cost;

struct budget {
	bool no_parks;	     /* the park probes are gone */
	bool in_turns;	     /* steps were not watched all the time */
	uint64_t since;	     /* when the turn, or the part of it that is measured, began */
	uint64_t rest_until; /* steps are not watched until then; 0 while they are */
};

/* Looks at what the probes have cost, and does what has to be done. */
void budget__keep(struct run *run, uint64_t now);

/* In how many milliseconds it wants to look again, at most. */
int budget__poll_ms(const struct run *run, uint64_t now);

/* Notes the budget, and what was given up for it. */
void budget__note(const struct run *run, struct snapshot_cost *cost);

#endif
