// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph_index.h"

static int compare(const void *left, const void *right, void *context)
{
	const struct profile_graph *graph = context;
	size_t a = *(const size_t *)left;
	size_t b = *(const size_t *)right;
	int order = strcmp(graph->nodes[a].id, graph->nodes[b].id);

	return order ? order : (a > b) - (a < b);
}

int graph_index__make(const struct profile_graph *graph, struct graph_index *ret_index)
{
	size_t *sorted = calloc(graph->node_count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < graph->node_count; i++)
		sorted[i] = i;
	qsort_r(sorted, graph->node_count, sizeof(*sorted), compare, (void *)graph);
	*ret_index = (struct graph_index){ sorted, graph };
	return 0;
}

void graph_index__clear(struct graph_index *index)
{
	free(index->sorted);
	*index = (struct graph_index){ 0 };
}

size_t graph_index__find(const struct graph_index *index, const char *id)
{
	const struct profile_graph *graph = index->graph;
	size_t low = 0;
	size_t high = graph->node_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(graph->nodes[index->sorted[middle]].id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == graph->node_count || strcmp(graph->nodes[index->sorted[low]].id, id) != 0)
		return GRAPH_NONE;
	return index->sorted[low];
}
