// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The circuit as a picture. The text for graphviz is in memory, as large as the graph; the picture
 * is passed on as it comes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/dot_graph.h"
#include "export/export.h"
#include "util/filter.h"

#define NANOS_PER_SECOND 1000000000u
#define TIMEOUT_SECONDS	 120

static int no_graphviz(struct fail *fail)
{
	return fail__set(fail, -ENOENT,
			 "the program 'dot' that draws the graph is not on the PATH: install the "
			 "Debian package graphviz");
}

int export_svg__check(struct fail *fail)
{
	static const char *const argv[] = { "dot", "-V", NULL };
	char message[FILTER_MESSAGE_MAX];
	FILE *nowhere = fopen("/dev/null", "we");
	int err;

	if (!nowhere)
		return fail__set(fail, -errno, "/dev/null cannot be opened");
	err = filter__run(argv, "", 0, nowhere, TIMEOUT_SECONDS * (uint64_t)NANOS_PER_SECOND,
			  message);
	fclose(nowhere);
	if (err == -ENOENT)
		return no_graphviz(fail);
	if (err)
		return fail__set(fail, err,
				 "the program 'dot' that draws the graph does not run: %s",
				 message[0] ? message : strerror(-err));
	return 0;
}

static int draw(const char *text, size_t size, size_t nodes, FILE *out, struct fail *fail)
{
	static const char *const argv[] = { "dot", "-Tsvg", NULL };
	char message[FILTER_MESSAGE_MAX];
	int err = filter__run(argv, text, size, out, TIMEOUT_SECONDS * (uint64_t)NANOS_PER_SECOND,
			      message);

	if (err == -ENOENT)
		return no_graphviz(fail);
	if (err == -ETIMEDOUT)
		return fail__set(fail, err,
				 "graphviz has not drawn the %zu nodes of the graph within %d s; "
				 "such a graph is one for Feldera's profile viewer (--format json) "
				 "or for a flame graph (--format folded)",
				 nodes, TIMEOUT_SECONDS);
	if (err == -ECHILD)
		return fail__set(fail, err, "graphviz has failed: %s",
				 message[0] ? message : "it did not say why");
	return err;
}

static int add_node(void *context, size_t worker, const struct profile_node *node)
{
	(void)worker;
	time_table__add(context, node);
	return 0;
}

int export_svg(struct profile_source *source, FILE *out, struct fail *fail)
{
	static const struct profile_visitor visitor = { .node = add_node };
	struct time_table table;
	char *text = NULL;
	size_t size = 0;
	FILE *memory;
	int err = time_table__init(&table, source, fail);

	if (err)
		return err;
	err = profile_source__visit(source, &visitor, &table, fail);
	memory = err ? NULL : open_memstream(&text, &size);
	if (!err && !memory)
		err = -ENOMEM;
	if (!err)
		err = dot_graph__write(memory, &table, source->worker_count);
	if (memory && fclose(memory) && !err)
		err = -ENOMEM;
	if (!err)
		err = draw(text, size, source->graph->node_count, out, fail);
	free(text);
	time_table__clear(&table);
	return err;
}
