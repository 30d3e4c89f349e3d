// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/strict_halves.h"

static const char SUFFIX[] = " (output)";

#define SUFFIX_LEN (sizeof(SUFFIX) - 1)

/* Two nodes that may be halves of one operator. */
struct candidate {
	size_t output; /* positions in the graph */
	size_t input;
	unsigned long long output_number; /* in their circuit, the older the lower */
	unsigned long long input_number;
};

/* What is left to choose from: the candidates of each output that has no other half yet. */
struct matching {
	struct strict_halves *halves;
	struct candidate *by_output; /* sorted by output, then input */
	struct candidate *by_input;  /* sorted by input */
	size_t count;
	size_t *first;	/* by node: its first candidate, of by_output or of by_input */
	size_t *left;	/* by output: how many of its candidates are free */
	size_t *forced; /* outputs that came to have one left, which each does once at most */
	size_t forced_count;
};

struct degrees {
	size_t in;
	size_t out;
};

static size_t base_length(const struct profile_graph_node *node)
{
	size_t len = strlen(node->label);

	if (node->cluster || len < SUFFIX_LEN ||
	    strcmp(node->label + len - SUFFIX_LEN, SUFFIX) != 0)
		return SIZE_MAX;
	return len - SUFFIX_LEN;
}

/* Splits "nn4_n12" into its circuit's part, of which it returns the length, and its number. */
static size_t split_id(const char *id, unsigned long long *ret_number)
{
	const char *last = strrchr(id, 'n');

	*ret_number = last ? strtoull(last + 1, NULL, 10) : 0;
	return last ? (size_t)(last - id) : 0;
}

static bool fits(const struct profile_graph *graph, struct candidate *candidate)
{
	const struct profile_graph_node *output = &graph->nodes[candidate->output];
	const struct profile_graph_node *input = &graph->nodes[candidate->input];
	size_t base = base_length(output);
	size_t output_scope = split_id(output->id, &candidate->output_number);
	size_t input_scope = split_id(input->id, &candidate->input_number);

	return !input->cluster && strlen(input->label) == base &&
	       memcmp(input->label, output->label, base) == 0 && output_scope == input_scope &&
	       memcmp(output->id, input->id, output_scope) == 0 &&
	       candidate->input_number > candidate->output_number;
}

static int compare_numbers(unsigned long long a, unsigned long long b)
{
	return (a > b) - (a < b);
}

static int compare_by_output(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;
	int order = compare_numbers(a->output_number, b->output_number);

	if (!order)
		order = compare_numbers(a->output, b->output);
	if (!order)
		order = compare_numbers(a->input_number, b->input_number);
	return order ? order : compare_numbers(a->input, b->input);
}

static int compare_by_input(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;

	return compare_numbers(a->input, b->input);
}

static void count_degrees(const struct graph_index *index, struct degrees *degrees)
{
	const struct profile_graph *graph = index->graph;

	for (size_t i = 0; i < graph->edge_count; i++) {
		size_t from = graph_index__find(index, graph->edges[i].from);
		size_t to = graph_index__find(index, graph->edges[i].to);

		if (from != GRAPH_NONE)
			degrees[from].out++;
		if (to != GRAPH_NONE)
			degrees[to].in++;
	}
}

/* Each pair of nodes once: a loop has two edges. */
static void sort_candidates(struct matching *matching)
{
	struct candidate *all = matching->by_output;
	size_t kept = 0;

	qsort(all, matching->count, sizeof(*all), compare_by_output);
	for (size_t i = 0; i < matching->count; i++)
		if (i == 0 || compare_by_output(&all[i], &all[i - 1]) != 0)
			all[kept++] = all[i];
	matching->count = kept;
	memcpy(matching->by_input, all, kept * sizeof(*all));
	qsort(matching->by_input, kept, sizeof(*all), compare_by_input);
	for (size_t i = kept; i-- > 0;) {
		matching->first[all[i].output] = i;
		matching->left[all[i].output]++;
		matching->first[matching->by_input[i].input] = i;
	}
}

static void find_candidates(const struct graph_index *index, const struct degrees *degrees,
			    struct matching *matching)
{
	const struct profile_graph *graph = index->graph;
	bool *output = matching->halves->output;

