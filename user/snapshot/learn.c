// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Slots: how far below a worker's thread pointer its stack tells the operator. It is the same for
 * all workers of a program, so that one of them is enough to learn it from.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/slots.h"
#include "snapshot/observer_internal.h"
#include "snapshot/turns.h"
#include "util/clock.h"

#define LEARN_NS   2000000000ULL /* how long an evaluation is waited for */
#define LOOK_EVERY 5		 /* polls between looks at the stacks without a probe */

/* Frames of the plan with the addresses that they have in this process. */
static void place_frame(struct observer *observer, const struct plan_frame *planned, uint64_t slot)
{
	struct dbprof_process *process = &observer->process;
	uint64_t bias = observer->target->load_bias;
	struct dbprof_frame *frame = &process->frames[process->frame_count];

	if (process->frame_count == DBPROF_FRAMES)
		return;
	*frame = (struct dbprof_frame){
		.return_address = planned->return_address + bias,
		.slot = slot,
		.inner = planned->inner,
		.state = planned->state_from_slot,
		.entry = planned->entry_to_slot,
	};
	for (size_t call = 0; call < sizeof(frame->counted) / sizeof(frame->counted[0]); call++)
		frame->counted[call] = planned->counted[call] + bias;
	process->frame_count++;
}

/* What memory tells of the frames' slots; none is not an error. */
static void read_slots(struct observer *observer, struct engine_slots slots[PLAN_FRAMES_MAX])
{
	const struct engine_worker **workers = calloc(observer->worker_count + 1, sizeof(*workers));
	struct engine_frame frames[PLAN_FRAMES_MAX];
	const struct plan *plan = &observer->plan;

	if (!workers)
		return;
	for (size_t i = 0; i < observer->worker_count; i++)
		workers[i] = observer->workers[i].engine;
	for (size_t i = 0; i < plan->frame_count; i++)
		frames[i] = (struct engine_frame){
			.return_address =
				plan->frames[i].return_address + observer->target->load_bias,
			.state_from_slot = plan->frames[i].state_from_slot,
		};
	engine_slots__learn(observer->target, &observer->layout, workers, observer->worker_count,
			    frames, plan->frame_count, slots);
	free(workers);
}

/* A frame with several slots takes several places; one without keeps a place for it. */
static void place_frames(struct observer *observer)
{
	struct engine_slots slots[PLAN_FRAMES_MAX] = {};
	const struct plan *plan = &observer->plan;

	observer->process.frame_count = 0;
	read_slots(observer, slots);
	for (size_t i = 0; i < plan->frame_count; i++) {
		place_frame(observer, &plan->frames[i], slots[i].count ? slots[i].distance[0] : 0);
		for (size_t more = 1; more < slots[i].count; more++)
			place_frame(observer, &plan->frames[i], slots[i].distance[more]);
	}
}

void learn__begin(struct observer *observer)
{
	const struct plan *plan = &observer->plan;

	observer->process = plan->process;
	observer->process.since = observer->options.joins ? UINT64_MAX : 0;
	observer->process.frame_count = 0;
	observer->process.pid = (uint32_t)observer->target->pid;
	observer->process.start_ticks = observer->target->start_ticks;
	turns__whole(&observer->process);
	if (observer->mode == MODE_ENGINE || !plan->parks)
		observer->process.waits = DBPROF_WAITS_NO_PROBES;
	if (observer->mode == MODE_WAITS)
		return;
	if (plan->frames_missing)
		observer->missing = plan->frames_missing;
	place_frames(observer);
}

/* The planned frame that a placed one was made of; NULL when there is none. */
static const struct plan_frame *planned_frame(const struct observer *observer,
					      const struct dbprof_frame *frame)
{
	const struct plan *plan = &observer->plan;

	for (size_t i = 0; i < plan->frame_count; i++)
		if (plan->frames[i].return_address + observer->target->load_bias ==
		    frame->return_address)
			return &plan->frames[i];
	return NULL;
}

/*
 * The depth at which tasks are entered: the same for all of them, whatever circuit they belong to,
 * since the same loop polls them. 0 when it is not known yet.
 */
