// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stacks of a profile: each nanosecond of a worker's window is in one of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/snapshot_source.h"
#include "export/stacks.h"
#include "export/time_parts.h"
#include "check.h"
#include "fixture.h"

#define WORKERS	    2
#define SAMPLES_MAX 200
#define STACK_MAX   300

static void check_number(uint64_t got, uint64_t wanted, int line)
{
	if (got != wanted) {
		fprintf(stderr, "line %d: got %" PRIu64 ", wanted %" PRIu64 "\n", line, got,
			wanted);
		check_failures++;
	}
}

#define CHECK_EQ(got, wanted) check_number((uint64_t)(got), (uint64_t)(wanted), __LINE__)

struct sample {
	char stack[STACK_MAX];
	char node[16];
	size_t worker;
	uint64_t wall;
	uint64_t cpu;
};

struct told {
	struct sample samples[SAMPLES_MAX];
	size_t count;
	size_t frames;
	struct stack_notes notes;
	struct fail fail;
	int err;
};

static int keep_frame(void *context, const struct stack_frame *frame)
{
	struct told *told = context;

	CHECK_EQ(frame->number, told->frames);
	CHECK(frame->name[0] && frame->node);
	told->frames++;
	return 0;
}

static int keep_sample(void *context, const struct stack_sample *from)
{
	struct told *told = context;
	struct sample *to = &told->samples[told->count];
	size_t len = 0;

	if (told->count == SAMPLES_MAX)
		return -E2BIG;
	CHECK(from->wall_ns > 0 && from->cpu_ns >= 0 && from->cpu_ns <= from->wall_ns);
	CHECK_TEXT(from->reason, from->frames[from->depth - 1]->name);
	for (size_t i = 0; i < from->depth; i++) {
		CHECK(from->frames[i]->number < told->frames);
		len += (size_t)snprintf(to->stack + len, STACK_MAX - len, "%s%s", i ? ";" : "",
					from->frames[i]->name);
	}
	CHECK(len < STACK_MAX);
	snprintf(to->node, sizeof(to->node), "%s", from->node);
	to->worker = from->worker;
	to->wall = (uint64_t)from->wall_ns;
	to->cpu = (uint64_t)from->cpu_ns;
	told->count++;
	return 0;
}

static void tell(const struct snapshot *snapshot, struct told *told)
{
	static const struct stack_sink sink = { .frame = keep_frame, .sample = keep_sample };
	struct profile_source *source = NULL;

	memset(told, 0, sizeof(*told));
	CHECK(snapshot_source__open(snapshot, &source) == 0);
	told->err = stacks__tell(source, &sink, told, &told->notes, &told->fail);
	profile_source__close(source);
}

static uint64_t wall_of(const struct told *told, size_t worker)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < told->count; i++)
		sum += told->samples[i].worker == worker ? told->samples[i].wall : 0;
	return sum;
}

static uint64_t cpu_of(const struct told *told, size_t worker)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < told->count; i++)
		sum += told->samples[i].worker == worker ? told->samples[i].cpu : 0;
	return sum;
}

static const struct sample *find(const struct told *told, const char *stack)
{
	for (size_t i = 0; i < told->count; i++)
		if (!strcmp(told->samples[i].stack, stack))
			return &told->samples[i];
	return NULL;
}

static void check_wall(const struct told *told, const char *stack, uint64_t wall)
{
	const struct sample *sample = find(told, stack);

	if (!sample) {
		fprintf(stderr, "no stack %s\n", stack);
		check_failures++;
		return;
	}
	CHECK_EQ(sample->wall, wall);
}

#define ROOT "process 4321;worker 0;root;"

/* The fixture's operators take 4 of 8 s in steps; all of it is given a place once. */
static void test_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(WORKERS, false);
	struct told *told = calloc(1, sizeof(*told));

	tell(snapshot, told);
	CHECK_EQ(told->err, 0);
	for (size_t worker = 0; worker < WORKERS; worker++)
		CHECK_EQ(wall_of(told, worker), snapshot->window_ns);
	CHECK_EQ(told->notes.excess_workers, 0);
	check_wall(told, ROOT "join @ s/main.rs:7:21;JoinTrace @ s/o/join.rs:722:21;computing",
		   1500000000);
	check_wall(told, ROOT "join @ s/main.rs:7:21;JoinTrace @ s/o/join.rs:722:21;run queue",
		   100000000);
	check_wall(told, ROOT "join @ s/main.rs:7:21;JoinTrace @ s/o/join.rs:722:21;preempted",
		   200000000);
	check_wall(told, ROOT "join @ s/main.rs:7:21;JoinTrace @ s/o/join.rs:722:21;blocked: futex",
		   150000000);
	check_wall(told, ROOT "join @ s/main.rs:7:21;JoinTrace @ s/o/join.rs:722:21;not observed",
		   50000000);
	check_wall(told, ROOT "Plus;computing", 200000000);
	/* The nested circuit's own time is its scheduler's; its operators' comes beside it. */
	check_wall(told, ROOT "circuit nn1;[scheduler];computing", 1000000000);
	check_wall(told, ROOT "circuit nn1;Z^-1 (output);computing", 300000000);
	check_wall(told, ROOT "circuit nn1;Z^-1;computing", 500000000);
	check_wall(told, "process 4321;worker 0;[outside steps];computing", 7000000);
	check_wall(told, "process 4321;worker 0;[idle]", 1993000000);
	CHECK_TEXT(find(told, ROOT "Plus;computing")->node, "nn2");
	CHECK_TEXT(find(told, ROOT "circuit nn1;[scheduler];computing")->node, "nn1");
	CHECK_TEXT(find(told, "process 4321;worker 0;[idle]")->node, "");
	free(told);
	snapshot__free(snapshot);
}

