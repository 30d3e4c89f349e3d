// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/dot_graph.h"
#include "util/text.h"
#include "util/utf8.h"

/* From so many nodes on graphviz gets help: less beauty in a time that somebody waits for. */
#define MANY_NODES 500
/* Ink of the largest share; small shares get more than theirs, or all but the worst look alike. */
#define SATURATION_MAX 0.85

struct drawing {
	FILE *out;
	const struct time_table *table;
	uint64_t total_ns; /* of all operators */
};

/* Inside of double quotes; an ampersand would begin an HTML entity there. */
static void write_escaped(FILE *out, const char *text)
{
	size_t left = strlen(text);
	uint32_t ch;

	for (size_t len; left > 0; text += len, left -= len) {
		len = utf8__next(text, left, &ch);
		if (ch == UTF8_INVALID)
			fputs(UTF8_REPLACEMENT, out);
		else if (ch == '"' || ch == '\\')
			fprintf(out, "\\%c", (int)ch);
		else if (ch == '&')
			fputs("&amp;", out);
		else if (ch < 0x20 || ch == 0x7f)
			fputc(' ', out);
		else
			fwrite(text, 1, len, out);
	}
}

static void indent(const struct drawing *drawing, uint32_t depth)
{
	fprintf(drawing->out, "%*s", 2 * (int)(depth + 1), "");
}

/* "computing 1.2 s", one line for each part that there is. */
static void write_tooltip(const struct drawing *drawing, const char *id,
			  const struct time_entry *entry)
{
	struct time_parts parts = time_entry__parts(entry);
	char number[TEXT_NUMBER_MAX];

	fputs(", tooltip=\"", drawing->out);
	write_escaped(drawing->out, id);
	text__duration(entry->wall_ns, number);
	fprintf(drawing->out, "\\nwall %s", number);
	for (unsigned int i = 0; i < PARTS; i++) {
		if (parts.ns[i] == 0)
			continue;
		text__duration(parts.ns[i], number);
		fprintf(drawing->out, "\\n%s %s", time_part__name(i), number);
	}
	fprintf(drawing->out, "\\nevaluations %" PRIu64 "\"", entry->invocations);
}

static void write_node(const struct drawing *drawing, size_t place, const char *label)
{
	const struct profile_graph_node *node = &drawing->table->graph->nodes[place];
	const struct time_entry *entry = &drawing->table->entries[place];
	char time[TEXT_NUMBER_MAX], percent[TEXT_NUMBER_MAX];
	double share = 0;

	if (drawing->total_ns > 0)
		share = (double)entry->wall_ns / (double)drawing->total_ns;
	fputc('"', drawing->out);
	write_escaped(drawing->out, node->id);
	fputs("\" [label=\"", drawing->out);
	write_escaped(drawing->out, label);
	if (entry->timed) {
		text__duration(entry->wall_ns, time);
		text__percent(entry->wall_ns, drawing->total_ns, percent);
		fprintf(drawing->out, "\\n%s, %s", time, percent);
	}
	fprintf(drawing->out, "\", fillcolor=\"0.000 %.3f 1.000\"",
		SATURATION_MAX * sqrt(share < 1 ? share : 1));
	write_tooltip(drawing, node->id, entry);
	fputs("];\n", drawing->out);
}

static void begin_cluster(const struct drawing *drawing, size_t place)
{
	const struct profile_graph_node *node = &drawing->table->graph->nodes[place];
	bool circuit = graph_node__is_circuit(node);

	fputs("subgraph \"cluster_", drawing->out);
	write_escaped(drawing->out, node->id);
	fputs("\" { label=\"", drawing->out);
	if (circuit && !node->label[0])
		fprintf(drawing->out, "circuit ");
	write_escaped(drawing->out, node->label[0] || !circuit ? node->label : node->id);
	fputs("\"; tooltip=\"", drawing->out);
	write_escaped(drawing->out, node->id);
	fprintf(drawing->out, "\"; style=\"rounded%s\"; color=\"%s\";\n", circuit ? "" : ",dashed",
		circuit ? "gray20" : "gray60");
	/* Where its edges end; the root has none. */
	if (circuit && place > 0) {
		indent(drawing, node->depth + 1);
		write_node(drawing, place, "[scheduler]");
	}
}

static void write_nodes(const struct drawing *drawing)
{
	const struct profile_graph *graph = drawing->table->graph;
	uint32_t open = 0; /* clusters */

	for (size_t i = 0; i < graph->node_count; i++) {
		while (open > graph->nodes[i].depth) {
			indent(drawing, --open);
			fputs("}\n", drawing->out);
		}
		indent(drawing, open);
		if (graph->nodes[i].cluster) {
			begin_cluster(drawing, i);
			open++;
		} else {
			write_node(drawing, i, graph->nodes[i].label);
		}
	}
	while (open > 0) {
		indent(drawing, --open);
		fputs("}\n", drawing->out);
	}
}

static void write_edge(const struct drawing *drawing, const struct profile_graph_edge *edge)
{
	FILE *out = drawing->out;

	fputs("  \"", out);
	write_escaped(out, edge->from);
	fputs("\" -> \"", out);
	write_escaped(out, edge->to);
	fputs("\" [tooltip=\"", out);
	write_escaped(out, edge->from);
	fputs(" to ", out);
	write_escaped(out, edge->to);
	fputs("\"];\n", out);
}

/* What is in no node, for the whole drawing. */
static void write_title(const struct drawing *drawing, size_t workers)
{
	const struct step_time *steps = &drawing->table->steps;
	char all[TEXT_NUMBER_MAX], in_steps[TEXT_NUMBER_MAX];

	text__duration(drawing->total_ns, all);
	text__duration(steps->runtime_ns, in_steps);
	fprintf(drawing->out, "  labelloc=t; label=\"%zu workers together: ", workers);
	if (steps->known)
		fprintf(drawing->out, "%s in steps, ", in_steps);
	if (drawing->total_ns > 0)
		fprintf(drawing->out, "%s in operators\";\n", all);
	else
		fputs("no time of operators is known\";\n", drawing->out);
}

int dot_graph__write(FILE *out, const struct time_table *table, size_t workers)
{
	struct drawing drawing = { .out = out, .table = table };

	for (size_t i = 1; i < table->graph->node_count; i++)
		drawing.total_ns = nanos__add(drawing.total_ns, table->entries[i].wall_ns);
	fputs("digraph circuit {\n", out);
	write_title(&drawing, workers);
	fputs("  fontname=\"Helvetica\"; tooltip=\" \";\n"
	      "  node [shape=box, style=\"filled\", fontname=\"Helvetica\", fontsize=11];\n"
	      "  edge [color=\"gray40\"];\n",
	      out);
	if (table->graph->node_count > MANY_NODES)
		fputs("  splines=polyline; nslimit=2; nslimit1=2; mclimit=0.2; maxiter=500;\n",
		      out);
	write_nodes(&drawing);
	for (size_t i = 0; i < table->graph->edge_count; i++)
		write_edge(&drawing, &table->graph->edges[i]);
	fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
