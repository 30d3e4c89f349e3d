// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/diff_side.h"
#include "model/kernel_names.h"

void diff_row__name(unsigned int row, char *text, size_t size)
{
	if (row >= DIFF_WAIT && row < DIFF_WAIT + PARK_REASONS)
		snprintf(text, size, "wait: %s", park_reason_name(row - DIFF_WAIT));
	else if (row >= DIFF_BLOCKED && row < DIFF_BLOCKED + DBPROF_CAUSES)
		snprintf(text, size, "blocked: %s", cause_name(row - DIFF_BLOCKED));
	else
		snprintf(text, size, "%s",
			 row == DIFF_STEP	 ? "step"
			 : row == DIFF_CPU	 ? "CPU"
			 : row == DIFF_RUN_QUEUE ? "run queue"
			 : row == DIFF_PREEMPTED ? "preempted"
			 : row == DIFF_IDLE	 ? "idle, between steps"
						 : "unobserved");
}

bool diff__has_row(const struct diff *diff, unsigned int row)
{
	return diff->before.has_row[row] && diff->after.has_row[row];
}

bool diff__has_part(const struct diff *diff, unsigned int part)
{
	return diff->before.has_part[part] && diff->after.has_part[part];
}

double diff__before(const struct diff *diff, double nanos)
{
	return nanos / diff->before_units;
}

double diff__after(const struct diff *diff, double nanos)
{
	return nanos / diff->after_units;
}

/* Nodes with the same id and label. Returns how many; the root is in every profile. */
static size_t match_exactly(struct diff_side *before, struct diff_side *after)
{
	size_t at = 0, matched = 0;

	for (size_t i = 0; i < before->count; i++) {
		struct diff_node *node = &before->nodes[i];

		while (at < after->count && node_path__compare(&after->nodes[at].id, &node->id) < 0)
			at++;
		if (at == after->count)
			break;
		if (node_path__compare(&after->nodes[at].id, &node->id) ||
		    strcmp(after->nodes[at].label, node->label) ||
		    after->nodes[at].circuit != node->circuit)
			continue;
		node->match = at;
		after->nodes[at].match = i;
		matched++;
	}
	return matched;
}

struct unmatched {
	const char *label;
	size_t depth;
	bool circuit;
	size_t index; /* in the order of ids */
};

static int compare_kinds(const struct unmatched *a, const struct unmatched *b)
{
	int order = strcmp(a->label, b->label);

	if (order)
		return order;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (int)a->circuit - (int)b->circuit;
}

