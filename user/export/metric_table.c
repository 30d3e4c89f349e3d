// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE 1 /* memrchr */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/metric_table.h"
#include "util/embedded.h"

struct version {
	uint32_t part[3];
};

static bool parse_version(const char *text, struct version *ret_version)
{
	struct version version;

	if (!text ||
	    sscanf(text, "%9u.%9u.%9u", &version.part[0], &version.part[1], &version.part[2]) != 3)
		return false;
	*ret_version = version;
	return true;
}

/* Whether @a is nearer to @wanted than @b; of two that are equally near, the newer one. */
static bool is_nearer(const struct version *a, const struct version *b,
		      const struct version *wanted)
{
	for (int i = 0; i < 3; i++) {
		int64_t a_far = llabs((int64_t)a->part[i] - wanted->part[i]);
		int64_t b_far = llabs((int64_t)b->part[i] - wanted->part[i]);

		if (a_far != b_far)
			return a_far < b_far;
		if (a->part[i] != b->part[i])
			return a->part[i] > b->part[i];
	}
	return false;
}

/* The table for @text's version, by the file's name; the newest for a version we cannot read. */
static const struct embedded *choose(const char *text)
{
	struct version wanted = { { UINT32_MAX, UINT32_MAX, UINT32_MAX } };
	static const char prefix[] = "metrics/dbsp-";
	const struct embedded *best = NULL, *file = NULL;
	struct version version, best_version = { { 0 } };

	parse_version(text, &wanted);
	while ((file = embedded__next(prefix, file))) {
		if (!parse_version(file->name + sizeof(prefix) - 1, &version))
			continue;
		if (best && !is_nearer(&version, &best_version, &wanted))
			continue;
		best = file;
		best_version = version;
	}
	return best;
}

/* The elements between the brackets of a table. */
static void elements(struct json_writer *json, const struct embedded *file)
{
	const char *begin = memchr(file->data, '[', file->len);
	const char *end = memrchr(file->data, ']', file->len);

	if (begin && end && begin < end)
		json__elements(json, begin + 1, (size_t)(end - begin - 1));
}

void metric_table__write(const char *version, struct json_writer *json)
{
	const struct embedded *table = choose(version);
	const struct embedded *ours = embedded__next("metrics/ours.json", NULL);

	if (table)
		elements(json, table);
	if (ours)
		elements(json, ours);
}
