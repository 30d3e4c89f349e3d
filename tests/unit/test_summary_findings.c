// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sentences at the head of the summary that say what stands out.
 */
#include <stdlib.h>

#include "check.h"
#include "check_summary.h"
#include "fixture.h"

/* Two workers of 10 s in steps each, where nothing stands out yet. */
static struct snapshot *plain_snapshot(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, true);

	for (size_t i = 0; i < 2; i++) {
		struct snapshot_circuit *root = &snapshot->workers[i].circuits[0];

		root->steps = 100;
		root->runtime_ns = 10000000000;
		root->cpu_ns = 9200000000;
		root->edge_idle_ns = 0;
	}
	return snapshot;
}

static void check_finding(struct snapshot *snapshot, const char *wanted)
{
	char *text = render(snapshot, false, 200);

	check_part(text, wanted, true);
	check_part(text, "Nothing stands out", strstr(wanted, "Nothing stands out") != NULL);
	free(text);
	snapshot__free(snapshot);
}

static void test_waits_found(void)
{
	struct snapshot *snapshot = plain_snapshot();
	struct snapshot_circuit *root = &snapshot->workers[0].circuits[0];

	check_finding(snapshot,
		      "\nNothing stands out: workers were on a CPU 92 % of the step time.\n\n");
	snapshot = plain_snapshot();
	root = &snapshot->workers[0].circuits[0];
	root->wait_ns[DBPROF_PEERS] = 9800000000;
	check_finding(snapshot, "\nWorkers waited for peers 49 % of the step time: worker 1 was "
				"the slowest.\n\n");
	snapshot = plain_snapshot();
	for (size_t i = 0; i < 2; i++)
		snapshot->workers[i].circuits[0].wait_ns[DBPROF_PEERS] = 5000000000 + i;
	check_finding(snapshot, "\nWorkers waited for peers 50 % of the step time; none was much "
				"slower.\n");
	snapshot = plain_snapshot();
	root = &snapshot->workers[0].circuits[0];
	root->wait_ns[DBPROF_STORAGE_READ] = 4000000000;
	root->wait_ns[DBPROF_NETWORK] = 3900000000;
	root->share.blocked_ns[DBPROF_CAUSE_BLOCK_IO] = 4100000000; /* DBSP says so already */
	check_finding(snapshot,
		      "\nWorkers waited for reads from storage 20 % of the step time.\n\n");
	snapshot = plain_snapshot();
	root = &snapshot->workers[0].circuits[0];
	root->idle_ns = 60000000000;
	root->wait_ns[DBPROF_MERGE_BACKPRESSURE] = 4000000000;
	check_finding(snapshot,
		      "\nWorkers were idle, outside of steps, 75 % of the time.\n"
		      "Workers waited for mergers to catch up 20 % of the step time.\n\n");
}

static void test_kernel_found(void)
{
	struct snapshot *snapshot = plain_snapshot();
	struct snapshot_circuit *root = &snapshot->workers[0].circuits[0];

	root->share.run_queue_ns = 1400000000;
	root->share.preempted_ns[DBPROF_PARTY_MERGER] = 6200000000;
	root->share.preempted_ns[DBPROF_PARTY_OTHER] = 10;
	check_finding(snapshot, "\nWorkers were runnable but off CPU 38 % of the step time; "
				"mergers took 31 %.\n\n");
	snapshot = plain_snapshot();
	root = &snapshot->workers[0].circuits[0];
	root->share.run_queue_ns = 2000000000;
	root->share.preempted_ns[DBPROF_PARTY_OTHER] = 900000000; /* too little to blame */
	check_finding(snapshot, "\nWorkers were runnable but off CPU 14 % of the step time.\n\n");
	snapshot = plain_snapshot();
	root = &snapshot->workers[1].circuits[0];
	root->share.blocked_ns[DBPROF_CAUSE_PAGE_FAULT] = 1000000000;
	root->share.blocked_ns[DBPROF_CAUSE_SLEEP] = 1200000000;
	root->share.blocked_ns[DBPROF_CAUSE_FUTEX] = 8000000000; /* may be parks */
	root->share.blocked_ns[DBPROF_CAUSE_OTHER] = 1100000000;
	root->unobserved_ns = 1000000001;
	check_finding(snapshot, "\nWorkers slept in sleep calls 6 % of the step time.\n"
				"Other system calls blocked workers 6 % of the step time.\n"
				"What workers did in 5 % of the step time was not observed.\n\n");
	snapshot = plain_snapshot();
	snapshot->workers[0].operators[0].runtime_ns = 3000000000;
	snapshot->workers[0].operators[0].share.blocked_ns[DBPROF_CAUSE_FUTEX] = 2000000000;
	snapshot->workers[1].operators[4].runtime_ns = 4100000000;
	check_finding(snapshot, "\nOperator nn2 Plus took 58 % of the operators' time.\n"
				"Locks (futex) blocked operators 10 % of the step time.\n\n");
}

int main(void)
{
	test_waits_found();
	test_kernel_found();
	return CHECK_RESULT();
}
