// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One line per worker: its steps, and what its time went into.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/summary_parts.h"

#define HEADER_ROWS 2
/* worker, steps, steps/s, time in steps, CPU, the reasons, other waits, preempted, off CPU, idle */
#define FIXED_COLUMNS 7
#define REASONS_MAX   5 /* with a column of their own */
#define REASONS_MIN   2 /* before the column of preemptions gives way to them */

/* What the time of workers is split into. */
struct columns {
	unsigned int order[PARK_REASONS]; /* the wait reasons, the longest of all workers first */
	size_t used;			  /* reasons that anyone waited for */
	size_t shown;			  /* of them, with a column of their own */
	bool preempted;
};

static bool has_rest(const struct columns *columns)
{
	return columns->shown == 0 || columns->shown < columns->used;
}

static void rank_reasons(const struct snapshot *snapshot, struct columns *ret_columns)
{
	uint64_t total[PARK_REASONS] = { 0 };
	struct columns columns = { .used = 0 };

	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_circuit *root = summary__root(&snapshot->workers[i]);

		for (unsigned int j = 0; root && j < PARK_REASONS; j++)
			total[j] = summary__add(total[j], root->wait_ns[j]);
		/* Less than half a percent is not worth a column. */
		columns.preempted |= root &&
				     summary__preempted(&root->share) > root->runtime_ns / 200;
	}
	for (unsigned int i = 0; i < PARK_REASONS; i++) {
		size_t at = columns.used;

		if (total[i] == 0)
			continue;
		for (; at > 0 && total[columns.order[at - 1]] < total[i]; at--)
			columns.order[at] = columns.order[at - 1];
		columns.order[at] = i;
		columns.used++;
	}
	columns.shown = columns.used < REASONS_MAX ? columns.used : REASONS_MAX;
	*ret_columns = columns;
}

static int compare_slowest(const void *left, const void *right)
{
	const struct snapshot_worker *a = *(const struct snapshot_worker *const *)left;
	const struct snapshot_worker *b = *(const struct snapshot_worker *const *)right;
	uint64_t a_time = summary__own_time(a), b_time = summary__own_time(b);

	if (a_time != b_time)
		return a_time > b_time ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void header(struct table *table, const struct columns *columns)
{
	static const char *const first[] = { "worker", "steps", "steps/s", "steps", "CPU" };
	size_t column = 0;

	for (; column < 5; column++)
		table__set(table, 1, column, first[column]);
	table__set(table, 0, 3, "time in");
	for (size_t i = 0; i < columns->shown; i++, column++) {
		const char *name = park_reason_name(columns->order[i]);
		const char *bar = strchr(name, '_');

		if (bar)
			snprintf(table__cell(table, 0, column), TABLE_CELL_MAX, "%.*s",
				 (int)(bar + 1 - name), name);
		table__set(table, 1, column, bar ? bar + 1 : name);
	}
	if (has_rest(columns)) {
		table__set(table, 0, column, columns->shown > 0 ? "other" : "");
		table__set(table, 1, column++, "waits");
	}
	if (columns->preempted) {
		table__set(table, 0, column, "pre-");
		table__set(table, 1, column++, "empted");
	}
	table__set(table, 0, column, "off");
	table__set(table, 1, column++, "CPU");
	table__set(table, 1, column, "idle");
}

static void percent_cell(struct table *table, size_t row, size_t column, uint64_t part,
			 uint64_t whole)
{
	text__percent(part, whole, table__cell(table, row, column));
}

/*
 * The split of a worker's time; what DBSP measures may exceed the step by clock granularity.
 * Preemptions are no part of DBSP's waits, during which the thread sleeps; time on the run queue
 * is, since such a wait ends when the thread runs.
 */
static void split(struct table *table, size_t row, const struct snapshot_circuit *root,
		  const struct columns *columns)
{
	uint64_t idle = summary__add(root->idle_ns, root->edge_idle_ns);
	uint64_t whole = summary__add(root->runtime_ns, idle);
	uint64_t waits = summary__waits(root);
	uint64_t known = summary__add(root->cpu_ns, waits);
	uint64_t off = root->runtime_ns > known ? root->runtime_ns - known : 0;
	uint64_t preempted = summary__preempted(&root->share);
	size_t column = 4;

	percent_cell(table, row, column++, root->cpu_ns, whole);
	for (size_t i = 0; i < columns->shown; i++) {
		uint64_t wait = root->wait_ns[columns->order[i]];

		waits -= wait < waits ? wait : waits;
		percent_cell(table, row, column++, wait, whole);
	}
	if (has_rest(columns))
		percent_cell(table, row, column++, waits, whole);
	if (columns->preempted) {
		if (preempted > off)
			preempted = off;
		off -= preempted;
		percent_cell(table, row, column++, preempted, whole);
	}
	percent_cell(table, row, column++, off, whole);
	percent_cell(table, row, column, idle, whole);
}

static void worker_row(struct table *table, size_t row, const struct snapshot_worker *worker,
		       const struct snapshot *snapshot, const struct columns *columns)
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
	split(table, row, root, columns);
}

static int build(struct table *table, const struct summary *summary,
		 const struct snapshot_worker **workers, size_t count,
		 const struct columns *columns)
{
	size_t width = FIXED_COLUMNS + has_rest(columns) + columns->preempted + columns->shown;
	int err = table__init(table, HEADER_ROWS + count, width);

	if (err)
		return err;
	header(table, columns);
	for (size_t i = 0; i < count; i++)
		worker_row(table, HEADER_ROWS + i, workers[i], summary->snapshot, columns);
	return 0;
}

/* Takes the least interesting column away; false when there is none left. */
static bool narrow(struct columns *columns)
{
	if (columns->preempted && columns->shown <= REASONS_MIN)
		columns->preempted = false;
	else if (columns->shown > 0)
		columns->shown--;
	else
		return false;
	return true;
}

/* As many reasons as fit get a column; the others are one column together. */
static int build_to_fit(struct table *table, const struct summary *summary,
			const struct snapshot_worker **workers, size_t count,
			struct columns *columns)
{
	int err = build(table, summary, workers, count, columns);

	while (!err && table__width(table) > summary->width && narrow(columns)) {
		table__clear(table);
		err = build(table, summary, workers, count, columns);
	}
	return err;
}

static void print(const struct table *table, const struct summary *summary,
		  const struct columns *columns)
{
	summary__table(summary, table, HEADER_ROWS);
	summary__say(summary, STYLE_FAINT,
		     "off CPU: in a step, neither running nor in a wait that DBSP declares (%srun "
		     "queue, kernel)",
		     columns->preempted ? "" : "preempted, ");
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
	struct columns columns;
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
	rank_reasons(snapshot, &columns);
	err = build_to_fit(&table, summary, workers, count, &columns);
	if (!err)
		print(&table, summary, &columns);
	table__clear(&table);
	free(workers);
	late_workers(summary);
	return err;
}
