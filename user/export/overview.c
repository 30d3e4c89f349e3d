// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/graph_labels.h"
#include "export/overview.h"
#include "export/overview_sums.h"
#include "export/table.h"

#define ROWS_MAX	 10
#define NANOS_PER_SECOND 1000000000u

/* Saturates: texts of times need no more. */
static uint64_t nanos(struct duration duration)
{
	uint64_t sum;

	if (__builtin_mul_overflow(duration.secs, NANOS_PER_SECOND, &sum) ||
	    __builtin_add_overflow(sum, duration.nanos, &sum))
		return UINT64_MAX;
	return sum;
}

static void set_time(struct table *table, size_t row, size_t column, struct duration time)
{
	text__duration(nanos(time), table__cell(table, row, column));
}

static void set_share(struct table *table, size_t row, size_t column, struct duration part,
		      struct duration whole)
{
	text__percent(nanos(part), nanos(whole), table__cell(table, row, column));
}

/* Numbers of the nodes that are listed, the largest first. */
struct ranking {
	const struct overview_sums *sums;
	size_t *numbers;
	size_t count;
};

static int compare_times(struct duration a, struct duration b)
{
	uint64_t left = nanos(a), right = nanos(b);

	return left == right ? 0 : left > right ? -1 : 1;
}

static int by_runtime(const void *left, const void *right, void *context)
{
	const struct overview_sums *sums = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = compare_times(sums->nodes[a].runtime, sums->nodes[b].runtime);

	return order ? order : node_path__compare(&sums->index.ids[a], &sums->index.ids[b]);
}

static int by_steps_time(const void *left, const void *right, void *context)
{
	const struct overview_sums *sums = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = compare_times(sums->nodes[a].steps_time, sums->nodes[b].steps_time);

	return order ? order : node_path__compare(&sums->index.ids[a], &sums->index.ids[b]);
}

static int rank(struct ranking *ranking, struct overview_sums *sums, bool circuits)
{
	*ranking = (struct ranking){ .sums = sums };
	ranking->numbers = malloc((sums->count + 1) * sizeof(*ranking->numbers));
	if (!ranking->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < sums->count; i++)
		if (circuits ? sums->nodes[i].is_circuit : sums->nodes[i].is_operator)
			ranking->numbers[ranking->count++] = i;
	qsort_r(ranking->numbers, ranking->count, sizeof(*ranking->numbers),
		circuits ? by_steps_time : by_runtime, sums);
	return 0;
}

static size_t rows_of(const struct ranking *ranking)
{
	return ranking->count < ROWS_MAX ? ranking->count : ROWS_MAX;
}

static void print_table(struct table *table, FILE *out)
{
	for (size_t row = 0; row < table->rows; row++)
		table__print_row(table, row, out);
	table__clear(table);
}

static void set_node(struct table *table, size_t row, size_t column, const struct node_path *id)
{
	char text[NODE_ID_TEXT_MAX];

	node_path__format(id, text);
	table__set(table, row, column, text);
}

/* Circuits have no name in the graph, but for the root. */
static void set_label(struct table *table, size_t row, size_t column, struct graph_labels *labels,
		      const struct node_path *id, bool circuit)
{
	const char *label = graph_labels__of(labels, id);

	table__set(table, row, column, *label || !circuit ? label : "nested circuit");
}

static int print_circuits(const struct ranking *ranking, struct graph_labels *labels, FILE *out)
{
	static const char *const titles[] = { "circuit", "steps", "in steps", "CPU",
					      "waits",	 "idle",  "" };
	struct table table;
	int err = table__init(&table, rows_of(ranking) + 1, 7);

	if (err)
		return err;
	table.left = 1u << 0 | 1u << 6;
	for (size_t i = 0; i < 7; i++)
		table__set(&table, 0, i, titles[i]);
	for (size_t i = 0; i < rows_of(ranking); i++) {
		size_t number = ranking->numbers[i];
		const struct node_sums *node = &ranking->sums->nodes[number];
		const struct node_path *id = &ranking->sums->index.ids[number];

		set_node(&table, i + 1, 0, id);
		snprintf(table__cell(&table, i + 1, 1), TABLE_CELL_MAX, "%" PRIu64, node->steps);
		set_time(&table, i + 1, 2, node->steps_time);
		set_share(&table, i + 1, 3, node->cpu, node->steps_time);
		set_share(&table, i + 1, 4, node->waits, node->steps_time);
		set_time(&table, i + 1, 5, node->idle);
		set_label(&table, i + 1, 6, labels, id, true);
	}
	fprintf(out, "\nCircuits, of which the step times of all workers are added up:\n");
	print_table(&table, out);
	return 0;
}

