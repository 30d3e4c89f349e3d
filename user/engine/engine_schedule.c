// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Executors and their DynamicScheduler: src/circuit/schedule.rs, schedule/dynamic_scheduler.rs. */
#include <errno.h>

#include "engine/engine_internal.h"

#define EXECUTOR_MAX 4096 /* bytes; holds a scheduler, a closure and a few flags */
#define BORROWS_MAX  1024
#define TASK_MIN     8 /* a task's entry in the map begins with its NodeId */

/* The parts of a trait object's vtable (rustc, ty::vtable): drop, size, align, methods. */
enum {
	VTABLE_SIZE = 1,
	VTABLE_ALIGN,
	VTABLE_WORDS,
};

struct scheduler_state {
	bool stepping;
	bool fresh; /* Inner::before_first_step */
};

/* Whether @bytes can be a prepared DynamicScheduler for a circuit of at most @nodes nodes. */
static bool decode_scheduler(struct memory *memory, const struct layout *layout,
			     const uint8_t *bytes, uint64_t nodes,
			     struct scheduler_state *ret_state)
{
	uint64_t tag = field_tag(layout, bytes, LAYOUT_SCHEDULER_TAG, LAYOUT_SCHEDULER_TAGSIZE);
	uint64_t none = layout__get(layout, LAYOUT_SCHEDULER_IS_NONE);
	uint64_t some = layout__get(layout, LAYOUT_SCHEDULER_IS_SOME);
	int64_t borrow = (int64_t)field_u64(layout, bytes, LAYOUT_SCHEDULER_BORROW);
	uint8_t fresh = *field(layout, bytes, LAYOUT_SCHEDULER_FRESH);
	struct table_header tasks;

	if (tag == none || (some != LAYOUT_ABSENT && tag != some))
		return false;
	if (borrow < -1 || borrow > BORROWS_MAX || fresh > 1)
		return false;
	if (table_header__decode(layout, field(layout, bytes, LAYOUT_SCHEDULER_TASKS), TASK_MIN,
				 &tasks) ||
	    tasks.items == 0 || tasks.items > nodes || tasks.buckets / 8 > tasks.items * 4 + 8)
		return false;
	if (!memory__readable(memory, tasks.ctrl, tasks.buckets))
		return false;
	*ret_state = (struct scheduler_state){ .stepping = borrow < 0, .fresh = fresh };
	return true;
}

/* The size of the executor by its vtable, 0 when that is none. */
static uint64_t executor_size(struct memory *memory, uint64_t vtable)
{
	uint64_t words[VTABLE_WORDS];
	const struct mapping *mapping = memory__mapping(memory, vtable);

	if (!mapping || !mapping->readable || mapping->writable || vtable % 8 ||
	    memory__read(memory, vtable, words, sizeof(words)))
		return 0;
	if (words[VTABLE_SIZE] > EXECUTOR_MAX || words[VTABLE_ALIGN] != 8)
		return 0;
	return words[VTABLE_SIZE];
}

uint64_t engine_scheduler__find(struct memory *memory, const struct layout *layout,
				uint64_t executor, uint64_t vtable, uint64_t nodes)
{
	uint64_t size, executor_bytes, found = 0;
	uint8_t bytes[EXECUTOR_MAX];

	if (fields__check(layout, FIELDS_SCHEDULER, NULL) || executor == 0 || executor % 8)
		return 0;
	size = layout__get(layout, LAYOUT_SCHEDULER_SIZE);
	executor_bytes = executor_size(memory, vtable);
	if (executor_bytes < size || memory__read(memory, executor, bytes, executor_bytes))
		return 0;
	for (uint64_t at = 0; at <= executor_bytes - size; at += 8) {
		struct scheduler_state state;

		if (!decode_scheduler(memory, layout, bytes + at, nodes, &state))
			continue;
		if (found)
			return 0;
		found = executor + at;
	}
	return found;
}

static int read_scheduler(struct memory *memory, const struct layout *layout, uint64_t address,
			  uint64_t nodes, struct scheduler_state *ret_state)
{
	uint64_t size = layout__get(layout, LAYOUT_SCHEDULER_SIZE);
	uint8_t bytes[EXECUTOR_MAX];
	int err;

	if (size > sizeof(bytes))
		return -ENODATA;
	err = memory__read(memory, address, bytes, size);
	if (err)
		return err == -ESRCH ? err : -EAGAIN;
	return decode_scheduler(memory, layout, bytes, nodes, ret_state) ? 0 : -EAGAIN;
}

/* When the open step began, which only the CPU profiler records. */
static int step_start(struct target *target, const struct layout *layout,
		      const struct engine_worker *worker, size_t circuit, uint64_t *ret_since)
{
	uint64_t profiler;
	int err = engine_profiler__find(target->memory, layout, worker, &profiler);

	*ret_since = 0;
	if (!err)
		err = engine_profiler__step_start(target->memory, layout, profiler,
						  &worker->circuits[circuit].id, ret_since);
	/* The profiler is off, or was turned on in the middle of this step. */
	return err == -ENODATA || err == -ENOENT ? 0 : err;
}

/* One try: -EAGAIN when a step begins or ends meanwhile. */
static int read_step(struct target *target, const struct layout *layout,
		     const struct engine_worker *worker, size_t circuit,
		     struct engine_step *ret_step)
{
	uint64_t scheduler = worker->circuits[circuit].scheduler;
	uint64_t nodes = worker->graph->node_count;
	struct scheduler_state before, after;
	uint64_t since = 0, again = 0;
	int err = read_scheduler(target->memory, layout, scheduler, nodes, &before);

	if (!err && before.stepping)
		err = step_start(target, layout, worker, circuit, &since);
	if (!err && before.stepping)
		err = step_start(target, layout, worker, circuit, &again);
	if (!err)
		err = read_scheduler(target->memory, layout, scheduler, nodes, &after);
	if (!err && (before.stepping != after.stepping || since != again))
		err = -EAGAIN;
	if (err)
		return err;
	*ret_step = (struct engine_step){
		.open = before.stepping,
		.ever = before.stepping || !before.fresh,
		.since_ns = since,
	};
	return 0;
}

int engine_worker__step(struct target *target, const struct layout *layout,
			const struct engine_worker *worker, size_t circuit,
			struct engine_step *ret_step)
{
	struct engine_root root;
	int err;

	if (circuit >= worker->circuit_count || worker->circuits[circuit].scheduler == 0 ||
	    fields__check(layout, FIELDS_SCHEDULER, NULL))
		return -ENODATA;
	err = engine_root__read(target->memory, layout, worker->circuits[0].address, &root);
	if (err)
		return err;
	for (int i = 0; i < ENGINE_TRIES; i++) {
		err = read_step(target, layout, worker, circuit, ret_step);
		if (err != -EAGAIN && err != -EFAULT && err != -EPROTO)
			return err;
	}
	return -EAGAIN;
}
