// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stacks of profiles that nobody measured: what a file may hold.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/stacks.h"
#include "export/time_table.h"
#include "model/readings.h"
#include "check.h"

#define TEXT_MAX 4000

/* A source of one worker, whose nodes were made by hand. */
struct made {
	struct profile_source source;
	struct profile profile;
	struct profile_worker worker;
};

static int visit(struct profile_source *source, const struct profile_visitor *visitor,
		 void *context, struct fail *fail)
{
	struct made *made = (struct made *)source;
	int err = visitor->worker_begin ? visitor->worker_begin(context, 0) : 0;

	(void)fail;
	/* In no order. */
	for (size_t i = made->worker.count; i-- > 0 && !err;)
		err = visitor->node(context, 0, &made->worker.nodes[i]);
	if (!err && visitor->worker_end)
		err = visitor->worker_end(context, 0);
	return err;
}

static const struct profile_source_ops ops = { .visit = visit };

static struct made *make(const struct profile_graph *graph)
{
	struct made *made = calloc(1, sizeof(*made));

	made->source = (struct profile_source){ .ops = &ops, .graph = graph, .worker_count = 1 };
	return made;
}

static void free_made(struct made *made)
{
	profile_worker__clear(&made->worker);
	string_pool__clear(&made->profile.strings);
	free(made);
}

static struct readings node(struct made *made, uint32_t depth, uint32_t first)
{
	struct node_path path = { depth, { first } };

	return (struct readings){ .profile = &made->profile,
				  .node = profile_worker__node(&made->worker, &path) };
}

static int sample(void *context, const struct stack_sample *sample)
{
	char *text = context;
	size_t len = strlen(text);

	for (size_t i = 2; i < sample->depth; i++)
		len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s;", sample->frames[i]->name);
	snprintf(text + len, TEXT_MAX - len, " %lld %lld\n", (long long)sample->wall_ns,
		 (long long)sample->cpu_ns);
	return 0;
}

static void check_stacks(struct made *made, int wanted, const char *stacks)
{
	static const struct stack_sink sink = { .sample = sample };
	struct stack_notes notes;
	struct fail fail = { 0 };
	char text[TEXT_MAX] = "";

	CHECK(stacks__tell(&made->source, &sink, text, &notes, &fail) == wanted);
	CHECK(!wanted == !fail.text[0]);
	CHECK_TEXT(text, stacks);
}

static struct profile_graph_node nodes[] = {
	{ "n", "", true, 0 },
	{ "nn0", "", false, 1 },
	{ "n_r0", "", true, 1 },
	{ "nn1", "Map @ x:y:1 @ s/a.rs:2:3 (output)", false, 2 },
	{ "nn10", "Odd @ :1:2", false, 2 },
};

static const struct profile_graph graph = { .nodes = nodes, .node_count = 5 };

/* An old engine's: no wait reasons, no CPU time of steps; and a node that the graph lacks. */
static void test_few_readings(void)
{
	struct made *made = make(&graph);
	struct readings to = node(made, 1, 0);

	readings__nanos(&to, "runtime_seconds", 5000);
	readings__percent(&to, "nonblocking_percent", 3, 5);
	to = node(made, 1, 10);
	readings__nanos(&to, "runtime_seconds", 700);
	readings__percent(&to, "nonblocking_percent", 1, 0);
	to = node(made, 1, 77);
	readings__nanos(&to, "runtime_seconds", 9);
	check_stacks(made, 0,
		     "circuit n;[not in the graph];off CPU; 9 0\n"
		     "circuit n;operator nn0;computing; 3000 3000\n"
		     "circuit n;operator nn0;off CPU; 2000 0\n"
		     "circuit n;region n_r0;Odd @ :1:2;computing; 700 700\n");
	free_made(made);
}

/* A newer engine's: causes and reasons that have no name yet, kinds that have changed. */
static void test_unknown_names(void)
{
	struct made *made = make(&graph);
	struct readings to = node(made, 1, 1);
	char reason[16];

	readings__nanos(&to, "runtime_seconds", 100);
	readings__labelled(&to, "blocked_seconds", "cause", "gpu", 60);
	readings__labelled(&to, "blocked_seconds", "cause", "tpu", 30);
	readings__count(&to, "preempted_seconds", 5);
	to = node(made, 0, 0);
	readings__nanos(&to, "circuit_runtime_seconds", 1000);
	readings__nanos(&to, "circuit_cpu_time_seconds", 300);
	for (int i = 0; i < 40; i++) {
		snprintf(reason, sizeof(reason), "r%02d", i);
		readings__labelled(&to, "circuit_wait_by_reason_seconds", "reason", reason,
				   i == 3 ? 200 : i > 30);
	}
	check_stacks(made, 0,
		     "circuit n;[scheduler];computing; 290 290\n"
		     "circuit n;[scheduler];off CPU; 401 0\n"
		     "circuit n;[waiting];r03; 200 0\n"
		     "circuit n;[waiting];other reasons; 9 0\n"
		     "circuit n;region n_r0;Map @ x:y:1 @ s/a.rs:2:3 (output);computing; 10 10\n"
		     "circuit n;region n_r0;Map @ x:y:1 @ s/a.rs:2:3 (output);blocked: other; "
		     "90 0\n");
	free_made(made);
}

