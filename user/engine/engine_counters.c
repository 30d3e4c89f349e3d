// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters from copies of the built-in CPU profiler's maps.
 *
 * The worker may have been caught, and even put off its CPU, in the middle of writing an event, so
 * the maps must fit together as they do between two events (CPUProfilerInner::scheduler_event(),
 * src/profile/cpu.rs): a circuit in a step is in all maps of starts and not in that of ends; one
 * between two steps the other way round.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/engine_internal.h"

/* Both counters begin with their id. */
_Static_assert(offsetof(struct engine_circuit_counters, id) == 0 &&
		       offsetof(struct engine_operator_counters, id) == 0,
	       "compare_ids()");

static int compare_ids(const void *left, const void *right)
{
	return node_path__compare(left, right);
}

static bool decode_operator(const struct layout *layout, const uint8_t *entry,
			    struct engine_operator_counters *counters)
{
	counters->invocations = field_u64(layout, entry, LAYOUT_OPERATOR_INVOCATIONS);
	return field_duration(layout, field(layout, entry, LAYOUT_OPERATOR_REAL),
			      &counters->real_ns) &&
	       field_duration(layout, field(layout, entry, LAYOUT_OPERATOR_CPU), &counters->cpu_ns);
}

int engine_reading__take_operators(const struct profiler_copy *copy, const struct graph *graph,
				   struct engine_reading *reading)
{
	const struct table_header *header = &copy->profiler.maps[MAP_OPERATORS];
	const struct map_copy *map = &copy->maps[MAP_OPERATORS];
	/* Each at its node's place first, since the graph is sorted. */
	struct engine_operator_counters *operators =
		calloc(graph->node_count + 1, sizeof(*operators));
	bool *used = calloc(graph->node_count + 1, sizeof(*used));
	const uint8_t *entry;
	uint64_t cursor = 0;
	int err = operators && used ? 0 : -ENOMEM;

	for (size_t i = 0; !err && (entry = table__next(header, map->image.bytes, &cursor)); i++) {
		const struct graph_node *node = graph__find(graph, &map->ids[i]);
		size_t at = node ? (size_t)(node - graph->nodes) : graph->node_count;

		if (!node || used[at] || !decode_operator(copy->layout, entry, &operators[at]))
			err = -EPROTO;
		used[at] = true;
	}
	for (size_t at = 0; !err && at < graph->node_count; at++) {
		struct engine_operator_counters *next = &operators[reading->operator_count];

		if (!used[at])
			continue;
		*next = operators[at];
		next->id = graph->nodes[at].id;
		reading->operator_count++;
	}
	free(used);
	reading->operators = operators;
	return err;
}

/* A [Duration; ParkReason::COUNT] and its sum. */
static bool decode_reasons(const struct layout *layout, const uint8_t *durations,
			   uint64_t reasons[PARK_REASONS], uint64_t *ret_sum)
{
	uint64_t size = layout__get(layout, LAYOUT_DURATION_SIZE), sum = 0;

	for (size_t i = 0; i < PARK_REASONS; i++) {
		if (!field_duration(layout, durations + i * size, &reasons[i]) ||
		    __builtin_add_overflow(sum, reasons[i], &sum))
			return false;
	}
	*ret_sum = sum;
	return true;
}

static int decode_profile(const struct layout *layout, const uint8_t *entry,
			  struct engine_circuit_counters *circuit)
{
	uint64_t wait, sum;

	circuit->steps = field_u64(layout, entry, LAYOUT_PROFILE_STEPS);
	circuit->idles = field_u64(layout, entry, LAYOUT_PROFILE_IDLES);
	if (!field_duration(layout, field(layout, entry, LAYOUT_PROFILE_STEP_REAL),
			    &circuit->step_real_ns) ||
	    !field_duration(layout, field(layout, entry, LAYOUT_PROFILE_STEP_CPU),
			    &circuit->step_cpu_ns) ||
	    !field_duration(layout, field(layout, entry, LAYOUT_PROFILE_WAIT_REAL), &wait) ||
	    !field_duration(layout, field(layout, entry, LAYOUT_PROFILE_IDLE_REAL),
			    &circuit->idle_ns) ||
	    !decode_reasons(layout, field(layout, entry, LAYOUT_PROFILE_WAIT_BY_REASON),
			    circuit->wait_by_reason_ns, &sum))
		return -EPROTO;
	return sum == wait ? 0 : -EAGAIN;
}

/* What of a circuit was found in the maps so far. */
struct presence {
	bool in[PROFILER_MAPS];
	uint64_t start_wait_ns; /* step_start_idle */
	uint64_t start_sum_ns;	/* step_start_idle_by_reason */
};

