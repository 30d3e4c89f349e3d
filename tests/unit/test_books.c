// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Closed books as a property: whatever was counted, the parts add up and nothing is negative. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "snapshot/books.h"

#define ROUNDS 200000

static const struct window window = { 1000000, 3000000 };

/* Around the window, at its edges, and far off. */
static uint64_t random_time(void)
{
	static const uint64_t special[] = { 0,	     1,	      999999,  1000000,	       1000001,
					    2999999, 3000000, 3000001, UINT64_MAX - 1, UINT64_MAX };

	if (rand() % 4 == 0)
		return special[(size_t)rand() % (sizeof(special) / sizeof(special[0]))];
	return (uint64_t)(rand() % 4000000);
}

static void random_share(struct dbprof_kernel_share *share)
{
	for (size_t i = 0; i < sizeof(*share) / sizeof(__u64); i++)
		((__u64 *)share)[i] = rand() % 8 ? 0 : (__u64)(rand() % 3000000);
}

static struct dbprof_thread random_thread(void)
{
	struct dbprof_thread thread = {
		.since = random_time(),
		.on_since = rand() % 2 ? random_time() : 0,
		.off_since = rand() % 2 ? random_time() : 0,
		.off = (__u32)(rand() % 5),
		.off_cause = (__u32)(rand() % 10),
		.off_taker = (__u32)(rand() % 7),
		.waker = (__u32)(rand() % 7),
		.woken_at = random_time(),
		.cpu_ns = (__u64)(rand() % 3000000),
		.on_cpu_ns = (__u64)(rand() % 3000000),
		.park_since = rand() % 2 ? random_time() : 0,
		.park_reason = (__u32)(rand() % 12),
		.blocked_reason = (__u32)(rand() % 13),
		.synced = (__u32)(rand() % 2),
		.ended = rand() % 4 ? 0 : random_time(),
	};

	random_share(&thread.share);
	for (size_t i = 0; i < DBPROF_REASONS; i++)
		thread.wait_ns[i] = (__u64)(rand() % 100000);
	return thread;
}

static void check_thread(const struct snapshot_thread *thread)
{
	CHECK(thread->observed_ns <= window.end - window.start);
	CHECK(thread->on_cpu_ns + thread->run_queue_ns + thread->preempted_ns + thread->blocked_ns +
		      thread->unobserved_ns ==
	      thread->observed_ns);
	CHECK(thread->preempted_ns == share__preempted(&thread->share));
	CHECK(thread->blocked_ns == share__blocked(&thread->share));
	CHECK(thread->run_queue_ns == thread->share.run_queue_ns);
}

static void threads_add_up(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct dbprof_thread counted = random_thread();
		struct snapshot_thread thread = {};

		books__thread(&counted, &window, &thread);
		check_thread(&thread);
	}
}

static void silent_threads_add_up(void)
{
	static const char states[] = "RSDTZ?";

	for (size_t i = 0; i < sizeof(states); i++) {
		for (uint64_t ran = 0; ran <= 1990000; ran += 1990000) {
			struct silent_thread silent = { ran, states[i], DBPROF_CAUSE_FUTEX };
			struct snapshot_thread thread = {};

			books__silent_thread(&silent, &window, &thread);
			check_thread(&thread);
			CHECK(thread.unobserved_ns == 0);
			CHECK(ran ? thread.on_cpu_ns == 2000000 : thread.on_cpu_ns == 0);
		}
	}
}

static struct dbprof_circuit random_circuit(void)
{
	struct dbprof_circuit circuit = {
		.steps = (__u64)(rand() % 5),
		.runtime_ns = (__u64)(rand() % 2000000),
		.cpu_ns = (__u64)(rand() % 2500000),
		.idle_ns = (__u64)(rand() % 2000000),
		.start = rand() % 2 ? random_time() : 0,
		.start_cpu_ns = (__u64)(rand() % 3000000),
		.first_start = random_time(),
		.last_end = random_time(),
		.cut = (__u32)(rand() % 2),
	};

