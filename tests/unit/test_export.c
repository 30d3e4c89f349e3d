// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The whole JSON profile.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/export.h"
#include "check.h"
#include "fixture.h"

/* The profile of @snapshot as text; free it. */
static char *export(const struct snapshot *snapshot)
{
	const struct exporter *exporter = exporter__find("json");
	struct profile *profile = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	CHECK(exporter && exporter->write(profile, snapshot, out) == 0);
	fclose(out);
	profile__free(profile);
	return text;
}

static void check_part(const char *text, const char *part)
{
	if (!strstr(text, part)) {
		fprintf(stderr, "missing: %s\nin: %s\n", part, text);
		check_failures++;
	}
}

static void test_profile(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	char *text = export(snapshot);

	check_part(text, "{\"metrics\":[{\"name\":\"used_memory_bytes\",\"category\":\"State\"");
	check_part(text, "{\"name\":\"circuit_open_wait_seconds\"");
	check_part(text, "\"worker_profiles\":[{\"metadata\":{\"n\":[{\"metric_id\":"
			 "\"circuit_cpu_time_seconds\",\"value\":{\"type\":\"duration\","
			 "\"value\":{\"secs\":3,\"nanos\":999}}}");
	check_part(text, "{\"metric_id\":\"circuit_wait_by_reason_seconds\",\"labels\":"
			 "[[\"reason\",\"peers\"]],\"value\":");
	check_part(text, "\"nn0\":[{\"metric_id\":\"invocations_count\",\"value\":"
			 "{\"type\":\"count\",\"value\":100}}]");
	check_part(text, "\"graph\":{\"nodes\":{\"id\":\"n\",\"label\":\"root\",\"nodes\":["
			 "{\"Cluster\":{\"id\":\"nn1\",\"label\":\"\",\"nodes\":[{\"Simple\":"
			 "{\"id\":\"nn1_n0\",\"label\":\"Z^-1 (output)\"}}");
	check_part(text, "\"edges\":[{\"from_node\":\"nn0\",\"from_cluster\":false,"
			 "\"to_node\":\"nn1\",\"to_cluster\":true}");
	check_part(text, "\"window\":{\"start\":\"1970-01-01T00:00:01.000000001Z\"");
	check_part(text, "\"complete\":true");
	check_part(text, "\"workers\":[{\"worker\":0,\"tid\":1000,\"late\":false,\"observed\":");
	check_part(text, "\"threads\":[{\"tid\":2000,\"comm\":\"merger-0\",\"observed\":");
	check_part(text, "\"open_steps\":[]}}");
	free(text);
	snapshot__free(snapshot);
}

static void test_open_steps(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, true);
	struct snapshot_circuit *circuits = snapshot->workers[0].circuits;
	char *text;

	circuits[0].step_open = circuits[0].step_open_before = true;
	circuits[0].step_age_ns = 3000000000;
	circuits[1].step_open = true;
	circuits[1].open_reason = 2;
	circuits[1].open_reason_ns = 5;
	snapshot->losses.reads = UINT64_MAX;
	snapshot->window_start_unix_ns = -1;
	text = export(snapshot);
	check_part(text, "{\"worker\":0,\"circuit\":\"n\",\"age\":{\"secs\":3,\"nanos\":0},"
			 "\"exact\":false,\"reason\":null},{\"worker\":0,\"circuit\":\"nn1\","
			 "\"age\":{\"secs\":0,\"nanos\":0},\"exact\":true,\"reason\":\"peers\","
			 "\"waiting\":{\"secs\":0,\"nanos\":5}}]");
	check_part(text, "\"reads\":18446744073709551615");
	check_part(text, "\"complete\":false");
	check_part(text, "\"start\":\"1969-12-31T23:59:59.999999999Z\"");
	free(text);
	snapshot__free(snapshot);
}

/* No workers: still a graph, since viewers refuse a null one. */
static void test_empty(void)
{
	struct snapshot empty = { .window_start_unix_ns = INT64_MIN };
	char *text = export(&empty);

	check_part(text, "\"worker_profiles\":[],\"graph\":{\"nodes\":{\"id\":\"n\",\"label\":"
			 "\"root\",\"nodes\":[]},\"edges\":[]},\"dbprof\":{");
	check_part(text, "\"executable\":null");
	check_part(text, "\"graph\":null");
	check_part(text, "\"start\":\"1677-09-21T00:12:43.145224192Z\"");
	free(text);
}

/* Names come from another program's memory: whatever they hold, the JSON stays valid. */
static void test_hostile_names(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct graph_node *node = &snapshot->workers[0].graph->nodes[5];
	char *text;

	free(node->name);
	node->name = strdup("\"\\\x01\xff\n");
	memset(snapshot->threads[1].comm, 'x', sizeof(snapshot->threads[1].comm));
	text = export(snapshot);
	check_part(text, "\"label\":\"\\\"\\\\\\u0001\xef\xbf\xbd\\n\"");
	check_part(text, "\"comm\":\"xxxxxxxxxxxxxxxx\"");
	free(text);
	snapshot__free(snapshot);
}

static void test_full_disk(void)
{
	struct snapshot *snapshot = fixture_snapshot(64, false);
	struct profile *profile = NULL;
	FILE *full = fopen("/dev/full", "w");

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	if (CHECK(full != NULL)) {
		CHECK(export_json(profile, snapshot, full) == -ENOSPC);
		fclose(full);
	}
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_list(void)
{
	size_t count;
	const struct exporter *all = exporter__all(&count);

	CHECK(count > 0);
	for (size_t i = 0; i < count; i++)
		CHECK(exporter__find(all[i].name) == &all[i]);
	CHECK(!exporter__find("nothing"));
}

int main(void)
{
	test_profile();
	test_open_steps();
	test_empty();
	test_hostile_names();
	test_full_disk();
	test_list();
	return CHECK_RESULT();
}
