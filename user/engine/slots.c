// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A frame of an operator's task shows by the return address in it, also when it is dead and nothing
 * has been pushed over it since. It is proven by what the frame says of the task: its state names a
 * node of a circuit that the worker is known to have. The memory of a dead frame's task may be in
 * use for something else; then the same place on two workers' stacks has to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/fields.h"
#include "engine/gather.h"
#include "engine/slots.h"
#include "util/clock.h"

/* The tasks of a step run not far below the thread's outermost frame: 10 KiB in 0.354.0. */
#define DEPTH_MAX      (1ull << 20)
#define SCAN_MAX       (16ull << 20) /* of a stack mapping, in search of the control block */
#define SCAN_CHUNK     (64ull << 10)
#define PAGE	       4096ull
#define TCB_ALIGN      64 /* TCB_ALIGNMENT, sysdeps/x86_64/nptl/tls.h of glibc */
#define CANDIDATES_MAX 8  /* places of one frame */
#define OFFSET_MAX     (1ull << 16)
#define LOOK_NS	       20000000ull
#define LOOK_PAUSE_NS  100000

/* tcbhead_t, sysdeps/x86_64/nptl/tls.h of glibc: `tcb` and `self` hold its own address. */
#define TCB_TCB	 0
#define TCB_SELF 16

struct candidate {
	uint64_t distance;
	uint64_t seen; /* the return address was there: a bit per worker, by its place modulo 64 */
	uint64_t proven; /* and the task's state was right */
};

struct candidates {
	struct candidate list[CANDIDATES_MAX];
	size_t count;
};

/* The part of a worker's stack to look at. */
struct stack_part {
	uint64_t low;
	uint64_t pointer; /* the thread pointer */
	uint32_t *nodes;  /* per circuit of the worker: one more than its highest local id */
};

struct learning {
	struct target *target;
	const struct layout *layout;
	const struct engine_worker *const *workers;
	struct stack_part *parts; /* per worker; pointer 0: not to be had */
	size_t worker_count;
	const struct engine_frame *frames;
	struct candidates *found; /* per frame */
	size_t frame_count;
	struct buffer stack;
};

/* The first control block from @low on. */
static int find_control_block(struct memory *memory, uint64_t low, uint64_t high,
			      uint64_t *ret_pointer)
{
	uint64_t end = high - low > SCAN_MAX ? low + SCAN_MAX : high;
	struct buffer chunk = { 0 };
	int err = 0;

	for (uint64_t from = (low + TCB_ALIGN - 1) & ~(TCB_ALIGN - 1ull); !err && from < end;
	     from += SCAN_CHUNK) {
		size_t len = end - from < SCAN_CHUNK ? end - from : SCAN_CHUNK;

		err = buffer__read(&chunk, memory, from, len);
		for (size_t at = 0; !err && at + TCB_SELF + 8 <= len; at += TCB_ALIGN) {
			if (load_u64(chunk.bytes + at + TCB_TCB) != from + at ||
			    load_u64(chunk.bytes + at + TCB_SELF) != from + at)
				continue;
			*ret_pointer = from + at;
			buffer__free(&chunk);
			return 0;
		}
	}
	buffer__free(&chunk);
	return err == -ENOMEM || err == -ESRCH ? err : -ENOENT;
}

int engine_slots__thread_pointer(struct target *target, pid_t tid, uint64_t *ret_pointer)
{
	uint64_t low, high;
	int err = target__thread_stack(target, tid, &low, &high);

	return err ? err : find_control_block(target->memory, low, high, ret_pointer);
}

/*
 * The lowest page below @high that the stack has been using without a gap, not lower than @low. To
 * read the others would make the kernel map them (Documentation/admin-guide/mm/pagemap.rst).
 */
static uint64_t used_from(const struct target *target, pid_t tid, uint64_t low, uint64_t high)
{
	const uint64_t used = 1ull << 63 | 1ull << 62; /* present, or swapped out */
	uint64_t pages[DEPTH_MAX / PAGE + 1], from = high & ~(PAGE - 1);
	size_t count = (from - low) / PAGE, bytes = count * sizeof(*pages);
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "task/%d/pagemap", tid);
	fd = openat(target->proc_dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return low;
	if (pread(fd, pages, bytes, (off_t)(low / PAGE * sizeof(*pages))) != (ssize_t)bytes) {
		close(fd);
		return low;
	}
	close(fd);
	while (count && pages[count - 1] & used)
		count--;
	return low + count * PAGE;
}

