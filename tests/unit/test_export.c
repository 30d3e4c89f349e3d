// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The whole JSON profile.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/export.h"
#include "export/snapshot_source.h"
#include "check.h"
#include "fixture.h"

/* The profile of @snapshot as text; free it. */
static char *export(const struct snapshot *snapshot)
{
	const struct exporter *exporter = exporter__find("json");
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	CHECK(exporter && exporter->write(source, out, &fail) == 0);
	fclose(out);
	profile_source__close(source);
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
			 "\"blocked_seconds\",\"labels\":[[\"cause\",\"block_io\"]],\"value\":");
	check_part(text, "{\"metric_id\":\"circuit_cpu_time_seconds\",\"value\":{\"type\":"
			 "\"duration\",\"value\":{\"secs\":3,\"nanos\":999}}}");
	check_part(text, "{\"metric_id\":\"circuit_wait_by_reason_seconds\",\"labels\":"
			 "[[\"reason\",\"peers\"]],\"value\":");
	check_part(text, "\"nn0\":[{\"metric_id\":\"blocked_seconds\",\"labels\":[[\"cause\","
			 "\"futex\"]],\"value\":{\"type\":\"duration\",\"value\":"
			 "{\"secs\":0,\"nanos\":150000000}}},{\"metric_id\":"
			 "\"engine_timing_seconds\"");
	check_part(text, "{\"metric_id\":\"invocations_count\",\"value\":"
			 "{\"type\":\"count\",\"value\":100}}");
	check_part(text, "\"graph\":{\"nodes\":{\"id\":\"n\",\"label\":\"root\",\"nodes\":["
			 "{\"Cluster\":{\"id\":\"nn1\",\"label\":\"\",\"nodes\":[{\"Simple\":"
			 "{\"id\":\"nn1_n0\",\"label\":\"Z^-1 (output)\"}}");
	check_part(text, "\"edges\":[{\"from_node\":\"nn0\",\"from_cluster\":false,"
			 "\"to_node\":\"nn1\",\"to_cluster\":true}");
	check_part(text, "\"window\":{\"start\":\"1970-01-01T00:00:01.000000001Z\"");
	check_part(text, "\"complete\":true");
	check_part(text, "\"workers\":[{\"worker\":0,\"tid\":1000,\"late\":false,\"observed\":");
	check_part(text, "\"open_steps\":[]}}");
	free(text);
	snapshot__free(snapshot);
}

#define ZERO	 "{\"secs\":0,\"nanos\":0}"
#define NANOS(n) "{\"secs\":0,\"nanos\":" #n "}"

/* Closed books of all threads; in the maps, what is zero is left out. */
static void test_threads(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	char *text = export(snapshot);

	check_part(
		text,
		"},\"threads\":[{\"tid\":2000,\"name\":\"merger-0\",\"role\":\"merger\","
		"\"observed\":" NANOS(
			10) ",\"on_cpu\":" ZERO ",\"run_queue\":" ZERO ",\"preempted\":" ZERO
			    ",\"preempted_by\":{},\"blocked\":{\"pipe\":" NANOS(
				    9) "},\"woken_by\":{},\"unobserved\":" NANOS(1) "}],"
										    "\"dbprof\":{");
	check_part(
		text,
		"\"preempted\":" NANOS(2) ",\"preempted_by\":{\"io_thread\":" NANOS(
			2) "},\"blocked\":{\"futex\":" NANOS(1) "},\"woken_by\":"
								"{\"kernel\":" NANOS(
									1) "},\"unobserved\":" ZERO
									   ",\"cpu\":{"
									   "\"operators\":{"
									   "\"secs\":2,\"nanos\":"
									   "500000000},\"engine_"
									   "timing\":" NANOS(5000000) ",\"scheduler\":" NANOS(
										   495000999) ",\"o"
											      "utsi"
											      "de_"
											      "step"
											      "s\""
											      ":" NANOS(
												      7000000) ",\"samples\":400},\"estimated_steps\":null}]");
	free(text);
	snapshot->exited_count = 3;
	snapshot->exited.observed_ns = 5;
	snapshot->exited.on_cpu_ns = 5;
	snapshot->threads[0].tid = 999; /* a worker whose circuit nobody knows */
	text = export(snapshot);
	check_part(text, "},\"threads\":[{\"tid\":999,\"name\":\"dbsp-worker-0\",\"role\":"
			 "\"worker\"");
	check_part(text, "},{\"exited\":3,\"observed\":" NANOS(5) ",\"on_cpu\":" NANOS(
				 5) ",\"run_queue\":" ZERO);
	check_part(text, "\"workers\":[{\"worker\":0,\"tid\":1000,\"late\":false,\"cpu\":");
	free(text);
	snapshot__free(snapshot);
}

