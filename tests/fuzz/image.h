/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A worker's memory as far as it was read, in a file: what record_memory writes and fuzz_memory
 * corrupts. Both do the same reads.
 */
#ifndef DBPROF_TESTS_IMAGE_H
#define DBPROF_TESTS_IMAGE_H

#include <stdint.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/engine_reading.h"
#include "engine/slots.h"
#include "plan/plan.h"

#define IMAGE_PAGE 4096u

struct image_mapping {
	uint64_t start;
	uint64_t end;
	uint8_t readable;
	uint8_t writable;
	uint8_t executable;
	uint8_t padding[5];
};

/* What was read at once. */
struct image_span {
	uint64_t addr;
	uint64_t len;
};

struct image_head {
	uint64_t mappings;
	uint64_t pages;
	uint64_t spans;
	uint64_t clock_ns; /* CLOCK_MONOTONIC then */
	uint64_t stack_pointer;
	uint64_t frame_count;
	struct engine_frame frames[PLAN_FRAMES_MAX];
	struct layout layout;
};

/* Behind the head: mappings, addresses of pages, spans, and the pages. */

/* All that is ever read of a worker; its stack is searched for @slots only when they are wanted. */
static inline int image__exercise(struct target *target, const struct image_head *head,
				  const struct target_thread *thread, bool wants_slots)
{
	struct engine_slots slots[PLAN_FRAMES_MAX];
	struct engine_reading *reading;
	struct engine_worker *worker;
	struct engine_park park;
	struct engine_step step;
	struct fail fail = { 0 };
	int err = engine_worker__read(target, &head->layout, thread, &worker, &fail);

	if (err)
		return err;
	engine_worker__park(target, &head->layout, worker, &park);
	for (size_t i = 0; i < worker->circuit_count; i++)
		engine_worker__step(target, &head->layout, worker, i, &step);
	err = -ENODATA;
	if (engine_worker__profiled(target, &head->layout, worker))
		err = engine_worker__reading(target, &head->layout, worker, &reading);
	if (!err)
		engine_reading__free(reading);
	if (wants_slots)
		engine_slots__learn(target, &head->layout,
				    (const struct engine_worker *[]){ worker }, 1, head->frames,
				    head->frame_count, slots);
	engine_worker__free(worker);
	return err;
}

#endif
