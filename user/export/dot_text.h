/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One worker's profile as the engine draws it: Profiler::dump_profile() of src/profile.rs, printed
 * by src/monitor/visual_graph.rs.
 *
 * The texts are the engine's, byte for byte, but for the order of the edges, which the engine takes
 * from a hash map and we from the profile. The engine writes labels as they are: a quotation mark
 * in one is a mistake in its dot text, and with DOT_ENGINE in ours.
 */
#ifndef DBPROF_EXPORT_DOT_TEXT_H
#define DBPROF_EXPORT_DOT_TEXT_H

#include <stdio.h>

#include "model/drawn_graph.h"
#include "model/source.h"

enum dot_quoting {
	DOT_ENGINE, /* labels as they are */
	DOT_VALID,  /* what would end a label early is escaped */
};

struct dot_label {
	char *text; /* with the readings; NULL: the node has none */
	size_t size;
	double importance; /* colours the node: its share of the operators' time, 0 to 1 */
};

/* The profile of the worker that is being told. */
struct dot_text {
	struct drawn_graph drawn;
	struct dot_label *labels; /* by node of drawn.graph */
};

/*
 * For the graph of @source, which must have one. Returns 0 or a negative errno, with its sentence
 * in @fail.
 */
int dot_text__make(const struct profile_source *source, struct dot_text *ret_text,
		   struct fail *fail);
void dot_text__clear(struct dot_text *text);

/* Forgets the worker before. */
void dot_text__begin_worker(struct dot_text *text);
/* Readings of a node of this worker. Returns 0 or -ENOMEM. */
int dot_text__add(struct dot_text *text, const struct profile_node *node);

/* Graph::to_dot(). Errors are those of the stream. */
void dot_text__write_dot(const struct dot_text *text, enum dot_quoting quoting, FILE *out);
/* The Display of Graph: names and readings, indented by depth. */
void dot_text__write_plain(const struct dot_text *text, FILE *out);

#endif
