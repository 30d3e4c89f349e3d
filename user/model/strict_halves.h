/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which two nodes of a profile's graph are the halves of one strict operator.
 *
 * The graph of the JSON profile (CircuitGraph::get_graph() of src/monitor/circuit_graph.rs) has
 * both as nodes of their own and does not say so. What tells them:
 *  - the output half has the operator's label and " (output)" after it, and no edge leads to it;
 *  - the input half has the label alone, lies in the same circuit, and no edge leaves it;
 *  - it was made later, by connect_feedback_with_preference() of src/circuit/circuit_builder.rs, so
 *    that its number is greater;
 *  - the same function makes the two edges that lead to it: the stream that it reads and a
 *    dependency on its output half.
 *
 * Where several inputs fit an output (strict operators of one name that read each other), an output
 * that only one fits is given that one, and so on with those that are left. For operators in a
 * chain or a tree no choice is left then. Two cases stay open, since the graph tells neither
 * streams from dependencies nor strict operators from others: operators of one name that read each
 * other in a ring, and an operator of other kind with that name that reads an output half and
 * something else and is read by none. There the lowest output is paired with its lowest input,
 * which is right when they were connected in the order in which they were made.
 */
#ifndef DBPROF_MODEL_STRICT_HALVES_H
#define DBPROF_MODEL_STRICT_HALVES_H

#include "model/graph_index.h"

struct strict_halves {
	size_t *other; /* by position of a half: that of its other half; else GRAPH_NONE */
	bool *output;  /* it is an output half, also one that was never connected */
	size_t count;  /* pairs */
};

/* Returns 0 or -ENOMEM. */
int strict_halves__find(const struct graph_index *index, struct strict_halves *ret_halves);
void strict_halves__clear(struct strict_halves *halves);

#endif
