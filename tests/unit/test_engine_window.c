// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Windows from two readings: against a worker whose every nanosecond is known, and at the limits.
 */
#include <stdlib.h>

#include "check.h"
#include "snapshot/engine_window.h"
#include "worker_model.h"

#define WINDOWS 400

/* The window whose edges lie at @from and @to, read at other moments. */
static struct snapshot_circuit window_of(const struct worker *worker, size_t circuit,
					 uint64_t read_from, uint64_t from, uint64_t read_to,
					 uint64_t to)
{
	struct engine_circuit_counters counters[2][CIRCUITS];
	struct engine_reading before = read_worker(worker, read_from, counters[0]);
	struct engine_reading after = read_worker(worker, read_to, counters[1]);
	struct engine_edge start = { &before, from, cpu_until(worker, from) };
	struct engine_edge end = { &after, to, cpu_until(worker, to) };
	struct snapshot_circuit result = { .id = circuit_id(circuit) };

	engine_window__circuit(&start, &end, UINT64_MAX, &result);
	return result;
}

static uint64_t waits(const struct snapshot_circuit *circuit)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PARK_REASONS; i++)
		sum += circuit->wait_ns[i];
	return sum;
}

static void check_sane(const struct snapshot_circuit *circuit, uint64_t window)
{
	CHECK(waits(circuit) <= circuit->runtime_ns);
	CHECK(circuit->cpu_ns <= circuit->runtime_ns);
	CHECK(circuit->runtime_ns + circuit->idle_ns + circuit->edge_idle_ns == window);
	CHECK(circuit->step_open || circuit->open_reason == -1);
}

/* Read right at its edges, a window is exact. */
static void check_exact(const struct worker *worker)
{
	uint64_t from = 1000000 + any(worker->end - 1000000), to = from + any(worker->end - from);

	for (size_t circuit = 0; circuit < CIRCUITS; circuit++) {
		struct snapshot_circuit got = window_of(worker, circuit, from, from, to, to);
		struct truth truth = truth_of(worker, circuit, from, to);

		check_sane(&got, to - from);
		CHECK(got.steps == truth.steps);
		CHECK(got.runtime_ns == truth.runtime);
		CHECK(got.cpu_ns == truth.cpu);
		CHECK(memcmp(got.wait_ns, truth.wait, sizeof(truth.wait)) == 0);
		/* The rest of a first pause cannot always be told apart. */
		CHECK(got.idle_ns >= truth.whole_idle || got.steps == 0);
		CHECK(got.idle_ns <= truth.whole_idle + 1000 || circuit);
		if (got.step_open && got.step_open_before)
			CHECK(got.runtime_ns == to - from && got.step_age_ns >= to - from);
		if (got.open_reason >= 0)
			CHECK(got.open_reason_ns <= got.step_age_ns);
	}
}

/* Windows side by side add up to the one around them; edges and readings @apart. */
static void check_sums(const struct worker *worker, uint64_t apart)
{
	uint64_t edges[5], reads[5], most;

	edges[0] = 1000000 + any(1000);
	for (size_t i = 0; i < 5; i++) {
		if (i)
			edges[i] = edges[i - 1] + any((worker->end - edges[i - 1]) / 2);
		reads[i] = edges[i] + any(2 * apart + 1) - apart;
		if (i && reads[i] < reads[i - 1])
			reads[i] = reads[i - 1];
	}
	/* Each shared edge may be off by its distance, where something ended in between. */
	most = 5 * 2 * apart + (reads[4] > edges[4] ? reads[4] - edges[4] : 0);
	for (size_t circuit = 0; circuit < CIRCUITS; circuit++) {
		struct snapshot_circuit whole, part, sum = { 0 };

		whole = window_of(worker, circuit, reads[0], edges[0], reads[4], edges[4]);
		check_sane(&whole, edges[4] - edges[0]);
		for (size_t i = 0; i < 4; i++) {
			part = window_of(worker, circuit, reads[i], edges[i], reads[i + 1],
					 edges[i + 1]);
			check_sane(&part, edges[i + 1] - edges[i]);
			sum.steps += part.steps;
			sum.runtime_ns += part.runtime_ns;
			sum.cpu_ns += part.cpu_ns;
			for (size_t k = 0; k < PARK_REASONS; k++)
				sum.wait_ns[k] += part.wait_ns[k];
		}
		CHECK(sum.steps == whole.steps);
		CHECK(llabs((long long)(sum.runtime_ns - whole.runtime_ns)) <= (long long)most);
		CHECK(llabs((long long)(sum.cpu_ns - whole.cpu_ns)) <= (long long)most);
		CHECK(llabs((long long)(waits(&sum) - waits(&whole))) <= (long long)most);
	}
}

static void check_random_windows(void)
{
	static struct worker worker;

	for (size_t i = 0; i < WINDOWS && !check_failures; i++) {
		if (i % 20 == 0)
			make_worker(&worker);
		check_exact(&worker);
		check_sums(&worker, 0);
		check_sums(&worker, 700);
	}
}

