// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The counters of the built-in CPU profiler, copied while the worker counts on.
 *
 * The worker adds to an operator's entry after each evaluation, a few microseconds apart, so two
 * reads of a large map are never equal as a whole; each entry soon is. At the ends of steps it
 * changes the circuits' maps: a circuit lies in the map of starts while it is in a step and in the
 * map of ends between two steps; while it lies in neither, its profile is being written.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine_internal.h"

#define PAUSE_US 50

struct map_copy {
	struct buffer image;
	struct node_path *ids; /* in the order of table__next() */
};

struct counters_reader {
	struct memory *memory;
	const struct layout *layout;
	const struct graph *graph;
	uint64_t address;
	struct engine_profiler profiler;
	struct buffer object;
	struct buffer again; /* for second reads */
	struct buffer entry; /* of one entry */
	struct map_copy operators;
	struct map_copy circuits;
	struct map_copy starts;
	struct map_copy ends;
	struct engine_counters *counters;
};

void engine_counters__free(struct engine_counters *counters)
{
	if (!counters)
		return;
	free(counters->circuits);
	free(counters->operators);
	free(counters);
}

/* Reads a map and the ids in it. */
static int copy_map(struct counters_reader *reader, const struct table_header *header,
		    enum layout_item id_item, struct map_copy *copy)
{
	int err = table__read(reader->memory, header, &copy->image);

	free(copy->ids);
	copy->ids = NULL;
	return err ? err
		   : engine_profiler__ids(reader->memory, reader->layout, header, copy->image.bytes,
					  id_item, &copy->ids);
}

/* Reads a map again; -EAGAIN unless it is the same as before. */
static int check_map(struct counters_reader *reader, const struct table_header *header,
		     const struct map_copy *copy)
{
	int err = table__read(reader->memory, header, &reader->again);

	if (err || header->items == 0)
		return err;
	return memcmp(copy->image.bytes, reader->again.bytes, table_header__bytes(header)) ? -EAGAIN
											   : 0;
}

/* Reads one operator's entry until two reads are equal. */
static int settle_entry(struct counters_reader *reader, const struct table_header *header,
			uint64_t bucket, uint8_t *entry)
{
	for (int i = 0; i < ENGINE_TRIES; i++) {
		int err = buffer__read(&reader->entry, reader->memory,
				       table__entry_address(header, bucket), header->entry_size);

		if (err)
			return err;
		if (memcmp(entry, reader->entry.bytes, header->entry_size) == 0)
			return 0;
		memcpy(entry, reader->entry.bytes, header->entry_size);
	}
	return -EAGAIN;
}

/* Makes each entry of the copied map of operators one that two reads agree on. */
static int settle_operators(struct counters_reader *reader)
{
	const struct table_header *header = &reader->profiler.operators;
	size_t size = header->entry_size;
	size_t ctrl = header->buckets * size;
	uint8_t *image = reader->operators.image.bytes;
	const uint8_t *entry;
	uint64_t cursor = 0;
	int err;

	if (header->items == 0)
		return 0;
	err = table__read(reader->memory, header, &reader->again);
	if (err)
		return err;
	if (memcmp(image + ctrl, reader->again.bytes + ctrl, header->buckets))
		return -EAGAIN;
	while (!err && (entry = table__next(header, image, &cursor))) {
		size_t at = (size_t)(entry - image);

		if (memcmp(entry, reader->again.bytes + at, size) == 0)
			continue;
		memcpy(image + at, reader->again.bytes + at, size);
		err = settle_entry(reader, header, cursor - 1, image + at);
	}
	return err;
}

/* Whether the heads of the maps are still the same; a map that grows moves. */
static int check_heads(struct counters_reader *reader, bool steps_too)
{
	const struct engine_profiler *before = &reader->profiler;
	struct engine_profiler now;
	int err = engine_profiler__read(reader->memory, reader->layout, reader->address,
					&reader->object, &now);

	if (err)
		return err;
	if (!table_header__equal(&before->operators, &now.operators) ||
	    !table_header__equal(&before->circuits, &now.circuits))
		return -EAGAIN;
	if (steps_too && (!table_header__equal(&before->starts, &now.starts) ||
			  !table_header__equal(&before->ends, &now.ends)))
		return -EAGAIN;
	return 0;
}