/* Whether @state is the state of a task that evaluates a node of a circuit of the worker. */
static bool is_task(const struct learning *learning, size_t worker, uint64_t state)
{
	const struct engine_worker *engine = learning->workers[worker];
	struct memory *memory = learning->target->memory;
	uint64_t circuit, node;

	if (!state || state % 8 || state > INT64_MAX ||
	    memory__read_u64(memory, state + layout__get(learning->layout, LAYOUT_TASK_CIRCUIT),
			     &circuit) ||
	    memory__read_u64(memory, state + layout__get(learning->layout, LAYOUT_TASK_NODE),
			     &node))
		return false;
	for (size_t i = 0; circuit && i < engine->circuit_count; i++)
		if (engine->circuits[i].address == circuit)
			return node < learning->parts[worker].nodes[i];
	return false;
}

static struct candidate *candidate_at(struct candidates *candidates, uint64_t distance)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->list[i].distance == distance)
			return &candidates->list[i];
	if (candidates->count == CANDIDATES_MAX)
		return NULL;
	candidates->list[candidates->count] = (struct candidate){ .distance = distance };
	return &candidates->list[candidates->count++];
}

/* Looks for the frames in the copy of a worker's stack. */
static void scan(struct learning *learning, size_t worker)
{
	const struct stack_part *part = &learning->parts[worker];
	const uint8_t *bytes = learning->stack.bytes;
	size_t len = part->pointer - part->low;
	uint64_t bit = 1ull << worker % 64;

	for (size_t at = 0; at + 8 <= len; at += 8) {
		uint64_t word = load_u64(bytes + at);

		for (size_t i = 0; i < learning->frame_count; i++) {
			int64_t state = (int64_t)at + learning->frames[i].state_from_slot;
			struct candidate *candidate;

			if (word != learning->frames[i].return_address)
				continue;
			candidate = candidate_at(&learning->found[i], len - at);
			if (!candidate)
				continue;
			candidate->seen |= bit;
			if (state >= 0 && (uint64_t)state + 8 <= len &&
			    is_task(learning, worker, load_u64(bytes + state)))
				candidate->proven |= bit;
		}
	}
}

/* The worker's circuits are those nodes of its graph that are circuits, in the same order. */
static size_t *index_circuits(const struct graph *graph)
{
	size_t *indices = calloc(graph->node_count + 1, sizeof(*indices)), count = 0;

	for (size_t i = 0; indices && i < graph->node_count; i++)
		if (graph->nodes[i].kind == NODE_CIRCUIT)
			indices[i] = count++;
	return indices;
}

/* Local ids need not be dense: a circuit's highest one bounds them. */
static int count_nodes(const struct engine_worker *worker, uint32_t **ret_nodes)
{
	const struct graph *graph = worker->graph;
	uint32_t *nodes = calloc(worker->circuit_count + 1, sizeof(*nodes));
	size_t *indices = index_circuits(graph);

	if (!nodes || !indices) {
		free(nodes);
		free(indices);
		return -ENOMEM;
	}
	for (size_t i = 1; i < graph->node_count; i++) {
		const struct graph_node *node = &graph->nodes[i];
		uint32_t local = node->id.id[node->id.depth - 1];
		size_t circuit = indices[node->circuit];

		if (circuit < worker->circuit_count && local >= nodes[circuit])
			nodes[circuit] = local + 1;
	}
	free(indices);
	*ret_nodes = nodes;
	return 0;
}

static int find_part(const struct learning *learning, pid_t tid, struct stack_part *part)
{
	struct target *target = learning->target;
	uint64_t low, high, pointer;
	const struct mapping *mapping;
	int err = target__thread_stack(target, tid, &low, &high);

	if (!err)
		err = find_control_block(target->memory, low, high, &pointer);
	if (err)
		return err;
	mapping = memory__mapping(target->memory, pointer);
	if (!mapping)
		return -EFAULT;
	low = pointer > DEPTH_MAX ? (pointer - DEPTH_MAX) & ~(PAGE - 1) : 0;
	part->low = used_from(target, tid, low > mapping->start ? low : mapping->start, pointer);
	part->pointer = pointer;
	return 0;
}

