// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two profiles side by side.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "export/diff.h"
#include "export/snapshot_source.h"
#include "check_summary.h"
#include "fixture.h"

/* Compares two snapshots; returns what diff__make() does. */
static int compare(const struct snapshot *before, const struct snapshot *after, size_t worker,
		   struct diff *diff, struct fail *fail)
{
	struct profile_source *left = NULL, *right = NULL;
	int err;

	CHECK(snapshot_source__open(before, &left) == 0);
	CHECK(snapshot_source__open(after, &right) == 0);
	err = diff__make(left, right, worker, diff, fail);
	profile_source__close(left);
	profile_source__close(right);
	return err;
}

static char *text_of(const struct diff *diff, size_t top, int width)
{
	const struct diff_show show = { .names = { "a", "b" }, .top = top, .width = width };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(diff__write_text(diff, &show, out) == 0);
	fclose(out);
	return text;
}

static char *json_of(const struct diff *diff)
{
	const struct diff_show show = { .names = { "a", "b" }, .top = 1 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(diff__write_json(diff, &show, out) == 0);
	fclose(out);
	return text;
}

static bool is_about(double a, double b)
{
	return fabs(a - b) < 0.001;
}

static const struct diff_entry *entry_at(const struct diff *diff, const char *id)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_entry *entry = &diff->entries[i];
		char text[NODE_ID_TEXT_MAX];

		node_path__format(entry->after ? &entry->after->id : &entry->before->id, text);
		if (!strcmp(text, id))
			return entry;
	}
	return NULL;
}

/* Twice as long a window with twice the steps and times: nothing is slower. */
static void test_same_load(void)
{
	struct snapshot *before = fixture_snapshot(1, false), *after = fixture_snapshot(2, false);
	struct fail fail = { 0 };
	struct diff diff;

	if (!CHECK(compare(before, after, DIFF_ALL_WORKERS, &diff, &fail) == 0))
		return;
	CHECK(!diff.per_second && diff.before.steps == 100 && diff.after.steps == 200);
	CHECK(diff.count == 4 && diff.both == 4 && diff.circuit_count == 1);
	for (size_t i = 0; i < diff.count; i++)
		CHECK(is_about(diff.entries[i].change_ns, 0) && diff.entries[i].noise);
	CHECK(is_about(diff__before(&diff, diff.before.row_ns[DIFF_STEP]), 80000000));
	CHECK(is_about(diff__after(&diff, diff.after.row_ns[DIFF_STEP]), 80000000));
	CHECK(is_about(diff.before.row_ns[DIFF_WAIT + 2], 4000000001));
	CHECK(is_about(diff.before.row_ns[DIFF_IDLE], 2000000000));
	CHECK(is_about(diff.before.row_ns[DIFF_PREEMPTED], 600000000));
	CHECK(is_about(diff.before.row_ns[DIFF_BLOCKED + DBPROF_CAUSE_EPOLL], 3900000000));
	diff__clear(&diff);
	snapshot__free(before);
	snapshot__free(after);
}

/* nn0 waits for the CPU a second more, nn2 is half a second faster; the others are the same. */
static void test_changes(void)
{
	struct snapshot *before = fixture_snapshot(1, false), *after = fixture_snapshot(1, false);
	struct snapshot_operator *ops = after->workers[0].operators;
	const struct diff_entry *entry;
	struct diff diff;
	char *text;

	ops[0].runtime_ns += 1000000000;
	ops[0].share.run_queue_ns += 1000000000;
	ops[4].runtime_ns = ops[4].cpu_ns = 100000000;
	ops[4].interval_ns = before->workers[0].operators[4].interval_ns = 1000000;
	if (!CHECK(compare(before, after, DIFF_ALL_WORKERS, &diff, NULL) == 0))
		return;
	entry = &diff.entries[0];
	CHECK(entry == entry_at(&diff, "nn0") && is_about(entry->change_ns, 10000000));
	CHECK(!entry->noise && is_about(entry->interval_ns, 1000000 * hypot(2, 2)));
	CHECK(is_about(entry->after->part_ns[DIFF_PART_RUN_QUEUE] -
			       entry->before->part_ns[DIFF_PART_RUN_QUEUE],
		       1000000000));
	entry = &diff.entries[1];
	CHECK(entry == entry_at(&diff, "nn2") && is_about(entry->change_ns, -1000000));
	text = text_of(&diff, SIZE_MAX, 200);
	check_part(text, "slower, worst first, 1 operator:", true);
	check_part(text, "20.0 ms  30.0 ms  +10.0 ms  +50 %", true);
	check_part(text, "faster or the same, most first, 1 operator:", true);
	check_part(text, "-50 %", true);
	check_part(text, "~ no change beyond the 95 % interval of the samples, 2 operators:", true);
	check_part(text, "nested circuit", true);
	check_part(text, "only in", false);
	check_shape(text, 200);
	free(text);
	text = text_of(&diff, 1, 80);
	check_part(text, "run queue", true);
	check_part(text, "the first 1 of 2 operators:", true);
	check_shape(text, 80);
	free(text);
	text = json_of(&diff);
	check_part(text,
		   "{\"per\":\"step\",\"before\":{\"file\":\"a\",\"workers\":1,\"steps\":100,"
		   "\"window\":10000000000}",
		   true);
	check_part(text, "\"operators\":[{\"node\":\"nn0\",\"label\":\"JoinTrace @ ", true);
	check_part(text,
		   "\"in\":\"both\",\"noise\":false,\"interval\":2828427.125,"
		   "\"count_before\":100,\"count_after\":100,\"before\":20000000.000,"
		   "\"after\":30000000.000,\"change\":10000000.000,\"ratio\":1.500,"
		   "\"total_before\":2000000000.000,\"total_after\":3000000000.000",
		   true);
	free(text);
	diff__clear(&diff);
	snapshot__free(before);
	snapshot__free(after);
}

