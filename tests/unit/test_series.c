// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Windows without a gap: they add up to what was measured from the begin, and each has closed
 * books.
 */
#include <stdlib.h>

#include "snapshot/books.h"
#include "snapshot/estimate.h"
#include "snapshot/series.h"
#include "check.h"
#include "fixture.h"

#define WINDOWS 50

static uint32_t state = 20261130;

/* A random number from 0 to @most. */
static uint64_t some(uint64_t most)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % (most + 1);
}

static uint64_t add_share(struct dbprof_kernel_share *share)
{
	uint64_t blocked = some(3000), queue = some(2000), preempted = some(1000);

	share->run_queue_ns += queue;
	share->blocked_ns[some(DBPROF_CAUSES - 1)] += blocked;
	share->preempted_ns[some(DBPROF_PARTIES - 1)] += preempted;
	share->woken_ns[some(DBPROF_PARTIES - 1)] += blocked;
	return blocked + queue + preempted;
}

static void add_to_circuit(struct snapshot_circuit *circuit)
{
	uint64_t cpu = some(5000), off = add_share(&circuit->share), unobserved = some(9);
	uint64_t wait = some(off);

	circuit->steps += some(20);
	circuit->cpu_ns += cpu;
	circuit->wait_ns[some(PARK_REASONS - 1)] += wait;
	circuit->unobserved_ns += unobserved;
	circuit->runtime_ns += cpu + off + unobserved;
	/* A pause that ends is no more of the edge. */
	circuit->idle_ns += circuit->edge_idle_ns + some(700);
	circuit->edge_idle_ns = some(300);
}

static void add_to_operator(struct snapshot_operator *op)
{
	uint64_t cpu = some(100), off = add_share(&op->share);

	op->invocations += some(10);
	op->cpu_ns += cpu;
	op->runtime_ns += cpu + off;
	op->samples += some(3);
	op->timing_samples += some(1);
}

static void add_to_thread(struct snapshot_thread *thread)
{
	uint64_t on_cpu = some(5000);

	thread->observed_ns += on_cpu + add_share(&thread->share);
	books__close_thread(thread, thread->on_cpu_ns + on_cpu);
}

static void begin(struct snapshot *snapshot)
{
	snapshot->window_ns = 0;
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		struct snapshot_worker *worker = &snapshot->workers[i];

		for (size_t j = 0; j < worker->circuit_count; j++)
			worker->circuits[j] =
				(struct snapshot_circuit){ .id = worker->circuits[j].id,
							   .open_reason = -1 };
		for (size_t j = 0; j < worker->operator_count; j++)
			worker->operators[j] =
				(struct snapshot_operator){ .id = worker->operators[j].id,
							    .has_invocations = true,
							    .has_time = true };
		worker->cpu = (struct snapshot_cpu){ 0 };
	}
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		struct snapshot_thread *thread = &snapshot->threads[i];

		memset(&thread->observed_ns, 0,
		       sizeof(*thread) - offsetof(struct snapshot_thread, observed_ns));
	}
}

/* Some time passes. */
static void go_on(struct snapshot *snapshot)
{
	snapshot->window_ns += 1000 + some(1000);
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		struct snapshot_worker *worker = &snapshot->workers[i];

		for (size_t j = 0; j < worker->circuit_count; j++)
			add_to_circuit(&worker->circuits[j]);
		for (size_t j = 0; j < worker->operator_count; j++)
			add_to_operator(&worker->operators[j]);
		worker->cpu.samples += 40;
		worker->cpu.scheduler_samples += some(9);
		estimate__cpu(worker, snapshot->mode,
			      estimate__cpu_ns(&worker->cpu) + 1000000 + some(1000000));
		if (snapshot->mode == MODE_SAMPLED)
			estimate__operators(worker, estimate__cpu_ns(&worker->cpu));
	}
	for (size_t i = 0; i < snapshot->thread_count; i++)
		add_to_thread(&snapshot->threads[i]);
	snapshot->losses.reads += some(1);
	snapshot->losses.missed += some(2);
}

