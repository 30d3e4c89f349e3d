// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "model/model.h"
#include "model/source_label.h"
#include "util/embedded.h"
#include "check.h"
#include "fixture.h"

static const struct profile_reading *find(const struct profile_worker *worker, struct node_path id,
					  const char *metric, const char *label)
{
	for (size_t i = 0; i < worker->count; i++) {
		const struct profile_node *node = &worker->nodes[i];

		if (node_path__compare(&node->id, &id) != 0)
			continue;
		for (size_t j = 0; j < node->count; j++) {
			const struct profile_reading *reading = &node->readings[j];

			if (strcmp(reading->metric, metric) == 0 &&
			    (label ? reading->label_count == 1 &&
					     strcmp(reading->labels[0].value, label) == 0
				   : reading->label_count == 0))
				return reading;
		}
	}
	return NULL;
}

static void check_seconds(const struct profile_worker *worker, struct node_path id,
			  const char *metric, const char *label, uint64_t secs, uint32_t nanos)
{
	const struct profile_reading *reading = find(worker, id, metric, label);

	if (!CHECK(reading != NULL) || !CHECK(reading->value.kind == VALUE_DURATION) ||
	    !CHECK(reading->value.duration.secs == secs) ||
	    !CHECK(reading->value.duration.nanos == nanos))
		fprintf(stderr, "  metric %s\n", metric);
}

static void test_order(void)
{
	static const struct profile_label b1[] = { { "b", "1" } };
	static const struct profile_label b1c1[] = { { "b", "1" }, { "c", "1" } };
	static const struct profile_label b0[] = { { "b", "0" }, { "z", "9" } };
	struct profile *profile = calloc(1, sizeof(*profile));
	struct profile_worker *worker;
	struct profile_node *node;
	struct node_path ids[] = { fixture_path(1, 10, 0), fixture_path(1, 2, 0),
				   fixture_path(2, 2, 5), fixture_path(0, 0, 0) };

	profile->workers = calloc(1, sizeof(*profile->workers));
	profile->worker_count = 1;
	worker = profile->workers;
	for (size_t i = 0; i < 8; i++)
		CHECK(profile_worker__node(worker, &ids[i % 4]) != NULL);
	CHECK(worker->count == 4);
	for (size_t i = 1; i < worker->count; i++)
		CHECK(node_path__compare(&worker->nodes[i - 1].id, &worker->nodes[i].id) < 0);
	node = &worker->nodes[0];
	CHECK(profile_node__set(profile, node, "m", b1c1, 2, value__int(1)) == 0);
	CHECK(profile_node__set(profile, node, "m", b1, 1, value__int(2)) == 0);
	CHECK(profile_node__set(profile, node, "m", NULL, 0, value__int(3)) == 0);
	CHECK(profile_node__set(profile, node, "m", b0, 2, value__int(4)) == 0);
	CHECK(profile_node__set(profile, node, "a_z", NULL, 0, value__int(5)) == 0);
	CHECK(profile_node__set(profile, node, "m", b1, 1, value__int(6)) == 0);
	CHECK(node->count == 5);
	static const uint64_t wanted[] = { 5, 3, 4, 6, 1 };
	for (size_t i = 0; i < node->count; i++)
		CHECK(node->readings[i].value.number == wanted[i]);
	profile__free(profile);
	profile__free(NULL);
}

