// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/same_circuit.h"

static int compare_nodes(const void *left, const void *right)
{
	const struct profile_graph_node *a = *(const struct profile_graph_node *const *)left;
	const struct profile_graph_node *b = *(const struct profile_graph_node *const *)right;

	return strcmp(a->id, b->id);
}

static int compare_edges(const void *left, const void *right)
{
	const struct profile_graph_edge *a = *(const struct profile_graph_edge *const *)left;
	const struct profile_graph_edge *b = *(const struct profile_graph_edge *const *)right;
	int order = strcmp(a->from, b->from);

	if (order == 0)
		order = strcmp(a->to, b->to);
	if (order == 0)
		order = a->from_cluster - b->from_cluster;
	return order ? order : a->to_cluster - b->to_cluster;
}

/* Pointers to @count elements of @size bytes, sorted; free it. NULL when memory is short. */
static const void **sorted(const void *elements, size_t count, size_t size,
			   int (*compare)(const void *, const void *))
{
	const void **pointers = calloc(count + 1, sizeof(*pointers));

	if (!pointers)
		return NULL;
	for (size_t i = 0; i < count; i++)
		pointers[i] = (const char *)elements + i * size;
	qsort(pointers, count, sizeof(*pointers), compare);
	return pointers;
}

static int compare_pair(const struct profile_graph_node *a, const struct profile_graph_node *b,
			struct fail *fail)
{
	if (strcmp(a->id, b->id) != 0)
		return fail__set(fail, -EXDEV, "it has a node %s where the process has %s", b->id,
				 a->id);
	if (strcmp(a->label, b->label) != 0)
		return fail__set(fail, -EXDEV, "its node %s is '%.80s', the process's is '%.80s'",
				 a->id, b->label, a->label);
	if (a->cluster != b->cluster || a->depth != b->depth)
		return fail__set(fail, -EXDEV, "its node %s is elsewhere in the circuit", a->id);
	return 0;
}

static int same_nodes(const struct profile_graph *ours, const struct profile_graph *engine,
		      struct fail *fail)
{
	const void **a, **b;
	int err = 0;

	if (ours->node_count != engine->node_count)
		return fail__set(fail, -EXDEV, "it has %zu nodes, the process's circuit has %zu",
				 engine->node_count, ours->node_count);
	a = sorted(ours->nodes, ours->node_count, sizeof(*ours->nodes), compare_nodes);
	b = sorted(engine->nodes, engine->node_count, sizeof(*engine->nodes), compare_nodes);
	if (!a || !b)
		err = -ENOMEM;
	for (size_t i = 0; i < ours->node_count && !err; i++)
		err = compare_pair(a[i], b[i], fail);
	free(a);
	free(b);
	return err;
}

static int same_edges(const struct profile_graph *ours, const struct profile_graph *engine,
		      struct fail *fail)
{
	const void **a, **b;
	int err = 0;

	if (ours->edge_count != engine->edge_count)
		return fail__set(fail, -EXDEV, "it has %zu edges, the process's circuit has %zu",
				 engine->edge_count, ours->edge_count);
	a = sorted(ours->edges, ours->edge_count, sizeof(*ours->edges), compare_edges);
	b = sorted(engine->edges, engine->edge_count, sizeof(*engine->edges), compare_edges);
	if (!a || !b)
		err = -ENOMEM;
	for (size_t i = 0; i < ours->edge_count && !err; i++) {
		const struct profile_graph_edge *edge = b[i];

		if (compare_edges(&a[i], &b[i]) != 0)
			err = fail__set(fail, -EXDEV,
					"it has an edge from %s to %s, the process has not",
					edge->from, edge->to);
	}
	free(a);
	free(b);
	return err;
}

int same_circuit(const struct profile_source *ours, const struct profile_source *engine,
		 struct fail *fail)
{
	int err;

	if (!engine->graph || engine->graph->node_count == 0)
		return fail__set(fail, -EXDEV, "it has no graph by which it could be told");
	if (!ours->graph || ours->graph->node_count == 0)
		return fail__set(fail, -EXDEV,
				 "it cannot be told: no graph was read of the "
				 "process");
	if (ours->worker_count != engine->worker_count)
		return fail__set(fail, -EXDEV, "it is of %zu workers, the process has %zu",
				 engine->worker_count, ours->worker_count);
	err = same_nodes(ours->graph, engine->graph, fail);
	return err ? err : same_edges(ours->graph, engine->graph, fail);
}
