// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The built-in CPU profiler's maps: CPUProfilerInner, src/profile/cpu.rs. */
#include <errno.h>
#include <stdlib.h>

#include "engine/engine_internal.h"
#include "engine/graph_reader.h"

int engine_profiler__find(struct memory *memory, const struct layout *layout,
			  const struct engine_worker *worker, uint64_t *ret_address)
{
	struct engine_root root;
	int err;

	if (fields__check(layout, FIELDS_PROFILER, NULL))
		return -ENODATA;
	err = engine_root__read(memory, layout, worker->circuits[0].address, &root);
	if (err)
		return err;
	err = engine_handlers__find(memory, layout, root.scheduler_handlers, "cpu_profiler",
				    LAYOUT_PROFILER_CLOSURE, ret_address);
	return err == -ENOENT ? -ENODATA : err;
}

static const struct {
	enum layout_item table;
	enum layout_item entry_size;
	enum layout_item id;
} maps[PROFILER_MAPS] = {
	[MAP_OPERATORS] = { LAYOUT_PROFILER_OPERATORS, LAYOUT_OPERATOR_ENTRY_SIZE,
			    LAYOUT_OPERATOR_ENTRY_ID },
	[MAP_PROFILES] = { LAYOUT_PROFILER_CIRCUITS, LAYOUT_PROFILE_ENTRY_SIZE,
			   LAYOUT_PROFILE_ENTRY_ID },
	[MAP_STARTS] = { LAYOUT_PROFILER_STARTS, LAYOUT_START_ENTRY_SIZE, LAYOUT_START_ENTRY_ID },
	[MAP_ENDS] = { LAYOUT_PROFILER_ENDS, LAYOUT_START_ENTRY_SIZE, LAYOUT_START_ENTRY_ID },
	[MAP_START_CPU] = { LAYOUT_PROFILER_START_CPU, LAYOUT_CLOCK_ENTRY_SIZE,
			    LAYOUT_CLOCK_ENTRY_ID },
	[MAP_START_WAIT] = { LAYOUT_PROFILER_START_WAIT, LAYOUT_CLOCK_ENTRY_SIZE,
			     LAYOUT_CLOCK_ENTRY_ID },
	[MAP_START_REASONS] = { LAYOUT_PROFILER_START_REASONS, LAYOUT_REASONS_ENTRY_SIZE,
				LAYOUT_REASONS_ENTRY_ID },
};

static int decode_map(const struct layout *layout, const uint8_t *object, enum profiler_map map,
		      struct table_header *ret_header)
{
	int err = table_header__decode(layout, field(layout, object, maps[map].table),
				       layout__get(layout, maps[map].entry_size), ret_header);

	return !err && ret_header->items > GRAPH_NODES_MAX ? -EPROTO : err;
}

int engine_profiler__read(struct memory *memory, const struct layout *layout, uint64_t address,
			  struct buffer *object, struct engine_profiler *ret_profiler)
{
	bool baselines = fields__check(layout, FIELDS_BASELINES, NULL) == 0;
	struct engine_profiler profiler = { 0 };
	uint64_t strong;
	int err = buffer__read(object, memory, address, layout__get(layout, LAYOUT_PROFILER_SIZE));

	if (err)
		return err;
	/* The profiler itself and the event handler. */
	strong = field_u64(layout, object->bytes, LAYOUT_PROFILER_STRONG);
	if (strong == 0 || strong > UINT16_MAX)
		return -EPROTO;
	for (int map = 0; map < PROFILER_MAPS; map++) {
		if (map >= MAP_START_CPU && !baselines)
			break;
		err = decode_map(layout, object->bytes, map, &profiler.maps[map]);
		if (err)
			return err;
	}
	*ret_profiler = profiler;
	return 0;
}

/* Makes reads of all GlobalNodeIds of a map. */
static int list_ids(const struct layout *layout, const struct table_header *header,
		    const uint8_t *image, enum layout_item id_item, struct gather_part *parts,
		    uint64_t (*words)[NODE_PATH_MAX], struct node_path *ids)
{
	const uint8_t *entry;
	uint64_t cursor = 0;

	for (size_t i = 0; (entry = table__next(header, image, &cursor)); i++) {
		struct extent path;

		if (!field_vec(layout, field(layout, entry, id_item), NODE_PATH_MAX, &path))
			return -EPROTO;
		ids[i].depth = (uint32_t)path.len;
		parts[i] = (struct gather_part){
			.addr = path.addr,
			.len = (uint32_t)(path.len * sizeof(uint64_t)),
			.to = words[i],
		};
	}
	return 0;
}

int engine_profiler__ids(struct memory *memory, const struct layout *layout,
			 const struct engine_profiler *profiler, enum profiler_map map,
			 struct map_copy *copy)
{
	const struct table_header *header = &profiler->maps[map];
	struct gather_part *parts = calloc(header->items + 1, sizeof(*parts));
	uint64_t(*words)[NODE_PATH_MAX] = calloc(header->items + 1, sizeof(*words));
	struct node_path *ids = calloc(header->items + 1, sizeof(*ids));
	int err = parts && words && ids ? 0 : -ENOMEM;

	if (!err)
		err = list_ids(layout, header, copy->image.bytes, maps[map].id, parts, words, ids);
	if (!err)
		err = gather__read(memory, parts, header->items);
	for (uint64_t i = 0; !err && i < header->items; i++) {
		if (!node_path__from_words(words[i], ids[i].depth, &ids[i]))
			err = -EPROTO;
	}
	free(parts);
	free(words);
	if (err) {
		free(ids);
		return err;
	}
	free(copy->ids);
	copy->ids = ids;
	return 0;
}

int engine_profiler__step_start(struct memory *memory, const struct layout *layout,
				uint64_t address, const struct node_path *id, uint64_t *ret_ns)
{
	struct buffer object = { 0 };
	struct engine_profiler profiler;
	struct map_copy copy = { 0 };
	const uint8_t *entry;
	uint64_t cursor = 0;
	int err = engine_profiler__read(memory, layout, address, &object, &profiler);
	const struct table_header *starts = &profiler.maps[MAP_STARTS];

	if (!err)
		err = table__read(memory, starts, &copy.image);
	if (!err)
		err = engine_profiler__ids(memory, layout, &profiler, MAP_STARTS, &copy);
	if (err)
		goto out;
	err = -ENOENT;
	for (size_t i = 0; (entry = table__next(starts, copy.image.bytes, &cursor)); i++) {
		if (node_path__compare(&copy.ids[i], id))
			continue;
		err = field_instant(layout, field(layout, entry, LAYOUT_START_INSTANT), ret_ns)
			      ? 0
			      : -EPROTO;
		break;
	}
out:
	free(copy.ids);
	buffer__free(&copy.image);
	buffer__free(&object);
	return err;
}
