// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/measured.h"
#include "util/array.h"

#define METRICS_MAX 4096 /* the engine has some eighty */
/* In every profile of ours with a step in it, in none of the engine's (user/metrics/ours.json). */
#define OUR_METRIC "circuit_edge_idle_seconds"

struct scan {
	struct measured *measured;
	struct fail *fail;
	size_t workers; /* told so far */
};

static bool is_number(enum value_kind kind)
{
	return kind == VALUE_INT || kind == VALUE_COUNT || kind == VALUE_BYTES;
}

bool measured__same_kind(enum value_kind a, enum value_kind b)
{
	return a == b || (is_number(a) && is_number(b));
}

/* Where @name is, or belongs; whether it is there. */
static bool locate(const struct measured *measured, const char *name, size_t *ret_at)
{
	size_t low = 0, high = measured->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(measured->metrics[middle].name, name);

		if (order == 0) {
			*ret_at = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_at = low;
	return false;
}

const struct measured_metric *measured__find(const struct measured *measured, const char *name)
{
	size_t at;

	return locate(measured, name, &at) ? &measured->metrics[at] : NULL;
}

static int add(struct scan *scan, size_t at, const struct profile_reading *reading)
{
	struct measured *measured = scan->measured;
	struct measured_metric *metrics;
	const char *name;

	if (measured->count == METRICS_MAX)
		return fail__set(scan->fail, -EXDEV, "it has more than %d different metrics",
				 METRICS_MAX);
	metrics = array__reserve(measured->metrics, &measured->capacity, measured->count,
				 sizeof(*metrics));
	name = string_pool__add(&measured->strings, reading->metric);
	if (metrics)
		measured->metrics = metrics;
	if (!metrics || !name)
		return -ENOMEM;
	memmove(&metrics[at + 1], &metrics[at], (measured->count - at) * sizeof(*metrics));
	metrics[at] = (struct measured_metric){ name, reading->value.kind };
	measured->count++;
	return 0;
}

static int look_at(struct scan *scan, const struct profile_reading *reading)
{
	const struct measured_metric *known;
	size_t at;

	if (profile_reading__is_second(reading) || !strcmp(reading->metric, OUR_METRIC))
		return fail__set(scan->fail, -EXDEV,
				 "dbprof-bpf has written it; give the pipeline's own profile");
	if (!locate(scan->measured, reading->metric, &at))
		return add(scan, at, reading);
	known = &scan->measured->metrics[at];
	if (!measured__same_kind(known->kind, reading->value.kind))
		return fail__set(scan->fail, -EXDEV, "its readings of %.80s are of two kinds",
				 known->name);
	return 0;
}

static int node(void *context, size_t worker, const struct profile_node *node)
{
	int err = 0;

	(void)worker;
	for (size_t i = 0; i < node->count && !err; i++)
		err = look_at(context, &node->readings[i]);
	return err;
}

static int worker_end(void *context, size_t worker)
{
	struct scan *scan = context;

	(void)worker;
	scan->workers++;
	return 0;
}

int measured__scan(struct profile_source *source, struct measured *ret_measured, struct fail *fail)
{
	static const struct profile_visitor visitor = { .node = node, .worker_end = worker_end };
	struct scan scan = { .measured = ret_measured, .fail = fail };
	int err;

	*ret_measured = (struct measured){ 0 };
	err = profile_source__visit(source, &visitor, &scan, fail);
	if (!err && scan.workers != source->worker_count)
		err = fail__set(fail, -EXDEV, "it holds %zu workers and says that it has %zu",
				scan.workers, source->worker_count);
	return err;
}

void measured__clear(struct measured *measured)
{
	free(measured->metrics);
	string_pool__clear(&measured->strings);
	*measured = (struct measured){ 0 };
}
