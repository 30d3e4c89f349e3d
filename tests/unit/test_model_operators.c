// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Readings of operators, and of what the kernel did to operators and circuits.
 */
#include <stdlib.h>

#include "model/model.h"
#include "check.h"
#include "check_readings.h"
#include "fixture.h"

static void test_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct node_path join = fixture_path(1, 0, 0), plus = fixture_path(1, 2, 0);
	const struct profile_reading *reading;
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	check_seconds(worker, join, "runtime_seconds", NULL, 2, 0);
	check_percent(worker, join, "nonblocking_percent", 1500000, 2000000);
	/* of all operators, the nested circuit and what is in it both, as the engine */
	check_percent(worker, join, "runtime_percent", 2000000, 4000000);
	check_seconds(worker, join, "runtime_interval_seconds", NULL, 0, 200000000);
	reading = find_reading(worker, join, "runtime_samples_count", NULL);
	CHECK(reading && reading->value.kind == VALUE_COUNT && reading->value.number == 200);
	check_seconds(worker, join, "engine_timing_seconds", NULL, 0, 1000000);
	check_seconds(worker, join, "run_queue_seconds", NULL, 0, 100000000);
	check_seconds(worker, join, "preempted_seconds", NULL, 0, 200000000);
	check_seconds(worker, join, "blocked_seconds", "futex", 0, 150000000);
	CHECK(!find_reading(worker, join, "blocked_seconds", "epoll"));
	check_seconds(worker, join, "unobserved_seconds", NULL, 0, 50000000);
	CHECK(!find_reading(worker, join, "preempted_by_seconds", "merger"));
	check_seconds(worker, plus, "run_queue_seconds", NULL, 0, 0);
	CHECK(!find_reading(worker, plus, "unobserved_seconds", NULL));
	CHECK(!find_reading(worker, plus, "blocked_seconds", "futex"));
	profile__free(profile);
	snapshot__free(snapshot);
}

/* What was not measured has no reading, and none is a zero that means "unknown". */
static void test_partial_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct snapshot_operator *operators = snapshot->workers[0].operators;
	struct node_path join = fixture_path(1, 0, 0), nested = fixture_path(1, 1, 0);
	struct node_path output = fixture_path(2, 1, 0), input = fixture_path(2, 1, 1);
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	snapshot->mode = MODE_EXACT;
	operators[0].has_time = false; /* waits only */
	operators[1].has_invocations = false;
	operators[1].samples = operators[1].interval_ns = operators[1].engine_timing_ns = 0;
	operators[2] = (struct snapshot_operator){ .id = output, .has_time = true };
	operators[3].runtime_ns = operators[3].cpu_ns = operators[3].samples = 0;
	operators[4].id = fixture_path(1, 77, 0); /* in no graph */
	free(snapshot->workers[1].operators);
	snapshot->workers[1].operators = NULL;
	snapshot->workers[1].operator_count = 0;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	CHECK(find_reading(worker, join, "invocations_count", NULL) != NULL);
	CHECK(!find_reading(worker, join, "runtime_seconds", NULL));
	CHECK(!find_reading(worker, join, "run_queue_seconds", NULL));
	CHECK(!find_reading(worker, nested, "invocations_count", NULL));
	check_percent(worker, nested, "runtime_percent", 1000000, 1000000);
	CHECK(!find_reading(worker, nested, "runtime_interval_seconds", NULL));
	CHECK(!find_reading(worker, nested, "engine_timing_seconds", NULL));
	for (size_t i = 0; i < worker->count; i++)
		CHECK(node_path__compare(&worker->nodes[i].id, &output) != 0 ||
		      worker->nodes[i].count == 0);
	/* evaluated, but too short for a sample: its interval says so */
	check_seconds(worker, input, "runtime_seconds", NULL, 0, 0);
	check_seconds(worker, input, "runtime_interval_seconds", NULL, 0, 50000000);
	CHECK(!find_reading(&profile->workers[1], join, "invocations_count", NULL));
	CHECK(find_reading(&profile->workers[1], nested, "steps_count", NULL) != NULL);
	profile__free(profile);
	snapshot__free(snapshot);
}

static void test_circuit_shares(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct node_path root = fixture_path(0, 0, 0), nested = fixture_path(1, 1, 0);
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	snapshot->workers[0].circuits[1].share = fixture_share();
	snapshot->workers[0].circuits[1].share.run_queue_ns = 7;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	check_seconds(worker, root, "run_queue_seconds", NULL, 0, 400000000);
	check_seconds(worker, root, "preempted_seconds", NULL, 0, 600000000);
	check_seconds(worker, root, "blocked_seconds", "epoll", 3, 900000000);
	check_seconds(worker, root, "blocked_seconds", "other", 0, 0);
	check_seconds(worker, root, "preempted_by_seconds", "merger", 0, 500000000);
	check_seconds(worker, root, "preempted_by_seconds", "io_thread", 0, 0);
	check_seconds(worker, root, "woken_by_seconds", "other_worker", 3, 900000000);
	check_seconds(worker, root, "unobserved_seconds", NULL, 0, 49999001);
	CHECK(!find_reading(worker, root, "circuit_run_queue_seconds", NULL));
	/* a circuit and an operator of the root: two sets of readings */
	check_seconds(worker, nested, "run_queue_seconds", NULL, 0, 0);
	check_seconds(worker, nested, "circuit_run_queue_seconds", NULL, 0, 7);
	check_seconds(worker, nested, "circuit_blocked_seconds", "page_fault", 0, 50000000);
	check_seconds(worker, nested, "circuit_preempted_by_seconds", "other_process", 0,
		      100000000);
	CHECK(!find_reading(worker, nested, "preempted_by_seconds", "merger"));
	profile__free(profile);
	snapshot__free(snapshot);
}

/* The largest numbers everywhere: sums end at the longest duration, nothing wraps. */
static void test_extreme_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_worker *from = &snapshot->workers[0];
	struct node_path join = fixture_path(1, 0, 0), root = fixture_path(0, 0, 0);
	const struct profile_worker *worker;
	struct profile *profile = NULL;

	fixture_largest(from);
	memset(&from->circuits[0].share, 0xff, sizeof(from->circuits[0].share));
	from->circuits[0].unobserved_ns = UINT64_MAX;
	snapshot->mode = (enum snapshot_mode)99;
	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	worker = &profile->workers[0];
	/* five times 2^64 - 1 nanoseconds */
	check_percent(worker, join, "runtime_percent", 18446744073709551, 92233720368547758);
	check_seconds(worker, join, "preempted_seconds", NULL, 92233720368, 547758075);
	check_seconds(worker, root, "preempted_seconds", NULL, 92233720368, 547758075);
	check_seconds(worker, root, "outside_step_cpu_seconds", NULL, 18446744073, 709551615);
	profile__free(profile);
	snapshot__free(snapshot);
}

int main(void)
{
	test_operators();
	test_partial_operators();
	test_circuit_shares();
	test_extreme_operators();
	return CHECK_RESULT();
}