/* A worker whose parts are those of a real one: operators that leave room for the rest. */
static void plain(struct snapshot_worker *worker)
{
	struct snapshot_circuit *root = &worker->circuits[0], *nested = &worker->circuits[1];

	for (size_t i = 0; i < worker->operator_count; i++) {
		worker->operators[i].runtime_ns /= 2;
		worker->operators[i].cpu_ns = worker->operators[i].runtime_ns;
		worker->operators[i].unobserved_ns = 0;
		worker->operators[i].share = (struct dbprof_kernel_share){ 0 };
	}
	memset(root->wait_ns, 0, sizeof(root->wait_ns));
	root->wait_ns[DBPROF_PEERS] = 3000000000;
	root->wait_ns[DBPROF_NETWORK] = 7;
	root->wait_ns[DBPROF_STORAGE_WRITE] = 1000;
	nested->runtime_ns = 6000000000;
	nested->wait_ns[DBPROF_PEERS] = 2000000000;
}

static void test_waits(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_circuit *nested = &snapshot->workers[0].circuits[1];
	struct told *told = calloc(1, sizeof(*told));

	plain(&snapshot->workers[0]);
	tell(snapshot, told);
	CHECK_EQ(wall_of(told, 0), snapshot->window_ns);
	CHECK_EQ(cpu_of(told, 0), 3000000999 + 7000000);
	check_wall(told, ROOT "[waiting];peers", 1000000000);
	check_wall(told, ROOT "circuit nn1;[waiting];peers", 2000000000);
	check_wall(told, ROOT "[waiting];network", 7);
	/* Blocks an operator, whose time it is. */
	CHECK(!find(told, ROOT "[waiting];storage_write"));
	/* 3.900000000 s in epoll, of which the waits are taken. */
	check_wall(told, ROOT "[scheduler];blocked: epoll", 3900000000 - 3000000007);
	check_wall(told, ROOT "[scheduler];computing", 1000000999 - 5000000);
	check_wall(told, ROOT "[engine's clock reads];computing", 5000000);

	/* Two circuits in a step during one wait: it stays with the outer one. */
	nested->wait_ns[DBPROF_PEERS] = 3000000001;
	tell(snapshot, told);
	CHECK_EQ(wall_of(told, 0), snapshot->window_ns);
	check_wall(told, ROOT "[waiting];peers", 3000000000);
	CHECK(!find(told, ROOT "circuit nn1;[waiting];peers"));
	free(told);
	snapshot__free(snapshot);
}

/* More waits than there is time off the CPU: the rest of them is CPU time. */
static void test_waits_take_cpu(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct told *told = calloc(1, sizeof(*told));

	plain(&snapshot->workers[0]);
	snapshot->workers[0].circuits[0].wait_ns[DBPROF_PEERS] = 5500000000;
	tell(snapshot, told);
	CHECK_EQ(wall_of(told, 0), snapshot->window_ns);
	CHECK_EQ(cpu_of(told, 0), 3000000999 + 7000000);
	check_wall(told, ROOT "[scheduler];computing", 499999993 - 5000000);
	check_wall(told, ROOT "circuit nn1;[waiting];peers", 2000000000);
	CHECK(find(told, ROOT "[waiting];peers")->cpu > 0);
	CHECK(!find(told, ROOT "[scheduler];run queue"));
	free(told);
	snapshot__free(snapshot);
}

/* Storage reads that are handed to other threads are parks: what no operator can have had. */
static void test_storage_reads(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_operator *op = &snapshot->workers[0].operators[0];
	struct told *told = calloc(1, sizeof(*told));

	plain(&snapshot->workers[0]);
	op->cpu_ns -= 100;
	op->share.blocked_ns[DBPROF_CAUSE_BLOCK_IO] = 100;
	snapshot->workers[0].circuits[0].wait_ns[DBPROF_STORAGE_READ] = 130;
	tell(snapshot, told);
	check_wall(told,
		   ROOT "join @ s/main.rs:7:21;JoinTrace @ s/o/join.rs:722:21;blocked: block_io",
		   100);
	check_wall(told, ROOT "[waiting];storage_read", 30);
	CHECK_EQ(wall_of(told, 0), snapshot->window_ns);
	free(told);
	snapshot__free(snapshot);
}

