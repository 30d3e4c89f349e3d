// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Slots learned from stacks: threads of this program pose as workers that evaluate operators.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "engine/slots.h"

#define RETURN_ADDRESS 0x7123456789abcdefULL
#define STATE_WORDS    2 /* from the slot up */

/* Only DBSP programs can be opened; one is told by its panic messages. */
__attribute__((used)) static const char panic_path[] = "/dbsp-0.354.0/src/circuit/runtime.rs";

/* A task's state: a circuit and a node, where test_layout() says. */
struct task {
	uint64_t circuit;
	uint64_t other;
	uint64_t node;
};

struct actor {
	pthread_t thread;
	struct task *task;
	uint64_t address; /* that stands in the slot */
	pid_t tid;
	uint64_t distance;
	uint64_t pointer;
	pthread_barrier_t *ready;
	pthread_barrier_t *leave;
};

static struct layout test_layout(void)
{
	struct layout layout = { 0 };

	layout.value[LAYOUT_TASK_CIRCUIT] = offsetof(struct task, circuit);
	layout.value[LAYOUT_TASK_NODE] = offsetof(struct task, node);
	return layout;
}

static void *act(void *arg)
{
	struct actor *actor = arg;
	volatile uint64_t words[8] = { 0 };

	words[2] = actor->address;
	words[2 + STATE_WORDS] = (uint64_t)actor->task;
	actor->tid = (pid_t)syscall(SYS_gettid);
	/* glibc's pthread_self() is the thread pointer (nptl/pthread_self.c). */
	actor->pointer = (uint64_t)pthread_self();
	actor->distance = actor->pointer - (uint64_t)&words[2];
	pthread_barrier_wait(actor->ready);
	pthread_barrier_wait(actor->leave);
	words[2] = 0;
	return NULL;
}

/* What two workers with these tasks teach, with that many of them looked at. */
static struct engine_slots learn(struct target *target, struct actor *actors, size_t looked_at)
{
	static struct graph_node nodes[] = { { .kind = NODE_CIRCUIT }, { .id = { 1, { 3 } } } };
	static struct graph graph = { .nodes = nodes, .node_count = 2 };
	static struct engine_circuit circuit = { .address = 0x5000 };
	const struct engine_frame frame = { RETURN_ADDRESS, STATE_WORDS * 8 };
	struct layout layout = test_layout();
	struct engine_worker workers[2] = {};
	const struct engine_worker *list[2];
	struct engine_slots slots = {};
	pthread_barrier_t ready, leave;
	uint64_t pointer = 0;

	pthread_barrier_init(&ready, NULL, 3);
	pthread_barrier_init(&leave, NULL, 3);
	for (size_t i = 0; i < 2; i++) {
		actors[i].ready = &ready;
		actors[i].leave = &leave;
		pthread_create(&actors[i].thread, NULL, act, &actors[i]);
	}
	pthread_barrier_wait(&ready);
	for (size_t i = 0; i < 2; i++) {
		workers[i] = (struct engine_worker){ .tid = actors[i].tid,
						     .graph = &graph,
						     .circuits = &circuit,
						     .circuit_count = 1 };
		list[i] = &workers[i];
		CHECK(engine_slots__thread_pointer(target, actors[i].tid, &pointer) == 0);
		CHECK(pointer == actors[i].pointer);
	}
	CHECK(engine_slots__learn(target, &layout, list, looked_at, &frame, 1, &slots) == 0);
	pthread_barrier_wait(&leave);
	for (size_t i = 0; i < 2; i++)
		pthread_join(actors[i].thread, NULL);
	pthread_barrier_destroy(&ready);
	pthread_barrier_destroy(&leave);
	return slots;
}

static void check_learning(struct target *target)
{
	struct task good = { 0x5000, 1, 3 }, no_node = { 0x5000, 1, 4 }, no_circuit = { 1, 1, 3 };
	struct {
		struct task *task;
		uint64_t address;
		size_t workers;
		size_t count;
	} cases[] = {
		{ &good, RETURN_ADDRESS, 1, 1 },    /* proven by one */
		{ &no_node, RETURN_ADDRESS, 1, 0 }, /* not proven */
		{ &no_circuit, RETURN_ADDRESS, 1, 0 }, { NULL, RETURN_ADDRESS, 1, 0 },
		{ &no_circuit, RETURN_ADDRESS, 2, 1 }, /* but met twice */
		{ &good, RETURN_ADDRESS + 1, 2, 0 },   /* not the return address */
		{ &good, RETURN_ADDRESS, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct actor actors[2] = { { .task = cases[i].task, .address = cases[i].address },
					   { .task = cases[i].task, .address = cases[i].address } };
		struct engine_slots slots = learn(target, actors, cases[i].workers);

		if (!CHECK(slots.count == cases[i].count))
			fprintf(stderr, "case %zu: %zu\n", i, slots.count);
		if (slots.count)
			CHECK(slots.distance[0] == actors[0].distance);
		CHECK(actors[0].distance == actors[1].distance);
	}
}

static void check_layout(struct target *target)
{
	struct layout layout = test_layout();
	struct engine_slots slots = {};

	layout.value[LAYOUT_TASK_NODE] = LAYOUT_ABSENT;
	CHECK(engine_slots__learn(target, &layout, NULL, 0, NULL, 0, &slots) < 0);
}

int main(void)
{
	struct target *target = NULL;
	struct fail fail = {};

	if (!CHECK(target__open(getpid(), &target, &fail) == 0)) {
		fprintf(stderr, "%s\n", fail.text);
		return CHECK_RESULT();
	}
	check_layout(target);
	check_learning(target);
	target__close(target);
	return CHECK_RESULT();
}
