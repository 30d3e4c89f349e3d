// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies of the built-in CPU profiler's maps, taken while the worker counts on.
 *
 * The worker adds to an operator's entry after each evaluation, a few microseconds apart, so two
 * reads of a large map are never equal as a whole; each entry soon is. The maps of circuits change
 * at the begin and the end of steps only. Their counters never go back and their times are never
 * the same twice, so two equal reads mean that nothing changed in between.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/engine_internal.h"

int profiler_copy__heads(struct profiler_copy *copy)
{
	return engine_profiler__read(copy->memory, copy->layout, copy->address, &copy->object,
				     &copy->profiler);
}

int profiler_copy__circuits(struct profiler_copy *copy)
{
	int err = 0;

	for (int map = MAP_PROFILES; !err && map < PROFILER_MAPS; map++) {
		err = table__read(copy->memory, &copy->profiler.maps[map], &copy->maps[map].image);
		if (!err)
			err = engine_profiler__ids(copy->memory, copy->layout, &copy->profiler, map,
						   &copy->maps[map]);
	}
	return err;
}

/* Reads one operator's entry until two reads are equal. */
static int settle_entry(struct profiler_copy *copy, uint64_t bucket, uint8_t *entry)
{
	const struct table_header *header = &copy->profiler.maps[MAP_OPERATORS];

	for (int i = 0; i < ENGINE_TRIES; i++) {
		int err = buffer__read(&copy->entry, copy->memory,
				       table__entry_address(header, bucket), header->entry_size);

		if (err)
			return err;
		if (memcmp(entry, copy->entry.bytes, header->entry_size) == 0)
			return 0;
		memcpy(entry, copy->entry.bytes, header->entry_size);
	}
	return -EAGAIN;
}

int profiler_copy__operators(struct profiler_copy *copy)
{
	const struct table_header *header = &copy->profiler.maps[MAP_OPERATORS];
	size_t size = header->entry_size, ctrl = header->buckets * size;
	struct buffer *image = &copy->maps[MAP_OPERATORS].image;
	const uint8_t *entry;
	uint64_t cursor = 0;
	int err = table__read(copy->memory, header, image);

	if (err || header->items == 0)
		return err;
	err = table__read(copy->memory, header, &copy->again);
	if (err)
		return err;
	if (memcmp(image->bytes + ctrl, copy->again.bytes + ctrl, header->buckets))
		return -EAGAIN;
	while (!err && (entry = table__next(header, image->bytes, &cursor))) {
		size_t at = (size_t)(entry - image->bytes);

		if (memcmp(entry, copy->again.bytes + at, size) == 0)
			continue;
		memcpy(image->bytes + at, copy->again.bytes + at, size);
		err = settle_entry(copy, cursor - 1, image->bytes + at);
	}
	return err;
}

/* Whether the maps still lie where they did; a map that grows moves. */
static int check_heads(struct profiler_copy *copy)
{
	struct engine_profiler now;
	int err = engine_profiler__read(copy->memory, copy->layout, copy->address, &copy->object,
					&now);

	for (int map = 0; !err && map < PROFILER_MAPS; map++) {
		if (!table_header__equal(&copy->profiler.maps[map], &now.maps[map]))
			err = -EAGAIN;
	}
	return err;
}

int profiler_copy__check(struct profiler_copy *copy)
{
	for (int map = MAP_PROFILES; map < PROFILER_MAPS; map++) {
		const struct table_header *header = &copy->profiler.maps[map];
		int err = table__read(copy->memory, header, &copy->again);

		if (err)
			return err;
		if (header->items && memcmp(copy->maps[map].image.bytes, copy->again.bytes,
					    table_header__bytes(header)))
			return -EAGAIN;
	}
	return check_heads(copy);
}

int profiler_copy__operator_ids(struct profiler_copy *copy)
{
	int err = engine_profiler__ids(copy->memory, copy->layout, &copy->profiler, MAP_OPERATORS,
				       &copy->maps[MAP_OPERATORS]);

	/* They are what was copied unless the map is gone or has moved meanwhile. */
	return err ? err : check_heads(copy);
}

void profiler_copy__free(struct profiler_copy *copy)
{
	for (int map = 0; map < PROFILER_MAPS; map++) {
		buffer__free(&copy->maps[map].image);
		free(copy->maps[map].ids);
	}
	buffer__free(&copy->object);
	buffer__free(&copy->again);
	buffer__free(&copy->entry);
}
