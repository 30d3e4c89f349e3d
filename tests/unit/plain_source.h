/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile in memory as a source.
 */
#ifndef DBPROF_TESTS_PLAIN_SOURCE_H
#define DBPROF_TESTS_PLAIN_SOURCE_H

#include <errno.h>
#include <stdlib.h>

#include "model/source.h"

struct plain_source {
	struct profile_source source;
	struct profile *profile; /* owned */
	const char *metrics;	 /* elements of the list; NULL: none */
	const char *members;	 /* a number under the key "more"; NULL: none */
	size_t fail_at;		 /* worker at whose begin it fails, counted from 1; 0: none */
	size_t told;		 /* workers, all tellings together */
	bool *closed;		 /* set by close; may be NULL */
};

static int memory_visit(struct profile_source *source, const struct profile_visitor *visitor,
			void *context, struct fail *fail)
{
	struct plain_source *from = (struct plain_source *)source;
	const struct profile *profile = from->profile;
	int err = 0;

	for (size_t i = 0; i < profile->worker_count && !err; i++) {
		const struct profile_worker *worker = &profile->workers[i];

		if (from->fail_at == i + 1)
			return fail__set(fail, -EPROTO, "worker %zu is damaged", i);
		if (visitor->worker_begin)
			err = visitor->worker_begin(context, i);
		for (size_t j = 0; j < worker->count && !err && visitor->node; j++)
			err = visitor->node(context, i, &worker->nodes[j]);
		if (!err && visitor->worker_end)
			err = visitor->worker_end(context, i);
		from->told += !err;
	}
	return err;
}

static int memory_metrics(struct profile_source *source, struct json_writer *json,
			  struct fail *fail)
{
	const char *metrics = ((struct plain_source *)source)->metrics;

	(void)fail;
	if (metrics)
		json__elements(json, metrics, strlen(metrics));
	return 0;
}

static int memory_members(struct profile_source *source, struct json_writer *json,
			  struct fail *fail)
{
	(void)fail;
	if (((struct plain_source *)source)->members)
		json__member_string(json, "more", ((struct plain_source *)source)->members);
	return 0;
}

static void memory_close(struct profile_source *source)
{
	struct plain_source *from = (struct plain_source *)source;

	if (from->closed)
		*from->closed = true;
	profile__free(from->profile);
	free(from);
}

static inline struct plain_source *plain_source(struct profile *profile)
{
	static const struct profile_source_ops ops = {
		.visit = memory_visit,
		.metrics = memory_metrics,
		.members = memory_members,
		.close = memory_close,
	};
	struct plain_source *from = calloc(1, sizeof(*from));

	from->profile = profile;
	from->source = (struct profile_source){ .ops = &ops,
						.graph = &profile->graph,
						.worker_count = profile->worker_count };
	return from;
}

#endif