static void test_only_counts(void)
{
	struct made *made = make(&graph);
	struct readings to = node(made, 1, 1);

	readings__count(&to, "invocations_count", 100);
	to = node(made, 0, 0);
	readings__int(&to, "steps_count", 5);
	check_stacks(made, -ENODATA, "");
	free_made(made);
}

static int locations(void *context, const struct stack_frame *frame)
{
	char *text = context;
	size_t len = strlen(text);

	if (frame->file)
		snprintf(text + len, TEXT_MAX - len, "%.*s %lld\n", (int)frame->file_len,
			 frame->file, (long long)frame->line);
	return 0;
}

static int no_sample(void *context, const struct stack_sample *sample)
{
	(void)context;
	(void)sample;
	return 0;
}

static void test_locations(void)
{
	static const struct stack_sink sink = { .frame = locations, .sample = no_sample };
	static struct profile_graph_node odd[] = {
		{ "n", "root", true, 0 },
		{ "nn0", "A @ f:1:2", false, 1 },
		{ "nn1", "B @ f:1", false, 1 },
		{ "nn2", "C @ f::2", false, 1 },
		{ "nn3", "D @ f:1:", false, 1 },
		{ "nn4", "E @ ", false, 1 },
		{ "nn5", "F @ C:\\x.rs:7:8", false, 1 },
		{ "nn6", " @ ", false, 1 },
		{ "nn7", "G @ f:9999999999:1", false, 1 },
		{ "nn8", "H @ 1:2:3", false, 1 },
	};
	static const struct profile_graph odd_graph = { .nodes = odd, .node_count = 10 };
	struct made *made = make(&odd_graph);
	struct stack_notes notes;
	char text[TEXT_MAX] = "";

	for (uint32_t i = 0; i < 9; i++) {
		struct readings to = node(made, 1, i);

		readings__nanos(&to, "runtime_seconds", 1);
	}
	CHECK(stacks__tell(&made->source, &sink, text, &notes, NULL) == 0);
	CHECK_TEXT(text, "f 1\nC:\\x.rs 7\n1 2\n");
	free_made(made);
}

static void check_graph(struct profile_graph_node *bad, size_t count, int wanted)
{
	const struct profile_graph bad_graph = { .nodes = bad, .node_count = count };
	const struct profile_source source = { .graph = &bad_graph };
	struct time_table table;
	struct fail fail = { 0 };

	CHECK(time_table__init(&table, &source, &fail) == wanted);
	CHECK(fail.text[0]);
}

static void test_no_tree(void)
{
	check_graph(NULL, 0, -ENODATA);
	check_graph((struct profile_graph_node[]){ { "n", "", false, 0 } }, 1, -EPROTO);
	check_graph((struct profile_graph_node[]){ { "n", "", true, 1 } }, 1, -EPROTO);
	check_graph((struct profile_graph_node[]){ { "n", "", true, 0 }, { "nn1", "", true, 0 } },
		    2, -EPROTO);
	check_graph((struct profile_graph_node[]){ { "n", "", true, 0 }, { "nn1", "", true, 2 } },
		    2, -EPROTO);
	check_graph((struct profile_graph_node[]){ { "n", "", true, 0 },
						   { "nn1", "", false, 1 },
						   { "nn2", "", false, 2 } },
		    3, -EPROTO);
}

static void test_too_deep(void)
{
	struct profile_graph_node *deep = calloc(2000, sizeof(*deep));

	for (uint32_t i = 0; i < 2000; i++)
		deep[i] = (struct profile_graph_node){ "n", "", true, i };
	check_graph(deep, 2000, -EPROTO);
	free(deep);
}

int main(void)
{
	test_few_readings();
	test_unknown_names();
	test_only_counts();
	test_locations();
	test_no_tree();
	test_too_deep();
	return CHECK_RESULT();
}
