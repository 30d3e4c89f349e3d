// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operators of a process, all workers together, and which of them are told one by one.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/metrics_sums.h"
#include "export/operator_ranking.h"
#include "util/array.h"

#define NAME_COLUMNS 100
/* After so long, an operator's time counts half when those that are shown are chosen. */
#define HALF_LIFE_NS 600e9

static int compare(const void *a, const void *b)
{
	const struct metrics_operator *one = a, *other = b;

	return node_path__compare(&one->id, &other->id);
}

static struct metrics_operator *find(const struct metrics_sums *sums, size_t count,
				     const struct node_path *id)
{
	struct metrics_operator key = { .id = *id };

	if (count == 0)
		return NULL;
	return bsearch(&key, sums->operators, count, sizeof(key), compare);
}

/* A nested circuit's time is that of the operators in it. */
static bool is_circuit(const struct graph_node *node)
{
	return node && node->kind == NODE_CIRCUIT;
}

static const struct graph_node *node_of(const struct snapshot_worker *worker,
					const struct node_path *id)
{
	return worker->graph ? graph__find(worker->graph, id) : NULL;
}

static int append(struct metrics_sums *sums, size_t *capacity, const struct node_path *id,
		  const struct graph_node *node)
{
	struct operator_total total = { .id = *id, .node = node };
	char name[4 * NAME_COLUMNS + 1];
	struct metrics_operator *grown;
	int err = operator_total__name(&total, NAME_COLUMNS, name, sizeof(name));

	if (err)
		return err;
	grown = array__reserve(sums->operators, capacity, sums->operator_count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	sums->operators = grown;
	grown += sums->operator_count;
	*grown = (struct metrics_operator){ .id = *id, .name = strdup(name) };
	if (!grown->name)
		return -ENOMEM;
	sums->operator_count++;
	return 0;
}

/* Those of one worker are sorted, so that none of them comes twice. */
static int learn_worker(struct metrics_sums *sums, size_t *capacity,
			const struct snapshot_worker *worker)
{
	size_t known = sums->operator_count;
	int err = 0;

	for (size_t i = 0; i < worker->operator_count && !err; i++) {
		const struct snapshot_operator *op = &worker->operators[i];
		const struct graph_node *node;

		if (sums->operator_count == METRICS_OPERATORS_MAX)
			break;
		if (!op->has_time || find(sums, known, &op->id))
			continue;
		node = node_of(worker, &op->id);
		if (!is_circuit(node))
			err = append(sums, capacity, &op->id, node);
	}
	if (sums->operator_count > known)
		qsort(sums->operators, sums->operator_count, sizeof(*sums->operators), compare);
	return err;
}

int metrics_operators__learn(struct metrics_sums *sums, const struct snapshot *snapshot)
{
	size_t capacity = sums->operator_count;
	int err = 0;

	for (size_t i = 0; i < snapshot->worker_count && !err; i++)
		err = learn_worker(sums, &capacity, &snapshot->workers[i]);
	return err;
}

static void add_worker(struct metrics_sums *sums, const struct snapshot_worker *worker)
{
	for (size_t i = 0; i < worker->operator_count; i++) {
		const struct snapshot_operator *op = &worker->operators[i];
		struct metrics_operator *sum;

		if (!op->has_time)
			continue;
		sum = find(sums, sums->operator_count, &op->id);
		if (!sum && is_circuit(node_of(worker, &op->id)))
			continue;
		metrics__grow(&sums->operators_ns, op->runtime_ns);
		if (!sum) {
			metrics__grow(&sums->left_out, 1);
			continue;
		}
		metrics__grow(&sum->runtime_ns, op->runtime_ns);
		metrics__grow(&sum->cpu_ns, op->cpu_ns);
		metrics__grow(&sum->evaluations, op->invocations);
		sum->recent_ns += (double)op->runtime_ns;
	}
}

/* The one that took most time lately and is not chosen yet; the first of equals. */
static struct metrics_operator *next_best(struct metrics_sums *sums)
{
	struct metrics_operator *best = NULL;

	for (size_t i = 0; i < sums->operator_count; i++) {
		struct metrics_operator *sum = &sums->operators[i];

		if (!sum->shown && sum->runtime_ns > 0 &&
		    (!best || sum->recent_ns > best->recent_ns))
			best = sum;
	}
	return best;
}

static void choose(struct metrics_sums *sums)
{
	for (size_t i = 0; i < sums->operator_count; i++)
		sums->operators[i].shown = false;
	for (size_t i = 0; i < sums->shown_max; i++) {
		struct metrics_operator *best = next_best(sums);

		if (!best)
			break;
		best->shown = true;
	}
}

void metrics_operators__add(struct metrics_sums *sums, const struct snapshot *snapshot)
{
	double kept = exp2(-(double)snapshot->window_ns / HALF_LIFE_NS);

	for (size_t i = 0; i < sums->operator_count; i++)
		sums->operators[i].recent_ns *= kept;
	for (size_t i = 0; i < snapshot->worker_count; i++)
		add_worker(sums, &snapshot->workers[i]);
	choose(sums);
}
