// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/snapshot_code.h"

#define SHARE_WORDS (sizeof(struct dbprof_kernel_share) / sizeof(__u64))
/* The least that one of them takes in the file, which bounds the memory for those that follow. */
#define THREAD_LEAST   200
#define CIRCUIT_LEAST  200
#define OPERATOR_LEAST 200

_Static_assert(PARK_REASONS == 10 && SHARE_WORDS == 1 + DBPROF_CAUSES + 2 * DBPROF_PARTIES &&
		       DBPROF_CAUSES == 8 && DBPROF_PARTIES == 5 && SNAPSHOT_MODES == 4 &&
		       THREAD_ROLES == 4,
	       "other numbers of them are another version of the format");

void code_path(struct coder *coder, struct node_path *path)
{
	coder__u32(coder, &path->depth);
	if (!coder->writing && path->depth > NODE_PATH_MAX) {
		coder__refuse(coder, "a node lies %u circuits deep", path->depth);
		path->depth = 0;
	}
	for (uint32_t i = 0; i < path->depth && i < NODE_PATH_MAX; i++)
		coder__u32(coder, &path->id[i]);
}

void code_share(struct coder *coder, struct dbprof_kernel_share *share)
{
	uint64_t words[SHARE_WORDS];

	for (size_t i = 0; i < SHARE_WORDS; i++)
		words[i] = ((__u64 *)share)[i];
	coder__words(coder, words, SHARE_WORDS);
	for (size_t i = 0; i < SHARE_WORDS; i++)
		((__u64 *)share)[i] = words[i];
}

static void code_cost(struct coder *coder, struct snapshot *snapshot)
{
	struct snapshot_cost *cost = &snapshot->cost;
	char *dropped = (char *)cost->dropped;

	coder__u64(coder, &cost->traps);
	coder__u64(coder, &cost->trap_ns);
	coder__u64(coder, &cost->program_ns);
	coder__u64(coder, &cost->own_cpu_ns);
	coder__u64(coder, &cost->target_cpu_ns);
	coder__double(coder, &cost->budget);
	coder__text(coder, &dropped);
	if (!coder->writing)
		cost->dropped = snapshot->dropped = dropped;
}

static void code_losses(struct coder *coder, struct snapshot_losses *losses)
{
	coder__u64(coder, &losses->threads);
	coder__u64(coder, &losses->circuits);
	coder__u64(coder, &losses->operators);
	coder__u64(coder, &losses->reads);
	coder__u64(coder, &losses->slots);
	coder__u64(coder, &losses->steps);
	coder__u64(coder, &losses->missed);
	coder__u64(coder, &losses->torn);
	coder__u64(coder, &losses->workers);
	coder__u64(coder, &losses->unresolved);
	coder__u64(coder, &losses->probes);
	coder__bool(coder, &losses->target_exited);
}

void code_about(struct coder *coder, struct snapshot *snapshot, uint32_t *graphs, uint32_t *workers)
{
	uint8_t mode = (uint8_t)snapshot->mode;

	coder__i32(coder, &snapshot->pid);
	coder__text_in(coder, snapshot->host, sizeof(snapshot->host));
	coder__text_in(coder, snapshot->kernel, sizeof(snapshot->kernel));
	coder__text(coder, &snapshot->exe);
	coder__text(coder, &snapshot->build_id);
	coder__text(coder, &snapshot->dbsp_version);
	coder__text(coder, &snapshot->rustc_version);
	coder__text(coder, &snapshot->layout);
	coder__text(coder, &snapshot->pipeline);
	coder__text(coder, &snapshot->pipeline_name);
	coder__u8(coder, &mode, SNAPSHOT_MODES, "mode");
	snapshot->mode = (enum snapshot_mode)mode;
	coder__u32(coder, &snapshot->frequency_hz);
	coder__u64(coder, &snapshot->window_start_ns);
	coder__i64(coder, &snapshot->window_start_unix_ns);
	coder__u64(coder, &snapshot->window_ns);
	coder__u64(coder, &snapshot->runtime_elapsed_ns);
	code_cost(coder, snapshot);
	code_losses(coder, &snapshot->losses);
	coder__u32(coder, graphs);
	coder__u32(coder, workers);
}

static void code_thread(struct coder *coder, struct snapshot_thread *thread)
{
	uint8_t role = (uint8_t)thread->role;

	coder__i32(coder, &thread->tid);
	/* As the kernel has it: cut at 15 bytes, also within a character. */
	coder__raw(coder, thread->comm, sizeof(thread->comm));
	coder__i32(coder, &thread->worker);
	coder__u8(coder, &role, THREAD_ROLES, "role of threads");
	thread->role = (enum thread_role)role;
	coder__u64(coder, &thread->observed_ns);
	coder__u64(coder, &thread->on_cpu_ns);
	coder__u64(coder, &thread->run_queue_ns);
	coder__u64(coder, &thread->preempted_ns);
	coder__u64(coder, &thread->blocked_ns);
	coder__u64(coder, &thread->unobserved_ns);
	code_share(coder, &thread->share);
}

void code_threads(struct coder *coder, struct snapshot *snapshot)
{
	coder__array(coder, (void **)&snapshot->threads, &snapshot->thread_count,
		     sizeof(*snapshot->threads), THREAD_LEAST);
	for (size_t i = 0; i < snapshot->thread_count && !coder->err; i++)
		code_thread(coder, &snapshot->threads[i]);
	code_thread(coder, &snapshot->exited);
	coder__u64(coder, &snapshot->exited_count);
}