static int copy_circuits(struct counters_reader *reader)
{
	const struct engine_profiler *maps = &reader->profiler;
	int err = copy_map(reader, &maps->circuits, LAYOUT_PROFILE_ENTRY_ID, &reader->circuits);

	if (!err)
		err = copy_map(reader, &maps->starts, LAYOUT_START_ENTRY_ID, &reader->starts);
	if (!err)
		err = copy_map(reader, &maps->ends, LAYOUT_START_ENTRY_ID, &reader->ends);
	if (!err)
		err = check_map(reader, &maps->ends, &reader->ends);
	if (!err)
		err = check_map(reader, &maps->starts, &reader->starts);
	if (!err)
		err = check_map(reader, &maps->circuits, &reader->circuits);
	return err ? err : check_heads(reader, true);
}

static int copy_operators(struct counters_reader *reader)
{
	int err = copy_map(reader, &reader->profiler.operators, LAYOUT_OPERATOR_ENTRY_ID,
			   &reader->operators);

	if (!err)
		err = settle_operators(reader);
	return err ? err : check_heads(reader, false);
}

static bool known(const struct counters_reader *reader, const struct node_path *id)
{
	return graph__find(reader->graph, id) != NULL;
}

static int take_operators(struct counters_reader *reader)
{
	const struct layout *layout = reader->layout;
	const struct table_header *header = &reader->profiler.operators;
	struct engine_counters *counters = reader->counters;
	const uint8_t *entry;
	uint64_t cursor = 0;

	counters->operators = calloc(header->items + 1, sizeof(*counters->operators));
	if (!counters->operators)
		return -ENOMEM;
	while ((entry = table__next(header, reader->operators.image.bytes, &cursor))) {
		struct engine_operator_counters *counts =
			&counters->operators[counters->operator_count];

		counts->id = reader->operators.ids[counters->operator_count++];
		counts->invocations = field_u64(layout, entry, LAYOUT_OPERATOR_INVOCATIONS);
		if (!known(reader, &counts->id) ||
		    !field_duration(layout, field(layout, entry, LAYOUT_OPERATOR_REAL),
				    &counts->real_ns) ||
		    !field_duration(layout, field(layout, entry, LAYOUT_OPERATOR_CPU),
				    &counts->cpu_ns))
			return -EPROTO;
	}
	return 0;
}

static bool decode_profile(const struct layout *layout, const uint8_t *entry,
			   struct engine_circuit_counters *circuit)
{
	const uint8_t *reasons = field(layout, entry, LAYOUT_PROFILE_WAIT_BY_REASON);
	uint64_t size = layout__get(layout, LAYOUT_DURATION_SIZE), sum = 0;

	circuit->steps = field_u64(layout, entry, LAYOUT_PROFILE_STEPS);
	if (!field_duration(layout, field(layout, entry, LAYOUT_PROFILE_STEP_REAL),
			    &circuit->step_real_ns) ||
	    !field_duration(layout, field(layout, entry, LAYOUT_PROFILE_STEP_CPU),
			    &circuit->step_cpu_ns) ||
	    !field_duration(layout, field(layout, entry, LAYOUT_PROFILE_WAIT_REAL),
			    &circuit->wait_ns) ||
	    !field_duration(layout, field(layout, entry, LAYOUT_PROFILE_IDLE_REAL),
			    &circuit->idle_ns))
		return false;
	for (size_t i = 0; i < PARK_REASONS; i++) {
		if (!field_duration(layout, reasons + i * size, &circuit->wait_by_reason_ns[i]))
			return false;
		sum += circuit->wait_by_reason_ns[i];
	}
	return sum == circuit->wait_ns;
}

/* The number of @id among the @count @ids; @count when it is not there. */
static size_t index_of(const struct node_path *ids, size_t count, const struct node_path *id)
{
	size_t i = 0;

	while (i < count && node_path__compare(&ids[i], id))
		i++;
	return i;
}

