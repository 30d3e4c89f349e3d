// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/stack_frames.h"
#include "export/stacks.h"
#include "export/time_books.h"

/* Of one telling. */
struct telling {
	const struct profile_source *source;
	const struct stack_sink *sink;
	void *context;
	struct time_table table;
	struct stack_frames frames;
	struct stack_notes notes;
	bool times; /* some worker has some */

	/* Of one worker. */
	size_t worker;
	struct time_books books;
	const struct stack_frame **stack; /* the open clusters, below process and worker */
	size_t depth;
	uint64_t waits_told_ns;
	int err; /* the first one; it makes the rest a no-op */
};

static void push(struct telling *telling, struct known_frame *frame)
{
	if (!telling->err && !frame->told) {
		frame->frame.number = telling->frames.told++;
		frame->told = true;
		if (telling->sink->frame)
			telling->err = telling->sink->frame(telling->context, &frame->frame);
	}
	telling->stack[telling->depth++] = &frame->frame;
}

static int64_t clamp(uint64_t nanos)
{
	return nanos < INT64_MAX ? (int64_t)nanos : INT64_MAX;
}

/* One sample, @leaf on top of the stack as it is; nothing when it took no time. */
static void tell(struct telling *telling, struct known_frame *leaf, uint64_t wall, uint64_t cpu)
{
	struct stack_sample sample = {
		.frames = telling->stack,
		.worker = telling->worker + telling->source->first_worker,
		.node = "",
		.reason = leaf->frame.name,
		.wall_ns = clamp(wall),
		.cpu_ns = clamp(cpu < wall ? cpu : wall),
	};

	if (wall == 0 || telling->err)
		return;
	push(telling, leaf);
	sample.depth = telling->depth;
	for (size_t i = telling->depth; i-- > 0 && !sample.node[0];)
		sample.node = telling->stack[i]->node;
	if (!telling->err)
		telling->err = telling->sink->sample(telling->context, &sample);
	telling->depth--;
}

static void tell_parts(struct telling *telling, const struct time_parts *parts)
{
	for (unsigned int i = 0; i < PARTS; i++)
		tell(telling, &telling->frames.parts[i], parts->ns[i],
		     i == PART_COMPUTING ? parts->ns[i] : 0);
}

/* The parts of @parts below a frame in brackets. */
static void tell_special(struct telling *telling, enum special_frame special,
			 const struct time_parts *parts)
{
	if (time_parts__wall(parts) == 0)
		return;
	push(telling, &telling->frames.special[special]);
	tell_parts(telling, parts);
	telling->depth--;
}

/* So much of the waits' CPU time as comes with the next @nanos of them; all add up exactly. */
static uint64_t next_wait_cpu(struct telling *telling, uint64_t nanos)
{
	const struct time_books *books = &telling->books;
	unsigned __int128 cpu = books->wait_cpu_ns;
	uint64_t before = (uint64_t)(cpu * telling->waits_told_ns / books->wait_ns);

	telling->waits_told_ns += nanos;
	return (uint64_t)(cpu * telling->waits_told_ns / books->wait_ns) - before;
}

static void tell_waits(struct telling *telling, const struct circuit_time *circuit)
{
	bool open = false;

	for (size_t i = 0; i < telling->table.reason_count; i++) {
		if (circuit->wait_ns[i] == 0)
			continue;
		if (!open)
			push(telling, &telling->frames.special[FRAME_WAITING]);
		open = true;
		tell(telling, stack_frames__reason(&telling->frames, i, telling->table.reasons[i]),
		     circuit->wait_ns[i], next_wait_cpu(telling, circuit->wait_ns[i]));
	}
	telling->depth -= open;
}

/*
 * What is left of the steps is the scheduler's, unless evaluations that are not over may be in it:
 * only samples tell those.
 */
static enum special_frame rest_frame(const struct telling *telling)
{
	if (!telling->books.operators)
		return FRAME_NO_OPERATORS;
	if (telling->table.steps.open_step_ns > 0 && !telling->table.steps.sampled)
		return FRAME_OPEN;
	return FRAME_SCHEDULER;
}

