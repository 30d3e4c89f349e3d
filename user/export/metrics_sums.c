// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/metrics_sums.h"

void metrics__grow(uint64_t *sum, uint64_t by)
{
	if (__builtin_add_overflow(*sum, by, sum))
		*sum = UINT64_MAX;
}

static bool copied(char **to, const char *from)
{
	if (*to || !from)
		return true;
	*to = strdup(from);
	return *to != NULL;
}

struct metrics_sums *metrics_sums__new(size_t shown_max)
{
	struct metrics_sums *sums = calloc(1, sizeof(*sums));

	if (sums)
		sums->shown_max = shown_max;
	return sums;
}

void metrics_sums__free(struct metrics_sums *sums)
{
	if (!sums)
		return;
	for (size_t i = 0; i < sums->operator_count; i++)
		free(sums->operators[i].name);
	free(sums->operators);
	free(sums->workers);
	free(sums->exe);
	free(sums->pipeline);
	free(sums->pipeline_name);
	free(sums->dbsp_version);
	free(sums->rustc_version);
	free(sums->build_id);
	free(sums);
}

static int compare_workers(const void *a, const void *b)
{
	const struct metrics_worker *one = a, *other = b;

	return (one->index > other->index) - (one->index < other->index);
}

static struct metrics_worker *find_worker(struct metrics_sums *sums, unsigned int index)
{
	struct metrics_worker key = { .index = index };

	if (sums->worker_count == 0)
		return NULL;
	return bsearch(&key, sums->workers, sums->worker_count, sizeof(key), compare_workers);
}

/* Room for workers that are new. Those of a snapshot are sorted, so none comes twice. */
static int learn_workers(struct metrics_sums *sums, const struct snapshot *snapshot)
{
	size_t known = sums->worker_count, count = known;
	struct metrics_worker *grown;

	grown = reallocarray(sums->workers, known + snapshot->worker_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	sums->workers = grown;
	for (size_t i = 0; i < snapshot->worker_count && count < METRICS_WORKERS_MAX; i++)
		if (!find_worker(sums, snapshot->workers[i].index))
			grown[count++] =
				(struct metrics_worker){ .index = snapshot->workers[i].index };
	sums->worker_count = count;
	if (count > known)
		qsort(grown, count, sizeof(*grown), compare_workers);
	return 0;
}

static int learn(struct metrics_sums *sums, const struct snapshot *snapshot)
{
	int err;

	if (sums->windows > 0 && sums->pid != snapshot->pid)
		return -EINVAL;
	sums->pid = snapshot->pid;
	if (!copied(&sums->exe, snapshot->exe) || !copied(&sums->pipeline, snapshot->pipeline) ||
	    !copied(&sums->pipeline_name, snapshot->pipeline_name) ||
	    !copied(&sums->dbsp_version, snapshot->dbsp_version) ||
	    !copied(&sums->rustc_version, snapshot->rustc_version) ||
	    !copied(&sums->build_id, snapshot->build_id))
		return -ENOMEM;
	err = learn_workers(sums, snapshot);
	return err ? err : metrics_operators__learn(sums, snapshot);
}

/* The kernel side's type of the same size. */
static void grow(__u64 *sum, __u64 by)
{
	uint64_t grown = *sum;

	metrics__grow(&grown, by);
	*sum = grown;
}

static void add_share(struct dbprof_kernel_share *sum, const struct dbprof_kernel_share *share)
{
	grow(&sum->run_queue_ns, share->run_queue_ns);
	for (unsigned int i = 0; i < DBPROF_CAUSES; i++)
		grow(&sum->blocked_ns[i], share->blocked_ns[i]);
	for (unsigned int i = 0; i < DBPROF_PARTIES; i++)
		grow(&sum->preempted_ns[i], share->preempted_ns[i]);
}

static void add_worker(struct metrics_worker *sum, const struct snapshot_circuit *root)
{
	metrics__grow(&sum->steps, root->steps);
	metrics__grow(&sum->step_ns, root->runtime_ns);
	metrics__grow(&sum->cpu_ns, root->cpu_ns);
	for (unsigned int i = 0; i < PARK_REASONS; i++)
		metrics__grow(&sum->wait_ns[i], root->wait_ns[i]);
	add_share(&sum->share, &root->share);
	metrics__grow(&sum->unobserved_ns, root->unobserved_ns);
	metrics__grow(&sum->idle_ns, root->idle_ns);
	metrics__grow(&sum->idle_ns, root->edge_idle_ns);
	sum->open_step_ns = root->step_open ? root->step_age_ns : 0;
}

static void add_workers(struct metrics_sums *sums, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < sums->worker_count; i++)
		sums->workers[i].open_step_ns = 0;
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];
		struct metrics_worker *sum = find_worker(sums, worker->index);

		if (!sum)
			metrics__grow(&sums->left_out, 1);
		else if (worker->circuit_count > 0)
			add_worker(sum, &worker->circuits[0]);
		for (size_t j = 0; j < DBPROF_LATENCIES; j++)
			grow(&sums->latency.steps[j], worker->latency.steps[j]);
		grow(&sums->latency.sum_ns, worker->latency.sum_ns);
	}
}

static void add_losses(struct snapshot_losses *sum, const struct snapshot_losses *losses)
{
	metrics__grow(&sum->threads, losses->threads);
	metrics__grow(&sum->circuits, losses->circuits);
	metrics__grow(&sum->operators, losses->operators);
	metrics__grow(&sum->reads, losses->reads);
	metrics__grow(&sum->slots, losses->slots);
	metrics__grow(&sum->steps, losses->steps);
	metrics__grow(&sum->missed, losses->missed);
	metrics__grow(&sum->torn, losses->torn);
	metrics__grow(&sum->workers, losses->workers);
	metrics__grow(&sum->unresolved, losses->unresolved);
	metrics__grow(&sum->probes, losses->probes);
}

int metrics_sums__add(struct metrics_sums *sums, const struct snapshot *snapshot)
{
	int err = learn(sums, snapshot);

	if (err)
		return err;
	sums->mode = snapshot->mode;
	sums->incomplete = snapshot__incomplete(snapshot);
	metrics__grow(&sums->windows, 1);
	metrics__grow(&sums->incomplete_windows, sums->incomplete);
	metrics__grow(&sums->window_ns, snapshot->window_ns);
	metrics__grow(&sums->process_cpu_ns, snapshot->cost.target_cpu_ns);
	add_losses(&sums->losses, &snapshot->losses);
	add_workers(sums, snapshot);
	metrics_operators__add(sums, snapshot);
	return 0;
}

void metrics_cost__add(struct metrics_cost *sum, const struct snapshot_cost *cost)
{
	uint64_t trap_ns;

	if (__builtin_mul_overflow(cost->traps, cost->trap_ns, &trap_ns))
		trap_ns = UINT64_MAX;
	metrics__grow(&sum->traps, cost->traps);
	metrics__grow(&sum->trap_ns, trap_ns);
	metrics__grow(&sum->program_ns, cost->program_ns);
	metrics__grow(&sum->own_cpu_ns, cost->own_cpu_ns);
}
