// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/operator_ranking.h"
#include "model/source_label.h"
#include "util/text.h"
#include "util/utf8.h"

/* As much as fits, with ".." where something is missing. */
static void cut(const char *from, size_t columns, char *text, size_t size)
{
	size_t left = strlen(from), used = 0;
	uint32_t ch;

	if (text__columns(from) <= columns) {
		snprintf(text, size, "%s", from);
		return;
	}
	for (size_t column = 0; column + 2 < columns && left > 0; column++) {
		size_t len = utf8__next(from + used, left, &ch);

		used += len;
		left -= len;
	}
	snprintf(text, size, "%.*s..", (int)used, from);
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* The first of the shorter forms that fits, the last one cut. */
static void shorten(const struct graph_node *node, const char *name, size_t columns, char *text,
		    size_t size)
{
	const struct source_location *location = &node->location;
	char shorter[512];

	for (int form = 0; location->file && form < 2; form++) {
		const char *file = base_name(location->file);

		if (form == 0)
			snprintf(shorter, sizeof(shorter), "%.200s @ %.200s:%" PRIu32 ":%" PRIu32,
				 name, file, location->line, location->column);
		else
			snprintf(shorter, sizeof(shorter), "%.200s @ %.200s:%" PRIu32, name, file,
				 location->line);
		if (text__columns(shorter) <= columns) {
			snprintf(text, size, "%s", shorter);
			return;
		}
	}
	cut(name, columns, text, size);
}

int operator_total__name(const struct operator_total *total, size_t columns, char *text,
			 size_t size)
{
	static const struct source_location nowhere = { .file = NULL };
	const struct graph_node *node = total->node;
	/* As the graph shows the halves of a strict operator (profile_graph.c). */
	const char *suffix = node && node->kind == NODE_STRICT_OUTPUT ? " (output)" : "";
	char *label, *name;

	if (!node) {
		snprintf(text, size, "%s", "");
		return 0;
	}
	label = source_label(node->name, &node->location, suffix);
	name = source_label(node->name, &nowhere, suffix);
	if (label && name && text__columns(label) <= columns)
		snprintf(text, size, "%s", label);
	else if (label && name)
		shorten(node, name, columns, text, size);
	free(label);
	free(name);
	return label && name ? 0 : -ENOMEM;
}