/* Steps that were watched for a part of the time; one turn tells nothing of how exact that is. */
static void test_estimated_steps(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	char *text;

	snapshot->workers[0].observed_ns = 40;
	snapshot->workers[0].watched_ns = 10;
	snapshot->workers[0].turns.count = 1;
	text = export(snapshot);
	check_part(text, "\"estimated_steps\":{\"watched\":" NANOS(10) ",\"of\":" NANOS(
				 40) ",\"turns\":1}}]");
	free(text);
	snapshot__free(snapshot);
}

static void test_cost(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	char *text = export(snapshot);

	check_part(text,
		   "\"mode\":\"sampled\",\"frequency_hz\":97,\"cost\":{\"traps\":1000,"
		   "\"trap_nanos\":500,\"program\":" NANOS(1500000) ",\"own_cpu\":" NANOS(
			   10000000) ",\"target_cpu\":{\"secs\":3,\"nanos\":0},"
				     "\"share\":0.004000,\"budget\":0.010000,\"dropped\":null}");
	free(text);
	snapshot->mode = MODE_WAITS;
	snapshot->frequency_hz = 0;
	snapshot->cost = (struct snapshot_cost){ .budget = -1, .dropped = "a \"probe\"" };
	text = export(snapshot);
	check_part(text, "\"mode\":\"waits\",\"frequency_hz\":0,\"cost\":{\"traps\":0,"
			 "\"trap_nanos\":0,\"program\":null,\"own_cpu\":" ZERO
			 ",\"target_cpu\":" ZERO ",\"share\":null,\"budget\":null,"
			 "\"dropped\":\"a \\\"probe\\\"\"}");
	free(text);
	memset(&snapshot->cost, 0xff, offsetof(struct snapshot_cost, budget));
	snapshot->cost.target_cpu_ns = 1;
	snapshot->cost.budget = __builtin_inf();
	snapshot->frequency_hz = UINT32_MAX;
	text = export(snapshot);
	check_part(text, "\"traps\":18446744073709551615");
	check_part(text, "\"share\":null,\"budget\":null");
	free(text);
	snapshot__free(snapshot);
}

static void test_losses(void)
{
	struct snapshot *snapshot = fixture_snapshot(0, false);
	char *text;

	snapshot->losses = (struct snapshot_losses){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, true };
	text = export(snapshot);
	check_part(text, "\"complete\":false,\"target_exited\":true,\"lost\":{\"threads\":1,"
			 "\"circuits\":2,\"operators\":3,\"reads\":4,\"slots\":5,\"steps\":6,"
			 "\"missed\":7,\"torn\":8,\"workers\":9,\"unresolved\":10,\"probes\":11}");
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
			 "\"root\",\"nodes\":[]},\"edges\":[]},\"threads\":[],"
			 "\"dbprof\":{");
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
	check_part(text, "\"name\":\"xxxxxxxxxxxxxxxx\"");
	free(text);
	snapshot__free(snapshot);
}

static void test_full_disk(void)
{
	struct snapshot *snapshot = fixture_snapshot(64, false);
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	FILE *full = fopen("/dev/full", "w");

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	if (CHECK(full != NULL)) {
		CHECK(export_json(source, full, &fail) == -ENOSPC);
		fclose(full);
	}
	profile_source__close(source);
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
	test_threads();
	test_estimated_steps();
	test_cost();
	test_losses();
	test_open_steps();
	test_empty();
	test_hostile_names();
	test_full_disk();
	test_list();
	return CHECK_RESULT();
}
