// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "engine/fields.h"

#define OBJECT_MAX    65536		 /* the largest object that we believe, bytes */
#define VEC_BYTES     24		 /* three words: capacity, pointer, length */
#define COW_BYTES     24		 /* a String or a &str */
#define TABLE_BYTES   32		 /* four words: control bytes, mask, growth left, items */
#define CLOCK_BYTES   16		 /* Duration and timespec: seconds and nanoseconds */
#define IDLE_BYTES    48		 /* RuntimeIdle: an Instant and four Arcs */
#define ARC_BYTES     24		 /* ArcInner<u64>: two counts and the word */
#define REASONS_BYTES (10 * CLOCK_BYTES) /* PARK_REASONS Durations */
#define NO_ITEM	      LAYOUT_ITEMS
#define NSEC_PER_SEC  1000000000ull

/* A field, the object that must hold it and how long it is. */
struct span {
	enum layout_item item;
	enum layout_item object; /* its #size item, or NO_ITEM when its size is fixed */
	uint32_t object_bytes;	 /* with NO_ITEM */
	enum layout_item length; /* #size item of the field's own type, or NO_ITEM */
	uint32_t bytes;		 /* with NO_ITEM */
};

#define IN_BYTES(item, total, bytes)                          \
	{                                                     \
		LAYOUT_##item, NO_ITEM, total, NO_ITEM, bytes \
	}
#define IN(item, object, bytes)                                   \
	{                                                         \
		LAYOUT_##item, LAYOUT_##object, 0, NO_ITEM, bytes \
	}
#define EMBEDDED(item, object, inner)                                \
	{                                                            \
		LAYOUT_##item, LAYOUT_##object, 0, LAYOUT_##inner, 0 \
	}
#define WORD_IN(item, object) IN(item, object, 8)

static const struct span graph_spans[] = {
	IN_BYTES(VEC_CAP, VEC_BYTES, 8),
	IN_BYTES(VEC_PTR, VEC_BYTES, 8),
	IN_BYTES(VEC_LEN, VEC_BYTES, 8),
	IN_BYTES(COW_TAG, COW_BYTES, 8),
	IN_BYTES(COW_BORROWED_PTR, COW_BYTES, 8),
	IN_BYTES(COW_BORROWED_LEN, COW_BYTES, 8),
	IN_BYTES(COW_OWNED, COW_BYTES, VEC_BYTES),
	IN(LOCATION_FILE_PTR, LOCATION_SIZE, 8),
	IN(LOCATION_FILE_LEN, LOCATION_SIZE, 8),
	IN(LOCATION_LINE, LOCATION_SIZE, 4),
	IN(LOCATION_COLUMN, LOCATION_SIZE, 4),
	IN_BYTES(TABLE_CTRL, TABLE_BYTES, 8),
	IN_BYTES(TABLE_MASK, TABLE_BYTES, 8),
	IN_BYTES(TABLE_ITEMS, TABLE_BYTES, 8),
	WORD_IN(ROOT_STRONG, ROOT_SIZE),
	WORD_IN(ROOT_WEAK, ROOT_SIZE),
	EMBEDDED(ROOT_PARENT_TAG, ROOT_SIZE, ROOT_PARENT_TAGSIZE),
	WORD_IN(ROOT_NODE_ID, ROOT_SIZE),
	IN(ROOT_GLOBAL_ID, ROOT_SIZE, VEC_BYTES),
	WORD_IN(ROOT_NODES_BORROW, ROOT_SIZE),
	IN(ROOT_NODES, ROOT_SIZE, VEC_BYTES),
	WORD_IN(ROOT_CIRCUIT_HANDLERS, ROOT_SIZE),
	WORD_IN(ROOT_SCHEDULER_HANDLERS, ROOT_SIZE),
	WORD_IN(HANDLERS_STRONG, HANDLERS_SIZE),
	IN(HANDLERS_TABLE, HANDLERS_SIZE, TABLE_BYTES),
	IN(HANDLER_NAME, HANDLER_SIZE, VEC_BYTES),
	WORD_IN(HANDLER_CLOSURE, HANDLER_SIZE),
	IN_BYTES(MONITOR_CLOSURE, OBJECT_MAX, 8),
	WORD_IN(MONITOR_STRONG, MONITOR_SIZE),
	WORD_IN(MONITOR_BORROW, MONITOR_SIZE),
	EMBEDDED(MONITOR_ROOT, MONITOR_SIZE, NODE_SIZE),
	IN(MONITOR_EDGES, MONITOR_SIZE, TABLE_BYTES),
	IN(MONITOR_SCOPE, MONITOR_SIZE, VEC_BYTES),
	IN(NODE_ID, NODE_SIZE, VEC_BYTES),
	IN(NODE_NAME, NODE_SIZE, COW_BYTES),
	WORD_IN(NODE_LOCATION, NODE_SIZE),
	EMBEDDED(NODE_KIND_TAG, NODE_SIZE, NODE_KIND_TAGSIZE),
	IN(NODE_ITERATIVE, NODE_SIZE, 1),
	IN(NODE_CHILDREN, NODE_SIZE, TABLE_BYTES),
	EMBEDDED(NODE_REGION, NODE_SIZE, REGION_SIZE),
	WORD_IN(NODE_OUTPUT, NODE_SIZE),
	WORD_IN(CHILD_ENTRY_ID, CHILD_ENTRY_SIZE),
	EMBEDDED(CHILD_ENTRY_NODE, CHILD_ENTRY_SIZE, NODE_SIZE),
	IN(REGION_ID, REGION_SIZE, VEC_BYTES),
	IN(REGION_NODES, REGION_SIZE, VEC_BYTES),
	IN(REGION_NAME, REGION_SIZE, COW_BYTES),
	WORD_IN(REGION_LOCATION, REGION_SIZE),
	IN(REGION_CHILDREN, REGION_SIZE, VEC_BYTES),
	IN(EDGES_ENTRY_FROM, EDGES_ENTRY_SIZE, VEC_BYTES),
	IN(EDGES_ENTRY_TO, EDGES_ENTRY_SIZE, VEC_BYTES),
	IN(EDGE_TO, EDGE_SIZE, VEC_BYTES),
	EMBEDDED(EDGE_KIND_TAG, EDGE_SIZE, EDGE_KIND_TAGSIZE),
};

