// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/dot_text.h"
#include "model/value_format.h"

/* What ends a line in a label, flush left. */
#define LINE_END "\\l"

#define INDENT 4 /* spaces a level */

/* RUNTIME_PERCENT of src/circuit/metadata.rs. */
static const char IMPORTANCE[] = "runtime_percent";

int dot_text__make(const struct profile_source *source, struct dot_text *ret_text,
		   struct fail *fail)
{
	struct drawn_graph drawn = { 0 };
	struct dot_label *labels = NULL;
	int err;

	if (!source->graph || source->graph->node_count == 0)
		return fail__set(fail, -ENODATA,
				 "the profile has no circuit graph, so it cannot be drawn");
	err = drawn_graph__make(source->graph, &drawn);
	if (!err) {
		labels = calloc(drawn.graph.node_count + 1, sizeof(*labels));
		if (!labels)
			err = -ENOMEM;
	}
	if (err) {
		drawn_graph__clear(&drawn);
		return fail__set(fail, err, "the circuit graph cannot be drawn: %s",
				 strerror(-err));
	}
	ret_text->drawn = drawn;
	ret_text->labels = labels;
	return 0;
}

void dot_text__begin_worker(struct dot_text *text)
{
	for (size_t i = 0; i < text->drawn.graph.node_count; i++) {
		free(text->labels[i].text);
		text->labels[i] = (struct dot_label){ 0 };
	}
}

void dot_text__clear(struct dot_text *text)
{
	if (text->labels)
		dot_text__begin_worker(text);
	free(text->labels);
	drawn_graph__clear(&text->drawn);
	*text = (struct dot_text){ 0 };
}

/* "wait_seconds[reason=peers]: 1.5s\l" */
static void write_reading(const struct profile_reading *reading, FILE *out)
{
	fputs(reading->metric, out);
	for (size_t i = 0; i < reading->label_count; i++)
		fprintf(out, "%s%s=%s", i ? ", " : "[", reading->labels[i].key,
			reading->labels[i].value);
	fputs(reading->label_count ? "]: " : ": ", out);
	value__format(&reading->value, out);
	fputs(LINE_END, out);
}

static void colour(struct dot_label *label, const struct profile_reading *reading)
{
	const struct value_percent *percent = &reading->value.percent;

	if (reading->value.kind == VALUE_PERCENT && percent->denominator != 0 &&
	    strcmp(reading->metric, IMPORTANCE) == 0)
		label->importance =
			value_percent__numerator(percent) / (double)percent->denominator;
}

int dot_text__add(struct dot_text *text, const struct profile_node *node)
{
	char id[NODE_ID_TEXT_MAX];
	struct dot_label *label;
	bool failed;
	size_t shown;
	FILE *out;

	node_path__format(&node->id, id);
	shown = drawn_graph__shows(&text->drawn, id);
	if (shown == GRAPH_NONE || node->count == 0)
		return 0;
	label = &text->labels[shown];
	free(label->text);
	*label = (struct dot_label){ 0 };
	out = open_memstream(&label->text, &label->size);
	if (!out)
		return -ENOMEM;
	fprintf(out, "%s%s", text->drawn.graph.nodes[shown].label, LINE_END);
	for (size_t i = 0; i < node->count; i++) {
		write_reading(&node->readings[i], out);
		colour(label, &node->readings[i]);
	}
	failed = ferror(out);
	if (fclose(out) != 0 || failed)
		return -ENOMEM;
	return 0;
}

static const char *label_of(const struct dot_text *text, size_t node)
{
	const char *annotated = text->labels[node].text;

	return annotated ? annotated : text->drawn.graph.nodes[node].label;
}

/*
 * A quotation mark ends the text unless a backslash stands before it, and so does a backslash at
 * the end hide the mark that should end it. All other escapes are those of labels.
 */
static void write_label(const char *label, enum dot_quoting quoting, FILE *out)
{
	bool escaped = false; /* an odd number of backslashes came before */

	if (quoting == DOT_ENGINE) {
		fputs(label, out);
		return;
	}
	for (; *label; label++) {
		if (*label == '"' && !escaped)
			fputc('\\', out);
		escaped = *label == '\\' && !escaped;
		fputc(*label, out);
	}
	if (escaped)
		fputc('\\', out);
}