/* A step that has been open since 1000, parked since 3000 after 500 ns of other waits. */
static void check_open_step(void)
{
	struct engine_circuit_counters counters = { .steps = 7,
						    .step_real_ns = 900,
						    .step_open = true,
						    .step_since_ns = 1000,
						    .step_start_cpu_ns = 50 };
	struct engine_reading reading = {
		.park = { .parked = true, .since_ns = 3000, .reason = DBPROF_PEERS },
		.circuits = &counters,
		.circuit_count = 1
	};
	struct engine_edge start = { &reading, 4000, 350 }, end = { &reading, 9000, 450 };
	struct snapshot_circuit circuit = { 0 };

	reading.park.by_reason_ns[DBPROF_SCHEDULER] = 500;
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.steps == 0 && circuit.runtime_ns == 5000 && circuit.cpu_ns == 100);
	CHECK(circuit.wait_ns[DBPROF_PEERS] == 5000 && circuit.wait_ns[DBPROF_SCHEDULER] == 0);
	CHECK(circuit.step_open && circuit.step_open_before && circuit.step_age_exact);
	CHECK(circuit.step_age_ns == 8000 && circuit.open_reason == DBPROF_PEERS);
	CHECK(circuit.open_reason_ns == 6000);
	CHECK(circuit.idle_ns == 0 && circuit.edge_idle_ns == 0);
	/* The first edge lies before the step. */
	start.when_ns = 400;
	start.cpu_ns = 40;
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.runtime_ns == 8000 && circuit.cpu_ns == 400 && !circuit.step_open_before);
	CHECK(circuit.wait_ns[DBPROF_PEERS] == 6000 && circuit.wait_ns[DBPROF_SCHEDULER] == 500);
	CHECK(circuit.edge_idle_ns == 600);
	/* A worker that came later; its step is older than the window. */
	start = (struct engine_edge){ NULL, 2000, 0 };
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.steps == 7 && circuit.runtime_ns == 7000 && circuit.cpu_ns == 400);
	CHECK(circuit.step_open_before && circuit.step_age_ns == 8000);
	/* The last edge lies before the step, too. */
	end.when_ns = 900;
	start = (struct engine_edge){ &reading, 400, 40 };
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(!circuit.step_open && circuit.runtime_ns == 0 && circuit.open_reason == -1);
	CHECK(circuit.step_age_ns == 0 && waits(&circuit) == 0 && circuit.edge_idle_ns == 500);
}

/* The earlier reading lies before the step that was open all along, and found the one before it. */
static void check_step_unseen(void)
{
	struct engine_circuit_counters before = {
		.steps = 4, .step_real_ns = 700, .step_open = true, .step_since_ns = 100
	};
	struct engine_circuit_counters after = { .steps = 5,
						 .step_real_ns = 900,
						 .step_cpu_ns = 300,
						 .wait_by_reason_ns = { 90 },
						 .step_open = true,
						 .step_since_ns = 500,
						 .step_start_cpu_ns = 60 };
	struct engine_reading readings[] = { { .circuits = &before, .circuit_count = 1 },
					     { .circuits = &after, .circuit_count = 1 } };
	struct engine_edge start = { &readings[0], 600, 100 }, end = { &readings[1], 2600, 1100 };
	struct snapshot_circuit circuit = { 0 };

	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.runtime_ns == 2000 && circuit.cpu_ns == 1000 && waits(&circuit) == 0);
	CHECK(circuit.step_open_before && circuit.edge_idle_ns == 0);
	before = (struct engine_circuit_counters){ .steps = 4,
						   .paused = true,
						   .paused_since_ns = 50 };
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.runtime_ns == 2000 && circuit.cpu_ns == 1000 && circuit.idle_ns == 0);
}

/* A call that blocked for a second is counted when it ends, in a window of a millisecond. */
static void check_late_wait(void)
{
	struct engine_circuit_counters before = { .step_open = true, .step_since_ns = 1 };
	struct engine_circuit_counters after = before;
	struct engine_reading readings[] = { { .circuits = &before, .circuit_count = 1 },
					     { .circuits = &after, .circuit_count = 1 } };
	struct engine_edge start = { &readings[0], 1000000000, 5 };
	struct engine_edge end = { &readings[1], 1001000000, 300005 };
	struct snapshot_circuit circuit = { 0 };

	readings[1].park.by_reason_ns[DBPROF_STORAGE_SYNC] = 1000000000;
	readings[1].park.by_reason_ns[DBPROF_PEERS] = 400000;
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.runtime_ns == 1000000 && circuit.cpu_ns == 300000);
	CHECK(circuit.wait_ns[DBPROF_PEERS] == 400000);
	CHECK(circuit.wait_ns[DBPROF_STORAGE_SYNC] == 600000);
}