/* What belongs to the root itself, which is on top of the stack. */
static void tell_root(struct telling *telling)
{
	struct time_parts timing = { { [PART_COMPUTING] = telling->books.engine_timing_ns } };
	struct time_parts lost =
		time_entry__parts(&telling->table.entries[telling->table.graph->node_count]);

	tell_special(telling, rest_frame(telling), &telling->books.left);
	tell_special(telling, FRAME_TIMING, &timing);
	tell_special(telling, FRAME_NOT_IN_GRAPH, &lost);
}

/* A node of the graph; the clusters around it are the stack. */
static void tell_node(struct telling *telling, size_t place, const struct circuit_time **circuit)
{
	const struct profile_graph_node *node = &telling->table.graph->nodes[place];
	struct time_parts parts = time_entry__parts(&telling->table.entries[place]);
	const struct circuit_time *end = telling->table.counts + telling->table.count;

	telling->depth = STACK_BASE + node->depth;
	if (!node->cluster && time_parts__wall(&parts) == 0)
		return;
	push(telling, &telling->frames.nodes[place]);
	if (!node->cluster)
		tell_parts(telling, &parts);
	else if (place == 0)
		tell_root(telling);
	else
		tell_special(telling, FRAME_SCHEDULER, &parts);
	if (*circuit < end && (*circuit)->node == place)
		tell_waits(telling, (*circuit)++);
}

static int begin_worker(void *context, size_t worker)
{
	struct telling *telling = context;

	time_table__reset(&telling->table);
	telling->worker = worker;
	telling->depth = 0;
	telling->waits_told_ns = 0;
	return 0;
}

static int add_node(void *context, size_t worker, const struct profile_node *node)
{
	struct telling *telling = context;

	(void)worker;
	time_table__add(&telling->table, node);
	return 0;
}

static int end_worker(void *context, size_t worker)
{
	struct telling *telling = context;
	const struct circuit_time *circuit = telling->table.counts;
	struct stack_frames *frames = &telling->frames;
	struct time_books *books = &telling->books;
	struct time_parts outside = { 0 };

	time_books__close(&telling->table, books);
	if (!telling->table.steps.known && !books->operators)
		return 0;
	telling->times = true;
	telling->notes.excess_ns = nanos__add(telling->notes.excess_ns, books->excess_ns);
	telling->notes.excess_workers += books->excess_ns > 0;
	push(telling, &frames->process);
	push(telling, stack_frames__worker(frames, worker + telling->source->first_worker));
	for (size_t i = 0; i < telling->table.graph->node_count && !telling->err; i++)
		tell_node(telling, i, &circuit);
	telling->depth = STACK_BASE;
	outside.ns[PART_COMPUTING] = books->outside_ns;
	tell_special(telling, FRAME_OUTSIDE, &outside);
	tell(telling, &frames->special[FRAME_IDLE], books->idle_ns, 0);
	return telling->err;
}

int stacks__no_times(struct fail *fail)
{
	return fail__set(fail, -ENODATA,
			 "the profile has no times, only counts: DBSP's CPU profiler was off when "
			 "it was taken; turn it on, or let dbprof-bpf profile the pipeline");
}

static int init(struct telling *telling, struct profile_source *source, struct fail *fail)
{
	uint32_t deepest = 0;
	int err = time_table__init(&telling->table, source, fail);

	if (err)
		return err;
	for (size_t i = 0; i < source->graph->node_count; i++)
		if (source->graph->nodes[i].depth > deepest)
			deepest = source->graph->nodes[i].depth;
	/* Process, worker, the nodes, a frame in brackets, the reason. */
	telling->stack = calloc(STACK_BASE + deepest + 3u, sizeof(*telling->stack));
	if (!telling->stack)
		return -ENOMEM;
	return stack_frames__init(&telling->frames, source);
}

int stacks__tell(struct profile_source *source, const struct stack_sink *sink, void *context,
		 struct stack_notes *ret_notes, struct fail *fail)
{
	static const struct profile_visitor visitor = {
		.worker_begin = begin_worker,
		.node = add_node,
		.worker_end = end_worker,
	};
	struct telling telling = { .source = source, .sink = sink, .context = context };
	int err = init(&telling, source, fail);

	if (!err)
		err = profile_source__visit(source, &visitor, &telling, fail);
	if (!err && !telling.times)
		err = stacks__no_times(fail);
	if (!err)
		*ret_notes = telling.notes;
	free(telling.stack);
	stack_frames__clear(&telling.frames);
	time_table__clear(&telling.table);
	return err;
}