static const struct span nested_spans[] = {
	WORD_IN(NESTED_STRONG, NESTED_SIZE),
	WORD_IN(NESTED_WEAK, NESTED_SIZE),
	WORD_IN(NESTED_ROOT, NESTED_SIZE),
	IN(NESTED_GLOBAL_ID, NESTED_SIZE, VEC_BYTES),
	WORD_IN(NESTED_NODES_BORROW, NESTED_SIZE),
	IN(NESTED_NODES, NESTED_SIZE, VEC_BYTES),
	WORD_IN(NODE_CELL_POINTER, NODE_CELL_SIZE),
	IN(CHILD_NODE_ID, CHILD_NODE_SIZE, VEC_BYTES),
	WORD_IN(CHILD_NODE_CIRCUIT, CHILD_NODE_SIZE),
	WORD_IN(CHILD_NODE_EXECUTOR, CHILD_NODE_SIZE),
	WORD_IN(CHILD_NODE_EXECUTOR_VTABLE, CHILD_NODE_SIZE),
};

static const struct span handle_spans[] = {
	WORD_IN(HANDLE_CIRCUIT, HANDLE_SIZE),
	WORD_IN(HANDLE_EXECUTOR, HANDLE_SIZE),
	WORD_IN(HANDLE_EXECUTOR_VTABLE, HANDLE_SIZE),
	IN(HANDLE_IDLE, HANDLE_SIZE, IDLE_BYTES),
	IN_BYTES(IDLE_BASE, IDLE_BYTES, CLOCK_BYTES),
	IN_BYTES(IDLE_PARK_START, IDLE_BYTES, 8),
	IN_BYTES(IDLE_TOTAL, IDLE_BYTES, 8),
	IN_BYTES(IDLE_BY_REASON, IDLE_BYTES, 8),
	IN_BYTES(IDLE_PARK_REASON, IDLE_BYTES, 8),
	IN_BYTES(ARC_STRONG, ARC_BYTES, 8),
	IN_BYTES(ARC_DATA, ARC_BYTES, 8),
	IN_BYTES(INSTANT_SECS, CLOCK_BYTES, 8),
	IN_BYTES(INSTANT_NANOS, CLOCK_BYTES, 4),
};

static const struct span scheduler_spans[] = {
	EMBEDDED(SCHEDULER_TAG, SCHEDULER_SIZE, SCHEDULER_TAGSIZE),
	WORD_IN(SCHEDULER_BORROW, SCHEDULER_SIZE),
	IN(SCHEDULER_TASKS, SCHEDULER_SIZE, TABLE_BYTES),
	IN(SCHEDULER_FRESH, SCHEDULER_SIZE, 1),
};