static uint64_t off_cpu(const struct dbprof_kernel_share *share)
{
	return share->run_queue_ns + share__preempted(share) + share__blocked(share);
}

static void check_thread(const struct snapshot_thread *thread)
{
	CHECK(thread->observed_ns ==
	      thread->on_cpu_ns + off_cpu(&thread->share) + thread->unobserved_ns);
	CHECK(thread->run_queue_ns == thread->share.run_queue_ns);
	CHECK(thread->preempted_ns == share__preempted(&thread->share));
	CHECK(thread->blocked_ns == share__blocked(&thread->share));
}

static void check_books(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];

		for (size_t j = 0; j < worker->circuit_count; j++) {
			const struct snapshot_circuit *circuit = &worker->circuits[j];

			CHECK(circuit->runtime_ns ==
			      circuit->cpu_ns + off_cpu(&circuit->share) + circuit->unobserved_ns);
		}
		for (size_t j = 0; j < worker->operator_count; j++) {
			const struct snapshot_operator *op = &worker->operators[j];

			CHECK(op->runtime_ns ==
			      op->cpu_ns + off_cpu(&op->share) + op->unobserved_ns);
		}
	}
	for (size_t i = 0; i < snapshot->thread_count; i++)
		check_thread(&snapshot->threads[i]);
	check_thread(&snapshot->exited);
}

/* Adds all words from @from on; both are structures of the same kind. */
static void add_words(void *sum, const void *part, size_t from, size_t size)
{
	for (size_t at = from; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
		uint64_t a, b;

		memcpy(&a, (char *)sum + at, sizeof(a));
		memcpy(&b, (const char *)part + at, sizeof(b));
		a += b;
		memcpy((char *)sum + at, &a, sizeof(a));
	}
}

#define CIRCUIT_WORDS offsetof(struct snapshot_circuit, step_open)

/* What the test itself adds up over the windows. */
struct totals {
	struct snapshot_circuit circuits[2][2];
	struct snapshot_operator operators[2][FIXTURE_NODES - 1];
	struct snapshot_thread threads; /* all of them, the exited ones too */
	uint64_t window_ns;
	uint64_t reads;
	uint64_t exited_count;
};

static void add_thread(struct totals *totals, const struct snapshot_thread *thread)
{
	add_words(&totals->threads, thread, offsetof(struct snapshot_thread, observed_ns),
		  sizeof(*thread));
}

static void add_window(struct totals *totals, const struct snapshot *window)
{
	for (size_t i = 0; i < window->worker_count; i++) {
		for (size_t j = 0; j < 2; j++)
			add_words(&totals->circuits[i][j], &window->workers[i].circuits[j],
				  offsetof(struct snapshot_circuit, steps), CIRCUIT_WORDS);
		for (size_t j = 0; j < FIXTURE_NODES - 1; j++) {
			struct snapshot_operator *sum = &totals->operators[i][j];
			const struct snapshot_operator *op = &window->workers[i].operators[j];

			sum->invocations += op->invocations;
			sum->runtime_ns += op->runtime_ns;
			sum->cpu_ns += op->cpu_ns;
			sum->samples += op->samples;
			sum->timing_samples += op->timing_samples;
			share__add(&sum->share, &op->share);
			sum->unobserved_ns += op->unobserved_ns;
		}
	}
	for (size_t i = 0; i < window->thread_count; i++)
		add_thread(totals, &window->threads[i]);
	add_thread(totals, &window->exited);
	totals->window_ns += window->window_ns;
	totals->reads += window->losses.reads;
	totals->exited_count += window->exited_count;
}

static void check_circuit(const struct snapshot_circuit *sum,
			  const struct snapshot_circuit *circuit)
{
	struct snapshot_circuit left = *sum, right = *circuit;
	size_t from = offsetof(struct snapshot_circuit, steps);

	/* Which of its pauses an edge cuts is another question for each window. */
	CHECK(left.idle_ns + left.edge_idle_ns == right.idle_ns + right.edge_idle_ns);
	left.idle_ns = left.edge_idle_ns = right.idle_ns = right.edge_idle_ns = 0;
	CHECK(!memcmp((char *)&left + from, (char *)&right + from, CIRCUIT_WORDS - from));
}