static void rename_node(struct snapshot *snapshot, size_t node, const char *name)
{
	char **at = &snapshot->workers[0].graph->nodes[node].name;

	free(*at);
	*at = strdup(name);
}

/* Another name at the same id is another operator, which may be elsewhere. */
static void test_other_nodes(void)
{
	struct snapshot *before = fixture_snapshot(1, false), *after = fixture_snapshot(1, false);
	struct diff diff;
	char *text;

	rename_node(after, 5, "Minus");
	if (!CHECK(compare(before, after, DIFF_ALL_WORKERS, &diff, NULL) == 0))
		return;
	CHECK(diff.both == 3 && diff.count == 5);
	CHECK(diff.entries[3].before && !diff.entries[3].after);
	CHECK(!diff.entries[4].before && diff.entries[4].after);
	text = text_of(&diff, SIZE_MAX, 100);
	check_part(text, "only in before (per step, total):\n2.00 ms  200 ms  nn2  Plus\n", true);
	check_part(text, "only in after (per step, total):\n2.00 ms  200 ms  nn2  Minus\n", true);
	free(text);
	diff__clear(&diff);
	/* The two have changed places: no other id fits. */
	rename_node(before, 1, "Minus");
	rename_node(before, 5, "Plus");
	rename_node(after, 1, "Plus");
	free(before->workers[0].graph->nodes[1].location.file);
	free(after->workers[0].graph->nodes[1].location.file);
	before->workers[0].graph->nodes[1].location.file = NULL;
	after->workers[0].graph->nodes[1].location.file = NULL;
	if (!CHECK(compare(before, after, DIFF_ALL_WORKERS, &diff, NULL) == 0))
		return;
	CHECK(diff.both == 4 && diff.count == 4);
	text = json_of(&diff);
	check_part(text, "{\"node\":\"nn2\",\"node_before\":\"nn0\",\"label\":\"Minus\"", true);
	free(text);
	diff__clear(&diff);
	snapshot__free(before);
	snapshot__free(after);
}

static void test_refused(void)
{
	struct snapshot *before = fixture_snapshot(2, false), *after = fixture_snapshot(1, false);
	struct fail fail = { 0 };
	struct diff diff;

	CHECK(compare(before, after, 1, &diff, &fail) == -ENOENT);
	CHECK_TEXT(fail.text, "the second profile: it has no worker 1");
	fail__clear(&fail);
	for (size_t i = 1; i < FIXTURE_NODES; i++)
		rename_node(after, i, "Another");
	after->workers[0].graph->nodes[1].location.line = 1;
	for (size_t i = 0; i < 3; i++) {
		free(after->workers[0].graph->regions[i].name);
		after->workers[0].graph->regions[i].name = strdup("elsewhere");
	}
	CHECK(compare(before, after, 0, &diff, &fail) == -EINVAL);
	CHECK(strstr(fail.text, "different pipelines") != NULL);
	snapshot__free(before);
	snapshot__free(after);
}

/* No step ended: times are for a second of each worker's window. */
static void test_no_steps(void)
{
	struct snapshot *before = fixture_snapshot(2, false), *after = fixture_snapshot(2, true);
	struct diff diff;
	char *text;

	if (!CHECK(compare(before, after, DIFF_ALL_WORKERS, &diff, NULL) == 0))
		return;
	CHECK(diff.per_second && is_about(diff.before_units, 20));
	text = text_of(&diff, 3, 80);
	check_part(text, "One of the windows saw no step end: times are per second and worker,",
		   true);
	free(text);
	diff__clear(&diff);
	/* Nothing at all on both sides. */
	if (!CHECK(compare(after, after, 0, &diff, NULL) == 0))
		return;
	text = text_of(&diff, 3, 20);
	free(text);
	text = json_of(&diff);
	check_part(text, "\"ratio\":null", true);
	free(text);
	diff__clear(&diff);
	snapshot__free(before);
	snapshot__free(after);
}

int main(void)
{
	test_same_load();
	test_changes();
	test_other_nodes();
	test_refused();
	test_no_steps();
	return CHECK_RESULT();
}
