// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "bpf/dbprof.h"
#include "snapshot/engine_window.h"

/* Where the counters of a circuit stand at an edge, what is open counted up to it. */
struct position {
	const struct engine_circuit_counters *counters; /* NULL when there are none yet */
	bool step_open;
	bool paused;	   /* between two steps */
	uint64_t since_ns; /* begin of the step or the pause */
	uint64_t steps;
	uint64_t runtime_ns;
	uint64_t cpu_ns;
	uint64_t wait_ns[PARK_REASONS];
	uint64_t idles;
	uint64_t idle_ns; /* of pauses that have ended */
};

static uint64_t minus(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* For how long the worker has been parked at the edge; 0 when it was not. */
static uint64_t parked_ns(const struct engine_edge *edge)
{
	const struct engine_park *park = &edge->reading->park;

	if (!park->parked || park->reason >= PARK_REASONS)
		return 0;
	return minus(edge->when_ns, park->since_ns);
}

/* Adds what an open step has used up to the edge. */
static void add_open_step(const struct engine_circuit_counters *counters,
			  const struct engine_edge *edge, struct position *position)
{
	const struct engine_park *park = &edge->reading->park;
	uint64_t runtime = minus(edge->when_ns, counters->step_since_ns);
	/* The thread's CPU clock against the wall clock: a step is never busier than its length. */
	uint64_t cpu = least(minus(edge->cpu_ns, counters->step_start_cpu_ns), runtime);

	position->step_open = true;
	position->since_ns = counters->step_since_ns;
	position->runtime_ns = plus(position->runtime_ns, runtime);
	position->cpu_ns = plus(position->cpu_ns, cpu);
	for (size_t i = 0; i < PARK_REASONS; i++) {
		uint64_t wait = minus(park->by_reason_ns[i], counters->step_start_wait_ns[i]);

		position->wait_ns[i] = plus(position->wait_ns[i], wait);
	}
	/* The step began before the park: parked, a worker begins nothing. */
	if (parked_ns(edge))
		position->wait_ns[park->reason] =
			plus(position->wait_ns[park->reason], least(parked_ns(edge), runtime));
}

static struct position position_at(const struct engine_edge *edge, const struct node_path *id)
{
	const struct engine_circuit_counters *counters =
		edge->reading ? engine_reading__circuit(edge->reading, id) : NULL;
	struct position position = { 0 };

	if (!counters)
		return position;
	position.counters = counters;
	position.steps = counters->steps;
	position.runtime_ns = counters->step_real_ns;
	position.cpu_ns = counters->step_cpu_ns;
	memcpy(position.wait_ns, counters->wait_by_reason_ns, sizeof(position.wait_ns));
	position.idles = counters->idles;
	position.idle_ns = counters->idle_ns;
	if (counters->paused) {
		position.paused = true;
		position.since_ns = counters->paused_since_ns;
	} else if (counters->step_open && counters->step_since_ns < edge->when_ns) {
		add_open_step(counters, edge, &position);
	}
	return position;
}

void engine_window__fit_waits(uint64_t wait_ns[PARK_REASONS], uint64_t runtime_ns)
{
	/* Calls that block are counted late, so that they are the first to lie before the window.
	 */
	static const enum dbprof_reason order[PARK_REASONS] = {
		DBPROF_STORAGE_READ,
		DBPROF_STORAGE_WRITE,
		DBPROF_STORAGE_SYNC,
		DBPROF_STORAGE_METADATA,
		DBPROF_MERGE_BACKPRESSURE,
		DBPROF_NETWORK,
		DBPROF_PEERS,
		DBPROF_OPERATOR_PENDING,
		DBPROF_SCHEDULER,
		DBPROF_UNATTRIBUTED,
	};
	uint64_t sum = 0, excess;

	for (size_t i = 0; i < PARK_REASONS; i++) {
		/* Each by itself first, so that the sum is small. */
		wait_ns[i] = least(wait_ns[i], runtime_ns);
		sum = plus(sum, wait_ns[i]);
	}
	excess = minus(sum, runtime_ns);
	for (size_t i = 0; i < PARK_REASONS; i++) {
		uint64_t cut = least(wait_ns[order[i]], excess);

		wait_ns[order[i]] -= cut;
		excess -= cut;
	}
}

/* The pauses between two steps of the window. */
static uint64_t whole_idle(const struct position *before, const struct position *after,
			   uint64_t start_ns)
{
	uint64_t idle = minus(after->idle_ns, before->idle_ns);

	if (!before->paused)
		return idle;
	if (minus(after->idles, before->idles) <= 1)
		return 0;
	return minus(idle, minus(start_ns, before->since_ns));
}

static void take_open_step(const struct position *after, const struct engine_edge *start,
			   const struct engine_edge *end, struct snapshot_circuit *circuit)
{
	circuit->step_open = after->step_open;
	circuit->step_open_before = after->step_open && after->since_ns <= start->when_ns;
	circuit->step_age_ns = after->step_open ? minus(end->when_ns, after->since_ns) : 0;
	circuit->step_age_exact = after->step_open;
	circuit->open_reason = -1;
	circuit->open_reason_ns = 0;
	if (after->step_open && parked_ns(end)) {
		circuit->open_reason = (int)end->reading->park.reason;
		circuit->open_reason_ns = parked_ns(end);
	}
}

/*
 * The later reading tells when its open step began. When that was before the window, but not yet
 * at the earlier reading, what that one found open had ended before the window. How long the step
 * had waited before the window, a part of that short time, is not known.
 */
static void begin_in_step(const struct position *after, const struct engine_edge *start,
			  const struct engine_edge *end, struct position *before)
{
	if (!after->step_open || after->since_ns > start->when_ns ||
	    (before->step_open && before->since_ns == after->since_ns))
		return;
	before->step_open = true;
	before->paused = false;
	before->since_ns = after->since_ns;
	before->runtime_ns = minus(after->runtime_ns, minus(end->when_ns, start->when_ns));
	before->cpu_ns = minus(after->cpu_ns, minus(end->cpu_ns, start->cpu_ns));
	memcpy(before->wait_ns, after->counters->wait_by_reason_ns, sizeof(before->wait_ns));
}

void engine_window__circuit(const struct engine_edge *start, const struct engine_edge *end,
			    uint64_t most_ns, struct snapshot_circuit *circuit)
{
	struct position before = position_at(start, &circuit->id);
	struct position after = position_at(end, &circuit->id);
	uint64_t window = minus(end->when_ns, start->when_ns), runtime;

	begin_in_step(&after, start, end, &before);
	runtime = minus(after.runtime_ns, before.runtime_ns);
	circuit->steps = minus(after.steps, before.steps);
	most_ns = least(most_ns, window);
	circuit->runtime_ns = least(runtime, most_ns);
	circuit->cpu_ns = minus(after.cpu_ns, before.cpu_ns);
	if (before.step_open || after.step_open || runtime > most_ns)
		circuit->cpu_ns = least(circuit->cpu_ns, circuit->runtime_ns);
	for (size_t i = 0; i < PARK_REASONS; i++)
		circuit->wait_ns[i] = minus(after.wait_ns[i], before.wait_ns[i]);
	engine_window__fit_waits(circuit->wait_ns, circuit->runtime_ns);
	circuit->idle_ns =
		least(whole_idle(&before, &after, start->when_ns), window - circuit->runtime_ns);
	circuit->edge_idle_ns = window - circuit->runtime_ns - circuit->idle_ns;
	take_open_step(&after, start, end, circuit);
}

void engine_window__operator(const struct engine_edge *start, const struct engine_edge *end,
			     struct snapshot_operator *op)
{
	static const struct engine_operator_counters none;
	const struct engine_operator_counters *before = NULL, *after = NULL;

	if (start->reading)
		before = engine_reading__operator(start->reading, &op->id);
	if (end->reading)
		after = engine_reading__operator(end->reading, &op->id);
	op->has_invocations = op->has_time = after != NULL;
	before = before ? before : &none;
	after = after ? after : &none;
	op->invocations = minus(after->invocations, before->invocations);
	op->runtime_ns = minus(after->real_ns, before->real_ns);
	op->cpu_ns = minus(after->cpu_ns, before->cpu_ns);
	/* Counted, not sampled. */
	op->interval_ns = op->samples = op->engine_timing_ns = 0;
}

/* The circuit that @circuit is a node of; NULL for the root. */
static const struct snapshot_circuit *parent_of(const struct snapshot_worker *worker,
						const struct snapshot_circuit *circuit)
{
	struct node_path id = circuit->id;

	if (!id.depth)
		return NULL;
	id.id[--id.depth] = 0;
	for (const struct snapshot_circuit *parent = worker->circuits; parent < circuit; parent++)
		if (!node_path__compare(&parent->id, &id))
			return parent;
	return NULL;
}

void engine_window__compute(const struct engine_edge *start, const struct engine_edge *end,
			    struct snapshot_worker *worker)
{
	for (size_t i = 0; i < worker->circuit_count; i++) {
		struct snapshot_circuit *circuit = &worker->circuits[i];
		const struct snapshot_circuit *parent = parent_of(worker, circuit);

		engine_window__circuit(start, end, parent ? parent->runtime_ns : UINT64_MAX,
				       circuit);
	}
	for (size_t i = 0; i < worker->operator_count; i++)
		engine_window__operator(start, end, &worker->operators[i]);
}
