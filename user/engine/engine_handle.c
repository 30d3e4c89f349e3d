// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CircuitHandle and the RuntimeIdle in it: src/circuit/circuit_builder.rs, src/profile/cpu.rs. */
#include "engine/engine_internal.h"

/* The handle, two hooks of the runtime and the thread-local one share each Arc; profilers more. */
#define ARC_COUNT_MAX 4096

/* The address of the word that the Arc at @pointer shares, 0 when it is no live Arc. */
static uint64_t shared_word(struct memory *memory, const struct layout *layout,
			    const uint8_t *pointer)
{
	uint64_t inner = load_u64(pointer), strong;

	if (inner == 0 || inner % 8 ||
	    memory__read_u64(memory, inner + layout__get(layout, LAYOUT_ARC_STRONG), &strong))
		return 0;
	if (strong == 0 || strong > ARC_COUNT_MAX)
		return 0;
	return inner + layout__get(layout, LAYOUT_ARC_DATA);
}

static bool decode_idle(struct memory *memory, const struct layout *layout, const uint8_t *bytes,
			struct engine_idle *ret_idle)
{
	struct engine_idle idle = { 0 };
	uint64_t reason;

	if (!field_instant(layout, field(layout, bytes, LAYOUT_IDLE_BASE), &idle.base_ns))
		return false;
	idle.park_start = shared_word(memory, layout, field(layout, bytes, LAYOUT_IDLE_PARK_START));
	idle.total = shared_word(memory, layout, field(layout, bytes, LAYOUT_IDLE_TOTAL));
	idle.by_reason = shared_word(memory, layout, field(layout, bytes, LAYOUT_IDLE_BY_REASON));
	idle.park_reason =
		shared_word(memory, layout, field(layout, bytes, LAYOUT_IDLE_PARK_REASON));
	if (!idle.park_start || !idle.total || !idle.by_reason || !idle.park_reason)
		return false;
	if (memory__read_u64(memory, idle.park_reason, &reason) || reason >= PARK_REASONS)
		return false;
	*ret_idle = idle;
	return true;
}

static bool decode_handle(struct memory *memory, const struct layout *layout, const uint8_t *bytes,
			  struct engine_handle *ret_handle)
{
	struct engine_handle handle = {
		.executor = field_u64(layout, bytes, LAYOUT_HANDLE_EXECUTOR),
		.executor_vtable = field_u64(layout, bytes, LAYOUT_HANDLE_EXECUTOR_VTABLE),
	};
	const struct mapping *mapping = memory__mapping(memory, handle.executor_vtable);

	/* Vtables are constants, relocated before the program starts. */
	if (!mapping || !mapping->readable || mapping->writable || handle.executor % 8 ||
	    !memory__readable(memory, handle.executor, 8))
		return false;
	if (!decode_idle(memory, layout, field(layout, bytes, LAYOUT_HANDLE_IDLE), &handle.idle))
		return false;
	*ret_handle = handle;
	return true;
}

bool engine_handle__find(struct memory *memory, const struct layout *layout, const uint8_t *stack,
			 size_t len, uint64_t low, uint64_t root, struct engine_handle *ret_handle)
{
	uint64_t size, circuit;
	bool found = false;

	if (fields__check(layout, FIELDS_HANDLE, NULL))
		return false;
	size = layout__get(layout, LAYOUT_HANDLE_SIZE);
	circuit = layout__get(layout, LAYOUT_HANDLE_CIRCUIT);
	if (len < size)
		return false;
	/* Frames that have returned leave copies below; the handle that lives lies above them. */
	for (size_t at = circuit; at + 8 <= len && at - circuit <= len - size; at += 8) {
		if (load_u64(stack + at) != root)
			continue;
		if (decode_handle(memory, layout, stack + at - circuit, ret_handle)) {
			ret_handle->address = low + at - circuit;
			found = true;
		}
	}
	return found;
}