static void test_readings(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct node_path root = fixture_path(0, 0, 0), nested = fixture_path(1, 1, 0);
	const struct profile_worker *worker;
	const struct profile_reading *reading;
	struct profile *profile = NULL;

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	CHECK(profile->worker_count == 2);
	worker = &profile->workers[1];
	CHECK(worker->count == FIXTURE_NODES);
	/* the total is the exact sum of the reasons */
	check_seconds(worker, root, "circuit_wait_time_seconds", NULL, 4, 501);
	check_seconds(worker, root, "circuit_wait_by_reason_seconds", "peers", 4, 1);
	check_seconds(worker, root, "circuit_wait_by_reason_seconds", "network", 0, 0);
	check_seconds(worker, root, "circuit_runtime_elapsed_seconds", NULL, 32, 0);
	check_seconds(worker, root, "circuit_edge_idle_seconds", NULL, 0, 500000000);
	CHECK(!find(worker, root, "circuit_open_step_seconds", NULL));
	reading = find(worker, root, "circuit_nonblocking_percent", NULL);
	CHECK(reading && reading->value.percent.numerator == 3000000 &&
	      reading->value.percent.denominator == 8000000);
	CHECK(!find(worker, root, "invocations_count", NULL));
	reading = find(worker, nested, "invocations_count", NULL);
	CHECK(reading && reading->value.kind == VALUE_COUNT && reading->value.number == 100);
	reading = find(worker, nested, "steps_count", NULL);
	CHECK(reading && reading->value.kind == VALUE_INT && reading->value.number == 1234);
	reading = find(worker, fixture_path(2, 1, 0), "invocations_count", NULL);
	CHECK(reading && reading->value.number == 1234);
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_idle_and_open(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, true);
	struct snapshot_circuit *circuit = &snapshot->workers[0].circuits[0];
	const struct profile_worker *worker;
	const struct profile_reading *reading;
	struct profile *profile = NULL;

	circuit->step_open = true;
	circuit->step_age_ns = 12300000000;
	circuit->open_reason = 3;
	circuit->open_reason_ns = 7;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	reading = find(worker, circuit->id, "steps_count", NULL);
	CHECK(reading && reading->value.number == 0);
	check_seconds(worker, circuit->id, "circuit_runtime_seconds", NULL, 0, 0);
	check_seconds(worker, circuit->id, "circuit_open_step_seconds", NULL, 12, 300000000);
	check_seconds(worker, circuit->id, "circuit_open_wait_seconds", "operator_pending", 0, 7);
	CHECK(!find(worker, fixture_path(1, 0, 0), "invocations_count", NULL));
	CHECK(worker->count == FIXTURE_NODES);
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_extremes(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_circuit *circuit = &snapshot->workers[0].circuits[0];
	struct profile *profile = NULL;

	memset(circuit->wait_ns, 0xff, sizeof(circuit->wait_ns));
	circuit->runtime_ns = circuit->cpu_ns = circuit->steps = UINT64_MAX;
	circuit->open_reason = 99; /* no such reason */
	circuit->step_open = true;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	/* ten times 2^64 - 1 nanoseconds */
	check_seconds(&profile->workers[0], circuit->id, "circuit_wait_time_seconds", NULL,
		      184467440737, 95516150);
	profile__free(profile);
	snapshot__free(snapshot);
	snapshot = fixture_snapshot(0, false);
	profile = NULL;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	CHECK(profile && profile->worker_count == 0 && profile->graph.node_count == 0);
	profile__free(profile);
	snapshot__free(snapshot);
	CHECK(duration__add((struct duration){ UINT64_MAX, 999999999 }, (struct duration){ 0, 1 })
		      .secs == UINT64_MAX);
}

static void check_label(const char *file, const char *wanted)
{
	struct source_location location = { (char *)file, 1, 2 };
	char *label = source_label("Map", &location, "");

	CHECK_TEXT(label, wanted);
	free(label);
}

static void test_labels(void)
{
	check_label(NULL, "Map");
	check_label("src/main.rs", "Map @ s/main.rs:1:2");
	check_label("main.rs", "Map @ main.rs:1:2");
	check_label("", "Map @ :1:2");
	check_label("/x/dbsp-0.354.0/src/operator/join.rs", "Map @ s/o/join.rs:1:2");
	check_label("/x/dbsp-1.2.3-rc.1/src/a.rs", "Map @ s/a.rs:1:2");
	check_label("/x/checkouts/feldera-1/crates/dbsp/src/a.rs", "Map @ s/a.rs:1:2");
	/* the engine strips an absolute folder only, so these keep their letters */
	check_label("crates/dbsp/src/a.rs", "Map @ c/d/s/a.rs:1:2");
	check_label("/x/dbsp-nexmark/src/a.rs", "Map @ x/d/s/a.rs:1:2");
	check_label("/x/dbsp-1.2/src/a.rs", "Map @ x/d/s/a.rs:1:2");
	check_label("/x/dbsp-1..3/src/a.rs", "Map @ x/d/s/a.rs:1:2");
	check_label("/crates", "Map @ crates:1:2");
	check_label("a\\b//c.rs", "Map @ a/b/c.rs:1:2");
	check_label("\xc3\xa4rger/x.rs", "Map @ \xc3\xa4/x.rs:1:2");
	check_label("\xff\xff/x.rs", "Map @ \xff/x.rs:1:2");
}

static void test_graph(void)
{
	static const struct {
		const char *id;
		const char *label;
		uint32_t depth;
	} wanted[] = { { "n", "root", 0 },
		       { "nn1", "", 1 },
		       { "nn1_n0", "Z^-1 (output)", 2 },
		       { "nn1_n1", "Z^-1", 2 },
		       { "nn2", "Plus", 1 },
		       { "n_r0", "join @ s/main.rs:7:21", 1 },
		       { "nn0", "JoinTrace @ s/o/join.rs:722:21", 2 } };
	struct snapshot *snapshot = fixture_snapshot(1, false);
	const struct profile_graph *graph;
	struct profile *profile = NULL;

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	graph = &profile->graph;
	CHECK(graph->node_count == 7);
	for (size_t i = 0; i < graph->node_count && i < 7; i++) {
		CHECK_TEXT(graph->nodes[i].id, wanted[i].id);
		CHECK_TEXT(graph->nodes[i].label, wanted[i].label);
		CHECK(graph->nodes[i].depth == wanted[i].depth);
	}
	CHECK(graph->edge_count == 3);
	CHECK_TEXT(graph->edges[0].from, "nn0");
	CHECK(graph->edges[0].to_cluster && !graph->edges[0].from_cluster);
	CHECK_TEXT(graph->edges[2].from, "nn1_n1");
	profile__free(profile);
	snapshot__free(snapshot);
}

/* Each way in which a graph can contradict itself is refused. */
static void test_bad_graphs(void)
{
	for (int kind = 0; kind < 7; kind++) {
		struct snapshot *snapshot = fixture_snapshot(1, false);
		struct graph *graph = snapshot->workers[0].graph;
		struct profile *profile = NULL;

		switch (kind) {
		case 0:
			graph->regions[0].nodes[0] = 99;
			break;
		case 1:
			graph->regions[0].children[0] = 0; /* a circle */
			break;
		case 2:
			graph->regions[2].nodes[0] = 0;
			break;
		case 3:
			graph->regions[0].node_count = 1; /* a node in no region */
			break;
		case 4:
			graph->edges[0].to = FIXTURE_NODES;
			break;
		case 5:
			graph->nodes[3].circuit = SIZE_MAX;
			break;
		case 6:
			graph->nodes[2].region = 0;
			break;
		}
		CHECK(profile__from_snapshot(snapshot, &profile) == -EPROTO);
		CHECK(profile == NULL);
		snapshot__free(snapshot);
	}
}

/* Readings of nodes that the shown graph lacks would make a viewer refuse the file. */
static void test_different_graphs(void)
{
	struct snapshot *snapshot = fixture_snapshot(3, false);
	struct profile *profile = NULL;

	snapshot->workers[1].graph->nodes[5].id.id[0] = 3;
	graph__free(snapshot->workers[2].graph);
	snapshot->workers[2].graph = NULL;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	CHECK(profile->nodes_left_out == 1);
	CHECK(profile->workers[0].count == FIXTURE_NODES);
	CHECK(profile->workers[1].count == FIXTURE_NODES - 1);
	CHECK(profile->workers[2].count == 0);
	profile__free(profile);
	snapshot__free(snapshot);
}

static void check_percent(const struct profile_worker *worker, struct node_path id,
			  const char *metric, uint64_t numerator, uint64_t denominator)
{
	const struct profile_reading *reading = find(worker, id, metric, NULL);

	if (!CHECK(reading != NULL) || !CHECK(reading->value.kind == VALUE_PERCENT) ||
	    !CHECK(reading->value.percent.numerator == numerator) ||
	    !CHECK(reading->value.percent.denominator == denominator))
		fprintf(stderr, "  metric %s\n", metric);
}

static void test_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct node_path join = fixture_path(1, 0, 0), plus = fixture_path(1, 2, 0);
	const struct profile_reading *reading;
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	check_seconds(worker, join, "runtime_seconds", NULL, 2, 0);
	check_percent(worker, join, "nonblocking_percent", 1500000, 2000000);
	/* of all operators, the nested circuit and what is in it both, as the engine */
	check_percent(worker, join, "runtime_percent", 2000000, 4000000);
	check_seconds(worker, join, "runtime_interval_seconds", NULL, 0, 200000000);
	reading = find(worker, join, "runtime_samples_count", NULL);
	CHECK(reading && reading->value.kind == VALUE_COUNT && reading->value.number == 200);
	check_seconds(worker, join, "engine_timing_seconds", NULL, 0, 1000000);
	check_seconds(worker, join, "run_queue_seconds", NULL, 0, 100000000);
	check_seconds(worker, join, "preempted_seconds", NULL, 0, 200000000);
	check_seconds(worker, join, "blocked_seconds", "futex", 0, 150000000);
	CHECK(!find(worker, join, "blocked_seconds", "epoll"));
	check_seconds(worker, join, "unobserved_seconds", NULL, 0, 50000000);
	CHECK(!find(worker, join, "preempted_by_seconds", "merger"));
	check_seconds(worker, plus, "run_queue_seconds", NULL, 0, 0);
	CHECK(!find(worker, plus, "unobserved_seconds", NULL));
	CHECK(!find(worker, plus, "blocked_seconds", "futex"));
	profile__free(profile);
	snapshot__free(snapshot);
}

