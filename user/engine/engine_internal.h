/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of this module share.
 */
#ifndef DBPROF_ENGINE_ENGINE_INTERNAL_H
#define DBPROF_ENGINE_ENGINE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/engine_reading.h"
#include "engine/fields.h"
#include "engine/gather.h"
#include "engine/hashmap.h"

/* How often a read is tried again while the worker changes what is read. */
#define ENGINE_TRIES 20

/* A circuit handle on a worker's stack. */
struct engine_handle {
	uint64_t address;
	uint64_t executor; /* both words of its Box<dyn Executor> */
	uint64_t executor_vtable;
	struct engine_idle idle;
};

/* The parts of the root's CircuitInner that we follow. */
struct engine_root {
	uint64_t address;    /* of its RcInner */
	struct extent nodes; /* of its Vec<RefCell<Box<dyn Node>>> */
	uint64_t circuit_handlers;
	uint64_t scheduler_handlers;
	uint64_t monitor; /* address of RcInner<RefCell<TraceMonitorInternal>> */
	struct engine_handle handle;
};

/* Decodes a copy of RcInner<CircuitInner<()>>. False when it cannot be a live root circuit. */
bool engine_root__decode(const struct layout *layout, const uint8_t *bytes,
			 struct engine_root *ret_root);
/* Reads it at @address. Returns 0, -EAGAIN when there is no live circuit, -ENOMEM, -ESRCH. */
int engine_root__read(struct memory *memory, const struct layout *layout, uint64_t address,
		      struct engine_root *ret_root);

/* Finds the root circuit of a worker. Returns as engine_worker__read(). */
int engine_root__find(struct target *target, const struct layout *layout,
		      const struct target_thread *thread, struct engine_root *ret_root,
		      struct fail *fail);

/*
 * Finds the CircuitHandles of the circuit @root in the copy @stack of the stack from @low on and
 * takes the one in the outermost frame. False when there is none.
 */
bool engine_handle__find(struct memory *memory, const struct layout *layout, const uint8_t *stack,
			 size_t len, uint64_t low, uint64_t root, struct engine_handle *ret_handle);

/*
 * Follows the event handler called @name of the map at @handlers into its closure, where the Rc
 * @closure_item is. Returns 0, -ENOENT when there is no such handler, -EPROTO, -EAGAIN, or as
 * memory__read().
 */
int engine_handlers__find(struct memory *memory, const struct layout *layout, uint64_t handlers,
			  const char *name, enum layout_item closure_item, uint64_t *ret_inner);

/* Lists the circuits of @graph with their addresses. Returns as engine_worker__read(). */
int engine_circuits__read(struct memory *memory, const struct layout *layout,
			  const struct engine_root *root, const struct graph *graph,
			  struct engine_circuit **ret_circuits, size_t *ret_count,
			  struct fail *fail);

/*
 * Finds the DynamicScheduler inside the executor of a circuit of @nodes nodes. There are several
 * types of executors, some of them generic, so it is recognised by its parts. 0 when there is not
 * exactly one that looks like it.
 */
uint64_t engine_scheduler__find(struct memory *memory, const struct layout *layout,
				uint64_t executor, uint64_t vtable, uint64_t nodes);

/* Reads a worker's RuntimeIdle once. Returns 0, -EAGAIN when it was changing, or as
 * memory__read(). */
int engine_idle__read(struct memory *memory, const struct engine_idle *idle,
		      struct engine_park *ret_park);

/* The maps of a CPUProfilerInner (src/profile/cpu.rs), by GlobalNodeId. */
enum profiler_map {
	MAP_OPERATORS,
	MAP_PROFILES,	   /* circuit_profiles */
	MAP_STARTS,	   /* step_start_times, of circuits in a step */
	MAP_ENDS,	   /* step_end_times, of circuits between two steps */
	MAP_START_CPU,	   /* step_start_cpu, as MAP_STARTS */
	MAP_START_WAIT,	   /* step_start_idle, likewise */
	MAP_START_REASONS, /* step_start_idle_by_reason, likewise */
	PROFILER_MAPS
};

struct engine_profiler {
	struct table_header maps[PROFILER_MAPS]; /* without items when the layout lacks it */
};

/* A copied map. */
struct map_copy {
	struct buffer image;
	struct node_path *ids; /* in the order of table__next() */
};

/* Finds a worker's RcInner<RefCell<CPUProfilerInner>>. Returns 0, -ENODATA when the profiler is
 * off or the layout does not know it, -EAGAIN, -EPROTO, or as memory__read(). */
int engine_profiler__find(struct memory *memory, const struct layout *layout,
			  const struct engine_worker *worker, uint64_t *ret_address);
/* Reads the heads of its maps; @object is room for it. Returns 0, -EPROTO, or as memory__read(). */
int engine_profiler__read(struct memory *memory, const struct layout *layout, uint64_t address,
			  struct buffer *object, struct engine_profiler *ret_profiler);
/* When the open step of circuit @id began. Returns 0, -ENOENT when none is open, or as above. */
int engine_profiler__step_start(struct memory *memory, const struct layout *layout,
				uint64_t address, const struct node_path *id, uint64_t *ret_ns);
/* Reads the ids in a map whose image was copied. Returns 0, -EPROTO, -ENOMEM, or as above. */
int engine_profiler__ids(struct memory *memory, const struct layout *layout,
			 const struct engine_profiler *profiler, enum profiler_map map,
			 struct map_copy *copy);

/* All maps of a CPUProfilerInner, copied while the worker counts on. */
struct profiler_copy {
	struct memory *memory;
	const struct layout *layout;
	uint64_t address;
	struct engine_profiler profiler;
	struct map_copy maps[PROFILER_MAPS];
	struct buffer object;
	struct buffer again; /* for second reads */
	struct buffer entry; /* of one entry */
};

/* The steps of a copy; each returns 0, -EAGAIN when the worker interfered, or as above. */
int profiler_copy__heads(struct profiler_copy *copy);
/* All maps but that of the operators, with their ids. */
int profiler_copy__circuits(struct profiler_copy *copy);
/* Each operator's entry such that two reads in a row agree on it. */
int profiler_copy__operators(struct profiler_copy *copy);
/* Whether the maps of circuits, and where all maps lie, are still as they were copied. */
int profiler_copy__check(struct profiler_copy *copy);
/* The operators' ids, which never change. */
int profiler_copy__operator_ids(struct profiler_copy *copy);
void profiler_copy__free(struct profiler_copy *copy);

/* Makes counters of a copy. Each returns 0, -EPROTO or -ENOMEM, and that of circuits -EAGAIN when
 * the copy was taken within the writing of an event. */
int engine_reading__take_circuits(const struct profiler_copy *copy, const struct graph *graph,
				  struct engine_reading *reading);
int engine_reading__take_operators(const struct profiler_copy *copy, const struct graph *graph,
				   struct engine_reading *reading);

#endif