	for (size_t i = 0; i < graph->node_count; i++)
		output[i] = base_length(&graph->nodes[i]) != SIZE_MAX && degrees[i].in == 0;
	for (size_t i = 0; i < graph->edge_count; i++) {
		struct candidate candidate = {
			.output = graph_index__find(index, graph->edges[i].from),
			.input = graph_index__find(index, graph->edges[i].to),
		};

		if (candidate.output == GRAPH_NONE || candidate.input == GRAPH_NONE ||
		    !output[candidate.output] || degrees[candidate.input].in < 2 ||
		    degrees[candidate.input].out > 0 || !fits(graph, &candidate))
			continue;
		matching->by_output[matching->count++] = candidate;
	}
	sort_candidates(matching);
}

static bool is_free(const struct matching *matching, size_t node)
{
	return matching->halves->other[node] == GRAPH_NONE;
}

/* One candidate less for an output that has no other half yet. */
static void lose(struct matching *matching, size_t output)
{
	if (is_free(matching, output) && --matching->left[output] == 1)
		matching->forced[matching->forced_count++] = output;
}

static void pair(struct matching *matching, size_t output, size_t input)
{
	matching->halves->other[output] = input;
	matching->halves->other[input] = output;
	matching->halves->count++;
	for (size_t i = matching->first[input]; i < matching->count; i++) {
		if (matching->by_input[i].input != input)
			break;
		lose(matching, matching->by_input[i].output);
	}
}

/* Pairs @output with the first free one of its candidates, if there is any. */
static void choose(struct matching *matching, size_t output)
{
	if (!is_free(matching, output) || matching->left[output] == 0)
		return;
	for (size_t i = matching->first[output]; i < matching->count; i++) {
		const struct candidate *candidate = &matching->by_output[i];

		if (candidate->output != output)
			return;
		if (!is_free(matching, candidate->input))
			continue;
		pair(matching, output, candidate->input);
		return;
	}
}

static void follow_forced(struct matching *matching)
{
	while (matching->forced_count > 0)
		choose(matching, matching->forced[--matching->forced_count]);
}

static void match(struct matching *matching)
{
	for (size_t i = 0; i < matching->count; i++)
		if (matching->left[matching->by_output[i].output] == 1)
			choose(matching, matching->by_output[i].output);
	follow_forced(matching);
	for (size_t i = 0; i < matching->count; i++) {
		choose(matching, matching->by_output[i].output);
		follow_forced(matching);
	}
}

/*
 * An operator's own name may end like that. With a location before it, the ending is the engine's;
 * without, what has no other half is taken for an operator.
 */
static void keep_operators(const struct profile_graph *graph, struct strict_halves *halves)
{
	for (size_t i = 0; i < graph->node_count; i++)
		if (halves->output[i] && halves->other[i] == GRAPH_NONE &&
		    !strstr(graph->nodes[i].label, " @ "))
			halves->output[i] = false;
}

static int find(const struct graph_index *index, struct matching *matching)
{
	const struct profile_graph *graph = index->graph;
	struct degrees *degrees = calloc(graph->node_count + 1, sizeof(*degrees));

	matching->by_output = calloc(graph->edge_count + 1, sizeof(struct candidate));
	matching->by_input = calloc(graph->edge_count + 1, sizeof(struct candidate));
	matching->first = calloc(graph->node_count + 1, sizeof(size_t));
	matching->left = calloc(graph->node_count + 1, sizeof(size_t));
	matching->forced = calloc(graph->node_count + 1, sizeof(size_t));
	if (!degrees || !matching->by_output || !matching->by_input || !matching->first ||
	    !matching->left || !matching->forced) {
		free(degrees);
		return -ENOMEM;
	}
	count_degrees(index, degrees);
	find_candidates(index, degrees, matching);
	free(degrees);
	match(matching);
	keep_operators(graph, matching->halves);
	return 0;
}

int strict_halves__find(const struct graph_index *index, struct strict_halves *ret_halves)
{
	size_t count = index->graph->node_count;
	struct strict_halves halves = { .other = calloc(count + 1, sizeof(size_t)),
					.output = calloc(count + 1, sizeof(bool)) };
	struct matching matching = { .halves = &halves };
	int err = -ENOMEM;

	if (halves.other && halves.output) {
		for (size_t i = 0; i < count; i++)
			halves.other[i] = GRAPH_NONE;
		err = find(index, &matching);
	}
	free(matching.by_output);
	free(matching.by_input);
	free(matching.first);
	free(matching.left);
	free(matching.forced);
	if (err)
		strict_halves__clear(&halves);
	else
		*ret_halves = halves;
	return err;
}

void strict_halves__clear(struct strict_halves *halves)
{
	free(halves->other);
	free(halves->output);
	*halves = (struct strict_halves){ 0 };
}
