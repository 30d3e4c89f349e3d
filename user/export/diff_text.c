// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A comparison for people. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/diff_parts.h"

#define ROOM_MIN 8 /* columns for names, however narrow the terminal is */

void diff__put_duration(double nanos, char text[TEXT_NUMBER_MAX])
{
	text__duration(nanos > 0 ? (uint64_t)(nanos + 0.5) : 0, text);
}

void diff__put_change(double nanos, char *text)
{
	*text = nanos > 0 ? '+' : '-';
	diff__put_duration(fabs(nanos), text + (fabs(nanos) >= 0.5));
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

static void say_side(const struct diff_writing *to, const char *when, const char *name,
		     const struct diff_side *side)
{
	char length[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX];
	uint64_t steps = side->workers ? side->steps / side->workers : 0;

	text__duration(side->window_ns, length);
	text__rate(steps, side->window_ns, rate);
	summary__say(&to->out, STYLE_PLAIN, "%s: %s: %zu worker%s, %s, %" PRIu64 " steps (%s)",
		     when, name, side->workers, side->workers == 1 ? "" : "s", length, steps, rate);
}

static void say_unit(const struct diff_writing *to)
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

void diff__put_times(struct table *table, size_t row, double before, double after)
{
	diff__put_duration(before, table__cell(table, row, 0));
	diff__put_duration(after, table__cell(table, row, 1));
	diff__put_change(after - before, table__cell(table, row, 2));
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

static int write_circuit(const struct diff_writing *to)
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
		diff__put_times(&table, used, diff__before(diff, before), diff__after(diff, after));
		diff__put_duration(before, table__cell(&table, used, 4));
		diff__put_duration(after, table__cell(&table, used, 5));
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

void diff__put_name(struct table *table, size_t row, size_t column, size_t room, const char *label)
{
	char *cell = table__cell(table, row, column);
	size_t len;

	text__printable(label, cell, TABLE_CELL_MAX);
	room = room < ROOM_MIN ? ROOM_MIN : room;
	if (text__columns(cell) <= room)
		return;
	len = strlen(cell);
	while (len && (text__columns(cell) > room - 2 || (cell[len] & 0xc0) == 0x80))
		cell[--len] = '\0';
	if (len + 3 < TABLE_CELL_MAX)
		strcat(cell, "..");
}

static int write_single(const struct diff_writing *to, bool is_before)
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
		diff__put_duration(is_before ? diff__before(diff, node->wall_ns)
					     : diff__after(diff, node->wall_ns),
				   table__cell(&table, used, 0));
		diff__put_duration(node->wall_ns, table__cell(&table, used, 1));
		node_path__format(&node->id, table__cell(&table, used, 2));
		table__set(&table, used++, 3, node->label);
	}
	table.rows = used;
	width = table__width(&table);
	if (used && width > to->out.width)
		for (size_t i = 0; i < used; i++)
			diff__put_name(&table, i, 3, DIFF_NAME_MIN, table__cell(&table, i, 3));
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

static int write_nested(const struct diff_writing *to)
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

		diff__put_times(&table, row, diff__before(diff, entry->before->wall_ns),
				diff__after(diff, entry->after->wall_ns));
		snprintf(table__cell(&table, row, 4), TABLE_CELL_MAX, "%.1f",
			 diff__before(diff, (double)entry->before->count));
		snprintf(table__cell(&table, row, 5), TABLE_CELL_MAX, "%.1f",
			 diff__after(diff, (double)entry->after->count));
		node_path__format(&entry->after->id, table__cell(&table, row, 6));
		diff__put_name(&table, row, 7, DIFF_NAME_MIN, entry->after->label);
	}
	fputc('\n', to->out.out);
	summary__table(&to->out, &table, 2);
	table__clear(&table);
	return 0;
}

int diff__write_text(const struct diff *diff, const struct diff_show *show, FILE *out)
{
	struct diff_writing to = { .out = { .out = out,
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
		err = diff__write_changes(&to);
	if (!err)
		err = write_single(&to, true);
	if (!err)
		err = write_single(&to, false);
	if (!err && ferror(out))
		err = errno ? -errno : -EIO;
	return err;
}
