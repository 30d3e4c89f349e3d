// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A comparison for people. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/diff.h"
#include "export/summary_parts.h"

#define NAME_MIN 24 /* columns for names, however narrow the terminal is */

/* Where it goes, as the summary's parts want it. */
struct writing {
	struct summary out;
	const struct diff *diff;
	const struct diff_show *show;
};

static void duration(double nanos, char text[TEXT_NUMBER_MAX])
{
	text__duration(nanos > 0 ? (uint64_t)(nanos + 0.5) : 0, text);
}

/* "+12.3 us", "-5 ns". */
static void change(double nanos, char *text)
{
	*text = nanos > 0 ? '+' : '-';
	duration(fabs(nanos), text + (fabs(nanos) >= 0.5));
}

/* "+34 %"; "new" where there was nothing before. */
static void ratio(double before, double after, char *text)
{
	if (before > 0 && after < 10 * before)
		snprintf(text, TEXT_NUMBER_MAX, "%+.0f %%", 100 * (after - before) / before);
	else if (before > 0)
		snprintf(text, TEXT_NUMBER_MAX, "x%.0f", after / before);
	else
		snprintf(text, TEXT_NUMBER_MAX, after > 0 ? "new" : "-");
}

static void say_side(const struct writing *to, const char *when, const char *name,
		     const struct diff_side *side)
{
	char length[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX];
	uint64_t steps = side->workers ? side->steps / side->workers : 0;

	text__duration(side->window_ns, length);
	text__rate(steps, side->window_ns, rate);
	summary__say(&to->out, STYLE_PLAIN, "%s: %s: %zu worker%s, %s, %" PRIu64 " steps (%s)",
		     when, name, side->workers, side->workers == 1 ? "" : "s", length, steps, rate);
}

static void say_unit(const struct writing *to)
{
	if (to->diff->per_second)
		summary__say(&to->out, STYLE_WARNING,
			     "One of the windows saw no step end: times are per second and worker, "
			     "totals those of all workers in the window.");
	else
		summary__say(&to->out, STYLE_PLAIN,
			     "Times are per step, on average over the workers; totals are those of "
			     "all workers in the window.");
}

static void put_times(struct table *table, size_t row, double before, double after)
{
	duration(before, table__cell(table, row, 0));
	duration(after, table__cell(table, row, 1));
	change(after - before, table__cell(table, row, 2));
	ratio(before, after, table__cell(table, row, 3));
}

/* What one of the profiles does not tell has not changed. */
static void put_unknown(const struct diff *diff, unsigned int row, struct table *table, size_t at)
{
	if (diff__has_row(diff, row))
		return;
	for (size_t column = 0; column < 6; column++) {
		bool left = column == 0 || column == 4, right = column == 1 || column == 5;

		if ((left && diff->before.has_row[row]) || (right && diff->after.has_row[row]))
			continue;
		table__set(table, at, column, "-");
	}
}

static int write_circuit(const struct writing *to)
{
	static const char *const heads[2][7] = {
		{ "", "", "", "", "total", "total", "" },
		{ "before", "after", "change", "", "before", "after", "time of steps" },
	};
	const struct diff *diff = to->diff;
	struct table table;
	size_t used = 2;
	int err = table__init(&table, 2 + DIFF_ROWS, 7);

	if (err)
		return err;
	for (size_t i = 0; i < 14; i++)
		table__set(&table, i / 7, i % 7, heads[i / 7][i % 7]);
	table.left = 1u << 6;
	for (unsigned int row = 0; row < DIFF_ROWS; row++) {
		double before = diff->before.row_ns[row], after = diff->after.row_ns[row];
		char *cell;

		if (row != DIFF_STEP && before <= 0 && after <= 0)
			continue;
		put_times(&table, used, diff__before(diff, before), diff__after(diff, after));
		duration(before, table__cell(&table, used, 4));
		duration(after, table__cell(&table, used, 5));
		put_unknown(diff, row, &table, used);
		/* What follows the steps is in them, but for the pauses. */
		cell = table__cell(&table, used++, 6);
		strcpy(cell, row == DIFF_STEP || row == DIFF_IDLE ? "" : "  ");
		diff_row__name(row, cell + strlen(cell), TABLE_CELL_MAX - 2);
	}
	table.rows = used;
	fputc('\n', to->out.out);
	summary__table(&to->out, &table, 2);
	table__clear(&table);
	return 0;
}

/* The label cut to what the other columns leave of the line. */
static void put_name(struct table *table, size_t row, size_t column, size_t room, const char *label)
{
	char *cell = table__cell(table, row, column);
	size_t len;

	text__printable(label, cell, TABLE_CELL_MAX);
	if (text__columns(cell) <= room)
		return;
	len = strlen(cell);
	while (len && (text__columns(cell) > room - 2 || (cell[len] & 0xc0) == 0x80))
		cell[--len] = '\0';
	if (len + 3 < TABLE_CELL_MAX)
		strcat(cell, "..");
}

