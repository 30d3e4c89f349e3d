// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "export/json_parts.h"
#include "export/metric_table.h"
#include "export/snapshot_source.h"

struct snapshot_source {
	struct profile_source source; /* first: the one is cast to the other */
	const struct snapshot *snapshot;
	struct profile *profile;
};

static struct snapshot_source *whole(struct profile_source *source)
{
	return (struct snapshot_source *)source;
}

static int tell(const struct profile_worker *worker, size_t index,
		const struct profile_visitor *visitor, void *context)
{
	int err = visitor->worker_begin ? visitor->worker_begin(context, index) : 0;

	for (size_t i = 0; i < worker->count && !err && visitor->node; i++)
		err = visitor->node(context, index, &worker->nodes[i]);
	if (!err && visitor->worker_end)
		err = visitor->worker_end(context, index);
	return err;
}

static int visit(struct profile_source *source, const struct profile_visitor *visitor,
		 void *context, struct fail *fail)
{
	struct snapshot_source *from = whole(source);
	int err = 0;

	(void)fail;
	from->profile->nodes_left_out = 0;
	for (size_t i = 0; i < from->snapshot->worker_count && !err; i++) {
		struct profile_worker worker = { 0 };

		err = profile__read_worker(from->profile, from->snapshot, i, &worker);
		if (!err)
			err = tell(&worker, i, visitor, context);
		profile_worker__clear(&worker);
	}
	return err;
}

static int metrics(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	(void)fail;
	metric_table__write(whole(source)->snapshot->dbsp_version, json);
	return 0;
}

static int members(struct profile_source *source, struct json_writer *json, struct fail *fail)
{
	struct snapshot_source *from = whole(source);

	(void)fail;
	json__key(json, "threads");
	json_threads(json, from->snapshot);
	json__key(json, "dbprof");
	json_about(json, from->profile, from->snapshot);
	return 0;
}

static void close_source(struct profile_source *source)
{
	profile__free(whole(source)->profile);
	free(source);
}

static const struct profile_source_ops ops = {
	.visit = visit,
	.metrics = metrics,
	.members = members,
	.close = close_source,
};

int snapshot_source__open(const struct snapshot *snapshot, struct profile_source **ret_source)
{
	struct snapshot_source *from = calloc(1, sizeof(*from));
	int err;

	if (!from)
		return -ENOMEM;
	err = profile__begin_window(snapshot, &from->profile);
	if (err) {
		free(from);
		return err;
	}
	from->snapshot = snapshot;
	from->source = (struct profile_source){
		.ops = &ops,
		.graph = &from->profile->graph,
		.worker_count = snapshot->worker_count,
		.dbsp_version = snapshot->dbsp_version,
		.host = snapshot->host,
		.mode = snapshot_mode__name(snapshot->mode),
		.start_unix_ns = snapshot->window_start_unix_ns,
		.elapsed_ns = snapshot->window_ns,
		.pid = snapshot->pid,
	};
	*ret_source = &from->source;
	return 0;
}

const struct snapshot *snapshot_source__snapshot(const struct profile_source *source)
{
	if (source->ops != &ops)
		return NULL;
	return ((const struct snapshot_source *)source)->snapshot;
}