/* What was not measured has no reading, and none is a zero that means "unknown". */
static void test_partial_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct snapshot_operator *operators = snapshot->workers[0].operators;
	struct node_path join = fixture_path(1, 0, 0), nested = fixture_path(1, 1, 0);
	struct node_path output = fixture_path(2, 1, 0), input = fixture_path(2, 1, 1);
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	snapshot->mode = MODE_EXACT;
	operators[0].has_time = false; /* waits only */
	operators[1].has_invocations = false;
	operators[1].samples = operators[1].interval_ns = operators[1].engine_timing_ns = 0;
	operators[2] = (struct snapshot_operator){ .id = output, .has_time = true };
	operators[3].runtime_ns = operators[3].cpu_ns = operators[3].samples = 0;
	operators[4].id = fixture_path(1, 77, 0); /* in no graph */
	free(snapshot->workers[1].operators);
	snapshot->workers[1].operators = NULL;
	snapshot->workers[1].operator_count = 0;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	CHECK(find(worker, join, "invocations_count", NULL) != NULL);
	CHECK(!find(worker, join, "runtime_seconds", NULL));
	CHECK(!find(worker, join, "run_queue_seconds", NULL));
	CHECK(!find(worker, nested, "invocations_count", NULL));
	check_percent(worker, nested, "runtime_percent", 1000000, 1000000);
	CHECK(!find(worker, nested, "runtime_interval_seconds", NULL));
	CHECK(!find(worker, nested, "engine_timing_seconds", NULL));
	for (size_t i = 0; i < worker->count; i++)
		CHECK(node_path__compare(&worker->nodes[i].id, &output) != 0 ||
		      worker->nodes[i].count == 0);
	/* evaluated, but too short for a sample: its interval says so */
	check_seconds(worker, input, "runtime_seconds", NULL, 0, 0);
	check_seconds(worker, input, "runtime_interval_seconds", NULL, 0, 50000000);
	CHECK(!find(&profile->workers[1], join, "invocations_count", NULL));
	CHECK(find(&profile->workers[1], nested, "steps_count", NULL) != NULL);
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_circuit_shares(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct node_path root = fixture_path(0, 0, 0), nested = fixture_path(1, 1, 0);
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	snapshot->workers[0].circuits[1].share = fixture_share();
	snapshot->workers[0].circuits[1].share.run_queue_ns = 7;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	check_seconds(worker, root, "run_queue_seconds", NULL, 0, 400000000);
	check_seconds(worker, root, "preempted_seconds", NULL, 0, 600000000);
	check_seconds(worker, root, "blocked_seconds", "epoll", 3, 900000000);
	check_seconds(worker, root, "blocked_seconds", "other", 0, 0);
	check_seconds(worker, root, "preempted_by_seconds", "merger", 0, 500000000);
	check_seconds(worker, root, "preempted_by_seconds", "io_thread", 0, 0);
	check_seconds(worker, root, "woken_by_seconds", "other_worker", 3, 900000000);
	check_seconds(worker, root, "unobserved_seconds", NULL, 0, 49999001);
	CHECK(!find(worker, root, "circuit_run_queue_seconds", NULL));
	/* a circuit and an operator of the root: two sets of readings */
	check_seconds(worker, nested, "run_queue_seconds", NULL, 0, 0);
	check_seconds(worker, nested, "circuit_run_queue_seconds", NULL, 0, 7);
	check_seconds(worker, nested, "circuit_blocked_seconds", "page_fault", 0, 50000000);
	check_seconds(worker, nested, "circuit_preempted_by_seconds", "other_process", 0,
		      100000000);
	CHECK(!find(worker, nested, "preempted_by_seconds", "merger"));
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_cpu(void)
{
	static const struct {
		enum snapshot_mode mode;
		uint64_t samples;
		uint64_t timing_ns;
		bool parts, timing;
	} cases[] = {
		{ MODE_SAMPLED, 400, 5, true, true }, { MODE_SAMPLED, 400, 0, true, true },
		{ MODE_SAMPLED, 0, 5, false, false }, { MODE_WAITS, 0, 0, false, false },
		{ MODE_EXACT, 0, 0, true, false },    { MODE_ENGINE, 0, 5, true, true },
	};
	struct node_path root = fixture_path(0, 0, 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot *snapshot = fixture_snapshot(1, false);
		struct profile *profile = NULL;

		snapshot->mode = cases[i].mode;
		snapshot->workers[0].cpu.samples = cases[i].samples;
		snapshot->workers[0].cpu.engine_timing_ns = cases[i].timing_ns;
		CHECK(profile__from_snapshot(snapshot, &profile) == 0);
		CHECK(!find(&profile->workers[0], root, "engine_timing_seconds", NULL) ==
		      !cases[i].timing);
		CHECK(!find(&profile->workers[0], root, "operators_cpu_seconds", NULL) ==
		      !cases[i].parts);
		if (cases[i].parts) {
			check_seconds(&profile->workers[0], root, "operators_cpu_seconds", NULL, 2,
				      500000000);
			check_seconds(&profile->workers[0], root, "scheduler_cpu_seconds", NULL, 0,
				      495000999);
			check_seconds(&profile->workers[0], root, "outside_step_cpu_seconds", NULL,
				      0, 7000000);
		}
		profile__free(profile);
		snapshot__free(snapshot);
	}
}

/* A viewer drops readings whose names end otherwise, without a word (CircuitProfile.fromJson). */
static bool has_known_suffix(const char *metric)
{
	static const char *const known[] = { "count", "percent", "seconds" };
	const char *bar = strrchr(metric, '_');

	for (size_t i = 0; bar && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(bar + 1, known[i]) == 0)
			return true;
	return false;
}

static bool is_described(const char *metric)
{
	const struct embedded *file = NULL;
	char quoted[128];

	snprintf(quoted, sizeof(quoted), "\"%s\"", metric);
	while ((file = embedded__next("metrics/", file)))
		if (memmem(file->data, file->len, quoted, strlen(quoted)))
			return true;
	return false;
}

static bool is_used(const struct profile *profile, const char *metric)
{
	for (size_t i = 0; i < profile->workers[0].count; i++)
		for (size_t j = 0; j < profile->workers[0].nodes[i].count; j++)
			if (strcmp(profile->workers[0].nodes[i].readings[j].metric, metric) == 0)
				return true;
	return false;
}

/* Each name that ours.json describes. */
static void check_all_used(const struct profile *profile)
{
	static const char key[] = "\"name\": \"";
	const struct embedded *file = embedded__next("metrics/ours.json", NULL);
	const char *at, *end;
	char name[128];

	if (!CHECK(file != NULL))
		return;
	end = file->data + file->len;
	for (at = file->data; (at = memmem(at, (size_t)(end - at), key, sizeof(key) - 1));) {
		at += sizeof(key) - 1;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "\""), at);
		if (!CHECK(is_used(profile, name)))
			fprintf(stderr, "  metric %s\n", name);
	}
}