static void check_idle(void)
{
	struct engine_circuit_counters before = {
		.steps = 3, .idles = 2, .idle_ns = 800, .paused = true, .paused_since_ns = 5000
	};
	struct engine_circuit_counters after = before;
	struct engine_reading readings[] = { { .circuits = &before, .circuit_count = 1 },
					     { .circuits = &after, .circuit_count = 1 } };
	struct engine_edge start = { &readings[0], 6000, 0 }, end = { &readings[1], 20000, 0 };
	struct snapshot_circuit circuit = { 0 };

	/* Nothing happened. */
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.idle_ns == 0 && circuit.edge_idle_ns == 14000);
	/* One step from 9000 to 10000: both pauses are cut. */
	after.steps = 4;
	after.step_real_ns = 1000;
	after.idles = 3;
	after.idle_ns = 800 + 4000;
	after.paused_since_ns = 10000;
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.steps == 1 && circuit.runtime_ns == 1000);
	CHECK(circuit.idle_ns == 0 && circuit.edge_idle_ns == 13000);
	/* One more from 12000 to 15000. */
	after.steps = 5;
	after.step_real_ns = 4000;
	after.idles = 4;
	after.idle_ns = 800 + 4000 + 2000;
	after.paused_since_ns = 15000;
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.steps == 2 && circuit.idle_ns == 3000 + 2000);
	CHECK(circuit.runtime_ns == 4000 && circuit.edge_idle_ns == 5000);
	/* Before the first step ever there is no pause: all that is counted lies in the window. */
	before = (struct engine_circuit_counters){ 0 };
	readings[0].circuit_count = 0;
	engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
	CHECK(circuit.steps == 5 && circuit.idle_ns == 6800);
}

/* Counters that go back, and numbers at the end of their range. */
static void check_limits(void)
{
	struct engine_circuit_counters low = { 0 }, high = { 0 };
	struct engine_operator_counters few = { .invocations = 1 };
	struct engine_operator_counters many = { .invocations = UINT64_MAX,
						 .real_ns = UINT64_MAX,
						 .cpu_ns = UINT64_MAX };
	struct engine_reading small = {
		.circuits = &low, .circuit_count = 1, .operators = &few, .operator_count = 1
	};
	struct engine_reading large = {
		.circuits = &high, .circuit_count = 1, .operators = &many, .operator_count = 1
	};
	struct engine_edge start = { &large, 5, UINT64_MAX }, end = { &small, 2, 0 };
	struct snapshot_operator operator= { 0 };
	struct snapshot_circuit circuit = { 0 };

	memset(&high.steps, 0xff, sizeof(high) - offsetof(struct engine_circuit_counters, steps));
	high.step_open = true;
	high.paused = false;
	high.step_since_ns = 1;
	memset(large.park.by_reason_ns, 0xff, sizeof(large.park.by_reason_ns));
	large.park.parked = true;
	large.park.reason = PARK_REASONS;
	for (int i = 0; i < 2; i++) {
		engine_window__circuit(&start, &end, UINT64_MAX, &circuit);
		engine_window__operator(&start, &end, &operator);
		check_sane(&circuit, end.when_ns > start.when_ns ? end.when_ns - start.when_ns : 0);
		CHECK(i || (circuit.steps == 0 && circuit.runtime_ns == 0));
		CHECK(i || (operator.invocations == 0 && operator.runtime_ns == 0));
		start = (struct engine_edge){ &small, 3, 7 };
		end = (struct engine_edge){ &large, UINT64_MAX, UINT64_MAX };
	}
	CHECK(operator.invocations == UINT64_MAX - 1);
}

static void check_operators(void)
{
	struct engine_operator_counters before[] = { { { 1, { 1 } }, 5, 500, 400 } };
	struct engine_operator_counters after[] = { { { 1, { 1 } }, 8, 900, 950 },
						    { { 1, { 2 } }, 1, 30, 20 } };
	struct engine_reading readings[] = { { .operators = before, .operator_count = 1 },
					     { .operators = after, .operator_count = 2 } };
	struct engine_edge start = { &readings[0], 100, 0 }, end = { &readings[1], 200, 0 };
	struct snapshot_operator operators[] = { { .id = { 1, { 0 } } },
						 { .id = { 1, { 1 } } },
						 { .id = { 1, { 2 } } } };
	struct snapshot_worker worker = { .operators = operators, .operator_count = 3 };

	engine_window__compute(&start, &end, &worker);
	CHECK(!operators[0].has_invocations && !operators[0].has_time);
	CHECK(operators[1].has_time && operators[1].invocations == 3);
	CHECK(operators[1].runtime_ns == 400 && operators[1].cpu_ns == 550);
	CHECK(operators[2].has_time && operators[2].invocations == 1);
	CHECK(operators[2].runtime_ns == 30 && operators[2].cpu_ns == 20);
	start.reading = NULL;
	engine_window__compute(&start, &end, &worker);
	CHECK(operators[1].invocations == 8 && operators[1].cpu_ns == 950);
}

int main(void)
{
	check_random_windows();
	check_open_step();
	check_step_unseen();
	check_late_wait();
	check_idle();
	check_limits();
	check_operators();
	return CHECK_RESULT();
}
