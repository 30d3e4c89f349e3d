/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A window as the difference of two readings of the engine's own counters.
 * Pure arithmetic on copies; every subtraction stops at zero.
 *
 * An edge of the window lies microseconds, or a few milliseconds, from the moment of its reading.
 * What the reading found is taken to hold at the edge: a step or a park that was open is open, and
 * has lasted from its begin to the edge; a circuit that was in no step is in none; what had ended
 * counts as it was counted. So a window is the difference between two positions that depend on one
 * edge each, and windows that share an edge add up to the window around them: counts and operators
 * exactly; times of circuits, too, unless a step or a park ended between the moment of a shared
 * edge's reading and that edge, and then to within the time between the two. With the edge
 * at its reading's park.when_ns nothing comes between them. Where the later reading knows better,
 * it counts: a step that was open all along takes the whole window.
 */
#ifndef DBPROF_SNAPSHOT_ENGINE_WINDOW_H
#define DBPROF_SNAPSHOT_ENGINE_WINDOW_H

#include <stdint.h>

#include "engine/engine_reading.h"
#include "snapshot/snapshot.h"

/* One edge of a window, for one worker. */
struct engine_edge {
	const struct engine_reading *reading; /* NULL: nothing had been counted yet */
	uint64_t when_ns;		      /* CLOCK_MONOTONIC */
	uint64_t cpu_ns; /* that the worker's thread had used since its start, at when_ns */
};

/*
 * Fills in the circuit with the id @circuit->id, but not its share and unobserved_ns.
 *
 * Of a step that an edge cuts, the part in the window counts: wall and CPU time, and waits, of
 * which an open park is cut, too. A storage call that blocks is counted when it ends, as the engine
 * does; as much of it as exceeds the runtime lay before the window and is left out. Waits never
 * exceed the runtime, and that never the window nor @most_ns, the runtime of the enclosing circuit.
 * CPU time that no edge cuts is the engine's own number, which may exceed its wall time: it reads
 * its two clocks one after the other.
 *
 * idle_ns has the pauses that ended in the window, except the first if it began before: when it is
 * the only one it counts as edge_idle_ns, else the part before the window is taken off and the rest
 * stays, since the engine keeps the sum of pauses only. edge_idle_ns is the rest of the window: the
 * pauses that are cut, and the fraction of a microsecond between a step and a pause that the engine
 * counts to neither. So runtime_ns + idle_ns + edge_idle_ns is the window.
 */
void engine_window__circuit(const struct engine_edge *start, const struct engine_edge *end,
			    uint64_t most_ns, struct snapshot_circuit *circuit);

/*
 * Fills in the operator with the id @op->id, but not its share and unobserved_ns. An
 * evaluation counts whole when it ends, as the engine does, so that one in flight at the window's
 * start may be longer than the window. cpu_ns may exceed runtime_ns, by the time that passed
 * between the engine's reads of its two clocks. An operator that was never evaluated has no
 * numbers.
 */
void engine_window__operator(const struct engine_edge *start, const struct engine_edge *end,
			     struct snapshot_operator *op);

/* Makes waits fit into the runtime that they are part of: calls that block are cut first. */
void engine_window__fit_waits(uint64_t wait_ns[PARK_REASONS], uint64_t runtime_ns);

/* Fills in all circuits and operators of @worker, which has them with their ids, parents first. */
void engine_window__compute(const struct engine_edge *start, const struct engine_edge *end,
			    struct snapshot_worker *worker);

#endif