enum operator_column {
	COLUMN_BEFORE,
	COLUMN_AFTER,
	COLUMN_CHANGE,
	COLUMN_RATIO,
	COLUMN_INTERVAL,
	COLUMN_PARTS,
	COLUMN_NODE = COLUMN_PARTS + DIFF_PARTS,
	COLUMN_NAME,
	COLUMNS,
};

/* The parts of the change are columns of their own where there is room, else one that says most. */
static void put_heads(struct table *table, bool intervals, bool wide)
{
	static const char *const heads[2][COLUMNS] = {
		{ "", "", "", "", "", "of it", "pre-", "run", "", "", "" },
		{ "before", "after", "change", "", "+-", "CPU", "empted", "queue", "blocked",
		  "node", "operator" },
	};

	for (size_t column = 0; column < COLUMNS; column++) {
		bool part = column >= COLUMN_PARTS && column < COLUMN_NODE;

		if ((part && !wide) || (column == COLUMN_INTERVAL && !intervals))
			continue;
		table__set(table, 0, column, heads[0][column]);
		table__set(table, 1, column, heads[1][column]);
	}
	if (!wide)
		table__set(table, 1, COLUMN_PARTS, "mostly");
	table->left = 3u << COLUMN_NODE;
}

static double part_change(const struct diff *diff, const struct diff_entry *entry, size_t part)
{
	if (!diff__has_part(diff, (unsigned int)part))
		return 0;
	return diff__after(diff, entry->after->part_ns[part]) -
	       diff__before(diff, entry->before->part_ns[part]);
}

static void put_parts(const struct writing *to, struct table *table, size_t row,
		      const struct diff_entry *entry, bool wide)
{
	static const char *const names[DIFF_PARTS] = { "CPU", "preempted", "run queue", "blocked" };
	size_t most = 0;

	for (size_t part = 0; part < DIFF_PARTS; part++) {
		double here = part_change(to->diff, entry, part);

		if (wide && diff__has_part(to->diff, (unsigned int)part))
			change(here, table__cell(table, row, COLUMN_PARTS + part));
		/* What went the same way as the whole. */
		else if (!wide && here * (entry->change_ns < 0 ? -1 : 1) >
					  part_change(to->diff, entry, most) *
						  (entry->change_ns < 0 ? -1 : 1))
			most = part;
	}
	if (!wide && fabs(part_change(to->diff, entry, most)) >= 0.5)
		table__set(table, row, COLUMN_PARTS, names[most]);
}

static int build_operators(const struct writing *to, const struct diff_entry *entries, size_t count,
			   bool wide, struct table *table)
{
	const struct diff *diff = to->diff;
	int err = table__init(table, 2 + count, COLUMNS);

	if (err)
		return err;
	put_heads(table, diff->before.intervals || diff->after.intervals, wide);
	for (size_t i = 0; i < count; i++) {
		const struct diff_entry *entry = &entries[i];
		size_t row = 2 + i;

		put_times(table, row, diff__before(diff, entry->before->wall_ns),
			  diff__after(diff, entry->after->wall_ns));
		if (entry->interval_ns > 0)
			duration(entry->interval_ns, table__cell(table, row, COLUMN_INTERVAL));
		if (entry->noise)
			strncat(table__cell(table, row, COLUMN_INTERVAL), " ~", 3);
		put_parts(to, table, row, entry, wide);
		node_path__format(&entry->after->id, table__cell(table, row, COLUMN_NODE));
	}
	return 0;
}

/* Operators that both profiles have, @count of them. */
static int write_operators(const struct writing *to, const struct diff_entry *entries, size_t count)
{
	struct table table;
	size_t used;
	int err = build_operators(to, entries, count, true, &table);

	if (!err && table__width(&table) + NAME_MIN > to->out.width) {
		table__clear(&table);
		err = build_operators(to, entries, count, false, &table);
	}
	if (err)
		return err;
	used = table__width(&table) - strlen("operator");
	used = used + NAME_MIN < to->out.width ? to->out.width - used : NAME_MIN;
	for (size_t i = 0; i < count; i++)
		put_name(&table, 2 + i, COLUMN_NAME, used, entries[i].after->label);
	summary__table(&to->out, &table, 2);
	table__clear(&table);
	return 0;
}

static int write_list(const struct writing *to, const char *what, const struct diff_entry *entries,
		      size_t count)
{
	size_t shown = count < to->show->top ? count : to->show->top;

	if (!count)
		return 0;
	fputc('\n', to->out.out);
	if (shown < count)
		summary__say(&to->out, STYLE_FAINT, "%s, the first %zu of %zu operators:", what,
			     shown, count);
	else
		summary__say(&to->out, STYLE_FAINT, "%s, %zu operator%s:", what, count,
			     count == 1 ? "" : "s");
	return write_operators(to, entries, shown);
}