static void check_operator(const struct snapshot_operator *sum, const struct snapshot_operator *op,
			   bool sampled)
{
	CHECK(sum->invocations == op->invocations);
	CHECK(sum->samples == op->samples && sum->timing_samples == op->timing_samples);
	CHECK(!memcmp(&sum->share, &op->share, sizeof(op->share)));
	/* Those that rest on samples are estimated anew. */
	CHECK(sampled || (sum->runtime_ns == op->runtime_ns && sum->cpu_ns == op->cpu_ns &&
			  sum->unobserved_ns == op->unobserved_ns));
}

/* The windows' totals are @whole. */
static void check_whole(const struct totals *totals, const struct snapshot *whole)
{
	struct totals all = { 0 };
	bool sampled = whole->mode == MODE_SAMPLED;

	for (size_t i = 0; i < whole->worker_count; i++) {
		for (size_t j = 0; j < 2; j++)
			check_circuit(&totals->circuits[i][j], &whole->workers[i].circuits[j]);
		for (size_t j = 0; j < FIXTURE_NODES - 1; j++)
			check_operator(&totals->operators[i][j], &whole->workers[i].operators[j],
				       sampled);
	}
	for (size_t i = 0; i < whole->thread_count; i++)
		add_thread(&all, &whole->threads[i]);
	add_thread(&all, &whole->exited);
	CHECK(!memcmp(&all.threads, &totals->threads, sizeof(all.threads)));
	CHECK(totals->window_ns == whole->window_ns);
	CHECK(totals->reads == whole->losses.reads);
	CHECK(totals->exited_count == whole->exited_count);
}

static void take(struct series *series, const struct snapshot *until, struct totals *totals)
{
	struct snapshot *window = NULL;
	uint64_t end = until->window_start_ns + until->window_ns;

	if (!CHECK(series__next(series, until, &window) == 0))
		return;
	CHECK(window->window_start_ns + window->window_ns == end);
	check_books(window);
	add_window(totals, window);
	check_books(series__sum(series));
	check_whole(totals, series__sum(series));
	snapshot__free(window);
}

static void test_adds_up(enum snapshot_mode mode)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct totals totals = { 0 };
	struct series *series = NULL;

	snapshot->mode = mode;
	begin(snapshot);
	CHECK(series__open(&series) == 0 && !series__sum(series));
	for (int i = 0; i < WINDOWS; i++) {
		go_on(snapshot);
		take(series, snapshot, &totals);
	}
	/* Nothing went back, so that the whole is what was measured. */
	check_whole(&totals, snapshot);
	CHECK(series__sum(series)->cost.target_cpu_ns ==
	      snapshot->threads[0].on_cpu_ns + snapshot->threads[1].on_cpu_ns);
	series__close(series);
	snapshot__free(snapshot);
}

/* A clock that was ahead at an edge: parts of the next reading are smaller than they were. */
static void test_goes_back(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct totals totals = { 0 };
	struct series *series = NULL;

	snapshot->mode = MODE_EXACT;
	begin(snapshot);
	CHECK(series__open(&series) == 0);
	for (int i = 0; i < WINDOWS; i++) {
		struct snapshot_circuit *root = &snapshot->workers[0].circuits[0];
		struct snapshot_thread *thread = &snapshot->threads[0];
		uint64_t cut = some(root->cpu_ns < 3000 ? root->cpu_ns : 3000);

		go_on(snapshot);
		root->cpu_ns -= cut;
		root->unobserved_ns += cut;
		cut = some(thread->on_cpu_ns < 3000 ? thread->on_cpu_ns : 3000);
		thread->on_cpu_ns -= cut;
		thread->unobserved_ns += cut;
		take(series, snapshot, &totals);
	}
	CHECK(series__sum(series)->workers[0].circuits[0].runtime_ns ==
	      snapshot->workers[0].circuits[0].runtime_ns);
	CHECK(series__sum(series)->threads[0].observed_ns == snapshot->threads[0].observed_ns);
	series__close(series);
	snapshot__free(snapshot);
}