/* Everything that can be read is described, and what is described can be read. */
static void test_descriptions(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct profile *profile = NULL;

	snapshot->workers[0].circuits[0].step_open = true;
	snapshot->workers[0].circuits[0].open_reason = 1;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	for (size_t i = 0; i < profile->workers[0].count; i++) {
		const struct profile_node *node = &profile->workers[0].nodes[i];

		for (size_t j = 0; j < node->count; j++)
			if (!CHECK(has_known_suffix(node->readings[j].metric)) ||
			    !CHECK(is_described(node->readings[j].metric)))
				fprintf(stderr, "  metric %s\n", node->readings[j].metric);
	}
	CHECK(!is_described("no_such_seconds"));
	check_all_used(profile);
	profile__free(profile);
	snapshot__free(snapshot);
}

/* The largest numbers everywhere: sums end at the longest duration, nothing wraps. */
static void test_extreme_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_worker *from = &snapshot->workers[0];
	struct node_path join = fixture_path(1, 0, 0), root = fixture_path(0, 0, 0);
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	for (size_t i = 0; i < from->operator_count; i++) {
		struct node_path id = from->operators[i].id;

		memset(&from->operators[i], 0xff, sizeof(from->operators[i]));
		from->operators[i].id = id;
		from->operators[i].has_time = from->operators[i].has_invocations = true;
	}
	memset(&from->cpu, 0xff, sizeof(from->cpu));
	memset(&from->circuits[0].share, 0xff, sizeof(from->circuits[0].share));
	from->circuits[0].unobserved_ns = UINT64_MAX;
	snapshot->mode = (enum snapshot_mode)99;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	/* five times 2^64 - 1 nanoseconds */
	check_percent(worker, join, "runtime_percent", 18446744073709551, 92233720368547758);
	check_seconds(worker, join, "preempted_seconds", NULL, 92233720368, 547758075);
	check_seconds(worker, root, "preempted_seconds", NULL, 92233720368, 547758075);
	check_seconds(worker, root, "outside_step_cpu_seconds", NULL, 18446744073, 709551615);
	profile__free(profile);
	snapshot__free(snapshot);
}

int main(void)
{
	test_order();
	test_readings();
	test_idle_and_open();
	test_extremes();
	test_labels();
	test_graph();
	test_bad_graphs();
	test_different_graphs();
	test_operators();
	test_partial_operators();
	test_circuit_shares();
	test_cpu();
	test_descriptions();
	test_extreme_operators();
	return CHECK_RESULT();
}
