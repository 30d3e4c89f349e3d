// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/stack_frames.h"

#define LINE_DIGITS_MAX 9

static const char *const special_names[SPECIAL_FRAMES] = {
	[FRAME_SCHEDULER] = "[scheduler]",
	[FRAME_OPEN] = "[scheduler or unfinished evaluations]",
	[FRAME_NO_OPERATORS] = "[operators and scheduler]",
	[FRAME_TIMING] = "[engine's clock reads]",
	[FRAME_WAITING] = "[waiting]",
	[FRAME_NOT_IN_GRAPH] = "[not in the graph]",
	[FRAME_OUTSIDE] = "[outside steps]",
	[FRAME_IDLE] = "[idle]",
};

/* The number that ends at @end, preceded by a colon, not before @begin; where its colon is. */
static const char *number_before(const char *begin, const char *end, int64_t *ret_number)
{
	const char *digit = end;

	while (digit > begin && digit[-1] >= '0' && digit[-1] <= '9')
		digit--;
	if (digit == end || end - digit > LINE_DIGITS_MAX || digit <= begin + 1 || digit[-1] != ':')
		return NULL;
	*ret_number = atoll(digit);
	return digit - 1;
}

/* Takes "s/main.rs" and 59 from "Map @ s/main.rs:59:40", with or without " (output)" behind it. */
static void locate(struct stack_frame *frame)
{
	static const char suffix[] = " (output)";
	const char *file = NULL, *next, *colon;
	const char *end = frame->name + strlen(frame->name);
	int64_t column, line;

	for (next = strstr(frame->name, " @ "); next; next = strstr(next + 1, " @ "))
		file = next + 3;
	if (!file)
		return;
	if ((size_t)(end - file) > sizeof(suffix) && !strcmp(end - sizeof(suffix) + 1, suffix))
		end -= sizeof(suffix) - 1;
	colon = number_before(file, end, &column);
	colon = colon ? number_before(file, colon, &line) : NULL;
	if (!colon)
		return;
	frame->file = file;
	frame->file_len = (size_t)(colon - file);
	frame->line = line;
}

static void name(struct known_frame *known, const char *text)
{
	known->frame.name = text;
	known->frame.node = "";
}

static int name_node(struct stack_frames *frames, size_t place,
		     const struct profile_graph_node *node)
{
	struct stack_frame *frame = &frames->nodes[place].frame;
	const char *kind = "operator";

	frame->node = node->id;
	frame->name = node->label;
	if (node->label[0]) {
		locate(frame);
		return 0;
	}
	if (node->cluster)
		kind = graph_node__is_circuit(node) ? "circuit" : "region";
	if (asprintf(&frames->made[place], "%s %s", kind, node->id) < 0) {
		frames->made[place] = NULL;
		return -ENOMEM;
	}
	frame->name = frames->made[place];
	return 0;
}

int stack_frames__init(struct stack_frames *frames, const struct profile_source *source)
{
	size_t count = source->graph->node_count;
	int err = 0;

	*frames = (struct stack_frames){ .node_count = count };
	if (source->pid > 0)
		snprintf(frames->process_name, sizeof(frames->process_name), "process %d",
			 source->pid);
	else
		strcpy(frames->process_name, "process");
	name(&frames->process, frames->process_name);
	for (size_t i = 0; i < SPECIAL_FRAMES; i++)
		name(&frames->special[i], special_names[i]);
	for (unsigned int i = 0; i < PARTS; i++)
		name(&frames->parts[i], time_part__name(i));
	frames->nodes = calloc(count, sizeof(*frames->nodes));
	frames->made = calloc(count, sizeof(*frames->made));
	if (!frames->nodes || !frames->made)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = name_node(frames, i, &source->graph->nodes[i]);
	return err;
}

void stack_frames__clear(struct stack_frames *frames)
{
	for (size_t i = 0; frames->made && i < frames->node_count; i++)
		free(frames->made[i]);
	free(frames->made);
	free(frames->nodes);
	*frames = (struct stack_frames){ 0 };
}

struct known_frame *stack_frames__worker(struct stack_frames *frames, size_t number)
{
	snprintf(frames->worker_name, sizeof(frames->worker_name), "worker %zu", number);
	frames->worker = (struct known_frame){ 0 };
	name(&frames->worker, frames->worker_name);
	return &frames->worker;
}

struct known_frame *stack_frames__reason(struct stack_frames *frames, size_t place,
					 const char *text)
{
	name(&frames->reasons[place], text);
	return &frames->reasons[place];
}
