// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/merge.h"
#include "state/metric_union.h"
#include "state/same_circuit.h"
#include "state/state_source.h"
#include "util/instant.h"

struct state_source {
	struct profile_source source; /* first: the one is cast to the other */
	struct profile_source *ours;
	struct profile_source *engine; /* NULL when there is none */
	struct measured measured;      /* by the engine */
	const char **ids;	       /* of the graph's nodes, sorted */
	char *from;
	char *error;
	int64_t asked_unix_ns;
	uint64_t answer_ns;
	struct merge_losses losses;
};

static struct state_source *whole(struct profile_source *source)
{
	return (struct state_source *)source;
}

static int visit(struct profile_source *source, const struct profile_visitor *visitor,
		 void *context, struct fail *fail)
{
	struct state_source *state = whole(source);

	if (!state->engine)
		return profile_source__visit(state->ours, visitor, context, fail);
	return merge__visit(state->ours, state->engine, &state->measured, state->ids,
			    source->graph->node_count, visitor, context, &state->losses, fail);
}

static int metrics(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	struct state_source *state = whole(source);

	if (!state->engine)
		return profile_source__metrics(state->ours, json, fail);
	return metric_union__write(state->engine, state->ours, json, fail);
}

static void about(struct state_source *state, struct json_writer *json)
{
	char asked[INSTANT_TEXT_MAX];
	struct duration answer = duration__from_nanos(state->answer_ns);

	json__member_object_begin(json, STATE_MEMBER);
	json__member_string(json, "from", state->from);
	json__member_string(json, "error", state->error);
	json__member_string(json, "asked", instant__format(state->asked_unix_ns, asked));
	json__member_object_begin(json, "answer");
	json__member_uint(json, "secs", answer.secs);
	json__member_uint(json, "nanos", answer.nanos);
	json__object_end(json);
	json__member_uint(json, "nodes_left_out", state->losses.nodes);
	json__member_uint(json, "readings_left_out", state->losses.readings);
	json__object_end(json);
}

static int members(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	struct state_source *state = whole(source);
	int err = profile_source__members(state->ours, json, fail);

	if (!err)
		about(state, json);
	return err;
}

/* All but the two sources. */
static void free_own(struct state_source *state)
{
	measured__clear(&state->measured);
	free(state->ids);
	free(state->from);
	free(state->error);
	free(state);
}

static void close_source(struct profile_source *source)
{
	struct state_source *state = whole(source);

	profile_source__close(state->ours);
	profile_source__close(state->engine);
	free_own(state);
}

static const struct profile_source_ops ops = {
	.visit = visit,
	.metrics = metrics,
	.members = members,
	.close = close_source,
};

static int compare_ids(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int sort_ids(struct state_source *state, const struct profile_graph *graph)
{
	state->ids = calloc(graph->node_count + 1, sizeof(*state->ids));
	if (!state->ids)
		return -ENOMEM;
	for (size_t i = 0; i < graph->node_count; i++)
		state->ids[i] = graph->nodes[i].id;
	qsort(state->ids, graph->node_count, sizeof(*state->ids), compare_ids);
	return 0;
}

static int copy_text(const char *text, char **ret_copy)
{
	*ret_copy = text ? strdup(text) : NULL;
	return text && !*ret_copy ? -ENOMEM : 0;
}

static int fill(struct state_source *state, const struct state_origin *origin, struct fail *fail)
{
	int err = copy_text(origin->from, &state->from);

	state->asked_unix_ns = origin->asked_unix_ns;
	state->answer_ns = origin->answer_ns;
	if (!err)
		err = copy_text(origin->error, &state->error);
	if (err || !state->engine)
		return err;
	err = same_circuit(state->ours, state->engine, fail);
	if (!err)
		err = measured__scan(state->engine, &state->measured, fail);
	return err ? err : sort_ids(state, state->ours->graph);
}

int state_source__open(struct profile_source *ours, struct profile_source *engine,
		       const struct state_origin *origin, struct profile_source **ret_source,
		       struct fail *fail)
{
	struct state_source *state = calloc(1, sizeof(*state));
	int err;

	if (!state)
		return -ENOMEM;
	state->ours = ours;
	state->engine = engine;
	err = fill(state, origin, fail);
	if (err) {
		free_own(state);
		return err;
	}
	state->source = *ours;
	state->source.ops = &ops;
	*ret_source = &state->source;
	return 0;
}

static int find_ours(void *context, size_t worker, const struct profile_node *node)
{
	bool *merged = context;

	(void)worker;
	for (size_t i = 0; i < node->count && !*merged; i++)
		*merged = profile_reading__is_second(&node->readings[i]);
	return 0;
}

int state_source__is_merged(struct profile_source *source, bool *ret_merged, struct fail *fail)
{
	static const struct profile_visitor visitor = { .node = find_ours };
	bool merged = false;
	int err = profile_source__visit(source, &visitor, &merged, fail);

	if (!err)
		*ret_merged = merged;
	return err;
}