/* The merger exits in the third window, and another thread gets its id. */
static void test_threads_come_and_go(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct totals totals = { 0 };
	struct series *series = NULL;
	struct snapshot_thread *merger = &snapshot->threads[1];

	snapshot->mode = MODE_WAITS;
	begin(snapshot);
	CHECK(series__open(&series) == 0);
	for (int i = 0; i < 2; i++) {
		go_on(snapshot);
		take(series, snapshot, &totals);
	}
	/* Gone: all that it has used is in the sum. */
	go_on(snapshot);
	snapshot->exited = *merger;
	snapshot->exited_count = 1;
	snapshot->thread_count = 1;
	take(series, snapshot, &totals);
	CHECK(series__sum(series)->thread_count == 1);
	CHECK(series__sum(series)->exited.observed_ns == merger->observed_ns);
	/* Again there, but younger. */
	snapshot->thread_count = 2;
	memset(&merger->observed_ns, 0,
	       sizeof(*merger) - offsetof(struct snapshot_thread, observed_ns));
	for (int i = 0; i < 3; i++) {
		go_on(snapshot);
		take(series, snapshot, &totals);
	}
	CHECK(series__sum(series)->threads[1].observed_ns == merger->observed_ns);
	CHECK(series__sum(series)->exited_count == 1);
	series__close(series);
	snapshot__free(snapshot);
}

/* A worker that was found late has all its numbers in the window that it was found in. */
static void test_late_worker(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false), *window = NULL;
	struct series *series = NULL;

	snapshot->mode = MODE_EXACT;
	begin(snapshot);
	go_on(snapshot);
	snapshot->worker_count = 1;
	CHECK(series__open(&series) == 0);
	CHECK(series__next(series, snapshot, &window) == 0 && window->worker_count == 1);
	snapshot__free(window);
	snapshot->worker_count = 2;
	snapshot->workers[1].late = true;
	go_on(snapshot);
	CHECK(series__next(series, snapshot, &window) == 0 && window->worker_count == 2);
	CHECK(window->workers[1].late && !window->workers[0].late);
	CHECK(window->workers[1].circuits[0].steps == snapshot->workers[1].circuits[0].steps);
	snapshot__free(window);
	go_on(snapshot);
	CHECK(series__next(series, snapshot, &window) == 0 && !window->workers[1].late);
	CHECK(series__sum(series)->workers[1].late);
	snapshot__free(window);
	series__close(series);
	snapshot__free(snapshot);
}

/* A step that is older than the window was open when it began. */
static void test_open_step(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false), *window = NULL;
	struct snapshot_circuit *root = &snapshot->workers[0].circuits[0];
	struct series *series = NULL;

	begin(snapshot);
	go_on(snapshot);
	CHECK(series__open(&series) == 0 && series__next(series, snapshot, &window) == 0);
	CHECK(!window->workers[0].circuits[0].step_open_before);
	snapshot__free(window);
	go_on(snapshot);
	root->step_open = root->step_age_exact = true;
	root->step_age_ns = 1000000;
	CHECK(series__next(series, snapshot, &window) == 0);
	CHECK(window->workers[0].circuits[0].step_open_before);
	snapshot__free(window);
	root->step_age_ns = 1;
	go_on(snapshot);
	CHECK(series__next(series, snapshot, &window) == 0);
	CHECK(!window->workers[0].circuits[0].step_open_before);
	snapshot__free(window);
	series__close(series);
	series__close(NULL);
	snapshot__free(snapshot);
}

int main(void)
{
	test_adds_up(MODE_ENGINE);
	test_adds_up(MODE_SAMPLED);
	test_adds_up(MODE_EXACT);
	test_adds_up(MODE_WAITS);
	test_goes_back();
	test_threads_come_and_go();
	test_late_worker();
	test_open_step();
	return CHECK_RESULT();
}