/* An evaluation that began before the window counts whole where the engine counts. */
static void test_excess(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct told *told = calloc(1, sizeof(*told));

	snapshot->workers[0].operators[0].runtime_ns += 6000000000;
	tell(snapshot, told);
	CHECK_EQ(told->notes.excess_workers, 1);
	CHECK_EQ(told->notes.excess_ns, 2000000000);
	CHECK_EQ(wall_of(told, 0), snapshot->window_ns + 2000000000);
	CHECK(!find(told, ROOT "[waiting];peers"));
	free(told);
	snapshot__free(snapshot);
}

/* What is left of the steps has a name that is true. */
static void test_names_of_the_rest(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_worker *worker = &snapshot->workers[0];
	struct told *told = calloc(1, sizeof(*told));

	plain(worker);
	worker->circuits[0].step_open = true;
	worker->circuits[0].step_age_ns = 5;
	tell(snapshot, told);
	CHECK(find(told, ROOT "[scheduler];computing"));
	for (size_t i = 0; i < worker->operator_count; i++)
		worker->operators[i].samples = worker->operators[i].interval_ns = 0;
	snapshot->mode = MODE_ENGINE;
	tell(snapshot, told);
	CHECK(find(told, ROOT "[scheduler or unfinished evaluations];computing"));
	for (size_t i = 0; i < worker->operator_count; i++)
		worker->operators[i].has_time = false;
	tell(snapshot, told);
	check_wall(told, ROOT "[operators and scheduler];computing", 3000000999 - 5000000);
	CHECK_EQ(wall_of(told, 0), snapshot->window_ns);
	free(told);
	snapshot__free(snapshot);
}

static void test_no_steps(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, true);
	struct told *told = calloc(1, sizeof(*told));

	tell(snapshot, told);
	CHECK_EQ(told->err, 0);
	CHECK_EQ(wall_of(told, 0), snapshot->window_ns);
	snapshot__free(snapshot);
	/* No worker, so no graph either. */
	snapshot = fixture_snapshot(0, true);
	tell(snapshot, told);
	CHECK_EQ(told->err, -ENODATA);
	CHECK(strstr(told->fail.text, "no circuit graph"));
	free(told);
	snapshot__free(snapshot);
}

/* Nothing overflows, whatever the numbers. */
static void test_largest(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct told *told = calloc(1, sizeof(*told));

	fixture_largest(&snapshot->workers[0]);
	tell(snapshot, told);
	CHECK_EQ(told->err, 0);
	for (size_t i = 0; i < 2; i++) {
		struct snapshot_circuit *circuit = &snapshot->workers[0].circuits[i];

		memset(circuit->wait_ns, 0xff, sizeof(circuit->wait_ns));
		memset(&circuit->share, 0xff, sizeof(circuit->share));
		circuit->runtime_ns = circuit->cpu_ns = circuit->idle_ns = UINT64_MAX;
	}
	tell(snapshot, told);
	CHECK_EQ(told->err, 0);
	free(told);
	snapshot__free(snapshot);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Whatever the parts are: differences add up to the difference of the sums. */
static void test_differences(void)
{
	uint64_t state = 1;

	for (int round = 0; round < 2000; round++) {
		struct time_parts whole, part, rest;
		uint64_t wall, taken, cpu, taken_cpu;

		for (unsigned int i = 0; i < PARTS; i++) {
			whole.ns[i] = next_random(&state) % 1000;
			part.ns[i] = next_random(&state) % (round % 2 ? 100 : 2000);
		}
		rest = time_parts__minus(&whole, &part);
		wall = time_parts__wall(&rest);
		CHECK_EQ(wall, nanos__minus(time_parts__wall(&whole), time_parts__wall(&part)));
		for (unsigned int i = 0; i < PARTS; i++)
			CHECK(rest.ns[i] <= whole.ns[i]);
		taken = wall ? next_random(&state) % wall : 0;
		cpu = rest.ns[PART_COMPUTING];
		taken_cpu = time_parts__take_wait(&rest, taken);
		CHECK_EQ(taken_cpu, cpu - rest.ns[PART_COMPUTING]);
		CHECK_EQ(time_parts__wall(&rest), wall - taken);
	}
}

int main(void)
{
	test_operators();
	test_waits();
	test_waits_take_cpu();
	test_storage_reads();
	test_excess();
	test_names_of_the_rest();
	test_no_steps();
	test_largest();
	test_differences();
	return CHECK_RESULT();
}
