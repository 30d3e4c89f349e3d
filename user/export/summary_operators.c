// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The worst operators of all workers together.
 */
#include "export/summary_parts.h"
#include "export/table.h"

#define HEADER_ROWS 2
#define NAME_MIN    16 /* columns of an operator's name, before others give way to it */

enum column {
	COLUMN_WALL,
	COLUMN_INTERVAL,
	COLUMN_SHARE,
	COLUMN_CPU,
	COLUMN_PREEMPTED,
	COLUMN_RUN_QUEUE,
	COLUMN_BLOCKED,
	COLUMN_UNOBSERVED,
	COLUMN_NODE,
	COLUMN_NAME,
	COLUMNS,
};

/* Two lines each. */
static const char *const headers[COLUMNS][HEADER_ROWS] = {
	[COLUMN_WALL] = { "", "wall" },
	[COLUMN_INTERVAL] = { "", "+-" },
	[COLUMN_SHARE] = { "", "share" },
	[COLUMN_CPU] = { "", "CPU" },
	[COLUMN_PREEMPTED] = { "pre-", "empted" },
	[COLUMN_RUN_QUEUE] = { "run", "queue" },
	[COLUMN_BLOCKED] = { "block-", "ed" },
	[COLUMN_UNOBSERVED] = { "not", "seen" },
	[COLUMN_NODE] = { "", "node" },
	[COLUMN_NAME] = { "", "operator" },
};

/* In a narrow terminal these are left out, one after the other. */
static const enum column optional[] = { COLUMN_UNOBSERVED, COLUMN_RUN_QUEUE, COLUMN_INTERVAL,
					COLUMN_BLOCKED,	   COLUMN_PREEMPTED, COLUMN_CPU };
#define OPTIONAL (sizeof(optional) / sizeof(optional[0]))

static void number(const struct operator_total *total, const struct operator_ranking *ranking,
		   enum column column, char *cell)
{
	const uint64_t parts[COLUMNS] = {
		[COLUMN_INTERVAL] = total->interval_ns,
		[COLUMN_CPU] = total->cpu_ns,
		[COLUMN_PREEMPTED] = total->preempted_ns,
		[COLUMN_RUN_QUEUE] = total->run_queue_ns,
		[COLUMN_BLOCKED] = total->blocked_ns,
		[COLUMN_UNOBSERVED] = total->unobserved_ns,
	};

	if (column == COLUMN_WALL)
		text__duration(total->runtime_ns, cell);
	else if (column == COLUMN_SHARE)
		text__percent(total->runtime_ns, ranking->runtime_ns, cell);
	else
		text__percent(parts[column], total->runtime_ns, cell);
}

static void set_column(struct table *table, const struct operator_ranking *ranking,
		       enum column column, size_t at)
{
	for (size_t row = 0; row < HEADER_ROWS; row++)
		table__set(table, row, at, headers[column][row]);
	for (size_t i = 0; i < ranking->count; i++) {
		char *cell = table__cell(table, HEADER_ROWS + i, at);

		if (column == COLUMN_NODE)
			node_path__format(&ranking->worst[i].id, cell);
		else
			number(&ranking->worst[i], ranking, column, cell);
	}
}

/* All but the names, which are the last column. Returns 0 or -ENOMEM. */
static int build(struct table *table, const struct operator_ranking *ranking, uint32_t shown)
{
	size_t columns = (size_t)__builtin_popcount(shown), at = 0;
	int err = table__init(table, HEADER_ROWS + ranking->count, columns);

	if (err)
		return err;
	table->left = 3u << (columns - 2);
	for (unsigned int column = 0; column < COLUMN_NAME; column++)
		if (shown >> column & 1)
			set_column(table, ranking, column, at++);
	return 0;
}

/* The names, in what the other columns leave of the line. Returns 0 or -ENOMEM. */
static int set_names(struct table *table, const struct operator_ranking *ranking, size_t room)
{
	char name[TABLE_CELL_MAX];
	int err = 0;

	table__set(table, HEADER_ROWS - 1, table->columns - 1, headers[COLUMN_NAME][1]);
	for (size_t i = 0; i < ranking->count && !err; i++) {
		err = operator_total__name(&ranking->worst[i], room, name, sizeof(name));
		if (!err)
			table__set(table, HEADER_ROWS + i, table->columns - 1, name);
	}
	return err;
}

static size_t room_for_names(const struct table *table, const struct summary *summary)
{
	size_t used = table__width(table);

	return used < summary->width ? summary->width - used : 0;
}

static int build_to_fit(struct table *table, const struct summary *summary)
{
	const struct operator_ranking *ranking = summary->ranking;
	uint32_t shown = (1u << COLUMNS) - 1;
	int err;

	if (!ranking->intervals)
		shown &= ~(1u << COLUMN_INTERVAL);
	if (!ranking->unobserved)
		shown &= ~(1u << COLUMN_UNOBSERVED);
	err = build(table, ranking, shown);
	for (size_t i = 0; i < OPTIONAL && !err && room_for_names(table, summary) < NAME_MIN; i++) {
		if (!(shown >> optional[i] & 1))
			continue;
		shown &= ~(1u << optional[i]);
		table__clear(table);
		err = build(table, ranking, shown);
	}
	return err ? err : set_names(table, ranking, room_for_names(table, summary));
}

static void title(const struct summary *summary)
{
	const struct operator_ranking *ranking = summary->ranking;
	char whole[TEXT_NUMBER_MAX];

	text__duration(ranking->runtime_ns, whole);
	fputc('\n', summary->out);
	if (ranking->more > 0)
		summary__say(summary, STYLE_FAINT,
			     "the worst %zu of %zu operators, all workers together, of %s in "
			     "operators:",
			     ranking->count, ranking->count + ranking->more, whole);
	else
		summary__say(summary, STYLE_FAINT,
			     "operators, all workers together, of %s in operators:", whole);
}

int summary__operators(const struct summary *summary)
{
	const struct operator_ranking *ranking = summary->ranking;
	struct table table;
	int err;

	if (ranking->count == 0)
		return 0;
	err = build_to_fit(&table, summary);
	if (!err) {
		title(summary);
		summary__table(summary, &table, HEADER_ROWS);
		if (table.columns > COLUMNS - OPTIONAL)
			summary__say(summary, STYLE_FAINT,
				     "%sCPU and what follows: parts of the wall time",
				     ranking->intervals ? "+-: half the 95 % interval; " : "");
	}
	table__clear(&table);
	return err;
}