	random_share(&circuit.share);
	random_share(&circuit.start_share);
	return circuit;
}

static void circuits_add_up(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct dbprof_thread thread = random_thread();
		struct dbprof_circuit counted = random_circuit();
		struct engine_step step = { .open = rand() % 2, .since_ns = random_time() };
		struct engine_park park = { .parked = rand() % 2,
					    .since_ns = random_time(),
					    .reason = (unsigned int)(rand() % PARK_REASONS) };
		struct silent_thread silent = { .ran_ns = (uint64_t)(rand() % 3000000) };
		struct snapshot_circuit circuit = {};
		struct thread_totals totals;

		books__totals(rand() % 4 ? &thread : NULL, rand() % 2 ? &park : NULL, &silent,
			      &window, &totals);
		books__circuit(rand() % 4 ? &counted : NULL, rand() % 4 ? &step : NULL, &totals,
			       &circuit);
		CHECK(circuit.cpu_ns + circuit.share.run_queue_ns +
			      share__preempted(&circuit.share) + share__blocked(&circuit.share) +
			      circuit.unobserved_ns ==
		      circuit.runtime_ns);
		CHECK(circuit.open_reason >= -1 && circuit.open_reason < PARK_REASONS);
	}
}

/* A park that crosses both edges of the window is cut at both. */
static void an_open_park_is_cut(void)
{
	struct engine_park park = { .parked = true, .since_ns = 5, .reason = 2 };
	struct engine_step step = { .open = true, .since_ns = 7 };
	struct silent_thread silent = { .state = 'S' };
	struct snapshot_circuit circuit = {};
	struct thread_totals totals;

	books__totals(NULL, &park, &silent, &window, &totals);
	books__circuit(NULL, &step, &totals, &circuit);
	CHECK(circuit.wait_ns[2] == 2000000);
	CHECK(circuit.runtime_ns == 2000000);
	CHECK(circuit.open_reason == 2 && circuit.open_reason_ns == 3000000 - 5);
	CHECK(circuit.step_age_exact && circuit.step_age_ns == 3000000 - 7);
}

/* Without park probes: what the engine has counted since the last step began or ended, and what is
 * open. */
static void the_engine_counts_on(void)
{
	struct engine_park park = { .parked = true, .since_ns = 2800000, .reason = 2 };
	struct dbprof_thread thread = {
		.since = 1000000, .on_since = 1000000, .parks_seen = 1, .synced = 1
	};
	struct silent_thread silent = { .state = 'S' };
	struct thread_totals totals;

	thread.wait_ns[2] = 70;
	thread.synced_ns[2] = 1000;
	thread.synced_ns[4] = 500;
	park.by_reason_ns[2] = 1300;
	park.by_reason_ns[4] = 400; /* torn: smaller than before */
	books__totals(&thread, &park, &silent, &window, &totals);
	CHECK(totals.wait_ns[2] == 70 + 300 + 200000 && totals.wait_ns[4] == 0);
	CHECK(totals.open_reason == 2 && totals.open_since == 2800000);
	/* What has begun after the window is not in it. */
	park.since_ns = 3000001;
	books__totals(&thread, &park, &silent, &window, &totals);
	CHECK(totals.wait_ns[2] == 70 + 300 && totals.open_reason == -1);
	/* By the probes nothing of that is asked. */
	thread.synced = 0;
	park.since_ns = 2800000;
	books__totals(&thread, &park, &silent, &window, &totals);
	CHECK(totals.wait_ns[2] == 70 && totals.open_reason == -1);
}

int main(void)
{
	srand(1);
	threads_add_up();
	silent_threads_add_up();
	circuits_add_up();
	an_open_park_is_cut();
	the_engine_counts_on();
	return CHECK_RESULT();
}