/* Entries are in this order: slower, the same or faster, and then those inside the noise. */
static int write_changes(const struct writing *to)
{
	const struct diff_entry *entries = to->diff->entries;
	size_t both = to->diff->both, slower = 0, certain = 0;
	struct diff_entry *faster;
	int err;

	while (certain < both && !entries[certain].noise)
		certain++;
	while (slower < certain && entries[slower].change_ns > 0)
		slower++;
	err = write_list(to, "slower, worst first", entries, slower);
	if (err)
		return err;
	err = write_list(to, "~ no change beyond the 95 % interval of the samples",
			 entries + certain, both - certain);
	if (err || certain == slower)
		return err;
	faster = calloc(certain - slower, sizeof(*faster));
	if (!faster)
		return -ENOMEM;
	for (size_t i = slower; i < certain; i++)
		faster[certain - 1 - i] = entries[i];
	err = write_list(to, "faster or the same, most first", faster, certain - slower);
	free(faster);
	return err;
}

static int write_single(const struct writing *to, bool is_before)
{
	const struct diff *diff = to->diff;
	struct table table;
	size_t used = 0, width;
	int err = table__init(&table, diff->count - diff->both + 1, 4);

	if (err)
		return err;
	table.left = 3u << 2;
	for (size_t i = diff->both; i < diff->count && used < to->show->top; i++) {
		const struct diff_node *node = is_before ? diff->entries[i].before
							 : diff->entries[i].after;

		if (!node)
			continue;
		duration(is_before ? diff__before(diff, node->wall_ns)
				   : diff__after(diff, node->wall_ns),
			 table__cell(&table, used, 0));
		duration(node->wall_ns, table__cell(&table, used, 1));
		node_path__format(&node->id, table__cell(&table, used, 2));
		table__set(&table, used++, 3, node->label);
	}
	table.rows = used;
	width = table__width(&table);
	if (used && width > to->out.width)
		for (size_t i = 0; i < used; i++)
			put_name(&table, i, 3, NAME_MIN, table__cell(&table, i, 3));
	if (used) {
		fputc('\n', to->out.out);
		summary__say(&to->out, STYLE_FAINT,
			     "only in %s (%s, total):", is_before ? "before" : "after",
			     diff->per_second ? "per second" : "per step");
		summary__table(&to->out, &table, 0);
	}
	table__clear(&table);
	return 0;
}

static int write_nested(const struct writing *to)
{
	const struct diff *diff = to->diff;
	size_t shown = diff->circuit_count < to->show->top ? diff->circuit_count : to->show->top;
	struct table table;
	int err;

	if (!shown)
		return 0;
	err = table__init(&table, 2 + shown, 8);
	if (err)
		return err;
	for (size_t i = 0; i < 8; i++) {
		static const char *const heads[2][8] = {
			{ "", "", "", "", "steps", "steps", "", "" },
			{ "before", "after", "change", "", "before", "after", "node",
			  "nested circuit" },
		};

		table__set(&table, 0, i, heads[0][i]);
		table__set(&table, 1, i, heads[1][i]);
	}
	table.left = 3u << 6;
	for (size_t i = 0; i < shown; i++) {
		const struct diff_entry *entry = &diff->circuits[i];
		size_t row = 2 + i;

		put_times(&table, row, diff__before(diff, entry->before->wall_ns),
			  diff__after(diff, entry->after->wall_ns));
		snprintf(table__cell(&table, row, 4), TABLE_CELL_MAX, "%.1f",
			 diff__before(diff, (double)entry->before->count));
		snprintf(table__cell(&table, row, 5), TABLE_CELL_MAX, "%.1f",
			 diff__after(diff, (double)entry->after->count));
		node_path__format(&entry->after->id, table__cell(&table, row, 6));
		put_name(&table, row, 7, NAME_MIN, entry->after->label);
	}
	fputc('\n', to->out.out);
	summary__table(&to->out, &table, 2);
	table__clear(&table);
	return 0;
}

int diff__write_text(const struct diff *diff, const struct diff_show *show, FILE *out)
{
	struct writing to = { .out = { .out = out,
				       .colours = show->colours,
				       .width = show->width > 0 ? (size_t)show->width : 80 },
			      .diff = diff,
			      .show = show };
	int err;

	say_side(&to, "before", show->names[0], &diff->before);
	say_side(&to, "after", show->names[1], &diff->after);
	say_unit(&to);
	err = write_circuit(&to);
	if (!err)
		err = write_nested(&to);
	if (!err)
		err = write_changes(&to);
	if (!err)
		err = write_single(&to, true);
	if (!err)
		err = write_single(&to, false);
	if (!err && ferror(out))
		err = errno ? -errno : -EIO;
	return err;
}