static void code_circuit(struct coder *coder, struct snapshot_circuit *circuit)
{
	int32_t reason = circuit->open_reason;

	code_path(coder, &circuit->id);
	coder__u64(coder, &circuit->steps);
	coder__u64(coder, &circuit->runtime_ns);
	coder__u64(coder, &circuit->cpu_ns);
	coder__words(coder, circuit->wait_ns, PARK_REASONS);
	coder__u64(coder, &circuit->idle_ns);
	coder__u64(coder, &circuit->edge_idle_ns);
	code_share(coder, &circuit->share);
	coder__u64(coder, &circuit->unobserved_ns);
	coder__bool(coder, &circuit->step_open);
	coder__bool(coder, &circuit->step_open_before);
	coder__u64(coder, &circuit->step_age_ns);
	coder__bool(coder, &circuit->step_age_exact);
	coder__i32(coder, &reason);
	coder__u64(coder, &circuit->open_reason_ns);
	if (!coder->writing && (reason < -1 || reason >= PARK_REASONS))
		coder__refuse(coder, "there is no reason %d of waits", reason);
	circuit->open_reason = reason;
}

static void code_operator(struct coder *coder, struct snapshot_operator *op)
{
	code_path(coder, &op->id);
	coder__bool(coder, &op->has_invocations);
	coder__u64(coder, &op->invocations);
	coder__bool(coder, &op->has_time);
	coder__u64(coder, &op->runtime_ns);
	coder__u64(coder, &op->cpu_ns);
	coder__u64(coder, &op->interval_ns);
	coder__u64(coder, &op->samples);
	coder__u64(coder, &op->timing_samples);
	coder__u64(coder, &op->engine_timing_ns);
	code_share(coder, &op->share);
	coder__u64(coder, &op->unobserved_ns);
}

static void code_cpu(struct coder *coder, struct snapshot_cpu *cpu)
{
	coder__u64(coder, &cpu->operators_ns);
	coder__u64(coder, &cpu->engine_timing_ns);
	coder__u64(coder, &cpu->scheduler_ns);
	coder__u64(coder, &cpu->outside_ns);
	coder__u64(coder, &cpu->samples);
	coder__u64(coder, &cpu->scheduler_samples);
	coder__u64(coder, &cpu->blind_samples);
}

/* The root first, the others once each, and each a circuit of the graph, if there is one. */
static void check_circuits(struct coder *coder, const struct snapshot_worker *worker)
{
	for (size_t i = 0; i < worker->circuit_count && !coder->err; i++) {
		const struct snapshot_circuit *circuit = &worker->circuits[i];
		const struct graph_node *node =
			worker->graph ? graph__find(worker->graph, &circuit->id) : NULL;

		if (i ? node_path__compare(&circuit[-1].id, &circuit->id) >= 0
		      : circuit->id.depth > 0)
			coder__refuse(coder, "circuits are out of order");
		else if (worker->graph && (!node || node->kind != NODE_CIRCUIT))
			coder__refuse(coder, "a circuit is not in the graph");
	}
}

static void check_operators(struct coder *coder, const struct snapshot_worker *worker)
{
	for (size_t i = 0; i < worker->operator_count && !coder->err; i++) {
		const struct snapshot_operator *op = &worker->operators[i];

		if (!op->id.depth || (i && node_path__compare(&op[-1].id, &op->id) >= 0))
			coder__refuse(coder, "operators are out of order");
		else if (worker->graph && !graph__find(worker->graph, &op->id))
			coder__refuse(coder, "an operator is not in the graph");
	}
}

void code_worker(struct coder *coder, struct snapshot_worker *worker, uint32_t *graph,
		 struct graph **graphs, uint32_t graph_count)
{
	coder__u32(coder, &worker->index);
	coder__i32(coder, &worker->tid);
	coder__bool(coder, &worker->late);
	coder__u32(coder, graph);
	code_cpu(coder, &worker->cpu);
	coder__u64(coder, &worker->observed_ns);
	coder__u64(coder, &worker->watched_ns);
	coder__words(coder, worker->wait_ns, PARK_REASONS);
	coder__words(coder, (uint64_t *)&worker->latency,
		     sizeof(worker->latency) / sizeof(uint64_t));
	coder__words(coder, (uint64_t *)&worker->turns, sizeof(worker->turns) / sizeof(uint64_t));
	coder__array(coder, (void **)&worker->circuits, &worker->circuit_count,
		     sizeof(*worker->circuits), CIRCUIT_LEAST);
	for (size_t i = 0; i < worker->circuit_count && !coder->err; i++)
		code_circuit(coder, &worker->circuits[i]);
	coder__array(coder, (void **)&worker->operators, &worker->operator_count,
		     sizeof(*worker->operators), OPERATOR_LEAST);
	for (size_t i = 0; i < worker->operator_count && !coder->err; i++)
		code_operator(coder, &worker->operators[i]);
	if (coder->writing || coder->err)
		return;
	if (*graph > graph_count) {
		coder__refuse(coder, "there is no graph %u", *graph);
		return;
	}
	worker->graph = *graph ? graphs[*graph - 1] : NULL;
	worker->graph_borrowed = true;
	check_circuits(coder, worker);
	check_operators(coder, worker);
}
