/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields of the engine's objects in copied memory, by the numbers of a layout.
 *
 * A layout can come from a file, so it is checked before use: afterwards each field lies inside
 * of its object, and the accessors need no further test.
 */
#ifndef DBPROF_ENGINE_FIELDS_H
#define DBPROF_ENGINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/graph.h"
#include "layout/layout.h"
#include "util/fail.h"

/* What a use of the layout needs of it. */
enum fields_part {
	FIELDS_GRAPH,	  /* circuits, event handlers, the monitor's graph */
	FIELDS_NESTED,	  /* nested circuits and their nodes */
	FIELDS_HANDLE,	  /* CircuitHandle and RuntimeIdle */
	FIELDS_SCHEDULER, /* DynamicScheduler */
	FIELDS_PROFILER,  /* CPUProfilerInner */
	FIELDS_BASELINES, /* the same: what its clocks showed when the open steps began */
};

/*
 * Whether all fields of @part are known and lie inside of their objects. Returns 0, -ENODATA when
 * one is unknown, -EPROTO when one lies outside.
 */
int fields__check(const struct layout *layout, enum fields_part part, struct fail *fail);

static inline const uint8_t *field(const struct layout *layout, const uint8_t *object,
				   enum layout_item item)
{
	return object + layout->value[item];
}

static inline uint64_t load_u64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t field_u64(const struct layout *layout, const uint8_t *object,
				 enum layout_item item)
{
	return load_u64(field(layout, object, item));
}

static inline uint32_t field_u32(const struct layout *layout, const uint8_t *object,
				 enum layout_item item)
{
	uint32_t value;

	memcpy(&value, field(layout, object, item), sizeof(value));
	return value;
}

/* The discriminant at @tag_item of an enum, whose size is 1, 2, 4 or 8 bytes. */
uint64_t field_tag(const struct layout *layout, const uint8_t *object, enum layout_item tag_item,
		   enum layout_item tagsize_item);

/* Where a Vec's elements, or a text's bytes, lie in the target. */
struct extent {
	uint64_t addr;
	uint64_t len;
};

/* A Vec of at most @max elements with an alignment of 8. False when it cannot be one. */
bool field_vec(const struct layout *layout, const uint8_t *vec, uint64_t max,
	       struct extent *ret_elements);
/* The text of a String's Vec<u8>, or of a Cow<'static, str>. */
bool field_string(const struct layout *layout, const uint8_t *vec, struct extent *ret_text);
bool field_cow(const struct layout *layout, const uint8_t *cow, struct extent *ret_text);

/* A core::time::Duration or the timespec of an Instant. False when it cannot be one. */
bool field_duration(const struct layout *layout, const uint8_t *duration, uint64_t *ret_ns);
bool field_instant(const struct layout *layout, const uint8_t *instant, uint64_t *ret_ns);

/* A node path from the words of its Vec<NodeId>. False when an id is too large. */
bool node_path__from_words(const uint64_t *words, uint64_t count, struct node_path *ret_path);

#define TEXT_MAX (64 * 1024) /* the longest name that we believe, bytes */

#endif
