// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/summary_parts.h"

/* One circuit, all workers together. */
struct total {
	struct node_path id;
	uint64_t steps;
	uint64_t runtime_ns;
};

static int compare_ids(const void *left, const void *right)
{
	return node_path__compare(&((const struct total *)left)->id,
				  &((const struct total *)right)->id);
}

static int compare_runtime(const void *left, const void *right)
{
	const struct total *a = left;
	const struct total *b = right;

	if (a->runtime_ns != b->runtime_ns)
		return a->runtime_ns > b->runtime_ns ? -1 : 1;
	return node_path__compare(&a->id, &b->id);
}

/* Makes one of neighbours with the same id. Returns how many are left. */
static size_t merge(struct total *totals, size_t count)
{
	size_t merged = 0;

	for (size_t i = 0; i < count; i++) {
		struct total *last = merged > 0 ? &totals[merged - 1] : NULL;

		if (last && node_path__compare(&last->id, &totals[i].id) == 0) {
			last->steps = summary__add(last->steps, totals[i].steps);
			last->runtime_ns = summary__add(last->runtime_ns, totals[i].runtime_ns);
		} else {
			totals[merged++] = totals[i];
		}
	}
	return merged;
}

/* All circuits, sorted by id. Returns 0 or -ENOMEM; free the array. */
static int collect(const struct snapshot *snapshot, struct total **ret_totals, size_t *ret_count)
{
	size_t count = 0, at = 0;
	struct total *totals;

	for (size_t i = 0; i < snapshot->worker_count; i++)
		count += snapshot->workers[i].circuit_count;
	totals = calloc(count + 1, sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];

		for (size_t j = 0; j < worker->circuit_count; j++)
			totals[at++] = (struct total){ worker->circuits[j].id,
						       worker->circuits[j].steps,
						       worker->circuits[j].runtime_ns };
	}
	qsort(totals, count, sizeof(*totals), compare_ids);
	*ret_count = merge(totals, count);
	*ret_totals = totals;
	return 0;
}

/* Steps of a circuit in each step of the circuit around it: iterations of a recursive query. */
static void iterations(const struct total *totals, size_t count, const struct total *circuit,
		       char text[TEXT_NUMBER_MAX])
{
	struct total key = { .id = circuit->id };
	const struct total *around;

	snprintf(text, TEXT_NUMBER_MAX, "-");
	key.id.depth--;
	key.id.id[key.id.depth] = 0;
	around = bsearch(&key, totals, count, sizeof(*totals), compare_ids);
	if (around && around->steps > 0)
		snprintf(text, TEXT_NUMBER_MAX, "%.1f",
			 (double)circuit->steps / (double)around->steps);
}

static void fill(struct table *table, const struct total *totals, size_t count,
		 const struct total *shown)
{
	static const char *const header[] = { "nested circuit", "steps of all workers",
					      "per step around it", "time in steps" };
	char id[NODE_ID_TEXT_MAX];

	for (size_t column = 0; column < 4; column++)
		table__set(table, 0, column, header[column]);
	for (size_t row = 1; row < table->rows; row++, shown++) {
		node_path__format(&shown->id, id);
		table__set(table, row, 0, id);
		snprintf(table__cell(table, row, 1), TABLE_CELL_MAX, "%" PRIu64, shown->steps);
		iterations(totals, count, shown, table__cell(table, row, 2));
		text__duration(shown->runtime_ns, table__cell(table, row, 3));
	}
}

static int print(const struct summary *summary, const struct total *totals, size_t count,
		 struct total *nested, size_t nested_count)
{
	size_t shown = nested_count < SUMMARY_ROWS ? nested_count : SUMMARY_ROWS;
	struct table table;
	int err;

	qsort(nested, nested_count, sizeof(*nested), compare_runtime);
	err = table__init(&table, shown + 1, 4);
	if (err)
		return err;
	table.left = 1u << 0;
	fill(&table, totals, count, nested);
	fputc('\n', summary->out);
	summary__table(summary, &table, 1);
	if (nested_count > shown)
		summary__say(summary, STYLE_PLAIN, "... and %zu more, with less time in steps",
			     nested_count - shown);
	table__clear(&table);
	return 0;
}

int summary__nested(const struct summary *summary)
{
	struct total *totals, *nested;
	size_t count, nested_count = 0;
	int err = collect(summary->snapshot, &totals, &count);

	if (err)
		return err;
	nested = calloc(count + 1, sizeof(*nested));
	if (!nested)
		err = -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		if (totals[i].id.depth > 0 && totals[i].id.depth <= NODE_PATH_MAX)
			nested[nested_count++] = totals[i];
	if (!err && nested_count > 0)
		err = print(summary, totals, count, nested, nested_count);
	free(nested);
	free(totals);
	return err;
}
