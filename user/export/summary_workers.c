// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One line per worker: its steps, and what its time went into.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/summary_parts.h"
#include "export/table.h"

#define HEADER_ROWS 2
/* worker, steps, steps/s, time in steps, CPU, the reasons, other waits, off CPU, idle */
#define FIXED_COLUMNS 8
#define REASONS_MAX   5 /* with a column of their own */

/* The wait reasons, the longest wait of all workers first. */
struct reasons {
	unsigned int order[PARK_REASONS];
	size_t used; /* reasons that anyone waited for */
};

static void rank_reasons(const struct snapshot *snapshot, struct reasons *ret_reasons)
{
	uint64_t total[PARK_REASONS] = { 0 };
	struct reasons reasons = { .used = 0 };

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_circuit *root = summary__root(&snapshot->workers[i]);

		for (unsigned int j = 0; root && j < PARK_REASONS; j++)
			total[j] = summary__add(total[j], root->wait_ns[j]);
	}
	for (unsigned int i = 0; i < PARK_REASONS; i++) {
		size_t at = reasons.used;

		if (total[i] == 0)
			continue;
		for (; at > 0 && total[reasons.order[at - 1]] < total[i]; at--)
			reasons.order[at] = reasons.order[at - 1];
		reasons.order[at] = i;
		reasons.used++;
	}
	*ret_reasons = reasons;
}

/* Time in steps without waits for other workers: the worker that has most holds the others up. */
static uint64_t own_time(const struct snapshot_worker *worker)
{
	const struct snapshot_circuit *root = summary__root(worker);
	uint64_t peers = 0;

	if (!root)
		return 0;
	for (unsigned int i = 0; i < PARK_REASONS; i++)
		if (strcmp(park_reason_name(i), "peers") == 0)
			peers = root->wait_ns[i];
	return root->runtime_ns > peers ? root->runtime_ns - peers : 0;
}

