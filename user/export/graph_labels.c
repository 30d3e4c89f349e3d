// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "export/graph_labels.h"
#include "util/text.h"

int graph_labels__make(struct graph_labels *ret_labels, const struct profile_graph *graph)
{
	struct graph_labels labels = { .text = "" };
	size_t count = graph ? graph->node_count : 0;
	int err = 0;

	labels.labels = calloc(count + 1, sizeof(*labels.labels));
	if (!labels.labels)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		struct node_path id;
		size_t number;

		if (node_path__parse(graph->nodes[i].id, &id))
			continue;
		err = node_index__add(&labels.index, &id, &number);
		if (!err)
			labels.labels[number] = graph->nodes[i].label;
	}
	if (err)
		graph_labels__clear(&labels);
	else
		*ret_labels = labels;
	return err;
}

const char *graph_labels__of(struct graph_labels *labels, const struct node_path *id)
{
	size_t number = node_index__find(&labels->index, id);

	if (number == SIZE_MAX)
		return "";
	text__printable(labels->labels[number], labels->text, sizeof(labels->text));
	return labels->text;
}

void graph_labels__clear(struct graph_labels *labels)
{
	node_index__clear(&labels->index);
	free(labels->labels);
	labels->labels = NULL;
}
