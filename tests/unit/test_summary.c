// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The terminal summary: steps, waits, losses, cost.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/summary.h"
#include "check.h"
#include "check_summary.h"
#include "fixture.h"

static void test_normal(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	char *text = render(snapshot, false, 0);

	check_shape(text, 80);
	check_part(text, "dbsp-target, pid 4321 on db-host: dbsp 0.354.0, profiled for 10.0 s\n",
		   true);
	check_part(text,
		   "     1    100   10.0/s   8.00 s  30 %   40 %       <1 %     6 %  4 %  20 %\n",
		   true);
	check_part(text,
		   "waits of all workers together, of 16.0 s in steps:\n"
		   "  peers              8.00 s  50 %\n"
		   "  operator_pending  1.00 us  <1 %\n",
		   true);
	check_part(text, "\nnn1                             2468                12.3 ", true);
	check_part(text, "open", false);
	check_part(text, "not complete", false);
	check_part(text, "\033", false);
	free(text);
	text = render(snapshot, true, 80);
	check_part(text, "\033[1mdbsp-target", true);
	free(text);
	snapshot__free(snapshot);
}

static void test_open_steps(void)
{
	struct snapshot *snapshot = fixture_snapshot(3, true);
	struct snapshot_circuit *circuits[3];
	char *text;

	for (size_t i = 0; i < 3; i++) {
		circuits[i] = &snapshot->workers[i].circuits[0];
		circuits[i]->step_open = circuits[i]->step_open_before = true;
		circuits[i]->step_age_ns = 12300000000;
		circuits[i]->runtime_ns = 10000000000;
		circuits[i]->edge_idle_ns = 0;
	}
	circuits[0]->open_reason = 3;
	circuits[0]->open_reason_ns = 12300000000;
	circuits[1]->cpu_ns = 9900000000;
	circuits[1]->step_age_exact = true;
	circuits[2]->cpu_ns = 100000000;
	text = render(snapshot, false, 200);
	check_part(text,
		   "worker 0: a step has been open for 12.3 s (at least), waiting for "
		   "operator_pending for 12.3 s\n",
		   true);
	check_part(text, "worker 1: a step has been open for 12.3 s, computing: 99 % CPU\n", true);
	check_part(text,
		   "worker 2: a step has been open for 12.3 s (at least), off the CPU without "
		   "a wait that DBSP declares: 1 % CPU\n",
		   true);
	check_part(text, "No step in this window", false);
	free(text);
	text = render(snapshot, false, 80);
	check_shape(text, 80);
	free(text);
	/* an everyday step, cut by the end of the window, is no news */
	circuits[0]->step_open_before = circuits[1]->step_open = circuits[2]->step_open = false;
	circuits[0]->step_age_ns = 999999999;
	circuits[0]->steps = 1;
	text = render(snapshot, false, 80);
	check_part(text, "has been open", false);
	free(text);
	snapshot__free(snapshot);
}

static void test_many_workers(void)
{
	struct snapshot *snapshot = fixture_snapshot(64, false);
	char *text;

	for (size_t i = 0; i < 64; i++) {
		struct snapshot_circuit *root = &snapshot->workers[i].circuits[0];

		for (unsigned int j = 0; j < PARK_REASONS; j++)
			root->wait_ns[j] = 1000000u * (j + 1);
		root->wait_ns[2] = 4000000000u - i;
		root->step_open = true;
		root->step_age_ns = 2000000000;
	}
	text = render(snapshot, false, 80);
	check_shape(text, 80);
	check_part(text, "The slowest 8 of 64 workers", true);
	check_part(text, "\n    63    100 ", true); /* waits least for its peers */
	check_part(text, "\n    55    100 ", false);
	check_part(text, "... and 56 more open steps", true);
	free(text);
	snapshot__free(snapshot);
}

static void test_nothing(void)
{
	struct snapshot empty = { 0 };
	struct snapshot *snapshot = fixture_snapshot(2, true);
	char *text = render(&empty, false, 80);

	check_shape(text, 80);
	check_part(text, "dbsp of unknown version", true);
	check_part(text, "No worker with a circuit was found", true);
	free(text);
	text = render(snapshot, false, 80);
	check_shape(text, 80);
	check_part(text, "No step in this window", true);
	check_part(text, "100 %\n", true);
	free(text);
	free(snapshot->workers[0].circuits);
	snapshot->workers[0].circuits = NULL;
	snapshot->workers[0].circuit_count = 0;
	snapshot->workers[1].late = true;
	text = render(snapshot, false, 80);
	check_shape(text, 80);
	check_part(text, "1 of 2 workers built their circuit during the window.", true);
	free(text);
	snapshot__free(snapshot);
}

