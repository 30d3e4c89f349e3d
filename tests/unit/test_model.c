// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Readings of circuits and workers, and the descriptions of all metrics.
 */
#include <stdlib.h>

#include "model/model.h"
#include "util/embedded.h"
#include "check.h"
#include "check_readings.h"
#include "fixture.h"

static void test_order(void)
{
	static const struct profile_label b1[] = { { "b", "1" } };
	static const struct profile_label b1c1[] = { { "b", "1" }, { "c", "1" } };
	static const struct profile_label b0[] = { { "b", "0" }, { "z", "9" } };
	struct profile *profile = calloc(1, sizeof(*profile));
	struct profile_worker *worker;
	struct profile_node *node;
	struct node_path ids[] = { fixture_path(1, 10, 0), fixture_path(1, 2, 0),
				   fixture_path(2, 2, 5), fixture_path(0, 0, 0) };

	profile->workers = calloc(1, sizeof(*profile->workers));
	profile->worker_count = 1;
	worker = profile->workers;
	for (size_t i = 0; i < 8; i++)
		CHECK(profile_worker__node(worker, &ids[i % 4]) != NULL);
	CHECK(worker->count == 4);
	for (size_t i = 1; i < worker->count; i++)
		CHECK(node_path__compare(&worker->nodes[i - 1].id, &worker->nodes[i].id) < 0);
	node = &worker->nodes[0];
	CHECK(profile_node__set(profile, node, "m", b1c1, 2, value__int(1)) == 0);
	CHECK(profile_node__set(profile, node, "m", b1, 1, value__int(2)) == 0);
	CHECK(profile_node__set(profile, node, "m", NULL, 0, value__int(3)) == 0);
	CHECK(profile_node__set(profile, node, "m", b0, 2, value__int(4)) == 0);
	CHECK(profile_node__set(profile, node, "a_z", NULL, 0, value__int(5)) == 0);
	CHECK(profile_node__set(profile, node, "m", b1, 1, value__int(6)) == 0);
	CHECK(node->count == 5);
	static const uint64_t wanted[] = { 5, 3, 4, 6, 1 };
	for (size_t i = 0; i < node->count; i++)
		CHECK(node->readings[i].value.number == wanted[i]);
	profile__free(profile);
	profile__free(NULL);
}

