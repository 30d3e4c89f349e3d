// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/operator_ranking.h"
#include "export/summary_parts.h"

/* The operators of all workers in the order of their ids: the heads of the workers' sorted lists.
 */
struct merge {
	const struct snapshot *snapshot;
	size_t *next; /* by worker */
};

static const struct snapshot_operator *head(const struct merge *merge, size_t worker)
{
	const struct snapshot_worker *from = &merge->snapshot->workers[worker];

	return merge->next[worker] < from->operator_count ? &from->operators[merge->next[worker]]
							  : NULL;
}

static const struct snapshot_operator *smallest(const struct merge *merge)
{
	const struct snapshot_operator *best = NULL;

	for (size_t i = 0; i < merge->snapshot->worker_count; i++) {
		const struct snapshot_operator *op = head(merge, i);

		if (op && (!best || node_path__compare(&op->id, &best->id) < 0))
			best = op;
	}
	return best;
}

static void grow(uint64_t *sum, uint64_t by)
{
	*sum = summary__add(*sum, by);
}

static void add(struct operator_total *total, const struct snapshot_operator *op)
{
	const struct dbprof_kernel_share *share = &op->share;

	grow(&total->runtime_ns, op->runtime_ns);
	grow(&total->cpu_ns, op->cpu_ns);
	grow(&total->run_queue_ns, share->run_queue_ns);
	grow(&total->preempted_ns, summary__preempted(share));
	for (unsigned int i = 0; i < DBPROF_CAUSES; i++)
		grow(&total->blocked_ns, share->blocked_ns[i]);
	grow(&total->futex_ns, share->blocked_ns[DBPROF_CAUSE_FUTEX]);
	grow(&total->unobserved_ns, op->unobserved_ns);
}

/* By Newton's method from @above, which is not below it. */
static double square_root(double square, double above)
{
	for (int i = 0; i < 64 && above > 0; i++) {
		double next = (above + square / above) / 2;

		if (next >= above)
			break;
		above = next;
	}
	return above;
}

static uint64_t to_nanos(double nanos)
{
	return nanos < 18e18 ? (uint64_t)nanos : UINT64_MAX;
}

/* Workers are sampled independently, so the squares of their intervals add up. */
static struct operator_total next_total(struct merge *merge, const struct node_path *id)
{
	struct operator_total total = { .id = *id };
	double squares = 0, sum = 0;

	for (size_t i = 0; i < merge->snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &merge->snapshot->workers[i];
		const struct snapshot_operator *op = head(merge, i);

		if (!op || node_path__compare(&op->id, id) != 0)
			continue;
		merge->next[i]++;
		if (!total.node && worker->graph)
			total.node = graph__find(worker->graph, id);
		if (!op->has_time)
			continue;
		add(&total, op);
		squares += (double)op->interval_ns * (double)op->interval_ns;
		sum += (double)op->interval_ns;
	}
	total.interval_ns = to_nanos(square_root(squares, sum));
	return total;
}

static void insert(struct operator_ranking *ranking, const struct operator_total *total)
{
	size_t at = ranking->count;

	if (ranking->count == WORST_OPERATORS) {
		ranking->more++;
		at--;
		if (ranking->worst[at].runtime_ns >= total->runtime_ns)
			return;
	} else {
		ranking->count++;
	}
	for (; at > 0 && ranking->worst[at - 1].runtime_ns < total->runtime_ns; at--)
		ranking->worst[at] = ranking->worst[at - 1];
	ranking->worst[at] = *total;
}

/* Less than that is not worth a column. */
static void look_at_shown(struct operator_ranking *ranking)
{
	for (size_t i = 0; i < ranking->count; i++)
		ranking->unobserved |= ranking->worst[i].unobserved_ns >
				       ranking->worst[i].runtime_ns / 20;
}

int operator_ranking__make(const struct snapshot *snapshot, struct operator_ranking *ret_ranking)
{
	struct merge merge = { .snapshot = snapshot };
	struct operator_ranking ranking = { .count = 0 };
	const struct snapshot_operator *first;

	merge.next = calloc(snapshot->worker_count + 1, sizeof(*merge.next));
	if (!merge.next)
		return -ENOMEM;
	while ((first = smallest(&merge))) {
		struct operator_total total = next_total(&merge, &first->id);

		if (total.runtime_ns == 0 || (total.node && total.node->kind == NODE_CIRCUIT))
			continue;
		grow(&ranking.runtime_ns, total.runtime_ns);
		grow(&ranking.futex_ns, total.futex_ns);
		ranking.intervals |= total.interval_ns > 0;
		insert(&ranking, &total);
	}
	look_at_shown(&ranking);
	free(merge.next);
	*ret_ranking = ranking;
	return 0;
}