static int compare_slowest(const void *left, const void *right)
{
	const struct snapshot_worker *a = *(const struct snapshot_worker *const *)left;
	const struct snapshot_worker *b = *(const struct snapshot_worker *const *)right;
	uint64_t a_time = own_time(a), b_time = own_time(b);

	if (a_time != b_time)
		return a_time > b_time ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void header(struct table *table, const struct reasons *reasons, size_t shown)
{
	static const char *const first[] = { "worker", "steps", "steps/s", "steps", "CPU" };
	size_t column = 0;

	for (; column < 5; column++)
		table__set(table, 1, column, first[column]);
	table__set(table, 0, 3, "time in");
	for (size_t i = 0; i < shown; i++, column++) {
		const char *name = park_reason_name(reasons->order[i]);
		const char *bar = strchr(name, '_');

		if (bar)
			snprintf(table__cell(table, 0, column), TABLE_CELL_MAX, "%.*s",
				 (int)(bar + 1 - name), name);
		table__set(table, 1, column, bar ? bar + 1 : name);
	}
	if (shown > 0 && shown < reasons->used)
		table__set(table, 0, column, "other");
	if (shown == 0 || shown < reasons->used)
		table__set(table, 1, column++, "waits");
	table__set(table, 0, column, "off");
	table__set(table, 1, column++, "CPU");
	table__set(table, 1, column, "idle");
}

static void percent_cell(struct table *table, size_t row, size_t column, uint64_t part,
			 uint64_t whole)
{
	text__percent(part, whole, table__cell(table, row, column));
}

/* The split of a worker's time; what DBSP measures may exceed the step by clock granularity. */
static void split(struct table *table, size_t row, const struct snapshot_circuit *root,
		  const struct reasons *reasons, size_t shown)
{
	uint64_t idle = summary__add(root->idle_ns, root->edge_idle_ns);
	uint64_t whole = summary__add(root->runtime_ns, idle);
	uint64_t waits = summary__waits(root);
	uint64_t known = summary__add(root->cpu_ns, waits);
	uint64_t other = waits;
	size_t column = 4;

	percent_cell(table, row, column++, root->cpu_ns, whole);
	for (size_t i = 0; i < shown; i++) {
		uint64_t wait = root->wait_ns[reasons->order[i]];

		other -= wait < other ? wait : other;
		percent_cell(table, row, column++, wait, whole);
	}
	if (shown == 0 || shown < reasons->used)
		percent_cell(table, row, column++, other, whole);
	percent_cell(table, row, column++, root->runtime_ns > known ? root->runtime_ns - known : 0,
		     whole);
	percent_cell(table, row, column, idle, whole);
}

static void worker_row(struct table *table, size_t row, const struct snapshot_worker *worker,
		       const struct snapshot *snapshot, const struct reasons *reasons, size_t shown)
{
	const struct snapshot_circuit *root = summary__root(worker);

	snprintf(table__cell(table, row, 0), TABLE_CELL_MAX, "%u", worker->index);
	if (!root) {
		for (size_t column = 1; column < table->columns; column++)
			table__set(table, row, column, "-");
		return;
	}
	snprintf(table__cell(table, row, 1), TABLE_CELL_MAX, "%" PRIu64, root->steps);
	text__rate(root->steps, snapshot->window_ns, table__cell(table, row, 2));
	text__duration(root->runtime_ns, table__cell(table, row, 3));
	split(table, row, root, reasons, shown);
}

static int build(struct table *table, const struct summary *summary,
		 const struct snapshot_worker **workers, size_t count,
		 const struct reasons *reasons, size_t shown)
{
	bool rest = shown == 0 || shown < reasons->used;
	int err = table__init(table, HEADER_ROWS + count, FIXED_COLUMNS - !rest + shown);

	if (err)
		return err;
	header(table, reasons, shown);
	for (size_t i = 0; i < count; i++)
		worker_row(table, HEADER_ROWS + i, workers[i], summary->snapshot, reasons, shown);
	return 0;
}

/* As many reasons as fit get a column; the others are one column together. */
static int build_to_fit(struct table *table, const struct summary *summary,
			const struct snapshot_worker **workers, size_t count,
			const struct reasons *reasons)
{
	size_t shown = reasons->used < REASONS_MAX ? reasons->used : REASONS_MAX;
	int err = build(table, summary, workers, count, reasons, shown);

	while (!err && shown > 0 && table__width(table) > summary->width) {
		table__clear(table);
		err = build(table, summary, workers, count, reasons, --shown);
	}
	return err;
}

static void print(const struct table *table, const struct summary *summary)
{
	for (size_t row = 0; row < table->rows; row++) {
		if (row < HEADER_ROWS)
			summary__style(summary, STYLE_FAINT);
		table__print_row(table, row, summary->out);
		if (row < HEADER_ROWS)
			summary__style(summary, STYLE_PLAIN);
	}
	summary__say(summary, STYLE_FAINT,
		     "off CPU: in a step, neither running nor in a wait that DBSP declares "
		     "(preempted, run queue, kernel)");
}

/* Workers whose circuit came up while we watched: they have less than the window. */
static void late_workers(const struct summary *summary)
{
	const struct snapshot *snapshot = summary->snapshot;
	size_t late = 0;

	for (size_t i = 0; i < snapshot->worker_count; i++)
		late += snapshot->workers[i].late;
	if (late > 0)
		summary__say(summary, STYLE_PLAIN,
			     "%zu of %zu workers built their circuit during the window.", late,
			     snapshot->worker_count);
}

int summary__workers(const struct summary *summary)
{
	const struct snapshot *snapshot = summary->snapshot;
	size_t total = snapshot->worker_count;
	size_t count = total < SUMMARY_ROWS ? total : SUMMARY_ROWS;
	const struct snapshot_worker **workers;
	struct reasons reasons;
	struct table table;
	int err;

	if (total == 0)
		return 0;
	workers = calloc(total, sizeof(const struct snapshot_worker *));
	if (!workers)
		return -ENOMEM;
	for (size_t i = 0; i < total; i++)
		workers[i] = &snapshot->workers[i];
	if (total > count) {
		qsort(workers, total, sizeof(const struct snapshot_worker *), compare_slowest);
		summary__say(summary, STYLE_PLAIN,
			     "The slowest %zu of %zu workers, by their time in steps apart from "
			     "waits for peers:",
			     count, total);
	}
	rank_reasons(snapshot, &reasons);
	err = build_to_fit(&table, summary, workers, count, &reasons);
	if (!err)
		print(&table, summary);
	table__clear(&table);
	free(workers);
	late_workers(summary);
	return err;
}