static void test_readings(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct node_path root = fixture_path(0, 0, 0), nested = fixture_path(1, 1, 0);
	const struct profile_worker *worker;
	const struct profile_reading *reading;
	struct profile *profile = NULL;

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	CHECK(profile->worker_count == 2);
	worker = &profile->workers[1];
	CHECK(worker->count == FIXTURE_NODES);
	/* the total is the exact sum of the reasons */
	check_seconds(worker, root, "circuit_wait_time_seconds", NULL, 4, 501);
	check_seconds(worker, root, "circuit_wait_by_reason_seconds", "peers", 4, 1);
	check_seconds(worker, root, "circuit_wait_by_reason_seconds", "network", 0, 0);
	check_seconds(worker, root, "circuit_runtime_elapsed_seconds", NULL, 32, 0);
	check_seconds(worker, root, "circuit_edge_idle_seconds", NULL, 0, 500000000);
	CHECK(!find_reading(worker, root, "circuit_open_step_seconds", NULL));
	reading = find_reading(worker, root, "circuit_nonblocking_percent", NULL);
	CHECK(reading && reading->value.percent.numerator == 3000000 &&
	      reading->value.percent.denominator == 8000000);
	CHECK(!find_reading(worker, root, "invocations_count", NULL));
	reading = find_reading(worker, nested, "invocations_count", NULL);
	CHECK(reading && reading->value.kind == VALUE_COUNT && reading->value.number == 100);
	reading = find_reading(worker, nested, "steps_count", NULL);
	CHECK(reading && reading->value.kind == VALUE_INT && reading->value.number == 1234);
	reading = find_reading(worker, fixture_path(2, 1, 0), "invocations_count", NULL);
	CHECK(reading && reading->value.number == 1234);
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_idle_and_open(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, true);
	struct snapshot_circuit *circuit = &snapshot->workers[0].circuits[0];
	const struct profile_worker *worker;
	const struct profile_reading *reading;
	struct profile *profile = NULL;

	circuit->step_open = true;
	circuit->step_age_ns = 12300000000;
	circuit->open_reason = 3;
	circuit->open_reason_ns = 7;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	reading = find_reading(worker, circuit->id, "steps_count", NULL);
	CHECK(reading && reading->value.number == 0);
	check_seconds(worker, circuit->id, "circuit_runtime_seconds", NULL, 0, 0);
	check_seconds(worker, circuit->id, "circuit_open_step_seconds", NULL, 12, 300000000);
	check_seconds(worker, circuit->id, "circuit_open_wait_seconds", "operator_pending", 0, 7);
	CHECK(!find_reading(worker, fixture_path(1, 0, 0), "invocations_count", NULL));
	CHECK(worker->count == FIXTURE_NODES);
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_extremes(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_circuit *circuit = &snapshot->workers[0].circuits[0];
	struct profile *profile = NULL;

	memset(circuit->wait_ns, 0xff, sizeof(circuit->wait_ns));
	circuit->runtime_ns = circuit->cpu_ns = circuit->steps = UINT64_MAX;
	circuit->open_reason = 99; /* no such reason */
	circuit->step_open = true;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	/* ten times 2^64 - 1 nanoseconds */
	check_seconds(&profile->workers[0], circuit->id, "circuit_wait_time_seconds", NULL,
		      184467440737, 95516150);
	profile__free(profile);
	snapshot__free(snapshot);
	snapshot = fixture_snapshot(0, false);
	profile = NULL;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	CHECK(profile && profile->worker_count == 0 && profile->graph.node_count == 0);
	profile__free(profile);
	snapshot__free(snapshot);
	CHECK(duration__add((struct duration){ UINT64_MAX, 999999999 }, (struct duration){ 0, 1 })
		      .secs == UINT64_MAX);
}

static void test_cpu(void)
{
	static const struct {
		enum snapshot_mode mode;
		uint64_t samples;
		uint64_t timing_ns;
		bool parts, timing;
	} cases[] = {
		{ MODE_SAMPLED, 400, 5, true, true }, { MODE_SAMPLED, 400, 0, true, true },
		{ MODE_SAMPLED, 0, 5, false, false }, { MODE_WAITS, 0, 0, false, false },
		{ MODE_EXACT, 0, 0, true, false },    { MODE_ENGINE, 0, 5, true, true },
	};
	struct node_path root = fixture_path(0, 0, 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot *snapshot = fixture_snapshot(1, false);
		struct profile *profile = NULL;

		snapshot->mode = cases[i].mode;
		snapshot->workers[0].cpu.samples = cases[i].samples;
		snapshot->workers[0].cpu.engine_timing_ns = cases[i].timing_ns;
		CHECK(profile__from_snapshot(snapshot, &profile) == 0);
		CHECK(!find_reading(&profile->workers[0], root, "engine_timing_seconds", NULL) ==
		      !cases[i].timing);
		CHECK(!find_reading(&profile->workers[0], root, "operators_cpu_seconds", NULL) ==
		      !cases[i].parts);
		if (cases[i].parts) {
			check_seconds(&profile->workers[0], root, "operators_cpu_seconds", NULL, 2,
				      500000000);
			check_seconds(&profile->workers[0], root, "scheduler_cpu_seconds", NULL, 0,
				      495000999);
			check_seconds(&profile->workers[0], root, "outside_step_cpu_seconds", NULL,
				      0, 7000000);
		}
		profile__free(profile);
		snapshot__free(snapshot);
	}
}

/* A viewer drops readings whose names end otherwise, without a word (CircuitProfile.fromJson). */
static bool has_known_suffix(const char *metric)
{
	static const char *const known[] = { "count", "percent", "seconds" };
	const char *bar = strrchr(metric, '_');

	for (size_t i = 0; bar && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(bar + 1, known[i]) == 0)
			return true;
	return false;
}

static bool is_described(const char *metric)
{
	const struct embedded *file = NULL;
	char quoted[128];

	snprintf(quoted, sizeof(quoted), "\"%s\"", metric);
	while ((file = embedded__next("metrics/", file)))
		if (memmem(file->data, file->len, quoted, strlen(quoted)))
			return true;
	return false;
}

static bool is_used(const struct profile *profile, const char *metric)
{
	for (size_t i = 0; i < profile->workers[0].count; i++)
		for (size_t j = 0; j < profile->workers[0].nodes[i].count; j++)
			if (strcmp(profile->workers[0].nodes[i].readings[j].metric, metric) == 0)
				return true;
	return false;
}

/* Each name that ours.json describes. */
static void check_all_used(const struct profile *profile)
{
	static const char key[] = "\"name\": \"";
	const struct embedded *file = embedded__next("metrics/ours.json", NULL);
	const char *at, *end;
	char name[128];

	if (!CHECK(file != NULL))
		return;
	end = file->data + file->len;
	for (at = file->data; (at = memmem(at, (size_t)(end - at), key, sizeof(key) - 1));) {
		at += sizeof(key) - 1;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "\""), at);
		if (!CHECK(is_used(profile, name)))
			fprintf(stderr, "  metric %s\n", name);
	}
}

/* Everything that can be read is described, and what is described can be read. */
static void test_descriptions(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct profile *profile = NULL;

	snapshot->workers[0].circuits[0].step_open = true;
	snapshot->workers[0].circuits[0].open_reason = 1;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	for (size_t i = 0; i < profile->workers[0].count; i++) {
		const struct profile_node *node = &profile->workers[0].nodes[i];

		for (size_t j = 0; j < node->count; j++)
			if (!CHECK(has_known_suffix(node->readings[j].metric)) ||
			    !CHECK(is_described(node->readings[j].metric)))
				fprintf(stderr, "  metric %s\n", node->readings[j].metric);
	}
	CHECK(!is_described("no_such_seconds"));
	check_all_used(profile);
	profile__free(profile);
	snapshot__free(snapshot);
}

int main(void)
{
	test_order();
	test_readings();
	test_idle_and_open();
	test_extremes();
	test_cpu();
	test_descriptions();
	return CHECK_RESULT();
}