static int compare_reasons(const void *left, const void *right)
{
	const struct reason_sum *a = left, *b = right;

	return compare_times(a->time, b->time);
}

/* Nested circuits wait within the steps of the root, so the root's waits are all. */
static int print_reasons(struct overview_sums *sums, FILE *out)
{
	struct duration all = { 0, 0 };
	struct table table;
	size_t count = 0;
	int err;

	qsort(sums->reasons, sums->reason_count, sizeof(*sums->reasons), compare_reasons);
	while (count < sums->reason_count && nanos(sums->reasons[count].time) > 0)
		all = duration__add(all, sums->reasons[count++].time);
	if (count == 0)
		return 0;
	err = table__init(&table, count, 3);
	if (err)
		return err;
	table.left = 1u << 0;
	for (size_t i = 0; i < count; i++) {
		table__set(&table, i, 0, sums->reasons[i].name);
		set_time(&table, i, 1, sums->reasons[i].time);
		set_share(&table, i, 2, sums->reasons[i].time, all);
	}
	fprintf(out, "\nWaits in steps of the root circuit:\n");
	print_table(&table, out);
	return 0;
}

static int print_operators(const struct ranking *ranking, struct graph_labels *labels, FILE *out)
{
	static const char *const titles[] = { "runtime", "share", "evaluations", "node",
					      "operator" };
	struct table table;
	int err = table__init(&table, rows_of(ranking) + 1, 5);

	if (err)
		return err;
	table.left = 1u << 3 | 1u << 4;
	for (size_t i = 0; i < 5; i++)
		table__set(&table, 0, i, titles[i]);
	for (size_t i = 0; i < rows_of(ranking); i++) {
		size_t number = ranking->numbers[i];
		const struct node_sums *node = &ranking->sums->nodes[number];
		const struct node_path *id = &ranking->sums->index.ids[number];

		set_time(&table, i + 1, 0, node->runtime);
		set_share(&table, i + 1, 1, node->runtime, ranking->sums->operators);
		snprintf(table__cell(&table, i + 1, 2), TABLE_CELL_MAX, "%" PRIu64,
			 node->invocations);
		set_node(&table, i + 1, 3, id);
		set_label(&table, i + 1, 4, labels, id, node->is_circuit);
	}
	fprintf(out, "\nThe worst %zu of %zu operators by runtime_seconds:\n", rows_of(ranking),
		ranking->count);
	print_table(&table, out);
	return 0;
}

static void print_head(const struct profile_source *source, const struct overview_sums *sums,
		       FILE *out)
{
	char text[TEXT_NUMBER_MAX], version[64];

	fprintf(out, "%zu worker%s, %zu nodes with readings", source->worker_count,
		source->worker_count == 1 ? "" : "s", sums->count);
	if (source->dbsp_version) {
		text__printable(source->dbsp_version, version, sizeof(version));
		fprintf(out, ", dbsp %s", version);
	}
	if (source->pid)
		fprintf(out, ", pid %d", source->pid);
	if (source->elapsed_ns) {
		text__duration(source->elapsed_ns, text);
		fprintf(out, ", a window of %s", text);
	}
	fprintf(out, "\n");
	if (sums->worker)
		fprintf(out, "Only worker %zu is shown.\n", source->first_worker + *sums->worker);
	if (!source->graph)
		fprintf(out, "It has no graph, so operators have no names.\n");
}

static int print_all(struct profile_source *source, struct overview_sums *sums, FILE *out)
{
	struct graph_labels labels = { .text = "" };
	struct ranking circuits = { 0 }, operators = { 0 };
	int err = graph_labels__make(&labels, source->graph);

	if (!err)
		err = rank(&circuits, sums, true);
	if (!err)
		err = rank(&operators, sums, false);
	if (!err)
		print_head(source, sums, out);
	if (!err && circuits.count > 0)
		err = print_circuits(&circuits, &labels, out);
	if (!err)
		err = print_reasons(sums, out);
	if (!err && operators.count > 0)
		err = print_operators(&operators, &labels, out);
	if (!err && operators.count == 0)
		fprintf(out, "\nNo operator has a runtime.\n");
	free(circuits.numbers);
	free(operators.numbers);
	graph_labels__clear(&labels);
	return err;
}

int overview__write(struct profile_source *source, const size_t *worker, FILE *out,
		    struct fail *fail)
{
	struct overview_sums sums = { .worker = worker };
	int err = overview_sums__take(&sums, source, fail);

	if (!err)
		err = print_all(source, &sums, out);
	overview_sums__clear(&sums);
	return err;
}