static uint64_t known_depth(const struct observer *observer)
{
	for (uint32_t i = 0; i < observer->process.frame_count; i++) {
		const struct dbprof_frame *frame = &observer->process.frames[i];
		const struct plan_frame *planned = planned_frame(observer, frame);

		if (frame->slot && planned && frame->slot > planned->entry_to_slot)
			return frame->slot - planned->entry_to_slot;
	}
	for (size_t i = 0; i < observer->plan.frame_count; i++) {
		uint64_t depth = session__entry_depth(observer->session, observer->target->pid,
						      observer->plan.frames[i].entry);

		if (depth)
			return depth;
	}
	return 0;
}

/* Completes the frames' slots. Returns whether one is still missing. */
static bool complete_slots(struct observer *observer)
{
	uint64_t depth = known_depth(observer);
	bool changed = false, missing = false;

	for (uint32_t i = 0; i < observer->process.frame_count; i++) {
		struct dbprof_frame *frame = &observer->process.frames[i];
		const struct plan_frame *planned = planned_frame(observer, frame);

		if (frame->slot)
			continue;
		if (depth && planned)
			frame->slot = dbprof_slot(depth, planned->entry_to_slot);
		changed |= frame->slot != 0;
		missing |= !frame->slot;
	}
	observer->process.slots_known = observer->process.frame_count && !missing;
	if (changed || observer->process.slots_known)
		session__set_process(observer->session, observer->target->pid, &observer->process);
	return missing;
}

void learn__refresh(struct observer *observer)
{
	if (observer->process.frame_count)
		complete_slots(observer);
}

/* Whether a frame has no slot yet; engine mode sets no trap, not even for a moment. */
static bool wants_probe(const struct observer *observer)
{
	if (observer->mode != MODE_SAMPLED && observer->mode != MODE_EXACT)
		return false;
	for (uint32_t i = 0; i < observer->process.frame_count; i++)
		if (!observer->process.frames[i].slot)
			return true;
	return false;
}

void learn__probe(struct observer *observer)
{
	size_t failed;

	/* What memory told of one frame completes the others. */
	if (!observer->process.frame_count || !complete_slots(observer) || !wants_probe(observer))
		return;
	if (session__add(observer->session, &observer->plan, SESSION_KIND(PLAN_TASK_ENTRY),
			 observer->target->pid, observer->target->exe_path, &failed, NULL) ||
	    failed) {
		observer->missing =
			"the place on the stack that tells operators cannot be learned: "
			"no probe can be put at the entry of their tasks; steps and "
			"waits are measured, operators are not";
		return;
	}
	observer->learning = true;
	observer->learn_until = clock__now() + LEARN_NS;
}

/* Stacks tell more once operators have been evaluated, as they may not have been at the begin. */
static void look_again(struct observer *observer)
{
	if (observer->mode != MODE_ENGINE || !observer->worker_count ||
	    observer__has_slot(observer) || observer->looks++ % LOOK_EVERY)
		return;
	place_frames(observer);
	if (observer__has_slot(observer))
		complete_slots(observer);
}

void learn__poll(struct observer *observer, bool settled)
{
	static const char missing[] =
		"no operator was evaluated within 2 s, so that the place on the stack that tells "
		"operators could not be learned; until one is, steps and waits are measured, "
		"operators are not";

	if (!observer->learning) {
		look_again(observer);
		return;
	}
	if (!complete_slots(observer)) {
		observer->missing = NULL;
		/* The kernel takes up to a fifth of a second, in which no worker would be read. */
		if (!settled)
			return;
		session__drop(observer->session, observer->target->pid,
			      SESSION_KIND(PLAN_TASK_ENTRY));
		observer->learning = false;
	} else if (clock__now() >= observer->learn_until) {
		/* The probe costs nothing while nothing is evaluated, so that it stays. */
		observer->missing = missing;
	}
}

bool observer__has_slot(const struct observer *observer)
{
	for (uint32_t i = 0; i < observer->process.frame_count; i++)
		if (observer->process.frames[i].slot)
			return true;
	return false;
}