/* A worker that has ended, or whose stack is not like others, teaches nothing. */
static int find_parts(struct learning *learning)
{
	learning->parts = calloc(learning->worker_count + 1, sizeof(*learning->parts));
	if (!learning->parts)
		return -ENOMEM;
	for (size_t i = 0; i < learning->worker_count; i++) {
		struct stack_part *part = &learning->parts[i];
		int err = find_part(learning, learning->workers[i]->tid, part);

		if (!err)
			err = count_nodes(learning->workers[i], &part->nodes);
		if (err == -ENOMEM || err == -EPERM ||
		    (err == -ESRCH && !target__alive(learning->target)))
			return err;
		if (err)
			part->pointer = 0;
	}
	return 0;
}

static bool all_proven(const struct learning *learning)
{
	for (size_t i = 0; i < learning->frame_count; i++) {
		bool proven = false;

		for (size_t k = 0; k < learning->found[i].count; k++)
			proven |= learning->found[i].list[k].proven != 0;
		if (!proven)
			return false;
	}
	return true;
}

static int look_at_all(struct learning *learning)
{
	for (size_t i = 0; i < learning->worker_count; i++) {
		const struct stack_part *part = &learning->parts[i];
		int err;

		if (!part->pointer)
			continue;
		err = buffer__read(&learning->stack, learning->target->memory, part->low,
				   part->pointer - part->low);
		if (!err)
			scan(learning, i);
		else if (err == -ENOMEM || (err == -ESRCH && !target__alive(learning->target)))
			return err;
	}
	return 0;
}

/* Evaluations take microseconds, so that one look can miss them all. */
static int look_for_a_while(struct learning *learning)
{
	const struct timespec pause = { 0, LOOK_PAUSE_NS };
	uint64_t end = clock__now() + LOOK_NS;
	int err;

	for (;;) {
		err = look_at_all(learning);
		if (err || all_proven(learning) || clock__now() >= end)
			return err;
		nanosleep(&pause, NULL);
	}
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	int proven = __builtin_popcountll(a->proven) - __builtin_popcountll(b->proven);

	if (proven)
		return proven > 0;
	return __builtin_popcountll(a->seen) > __builtin_popcountll(b->seen);
}

/* The best places of a frame: those proven, or met on two workers. */
static void choose(const struct candidates *candidates, struct engine_slots *ret_slots)
{
	struct candidate best[ENGINE_SLOTS_MAX] = {};
	size_t count = 0;

	for (size_t i = 0; i < candidates->count; i++) {
		struct candidate candidate = candidates->list[i];
		size_t at = count;

		if (!candidate.proven && __builtin_popcountll(candidate.seen) < 2)
			continue;
		while (at > 0 && is_better(&candidate, &best[at - 1]))
			at--;
		if (at == ENGINE_SLOTS_MAX)
			continue;
		count = count < ENGINE_SLOTS_MAX ? count + 1 : count;
		memmove(&best[at + 1], &best[at], (count - at - 1) * sizeof(*best));
		best[at] = candidate;
	}
	*ret_slots = (struct engine_slots){ .count = count };
	for (size_t i = 0; i < count; i++)
		ret_slots->distance[i] = best[i].distance;
}

static void free_learning(struct learning *learning)
{
	for (size_t i = 0; learning->parts && i < learning->worker_count; i++)
		free(learning->parts[i].nodes);
	free(learning->parts);
	free(learning->found);
	buffer__free(&learning->stack);
}

int engine_slots__learn(struct target *target, const struct layout *layout,
			const struct engine_worker *const *workers, size_t worker_count,
			const struct engine_frame *frames, size_t frame_count,
			struct engine_slots *ret_slots)
{
	struct learning learning = {
		.target = target,
		.layout = layout,
		.workers = workers,
		.worker_count = worker_count,
		.frames = frames,
		.frame_count = frame_count,
	};
	int err;

	if (layout__get(layout, LAYOUT_TASK_CIRCUIT) > OFFSET_MAX ||
	    layout__get(layout, LAYOUT_TASK_NODE) > OFFSET_MAX)
		return -ENODATA;
	learning.found = calloc(frame_count + 1, sizeof(*learning.found));
	if (!learning.found)
		return -ENOMEM;
	err = find_parts(&learning);
	if (!err)
		err = look_for_a_while(&learning);
	for (size_t i = 0; !err && i < frame_count; i++)
		choose(&learning.found[i], &ret_slots[i]);
	free_learning(&learning);
	return err;
}