/* Takes an entry of one of the maps of circuits. */
static int take_entry(const struct layout *layout, enum profiler_map map, const uint8_t *entry,
		      struct engine_circuit_counters *circuit, struct presence *presence)
{
	const uint8_t *instant = field(layout, entry, LAYOUT_START_INSTANT);
	bool ok = true;

	presence->in[map] = true;
	switch (map) {
	case MAP_PROFILES:
		return decode_profile(layout, entry, circuit);
	case MAP_STARTS:
		ok = field_instant(layout, instant, &circuit->step_since_ns);
		break;
	case MAP_ENDS:
		ok = field_instant(layout, instant, &circuit->paused_since_ns);
		break;
	case MAP_START_CPU:
		ok = field_duration(layout, field(layout, entry, LAYOUT_CLOCK_DURATION),
				    &circuit->step_start_cpu_ns);
		break;
	case MAP_START_WAIT:
		ok = field_duration(layout, field(layout, entry, LAYOUT_CLOCK_DURATION),
				    &presence->start_wait_ns);
		break;
	case MAP_START_REASONS:
		ok = decode_reasons(layout, field(layout, entry, LAYOUT_REASONS_DURATIONS),
				    circuit->step_start_wait_ns, &presence->start_sum_ns);
		break;
	default:
		break;
	}
	return ok ? 0 : -EPROTO;
}

/* The number of circuit @id, which is added when it is new. Circuits are few. */
static size_t circuit_number(struct engine_reading *reading, const struct node_path *id)
{
	size_t i = 0;

	while (i < reading->circuit_count && node_path__compare(&reading->circuits[i].id, id))
		i++;
	if (i == reading->circuit_count)
		reading->circuits[reading->circuit_count++].id = *id;
	return i;
}

static int take_map(const struct profiler_copy *copy, const struct graph *graph,
		    enum profiler_map map, struct engine_reading *reading,
		    struct presence *presences)
{
	const struct map_copy *from = &copy->maps[map];
	const uint8_t *entry;
	uint64_t cursor = 0;
	int err = 0;

	for (size_t i = 0;
	     !err && (entry = table__next(&copy->profiler.maps[map], from->image.bytes, &cursor));
	     i++) {
		size_t number;

		if (!graph__find(graph, &from->ids[i]))
			return -EPROTO;
		number = circuit_number(reading, &from->ids[i]);
		err = take_entry(copy->layout, map, entry, &reading->circuits[number],
				 &presences[number]);
	}
	return err;
}

/* Whether what the maps hold of a circuit is as it is between two events. */
static bool fits(const struct presence *presence, struct engine_circuit_counters *circuit)
{
	const bool *in = presence->in;

	circuit->step_open = in[MAP_STARTS];
	circuit->paused = in[MAP_ENDS];
	return in[MAP_STARTS] != in[MAP_ENDS] && in[MAP_STARTS] == in[MAP_START_CPU] &&
	       in[MAP_STARTS] == in[MAP_START_WAIT] && in[MAP_STARTS] == in[MAP_START_REASONS] &&
	       presence->start_wait_ns == presence->start_sum_ns;
}

int engine_reading__take_circuits(const struct profiler_copy *copy, const struct graph *graph,
				  struct engine_reading *reading)
{
	struct presence *presences;
	size_t most = 1;
	int err = 0;

	for (int map = MAP_PROFILES; map < PROFILER_MAPS; map++)
		most += copy->profiler.maps[map].items;
	presences = calloc(most, sizeof(*presences));
	reading->circuits = calloc(most, sizeof(*reading->circuits));
	if (!presences || !reading->circuits)
		err = -ENOMEM;
	for (int map = MAP_PROFILES; !err && map < PROFILER_MAPS; map++)
		err = take_map(copy, graph, map, reading, presences);
	for (size_t i = 0; !err && i < reading->circuit_count; i++) {
		if (!fits(&presences[i], &reading->circuits[i]))
			err = -EAGAIN;
	}
	if (!err)
		qsort(reading->circuits, reading->circuit_count, sizeof(*reading->circuits),
		      compare_ids);
	free(presences);
	return err;
}

const struct engine_circuit_counters *engine_reading__circuit(const struct engine_reading *reading,
							      const struct node_path *id)
{
	return reading->circuit_count ? bsearch(id, reading->circuits, reading->circuit_count,
						sizeof(*reading->circuits), compare_ids)
				      : NULL;
}

const struct engine_operator_counters *
engine_reading__operator(const struct engine_reading *reading, const struct node_path *id)
{
	return reading->operator_count ? bsearch(id, reading->operators, reading->operator_count,
						 sizeof(*reading->operators), compare_ids)
				       : NULL;
}
