// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The graph of a profile: labels, and graphs that cannot be.
 */
#include <errno.h>
#include <stdlib.h>

#include "model/model.h"
#include "model/source_label.h"
#include "check.h"
#include "fixture.h"

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

int main(void)
{
	test_labels();
	test_graph();
	test_bad_graphs();
	test_different_graphs();
	return CHECK_RESULT();
}