static void test_losses(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	char *text;

	snapshot->losses =
		(struct snapshot_losses){ 1, 2, 2, UINT64_MAX, 1, 1, 2, 2, 1, 2, 1, true };
	text = render(snapshot, false, 80);
	check_shape(text, 80);
	check_part(text, "This profile is not complete:\n", true);
	check_part(text, "\n  1 thread that did not fit", true);
	check_part(text, "\n  2 circuits that did not fit", true);
	check_part(text, "\n  18446744073709551615 reads of the program's memory", true);
	check_part(text, "\n  1 step of which only", true);
	check_part(text, "\n  2 probe hits that the kernel skipped", true);
	check_part(text, "\n  1 worker whose circuit", true);
	check_part(text, "\n  2 circuits or operators that ran but are in no", true);
	check_part(text, "\n  2 operators that did not fit", true);
	check_part(text, "\n  1 read of a worker's stack that failed", true);
	check_part(text, "\n  2 readings of the engine's counters that never", true);
	check_part(text, "\n  1 probe that could not be attached", true);
	check_part(text, "The program ended before the window did", true);
	free(text);
	snapshot__free(snapshot);
}

static void test_cost(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);

	snapshot->workers[1].cpu.samples = 810;
	check_rendered(snapshot, 100,
		       "\n\nsampled at 97 Hz per CPU: 1,210 samples; cost at least 0.4 % of the "
		       "program's CPU (budget 1 %)\n");
	check_rendered(snapshot, 80,
		       "\n\nsampled at 97 Hz per CPU: 1,210 samples\n"
		       "cost at least 0.4 % of the program's CPU (budget 1 %)\n");
	snapshot->mode = MODE_ENGINE;
	snapshot->cost.budget = 0;
	snapshot->cost.own_cpu_ns = 0;
	snapshot->cost.program_ns = 0;
	check_rendered(snapshot, 90,
		       "\nread from the engine's own counters; cost <0.1 % of the program's CPU\n");
	snapshot->mode = MODE_EXACT;
	snapshot->cost.own_cpu_ns = 900000000;
	snapshot->cost.budget = 0.005;
	snapshot->cost.dropped = "probes of parks";
	check_rendered(snapshot, 90,
		       "\nexact, by probes at every evaluation: 1,000 hits\n"
		       "cost at least 30 % of the program's CPU (budget 0.5 %)\n");
	check_rendered(snapshot, 90, "\ngiven up to stay within the budget: probes of parks\n");
	snapshot->mode = MODE_WAITS;
	snapshot->cost.target_cpu_ns = 1000000;
	check_rendered(snapshot, 90,
		       "\ncost at least 900 ms of CPU, the program used 1.00 ms (budget 0.5 %)\n");
	snapshot->cost = (struct snapshot_cost){ .traps = UINT64_MAX, .trap_ns = 2 };
	check_rendered(snapshot, 90,
		       "\nwaits only, by probes: 18,446,744,073,709,551,615 hits\n"
		       "cost at least 213503 d 23 h of CPU, the program used 0 s\n");
	snapshot__free(snapshot);
}

/* The column of preemptions gives way to the reasons, and takes its time from "off CPU". */
static void test_preempted_column(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_circuit *root = &snapshot->workers[0].circuits[0];
	char *text;

	root->share.preempted_ns[DBPROF_PARTY_KERNEL] = UINT64_MAX;
	check_rendered(snapshot, 80, "  10 %  0 %  20 %\n");
	check_rendered(snapshot, 60, "(preempted, run");
	root->share = (struct dbprof_kernel_share){ 0 };
	text = render(snapshot, false, 80);
	check_part(text, "empted  CPU", false);
	free(text);
	snapshot__free(snapshot);
}

static void test_extremes(void)
{
	struct snapshot *snapshot = fixture_snapshot(9, false);
	char *text;

	free(snapshot->exe);
	snapshot->exe = strdup("/bin/\033[31m\xff\n name \xc2\x9b");
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		struct snapshot_worker *worker = &snapshot->workers[i];

		memset(worker->circuits, 0xff, sizeof(*worker->circuits));
		worker->circuits[0].id = fixture_path(0, 0, 0);
		worker->circuits[0].step_open = worker->circuits[0].step_open_before = true;
		worker->circuits[0].step_age_exact = false;
		worker->circuits[1].steps = UINT64_MAX;
		fixture_largest(worker);
	}
	memset(&snapshot->cost, 0xff, offsetof(struct snapshot_cost, dropped));
	snapshot->mode = (enum snapshot_mode)77;
	check_rendered(snapshot, 10, "?[31m\xef\xbf\xbd? name ?");
	text = render(snapshot, true, 1000000);
	free(text);
	snapshot->window_ns = 0;
	text = render(snapshot, false, 80);
	free(text);
	snapshot__free(snapshot);
}

static void test_full_disk(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	FILE *full = fopen("/dev/full", "w");

	if (CHECK(full != NULL)) {
		CHECK(summary__write(full, snapshot, false, 80) == -ENOSPC);
		fclose(full);
	}
	snapshot__free(snapshot);
}

int main(void)
{
	test_normal();
	test_open_steps();
	test_many_workers();
	test_nothing();
	test_losses();
	test_cost();
	test_preempted_column();
	test_extremes();
	test_full_disk();
	return CHECK_RESULT();
}