static int compare_unmatched(const void *left, const void *right)
{
	const struct unmatched *a = left, *b = right;
	int order = compare_kinds(a, b);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

static struct unmatched *list_unmatched(const struct diff_side *side, size_t *ret_count)
{
	struct unmatched *list = calloc(side->count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; list && i < side->count; i++) {
		const struct diff_node *node = &side->nodes[i];

		if (node->match == SIZE_MAX && node->label[0])
			list[count++] =
				(struct unmatched){ node->label, node->id.depth, node->circuit, i };
	}
	if (list)
		qsort(list, count, sizeof(*list), compare_unmatched);
	*ret_count = count;
	return list;
}

/* The first, second, ... of a label with the first, second, ... of the same label. */
static int match_by_label(struct diff_side *before, struct diff_side *after)
{
	size_t left_count = 0, right_count = 0;
	struct unmatched *left = list_unmatched(before, &left_count);
	struct unmatched *right = list_unmatched(after, &right_count);
	int err = left && right ? 0 : -ENOMEM;

	for (size_t i = 0, j = 0; !err && i < left_count && j < right_count;) {
		int order = compare_kinds(&left[i], &right[j]);

		if (!order) {
			before->nodes[left[i].index].match = right[j].index;
			after->nodes[right[j].index].match = left[i].index;
		}
		i += order <= 0;
		j += order >= 0;
	}
	free(left);
	free(right);
	return err;
}

static struct diff_entry entry_of(const struct diff *diff, const struct diff_node *before,
				  const struct diff_node *after)
{
	struct diff_entry entry = { .before = before, .after = after };
	double left = before ? diff__before(diff, before->wall_ns) : 0;
	double right = after ? diff__after(diff, after->wall_ns) : 0;
	double left_interval = before ? diff__before(diff, sqrt(before->interval_squares)) : 0;
	double right_interval = after ? diff__after(diff, sqrt(after->interval_squares)) : 0;

	entry.change_ns = right - left;
	entry.interval_ns = hypot(left_interval, right_interval);
	entry.noise = entry.interval_ns > 0 && fabs(entry.change_ns) <= entry.interval_ns;
	return entry;
}

/* Certain changes first, the slower first. */
static int compare_changes(const void *left, const void *right)
{
	const struct diff_entry *a = left, *b = right;

	if (a->noise != b->noise)
		return a->noise ? 1 : -1;
	if (a->change_ns != b->change_ns)
		return a->change_ns > b->change_ns ? -1 : 1;
	return node_path__compare(&a->before->id, &b->before->id);
}

/* Those in one profile only: the longest first. */
static int compare_single(const void *left, const void *right)
{
	const struct diff_entry *a = left, *b = right;
	double a_size = fabs(a->change_ns), b_size = fabs(b->change_ns);

	if (!a->before != !b->before)
		return a->before ? -1 : 1;
	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	return a->before ? node_path__compare(&a->before->id, &b->before->id)
			 : node_path__compare(&a->after->id, &b->after->id);
}

static void add_entry(struct diff *diff, const struct diff_node *before,
		      const struct diff_node *after)
{
	bool timed = (before && before->timed) || (after && after->timed);
	bool circuit = (before && before->circuit) || (after && after->circuit);

	/* Nodes without times in either: nothing was measured of them. */
	if (!circuit && !timed)
		return;
	if (!circuit)
		diff->entries[diff->count++] = entry_of(diff, before, after);
	else if (before && after)
		diff->circuits[diff->circuit_count++] = entry_of(diff, before, after);
}

static int make_entries(struct diff *diff)
{
	const struct diff_side *before = &diff->before, *after = &diff->after;
	size_t most = before->count + after->count;

	diff->entries = calloc(most + 1, sizeof(*diff->entries));
	diff->circuits = calloc(most + 1, sizeof(*diff->circuits));
	if (!diff->entries || !diff->circuits)
		return -ENOMEM;
	for (size_t i = 0; i < before->count; i++)
		if (before->nodes[i].match != SIZE_MAX)
			add_entry(diff, &before->nodes[i], &after->nodes[before->nodes[i].match]);
	diff->both = diff->count;
	for (size_t i = 0; i < before->count; i++)
		if (before->nodes[i].match == SIZE_MAX)
			add_entry(diff, &before->nodes[i], NULL);
	for (size_t i = 0; i < after->count; i++)
		if (after->nodes[i].match == SIZE_MAX)
			add_entry(diff, NULL, &after->nodes[i]);
	qsort(diff->entries, diff->both, sizeof(*diff->entries), compare_changes);
	qsort(diff->entries + diff->both, diff->count - diff->both, sizeof(*diff->entries),
	      compare_single);
	qsort(diff->circuits, diff->circuit_count, sizeof(*diff->circuits), compare_changes);
	return 0;
}

static double seconds(const struct diff_side *side)
{
	double length = (double)side->window_ns * (double)side->workers / 1e9;

	return length > 0 ? length : 1;
}

static int compare_sides(struct diff *diff, struct fail *fail)
{
	int err;

	if (!match_exactly(&diff->before, &diff->after) && diff->before.count && diff->after.count)
		return fail__set(
			fail, -EINVAL,
			"the two profiles are of different pipelines: no node of one is in "
			"the other");
	err = match_by_label(&diff->before, &diff->after);
	if (err)
		return err;
	diff->per_second = !diff->before.steps || !diff->after.steps;
	diff->before_units = diff->per_second ? seconds(&diff->before) : (double)diff->before.steps;
	diff->after_units = diff->per_second ? seconds(&diff->after) : (double)diff->after.steps;
	return make_entries(diff);
}

int diff__make(struct profile_source *before, struct profile_source *after, size_t worker,
	       struct diff *ret_diff, struct fail *fail)
{
	struct diff diff = { 0 };
	struct fail why = { 0 };
	int err = diff_side__read(before, worker, &diff.before, &why);

	if (err)
		fail__set(fail, err, "the first profile: %s",
			  why.text[0] ? why.text : strerror(-err));
	if (!err) {
		err = diff_side__read(after, worker, &diff.after, &why);
		if (err)
			fail__set(fail, err, "the second profile: %s",
				  why.text[0] ? why.text : strerror(-err));
	}
	if (!err)
		err = compare_sides(&diff, fail);
	if (err)
		diff__clear(&diff);
	else
		*ret_diff = diff;
	return err;
}

void diff__clear(struct diff *diff)
{
	diff_side__clear(&diff->before);
	diff_side__clear(&diff->after);
	free(diff->entries);
	free(diff->circuits);
	*diff = (struct diff){ 0 };
}
