// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which nodes are halves of one strict operator, and what is drawn of them.
 */
#include "model/drawn_graph.h"
#include "model/strict_halves.h"
#include "check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct profile_graph graph_of(struct profile_graph_node *nodes, size_t node_count,
				     struct profile_graph_edge *edges, size_t edge_count)
{
	return (struct profile_graph){
		.nodes = nodes, .node_count = node_count, .edges = edges, .edge_count = edge_count
	};
}

/* Checks the drawn ids, in order and with blanks between. */
static void check_drawn(const struct profile_graph *graph, const char *wanted)
{
	struct drawn_graph drawn = { 0 };
	char text[512] = "";

	if (!CHECK(drawn_graph__make(graph, &drawn) == 0))
		return;
	for (size_t i = 0; i < drawn.graph.node_count; i++) {
		strcat(text, i ? " " : "");
		strcat(text, drawn.graph.nodes[i].id);
	}
	for (size_t i = 0; i < drawn.graph.edge_count; i++) {
		strcat(text, ", ");
		strcat(text, drawn.graph.edges[i].from);
		strcat(text, ">");
		strcat(text, drawn.graph.edges[i].to);
	}
	CHECK_TEXT(text, wanted);
	drawn_graph__clear(&drawn);
}

/* The output half's id at the input half's place; edges to itself are gone. */
static void test_loop(void)
{
	struct profile_graph_node nodes[] = {
		{ "n", "root", true, 0 },
		{ "nn0", "Z @ f:1:2 (output)", false, 1 },
		{ "nn1", "Map", false, 1 },
		{ "nn2", "Z @ f:1:2", false, 1 },
	};
	struct profile_graph_edge edges[] = {
		{ "nn0", "nn1", false, false },
		{ "nn1", "nn2", false, false },
		{ "nn0", "nn2", false, false },
	};
	struct profile_graph graph = graph_of(nodes, COUNT(nodes), edges, COUNT(edges));
	struct drawn_graph drawn = { 0 };

	check_drawn(&graph, "n nn1 nn0, nn0>nn1, nn1>nn0");
	edges[1].from = "nn0"; /* it reads itself */
	check_drawn(&graph, "n nn1 nn0, nn0>nn1");
	CHECK(drawn_graph__make(&graph, &drawn) == 0);
	CHECK(drawn_graph__shows(&drawn, "nn2") == 2);
	CHECK(drawn_graph__shows(&drawn, "nn0") == GRAPH_NONE);
	CHECK(drawn_graph__shows(&drawn, "nn7") == GRAPH_NONE);
	CHECK(drawn_graph__shows(&drawn, "") == GRAPH_NONE);
	drawn_graph__clear(&drawn);
}

/* Three of one name in a chain, nn0 > nn1 > nn2, connected the last one first. */
static void test_chain(void)
{
	struct profile_graph_node nodes[] = {
		{ "n", "root", true, 0 },	   { "nn0", "Z (output)", false, 1 },
		{ "nn1", "Z (output)", false, 1 }, { "nn2", "Z (output)", false, 1 },
		{ "nn3", "Z", false, 1 },	   { "nn4", "Z", false, 1 },
		{ "nn5", "Z", false, 1 },	   { "nn6", "source", false, 1 },
	};
	struct profile_graph_edge edges[] = {
		{ "nn1", "nn3", false, false }, { "nn2", "nn3", false, false },
		{ "nn0", "nn4", false, false }, { "nn1", "nn4", false, false },
		{ "nn6", "nn5", false, false }, { "nn0", "nn5", false, false },
	};
	struct profile_graph graph = graph_of(nodes, COUNT(nodes), edges, COUNT(edges));

	check_drawn(&graph, "n nn2 nn1 nn0 nn6, nn1>nn2, nn0>nn1, nn6>nn0");
}

/* Two of one name that read each other: the order of their numbers decides. */
static void test_ring(void)
{
	struct profile_graph_node nodes[] = {
		{ "n", "root", true, 0 },	   { "nn3", "Z", false, 1 },
		{ "nn2", "Z", false, 1 },	   { "nn1", "Z (output)", false, 1 },
		{ "nn0", "Z (output)", false, 1 },
	};
	struct profile_graph_edge edges[] = {
		{ "nn0", "nn2", false, false },
		{ "nn1", "nn2", false, false },
		{ "nn0", "nn3", false, false },
		{ "nn1", "nn3", false, false },
	};
	struct profile_graph graph = graph_of(nodes, COUNT(nodes), edges, COUNT(edges));

	check_drawn(&graph, "n nn1 nn0, nn1>nn0, nn0>nn1");
}

/* Other operators of the name: in another circuit, made earlier, read by some, with one input. */
static void test_namesakes(void)
{
	struct profile_graph_node nodes[] = {
		{ "n", "root", true, 0 },
		{ "nn0", "Z", false, 1 },
		{ "nn1", "Z (output)", false, 1 },
		{ "nn2", "", true, 1 },
		{ "nn2_n9", "Z", false, 2 },
		{ "nn3", "Z", false, 1 },
		{ "nn4", "Z", false, 1 },
		{ "nn5", "Z", false, 1 },
		{ "nn6", "Z", false, 1 },
		{ "nn7", "sum (output)", false, 1 },
		{ "nn8", "Z @ f:1:2 (output)", false, 1 },
	};
	struct profile_graph_edge edges[] = {
		{ "nn1", "nn0", false, false },	   { "nn1", "nn0", false, false },
		{ "nn1", "nn2_n9", false, false }, { "nn1", "nn2_n9", false, false },
		{ "nn1", "nn3", false, false },	   { "nn1", "nn3", false, false },
		{ "nn3", "nn5", false, false },	   { "nn1", "nn4", false, false },
		{ "nn5", "nn6", false, false },	   { "nn1", "nn6", false, false },
	};
	struct profile_graph graph = graph_of(nodes, COUNT(nodes), edges, COUNT(edges));

	check_drawn(&graph, "n nn0 nn2 nn2_n9 nn3 nn4 nn5 nn1 nn7, nn1>nn0, nn1>nn0, nn1>nn2_n9, "
			    "nn1>nn2_n9, nn1>nn3, nn1>nn3, nn3>nn5, nn1>nn4, nn5>nn1");
}

/* What no engine writes: ids without form, nodes twice, edges to nowhere. */
static void test_nonsense(void)
{
	struct profile_graph_node nodes[] = {
		{ "", "", true, 0 },
		{ "x", "Z (output)", false, 1 },
		{ "99999999999999999999999n", "Z", false, 1 },
		{ "x", " (output)", false, 1 },
		{ "n-1", "", false, 1 },
	};
	struct profile_graph_edge edges[] = {
		{ "x", "99999999999999999999999n", false, false },
		{ "x", "99999999999999999999999n", true, true },
		{ "x", "nowhere", false, false },
		{ "nowhere", "n-1", false, true },
		{ "x", "n-1", false, true },
	};
	struct profile_graph graph = graph_of(nodes, COUNT(nodes), edges, COUNT(edges));

	check_drawn(&graph, " x 99999999999999999999999n x n-1, x>99999999999999999999999n, "
			    "x>99999999999999999999999n, x>nowhere, nowhere>n-1, x>n-1");
	graph = graph_of(nodes, 0, edges, 0);
	check_drawn(&graph, "");
}

int main(void)
{
	test_loop();
	test_chain();
	test_ring();
	test_namesakes();
	test_nonsense();
	return CHECK_RESULT();
}
