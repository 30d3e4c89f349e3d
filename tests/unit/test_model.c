// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "model/model.h"
#include "model/source_label.h"
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

static void test_losses(void)
{
	struct snapshot *snapshot = fixture_snapshot(0, false);
	uint64_t *counters[] = { &snapshot->losses.threads,    &snapshot->losses.circuits,
				 &snapshot->losses.reads,      &snapshot->losses.steps,
				 &snapshot->losses.missed,     &snapshot->losses.workers,
				 &snapshot->losses.unresolved, &snapshot->losses.probes };

	snapshot->losses.target_exited = true;
	CHECK(!snapshot__incomplete(snapshot));
	for (size_t i = 0; i < 8; i++) {
		*counters[i] = 1;
		CHECK(snapshot__incomplete(snapshot));
		*counters[i] = 0;
	}
	snapshot__free(snapshot);
	snapshot__free(NULL);
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
	test_losses();
	return CHECK_RESULT();
}