static const struct span profiler_spans[] = {
	IN_BYTES(PROFILER_CLOSURE, OBJECT_MAX, 8),
	WORD_IN(PROFILER_STRONG, PROFILER_SIZE),
	IN(PROFILER_OPERATORS, PROFILER_SIZE, TABLE_BYTES),
	IN(PROFILER_CIRCUITS, PROFILER_SIZE, TABLE_BYTES),
	IN(PROFILER_STARTS, PROFILER_SIZE, TABLE_BYTES),
	IN(PROFILER_ENDS, PROFILER_SIZE, TABLE_BYTES),
	IN(OPERATOR_ENTRY_ID, OPERATOR_ENTRY_SIZE, VEC_BYTES),
	WORD_IN(OPERATOR_INVOCATIONS, OPERATOR_ENTRY_SIZE),
	IN(OPERATOR_REAL, OPERATOR_ENTRY_SIZE, CLOCK_BYTES),
	IN(OPERATOR_CPU, OPERATOR_ENTRY_SIZE, CLOCK_BYTES),
	IN(PROFILE_ENTRY_ID, PROFILE_ENTRY_SIZE, VEC_BYTES),
	WORD_IN(PROFILE_STEPS, PROFILE_ENTRY_SIZE),
	IN(PROFILE_STEP_REAL, PROFILE_ENTRY_SIZE, CLOCK_BYTES),
	IN(PROFILE_STEP_CPU, PROFILE_ENTRY_SIZE, CLOCK_BYTES),
	IN(PROFILE_WAIT_REAL, PROFILE_ENTRY_SIZE, CLOCK_BYTES),
	IN(PROFILE_WAIT_BY_REASON, PROFILE_ENTRY_SIZE, REASONS_BYTES),
	IN(PROFILE_IDLE_REAL, PROFILE_ENTRY_SIZE, CLOCK_BYTES),
	IN(START_ENTRY_ID, START_ENTRY_SIZE, VEC_BYTES),
	IN(START_INSTANT, START_ENTRY_SIZE, CLOCK_BYTES),
	IN_BYTES(DURATION_SECS, CLOCK_BYTES, 8),
	IN_BYTES(DURATION_NANOS, CLOCK_BYTES, 4),
	IN_BYTES(INSTANT_SECS, CLOCK_BYTES, 8),
	IN_BYTES(INSTANT_NANOS, CLOCK_BYTES, 4),
};

static const struct span baseline_spans[] = {
	IN(PROFILER_START_CPU, PROFILER_SIZE, TABLE_BYTES),
	IN(PROFILER_START_WAIT, PROFILER_SIZE, TABLE_BYTES),
	IN(PROFILER_START_REASONS, PROFILER_SIZE, TABLE_BYTES),
	IN(CLOCK_ENTRY_ID, CLOCK_ENTRY_SIZE, VEC_BYTES),
	IN(CLOCK_DURATION, CLOCK_ENTRY_SIZE, CLOCK_BYTES),
	IN(REASONS_ENTRY_ID, REASONS_ENTRY_SIZE, VEC_BYTES),
	IN(REASONS_DURATIONS, REASONS_ENTRY_SIZE, REASONS_BYTES),
	WORD_IN(PROFILE_IDLES, PROFILE_ENTRY_SIZE),
};

static int get_known(const struct layout *layout, enum layout_item item, uint64_t *ret_value,
		     struct fail *fail)
{
	*ret_value = layout__get(layout, item);
	if (*ret_value == LAYOUT_ABSENT)
		return fail__set(fail, -ENODATA, "the layout from %s lacks %s", layout->source,
				 layout_item__name(item));
	return 0;
}

static int check_size(const struct layout *layout, enum layout_item item, uint32_t fixed,
		      uint64_t *ret_size, struct fail *fail)
{
	uint64_t size = fixed;
	int err = item == NO_ITEM ? 0 : get_known(layout, item, &size, fail);

	if (err)
		return err;
	if (size == 0 || size > OBJECT_MAX)
		return fail__set(fail, -EPROTO, "the layout from %s gives %s an impossible size",
				 layout->source, layout_item__name(item));
	*ret_size = size;
	return 0;
}

static int check_span(const struct layout *layout, const struct span *span, struct fail *fail)
{
	uint64_t offset, size, bytes;
	int err = get_known(layout, span->item, &offset, fail);

	if (!err)
		err = check_size(layout, span->object, span->object_bytes, &size, fail);
	if (!err)
		err = check_size(layout, span->length, span->bytes, &bytes, fail);
	if (err)
		return err;
	if (bytes > size || offset > size - bytes)
		return fail__set(fail, -EPROTO, "the layout from %s puts %s outside of its type",
				 layout->source, layout_item__name(span->item));
	return 0;
}

