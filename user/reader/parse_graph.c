// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The graph (Serialize in src/monitor/visual_graph.rs).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/parser.h"
#include "util/array.h"

struct graph_parser {
	struct parser *parser;
	struct string_pool *strings;
	struct profile_graph *graph;
	size_t edge_capacity;
	size_t text_bytes;
};

static int no_memory(struct graph_parser *at)
{
	return fail__set(at->parser->fail, -ENOMEM, "not enough memory for the graph of %s",
			 input__name(at->parser->input));
}

/* The token's text, kept as long as the graph. */
static int take_text(struct graph_parser *at, const char **ret_text)
{
	const char *text;
	int err = parser__check(at->parser, TOKEN_STRING, "a text");

	if (err)
		return err;
	at->text_bytes += at->parser->token.len;
	if (at->text_bytes > PARSER_LABELS_MAX)
		return parser__refuse(at->parser, "a graph with more text than any graph has");
	text = string_pool__add(at->strings, at->parser->token.text);
	if (!text)
		return no_memory(at);
	*ret_text = text;
	return 0;
}

/* An empty node behind the others; its index, since it moves as more are added. */
static int add_node(struct graph_parser *at, uint32_t depth, bool cluster, size_t *ret_index)
{
	struct profile_graph *graph = at->graph;
	struct profile_graph_node *nodes;

	if (graph->node_count == PARSER_NODES_MAX)
		return parser__refuse(at->parser, "a graph with more than a million nodes");
	if (depth > PARSER_GRAPH_MAX)
		return parser__refuse(at->parser, "circuits and regions that nest too deep");
	nodes = array__reserve(graph->nodes, &graph->node_capacity, graph->node_count,
			       sizeof(*nodes));
	if (!nodes)
		return no_memory(at);
	graph->nodes = nodes;
	nodes[graph->node_count] =
		(struct profile_graph_node){ .depth = depth, .cluster = cluster };
	*ret_index = graph->node_count++;
	return 0;
}

static int parse_members(struct graph_parser *at, uint32_t depth);

/* The id, label and, for a cluster, the nodes, of which the bracket was taken. */
static int parse_node(struct graph_parser *at, uint32_t depth, bool cluster)
{
	static const char *const names[] = { "id", "label", "nodes" };
	struct parser *parser = at->parser;
	unsigned int seen = 0;
	size_t index = 0, member;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "a node of the graph");

	if (!err)
		err = add_node(at, depth, cluster, &index);
	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parser__key(parser, names, cluster ? 3 : 2, &seen, &member);
		if (!err)
			err = parser__next(parser);
		if (err)
			break;
		if (member == 0)
			err = take_text(at, &at->graph->nodes[index].id);
		else if (member == 1)
			err = take_text(at, &at->graph->nodes[index].label);
		else
			err = parse_members(at, depth + 1);
	}
	if (!err && seen != (cluster ? 7 : 3))
		return parser__refuse(parser, "a node of the graph without %s",
				      cluster ? "id, label or nodes" : "id or label");
	return err;
}

/* {"Simple":{...}} or {"Cluster":{...}}, of which the bracket was taken. */
static int parse_member(struct graph_parser *at, uint32_t depth)
{
	static const char *const names[] = { "Simple", "Cluster" };
	struct parser *parser = at->parser;
	unsigned int seen = 0;
	size_t kind = 0;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "a node of the graph");

	if (!err)
		err = parser__expect(parser, TOKEN_KEY, "Simple or Cluster");
	if (!err)
		err = parser__key(parser, names, 2, &seen, &kind);
	if (!err)
		err = parser__next(parser);
	if (!err)
		err = parse_node(at, depth, kind == 1);
	if (!err)
		err = parser__expect(parser, TOKEN_OBJECT_END, "the end of a node of the graph");
	return err;
}

static int parse_members(struct graph_parser *at, uint32_t depth)
{
	int err = parser__check(at->parser, TOKEN_ARRAY_BEGIN, "an array of nodes");

	while (!err) {
		err = parser__next(at->parser);
		if (err || at->parser->token.kind == TOKEN_ARRAY_END)
			break;
		err = parse_member(at, depth);
	}
	return err;
}

static int parse_edge(struct graph_parser *at, struct profile_graph_edge *edge)
{
	static const char *const names[] = { "from_node", "from_cluster", "to_node", "to_cluster" };
	struct parser *parser = at->parser;
	unsigned int seen = 0;
	size_t member;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "an edge");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parser__key(parser, names, 4, &seen, &member);
		if (!err)
			err = parser__next(parser);
		if (err)
			break;
		if (member == 0 || member == 2)
			err = take_text(at, member == 0 ? &edge->from : &edge->to);
		else
			err = parser__bool(parser,
					   member == 1 ? &edge->from_cluster : &edge->to_cluster);
	}
	if (!err && seen != 15)
		return parser__refuse(parser, "an edge without its two nodes");
	return err;
}

static int parse_edges(struct graph_parser *at)
{
	struct profile_graph *graph = at->graph;
	struct profile_graph_edge *edges;
	int err = parser__check(at->parser, TOKEN_ARRAY_BEGIN, "an array of edges");

	while (!err) {
		err = parser__next(at->parser);
		if (err || at->parser->token.kind == TOKEN_ARRAY_END)
			break;
		if (graph->edge_count == PARSER_EDGES_MAX)
			return parser__refuse(at->parser, "a graph with millions of edges");
		edges = array__reserve(graph->edges, &at->edge_capacity, graph->edge_count,
				       sizeof(*edges));
		if (!edges)
			return no_memory(at);
		graph->edges = edges;
		edges[graph->edge_count] = (struct profile_graph_edge){ 0 };
		err = parse_edge(at, &edges[graph->edge_count]);
		if (!err)
			graph->edge_count++;
	}
	return err;
}

int parser__graph(struct parser *parser, struct string_pool *strings, struct profile_graph *graph)
{
	static const char *const names[] = { "nodes", "edges" };
	struct graph_parser at = { .parser = parser, .strings = strings, .graph = graph };
	unsigned int seen = 0;
	size_t member;
	int err = parser__check(parser, TOKEN_OBJECT_BEGIN, "a graph or null");

	while (!err) {
		err = parser__next(parser);
		if (err || parser->token.kind == TOKEN_OBJECT_END)
			break;
		err = parser__key(parser, names, 2, &seen, &member);
		if (!err)
			err = parser__next(parser);
		if (!err)
			err = member == 0 ? parse_node(&at, 0, true) : parse_edges(&at);
	}
	if (!err && seen != 3)
		return parser__refuse(parser, "a graph without nodes or edges");
	return err;
}
