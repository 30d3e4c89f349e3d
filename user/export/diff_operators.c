// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Operators that became slower or faster, for people. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/diff_parts.h"

enum operator_column {
	COLUMN_BEFORE,
	COLUMN_AFTER,
	COLUMN_CHANGE,
	COLUMN_RATIO,
	COLUMN_INTERVAL,
	COLUMN_PARTS, /* then the node and the name */
};

/* How many columns the parts take: one that says which changed most, where there is no room. */
static size_t part_columns(bool wide)
{
	return wide ? DIFF_PARTS : 1;
}

static void put_heads(struct table *table, bool intervals, bool wide)
{
	static const char *const heads[2][COLUMN_PARTS + DIFF_PARTS] = {
		{ "", "", "", "", "", "of it", "pre-", "run", "" },
		{ "before", "after", "change", "", "+-", "CPU", "empted", "queue", "blocked" },
	};
	size_t node = COLUMN_PARTS + part_columns(wide);

	for (size_t column = 0; column < node; column++) {
		table__set(table, 0, column, heads[0][column]);
		table__set(table, 1, column, heads[1][column]);
	}
	if (!intervals)
		table__set(table, 1, COLUMN_INTERVAL, "");
	if (!wide) {
		table__set(table, 0, COLUMN_PARTS, "");
		table__set(table, 1, COLUMN_PARTS, "mostly");
	}
	table__set(table, 1, node, "node");
	table__set(table, 1, node + 1, "operator");
	table->left = 3u << node;
}

static double part_change(const struct diff *diff, const struct diff_entry *entry, size_t part)
{
	if (!diff__has_part(diff, (unsigned int)part))
		return 0;
	return diff__after(diff, entry->after->part_ns[part]) -
	       diff__before(diff, entry->before->part_ns[part]);
}

static void put_parts(const struct diff_writing *to, struct table *table, size_t row,
		      const struct diff_entry *entry, bool wide)
{
	static const char *const names[DIFF_PARTS] = { "CPU", "preempted", "run queue", "blocked" };
	size_t most = 0;

	for (size_t part = 0; part < DIFF_PARTS; part++) {
		double here = part_change(to->diff, entry, part);

		if (wide && diff__has_part(to->diff, (unsigned int)part))
			diff__put_change(here, table__cell(table, row, COLUMN_PARTS + part));
		/* What went the same way as the whole. */
		else if (!wide && here * (entry->change_ns < 0 ? -1 : 1) >
					  part_change(to->diff, entry, most) *
						  (entry->change_ns < 0 ? -1 : 1))
			most = part;
	}
	if (!wide && fabs(part_change(to->diff, entry, most)) >= 0.5)
		table__set(table, row, COLUMN_PARTS, names[most]);
}

static int build_operators(const struct diff_writing *to, const struct diff_entry *entries,
			   size_t count, bool wide, struct table *table)
{
	const struct diff *diff = to->diff;
	size_t node = COLUMN_PARTS + part_columns(wide);
	int err = table__init(table, 2 + count, node + 2);

	if (err)
		return err;
	put_heads(table, diff->before.intervals || diff->after.intervals, wide);
	for (size_t i = 0; i < count; i++) {
		const struct diff_entry *entry = &entries[i];
		size_t row = 2 + i;

		diff__put_times(table, row, diff__before(diff, entry->before->wall_ns),
				diff__after(diff, entry->after->wall_ns));
		if (entry->interval_ns > 0)
			diff__put_duration(entry->interval_ns,
					   table__cell(table, row, COLUMN_INTERVAL));
		if (entry->noise)
			strncat(table__cell(table, row, COLUMN_INTERVAL), " ~", 3);
		put_parts(to, table, row, entry, wide);
		node_path__format(&entry->after->id, table__cell(table, row, node));
	}
	return 0;
}

/* Operators that both profiles have, @count of them. */
static int write_operators(const struct diff_writing *to, const struct diff_entry *entries,
			   size_t count)
{
	struct table table;
	size_t used;
	int err = build_operators(to, entries, count, true, &table);

	if (!err && table__width(&table) + DIFF_NAME_MIN > to->out.width) {
		table__clear(&table);
		err = build_operators(to, entries, count, false, &table);
	}
	if (err)
		return err;
	used = table__width(&table) - strlen("operator");
	used = used + strlen("operator") < to->out.width ? to->out.width - used : 0;
	for (size_t i = 0; i < count; i++)
		diff__put_name(&table, 2 + i, table.columns - 1, used, entries[i].after->label);
	summary__table(&to->out, &table, 2);
	table__clear(&table);
	return 0;
}

static int write_list(const struct diff_writing *to, const char *what,
		      const struct diff_entry *entries, size_t count)
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
int diff__write_changes(const struct diff_writing *to)
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