/* An id with what stands before it; one that no engine writes may hold anything. */
static void write_id(const char *prefix, const char *id, enum dot_quoting quoting, FILE *out)
{
	bool plain = quoting == DOT_ENGINE || (id[0] == 'n' && !id[strspn(id, "n_r0123456789")]);

	fprintf(out, "%s%s", plain ? "" : "\"", prefix);
	write_label(id, plain ? DOT_ENGINE : DOT_VALID, out);
	if (!plain)
		fputc('"', out);
}

/* The more important, the redder: SimpleNode::to_dot(), where "as u8" stops at both ends. */
static unsigned int green_and_blue(double importance)
{
	double rest = 1.0 - importance;
	double scaled = rest * rest * rest * 255.0;

	if (!(scaled > 0))
		return 0;
	return scaled < 255 ? (unsigned int)scaled : 255;
}

static void write_simple(const struct dot_text *text, size_t node, enum dot_quoting quoting,
			 FILE *out)
{
	unsigned int shade = green_and_blue(text->labels[node].importance);

	write_id("", text->drawn.graph.nodes[node].id, quoting, out);
	fputs("[label=\"", out);
	write_label(label_of(text, node), quoting, out);
	fprintf(out, "\" fillcolor=\"#ff%02x%02x\" style=filled]\n", shade, shade);
}

/* Its invisible nodes are where edges to and from the whole cluster end. */
static void write_cluster(const struct dot_text *text, size_t node, enum dot_quoting quoting,
			  FILE *out)
{
	const char *id = text->drawn.graph.nodes[node].id;

	fputs("subgraph ", out);
	write_id("cluster_", id, quoting, out);
	fputs(" {\nlabel=\"", out);
	write_label(label_of(text, node), quoting, out);
	fputs("\"\n", out);
	write_id("enter_", id, quoting, out);
	fputs("[style=invis]\n", out);
	write_id("exit_", id, quoting, out);
	fputs("[style=invis]\n", out);
}

static void write_nodes(const struct dot_text *text, enum dot_quoting quoting, FILE *out)
{
	const struct profile_graph *graph = &text->drawn.graph;
	uint32_t open = 0; /* clusters */

	for (size_t i = 0; i < graph->node_count; i++) {
		for (; open > graph->nodes[i].depth; open--)
			fputs("}\n", out);
		if (graph->nodes[i].cluster) {
			write_cluster(text, i, quoting, out);
			open++;
		} else {
			write_simple(text, i, quoting, out);
		}
	}
	for (; open > 0; open--)
		fputs("}\n", out);
}

void dot_text__write_dot(const struct dot_text *text, enum dot_quoting quoting, FILE *out)
{
	const struct profile_graph *graph = &text->drawn.graph;

	fputs("digraph {\nnode [shape=box]\n", out);
	write_nodes(text, quoting, out);
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct profile_graph_edge *edge = &graph->edges[i];

		write_id(edge->from_cluster ? "exit_" : "", edge->from, quoting, out);
		fputs(" -> ", out);
		write_id(edge->to_cluster ? "enter_" : "", edge->to, quoting, out);
		fputc('\n', out);
	}
	fputs("}\n", out);
}

/* The lines of a label, empty ones left out. */
static void write_lines(const char *label, uint32_t depth, FILE *out)
{
	while (*label) {
		const char *end = strstr(label, LINE_END);
		size_t len = end ? (size_t)(end - label) : strlen(label);

		if (len > 0) {
			fprintf(out, "%*s", (int)depth * INDENT, "");
			fwrite(label, 1, len, out);
			fputc('\n', out);
		}
		label += len + (end ? strlen(LINE_END) : 0);
	}
}

void dot_text__write_plain(const struct dot_text *text, FILE *out)
{
	const struct profile_graph *graph = &text->drawn.graph;

	for (size_t i = 0; i < graph->node_count; i++) {
		/* Between the contents of a cluster, not before the first of them. */
		if (i > 0 && graph->nodes[i - 1].depth >= graph->nodes[i].depth)
			fputc('\n', out);
		write_lines(label_of(text, i), graph->nodes[i].depth, out);
	}
}
