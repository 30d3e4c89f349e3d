// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "reader/node_set.h"
#include "util/array.h"

int node_set__add(struct node_set *set, const struct node_path *id, size_t worker)
{
	struct node_mark *marks;
	size_t number;
	int err = node_index__add(&set->index, id, &number);

	if (err)
		return err;
	if (number < set->count) {
		if (set->marks[number].last == worker)
			return -EEXIST;
		set->marks[number].last = worker;
		return 0;
	}
	marks = array__reserve(set->marks, &set->capacity, set->count, sizeof(*marks));
	if (!marks)
		return -ENOMEM;
	set->marks = marks;
	marks[set->count++] = (struct node_mark){ .first = worker, .last = worker };
	return 0;
}

static bool comes_before(const struct node_set *set, size_t a, size_t b)
{
	if (set->marks[a].first != set->marks[b].first)
		return set->marks[a].first < set->marks[b].first;
	return node_path__compare(&set->index.ids[a], &set->index.ids[b]) < 0;
}

bool node_set__unknown(struct node_set *set, const struct profile_graph *graph,
		       struct node_path *ret_id, size_t *ret_worker)
{
	size_t best = SIZE_MAX;
	struct node_path id;

	/* Regions are clusters as well; their ids are no paths. */
	for (size_t i = 0; i < graph->node_count; i++) {
		size_t number = node_path__parse(graph->nodes[i].id, &id)
					? SIZE_MAX
					: node_index__find(&set->index, &id);

		if (number != SIZE_MAX)
			set->marks[number].known = true;
	}
	for (size_t i = 0; i < set->count; i++)
		if (!set->marks[i].known && (best == SIZE_MAX || comes_before(set, i, best)))
			best = i;
	if (best == SIZE_MAX)
		return false;
	*ret_id = set->index.ids[best];
	*ret_worker = set->marks[best].first;
	return true;
}

void node_set__clear(struct node_set *set)
{
	node_index__clear(&set->index);
	free(set->marks);
	*set = (struct node_set){ 0 };
}