int fields__check(const struct layout *layout, enum fields_part part, struct fail *fail)
{
	static const struct {
		const struct span *spans;
		size_t count;
	} parts[] = {
#define PART(spans) { spans, sizeof(spans) / sizeof((spans)[0]) }
		[FIELDS_GRAPH] = PART(graph_spans),
		[FIELDS_NESTED] = PART(nested_spans),
		[FIELDS_HANDLE] = PART(handle_spans),
		[FIELDS_SCHEDULER] = PART(scheduler_spans),
		[FIELDS_PROFILER] = PART(profiler_spans),
		[FIELDS_BASELINES] = PART(baseline_spans),
#undef PART
	};
	int err;

	for (size_t i = 0; i < parts[part].count; i++) {
		err = check_span(layout, &parts[part].spans[i], fail);
		if (err)
			return err;
	}
	if (part == FIELDS_PROFILER && layout__get(layout, LAYOUT_DURATION_SIZE) != CLOCK_BYTES)
		return fail__set(fail, -ENODATA, "the layout from %s has Durations of another size",
				 layout->source);
	return 0;
}

uint64_t field_tag(const struct layout *layout, const uint8_t *object, enum layout_item tag_item,
		   enum layout_item tagsize_item)
{
	uint64_t size = layout__get(layout, tagsize_item);
	uint64_t tag = 0;

	/* Little-endian, as every machine that DBSP runs on. */
	memcpy(&tag, field(layout, object, tag_item), size < sizeof(tag) ? size : sizeof(tag));
	return tag;
}

/* What a Vec of any type holds, whose elements lie at multiples of @alignment. */
static bool vec_extent(const struct layout *layout, const uint8_t *vec, uint64_t max,
		       uint64_t alignment, struct extent *ret_extent)
{
	uint64_t capacity = field_u64(layout, vec, LAYOUT_VEC_CAP);
	uint64_t addr = field_u64(layout, vec, LAYOUT_VEC_PTR);
	uint64_t len = field_u64(layout, vec, LAYOUT_VEC_LEN);

	/* A Vec without elements has a dangling pointer, its alignment. */
	if (len > capacity || len > max || capacity > INT64_MAX || addr % alignment || !addr)
		return false;
	*ret_extent = (struct extent){ .addr = addr, .len = len };
	return true;
}

bool field_vec(const struct layout *layout, const uint8_t *vec, uint64_t max,
	       struct extent *ret_elements)
{
	return vec_extent(layout, vec, max, 8, ret_elements);
}

bool field_string(const struct layout *layout, const uint8_t *vec, struct extent *ret_text)
{
	return vec_extent(layout, vec, TEXT_MAX, 1, ret_text);
}

bool field_cow(const struct layout *layout, const uint8_t *cow, struct extent *ret_text)
{
	uint64_t addr, len;

	if (field_u64(layout, cow, LAYOUT_COW_TAG) != layout__get(layout, LAYOUT_COW_IS_BORROWED))
		return field_string(layout, field(layout, cow, LAYOUT_COW_OWNED), ret_text);
	addr = field_u64(layout, cow, LAYOUT_COW_BORROWED_PTR);
	len = field_u64(layout, cow, LAYOUT_COW_BORROWED_LEN);
	if (!addr || len > TEXT_MAX)
		return false;
	*ret_text = (struct extent){ .addr = addr, .len = len };
	return true;
}

static bool clock_ns(uint64_t secs, uint32_t nanos, uint64_t *ret_ns)
{
	if (nanos >= NSEC_PER_SEC || secs > INT64_MAX / NSEC_PER_SEC - 1)
		return false;
	*ret_ns = secs * NSEC_PER_SEC + nanos;
	return true;
}

bool field_duration(const struct layout *layout, const uint8_t *duration, uint64_t *ret_ns)
{
	return clock_ns(field_u64(layout, duration, LAYOUT_DURATION_SECS),
			field_u32(layout, duration, LAYOUT_DURATION_NANOS), ret_ns);
}

bool field_instant(const struct layout *layout, const uint8_t *instant, uint64_t *ret_ns)
{
	return clock_ns(field_u64(layout, instant, LAYOUT_INSTANT_SECS),
			field_u32(layout, instant, LAYOUT_INSTANT_NANOS), ret_ns);
}

bool node_path__from_words(const uint64_t *words, uint64_t count, struct node_path *ret_path)
{
	struct node_path path = { 0 };

	if (count > NODE_PATH_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (words[i] > UINT32_MAX)
			return false;
		path.id[i] = (uint32_t)words[i];
	}
	path.depth = (uint32_t)count;
	*ret_path = path;
	return true;
}