static int take_profiles(struct counters_reader *reader)
{
	const struct engine_profiler *maps = &reader->profiler;
	struct engine_counters *counters = reader->counters;
	const uint8_t *entry;
	uint64_t cursor = 0;

	counters->circuits =
		calloc(maps->circuits.items + maps->starts.items + 1, sizeof(*counters->circuits));
	if (!counters->circuits)
		return -ENOMEM;
	while ((entry = table__next(&maps->circuits, reader->circuits.image.bytes, &cursor))) {
		struct engine_circuit_counters *circuit =
			&counters->circuits[counters->circuit_count];
		bool started, ended;

		circuit->id = reader->circuits.ids[counters->circuit_count++];
		if (!known(reader, &circuit->id) || !decode_profile(reader->layout, entry, circuit))
			return -EPROTO;
		started = index_of(reader->starts.ids, maps->starts.items, &circuit->id) <
			  maps->starts.items;
		ended = index_of(reader->ends.ids, maps->ends.items, &circuit->id) <
			maps->ends.items;
		if (started == ended)
			return -EAGAIN;
	}
	return 0;
}

/* Open steps; that of a circuit's first step has no profile yet. */
static int take_starts(struct counters_reader *reader)
{
	const struct table_header *header = &reader->profiler.starts;
	struct engine_counters *counters = reader->counters;
	const uint8_t *entry;
	uint64_t cursor = 0;

	for (size_t i = 0; (entry = table__next(header, reader->starts.image.bytes, &cursor));
	     i++) {
		const struct node_path *id = &reader->starts.ids[i];
		struct engine_circuit_counters *circuit = counters->circuits;
		size_t k = 0;

		while (k < counters->circuit_count && node_path__compare(&circuit[k].id, id))
			k++;
		if (k == counters->circuit_count)
			counters->circuit_count++;
		circuit[k].id = *id;
		circuit[k].step_open = true;
		if (!known(reader, id) ||
		    !field_instant(reader->layout,
				   field(reader->layout, entry, LAYOUT_START_INSTANT),
				   &circuit[k].step_since_ns))
			return -EPROTO;
	}
	return 0;
}

static int compare_operators(const void *left, const void *right)
{
	const struct engine_operator_counters *a = left, *b = right;

	return node_path__compare(&a->id, &b->id);
}

static int compare_circuits(const void *left, const void *right)
{
	const struct engine_circuit_counters *a = left, *b = right;

	return node_path__compare(&a->id, &b->id);
}

/* One try. */
static int read_once(struct counters_reader *reader)
{
	struct engine_counters *counters;
	int err;

	engine_counters__free(reader->counters);
	reader->counters = counters = calloc(1, sizeof(*counters));
	if (!counters)
		return -ENOMEM;
	err = engine_profiler__read(reader->memory, reader->layout, reader->address,
				    &reader->object, &reader->profiler);
	if (!err)
		err = copy_circuits(reader);
	if (!err)
		err = take_profiles(reader);
	if (!err)
		err = take_starts(reader);
	if (!err)
		err = copy_operators(reader);
	if (!err)
		err = take_operators(reader);
	if (err)
		return err;
	qsort(counters->operators, counters->operator_count, sizeof(*counters->operators),
	      compare_operators);
	qsort(counters->circuits, counters->circuit_count, sizeof(*counters->circuits),
	      compare_circuits);
	return 0;
}

static void free_reader(struct counters_reader *reader)
{
	struct map_copy *copies[] = { &reader->operators, &reader->circuits, &reader->starts,
				      &reader->ends };

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		buffer__free(&copies[i]->image);
		free(copies[i]->ids);
	}
	buffer__free(&reader->object);
	buffer__free(&reader->again);
	buffer__free(&reader->entry);
	engine_counters__free(reader->counters);
}

int engine_worker__counters(struct target *target, const struct layout *layout,
			    const struct engine_worker *worker,
			    struct engine_counters **ret_counters)
{
	struct counters_reader reader = {
		.memory = target->memory,
		.layout = layout,
		.graph = worker->graph,
	};
	bool changing = false;
	int err = 0;

	for (int i = 0; i < ENGINE_TRIES; i++) {
		if (i)
			usleep(PAUSE_US);
		err = engine_profiler__find(target->memory, layout, worker, &reader.address);
		if (err == -ENODATA)
			break;
		if (!err)
			err = read_once(&reader);
		if (!err || err == -ENOMEM || err == -ESRCH)
			break;
		changing |= err == -EAGAIN;
	}
	if (!err) {
		*ret_counters = reader.counters;
		reader.counters = NULL;
	} else if (err == -EFAULT || (err == -EPROTO && changing)) {
		err = -EAGAIN;
	}
	free_reader(&reader);
	return err;
}
