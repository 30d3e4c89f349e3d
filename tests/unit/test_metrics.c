// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sums of windows, and how they are written.
 */
#include <errno.h>

#include "export/openmetrics.h"
#include "check.h"
#include "fixture.h"

/* The metrics of @count processes as text; free it. */
static char *written(const struct metrics_sums *const *processes, size_t count,
		     enum metrics_dialect dialect)
{
	struct metrics_cost cost = { 1, 2000000000, 3, 4 };
	struct fail fail = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(openmetrics__write(out, dialect, processes, count, &cost, NULL, &fail) == 0);
	fclose(out);
	return text;
}

static void check_part(const char *text, const char *part)
{
	if (!strstr(text, part)) {
		fprintf(stderr, "missing: %s\nin: %s\n", part, text);
		check_failures++;
	}
}

/* The window as it is, and once more: each counter is twice as much. */
static void test_sums(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct metrics_sums *sums = metrics_sums__new(20);
	const struct metrics_worker *worker;

	snapshot->losses.reads = 7;
	snapshot->workers[1].circuits[0].step_open = true;
	snapshot->workers[1].circuits[0].step_age_ns = 5;
	CHECK(metrics_sums__add(sums, snapshot) == 0 && metrics_sums__add(sums, snapshot) == 0);
	CHECK(sums->windows == 2 && sums->incomplete_windows == 2 && sums->incomplete);
	CHECK(sums->window_ns == 20000000000 && sums->process_cpu_ns == 6000000000);
	CHECK(sums->losses.reads == 14 && sums->left_out == 0 && sums->worker_count == 2);
	worker = &sums->workers[1];
	CHECK(worker->index == 1 && worker->steps == 200 && worker->step_ns == 16000000000);
	CHECK(worker->cpu_ns == 6000001998 && worker->wait_ns[2] == 8000000002);
	CHECK(worker->share.run_queue_ns == 800000000 && worker->unobserved_ns == 99998002);
	CHECK(worker->share.blocked_ns[DBPROF_CAUSE_PAGE_FAULT] == 100000000);
	CHECK(worker->share.preempted_ns[DBPROF_PARTY_MERGER] == 1000000000);
	CHECK(worker->idle_ns == 4000000000 && worker->open_step_ns == 5);
	/* nn1 is a circuit; nn1_n0, nn1_n1, nn0 and nn2 are operators. */
	CHECK(sums->operator_count == 4 && sums->operators[0].runtime_ns == 8000000000);
	CHECK(sums->operators[0].evaluations == 400);
	CHECK(sums->operators_ns == 4 * (2000000000ull + 300000000 + 500000000 + 200000000));
	snapshot->losses.reads = 0;
	snapshot->worker_count = 1;
	CHECK(metrics_sums__add(sums, snapshot) == 0);
	CHECK(!sums->incomplete && sums->incomplete_windows == 2);
	CHECK(sums->workers[1].steps == 200 && sums->workers[1].open_step_ns == 0);
	snapshot->worker_count = 2;
	snapshot->pid++;
	CHECK(metrics_sums__add(sums, snapshot) == -EINVAL && sums->windows == 3);
	metrics_sums__free(sums);
	snapshot__free(snapshot);
}

/* The value behind @series, -1 when it is not there. */
static double shown(const struct metrics_sums *sums, const char *series)
{
	char *text = written(&sums, 1, METRICS_OPENMETRICS);
	const char *at = strstr(text, series);
	double value = at ? strtod(strstr(at, "} ") + 2, NULL) : -1;

	free(text);
	return value;
}

/* One that leaves the list and comes back has kept its sum, and has grown by what it did. */
static void test_operators_come_and_go(void)
{
	static const char nn0[] = "dbprof_operator_seconds_total{pid=\"4321\",exe=\"/opt/pipeline/"
				  "dbsp-target\",node=\"nn0\"";
	static const char nn2[] = "dbprof_operator_seconds_total{pid=\"4321\",exe=\"/opt/pipeline/"
				  "dbsp-target\",node=\"nn2\"";
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct snapshot_operator *operators = snapshot->workers[0].operators;
	struct metrics_sums *sums = metrics_sums__new(1);

	CHECK(metrics_sums__add(sums, snapshot) == 0);
	CHECK(shown(sums, nn0) == 2.0 && shown(sums, nn2) == -1);
	operators[0].runtime_ns = 1000000000;
	operators[4].runtime_ns = 9000000000;
	CHECK(metrics_sums__add(sums, snapshot) == 0);
	CHECK(shown(sums, nn0) == -1 && shown(sums, nn2) == 9.2);
	/* An hour later what was long ago counts for little. */
	operators[4].runtime_ns = 0;
	snapshot->window_ns = 3600000000000;
	CHECK(metrics_sums__add(sums, snapshot) == 0);
	CHECK(shown(sums, nn0) == 4.0 && shown(sums, nn2) == -1);
	CHECK(sums->operators_ns == 3000000000 + 10800000000 + 1800000000);
	metrics_sums__free(sums);
	sums = metrics_sums__new(0);
	CHECK(metrics_sums__add(sums, snapshot) == 0 && shown(sums, nn0) == -1);
	metrics_sums__free(sums);
	snapshot__free(snapshot);
}

static void test_dialects(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct metrics_sums *sums = metrics_sums__new(20);
	const struct metrics_sums *one = sums;
	char *text;

	snapshot->pipeline = strdup("1-2");
	snapshot->pipeline_name = strdup("a name");
	CHECK(metrics_sums__add(sums, snapshot) == 0);
	text = written(&one, 1, METRICS_OPENMETRICS);
	check_part(text, "# TYPE dbprof_step_seconds counter\n# UNIT dbprof_step_seconds seconds\n"
			 "dbprof_step_seconds_total{pid=\"4321\",exe=\"/opt/pipeline/dbsp-target\","
			 "pipeline=\"1-2\",pipeline_name=\"a name\",worker=\"0\"} 8.000000000\n");
	check_part(text, "# TYPE dbprof_process info\n");
	check_part(text, "dbprof_profiler_trap_seconds_total 2.000000000\n");
	CHECK_TEXT(text + strlen(text) - 7, "\n# EOF\n");
	free(text);
	text = written(&one, 1, METRICS_PROMETHEUS);
	check_part(text, "# TYPE dbprof_steps_total counter\ndbprof_steps_total{");
	check_part(text, "# TYPE dbprof_process_info gauge\ndbprof_process_info{");
	CHECK(!strstr(text, "UNIT") && !strstr(text, "EOF"));
	free(text);
	text = written(NULL, 0, METRICS_OPENMETRICS);
	check_part(text, "dbprof_build_info{version=");
	CHECK(!strstr(text, "dbprof_steps"));
	free(text);
	CHECK(strncmp(metrics_dialect__content_type(METRICS_OPENMETRICS),
		      "application/openmetrics-text; version=1.0.0", 43) == 0);
	CHECK(strncmp(metrics_dialect__content_type(METRICS_PROMETHEUS),
		      "text/plain; version=0.0.4", 25) == 0);
	metrics_sums__free(sums);
	snapshot__free(snapshot);
}

/* Names come from other programs: whatever they hold, a line stays a line. */
static void test_hostile_labels(void)
{
	struct metrics_text text;
	char value[2 * METRICS_LABEL_MAX], *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	memset(value, 'x', sizeof(value));
	memcpy(value + METRICS_LABEL_MAX - 1, "\xc3\xa9", 2);
	value[sizeof(value) - 1] = '\0';
	metrics_text__begin(&text, out, METRICS_PROMETHEUS);
	metrics_text__family(&text, "m", METRIC_GAUGE, NULL, "h");
	metrics_text__sample(&text);
	metrics_text__label(&text, "a", "\"\\\n\xff\xc3\xa9\x01");
	metrics_text__label(&text, "b", NULL);
	metrics_text__label(&text, "c", "");
	metrics_text__label(&text, "d", "d");
	metrics_text__uint(&text, UINT64_MAX);
	metrics_text__sample(&text);
	metrics_text__seconds(&text, UINT64_MAX);
	CHECK(metrics_text__end(&text) == 0);
	fflush(out);
	CHECK_TEXT(bytes, "# HELP m h\n# TYPE m gauge\n"
			  "m{a=\"\\\"\\\\\\n\xef\xbf\xbd\xc3\xa9\x01\",d=\"d\"} "
			  "18446744073709551615\nm 18446744073.709551615\n");
	metrics_text__label(&text, "long", value);
	fclose(out);
	/* cut between two characters */
	CHECK_TEXT(strstr(bytes, "long=") + 6 + METRICS_LABEL_MAX - 1, "\"");
	free(bytes);
}

/* The largest numbers stay where they are; a counter that wraps would be taken for a reset. */
static void test_overflow(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct metrics_sums *sums = metrics_sums__new(20);
	struct metrics_cost cost = { 0 };

	fixture_largest(&snapshot->workers[0]);
	snapshot->workers[0].circuits[0].steps = UINT64_MAX;
	memset(&snapshot->workers[0].circuits[0].share, 0xff, sizeof(struct dbprof_kernel_share));
	memset(&snapshot->cost, 0xff, offsetof(struct snapshot_cost, budget));
	for (int i = 0; i < 2; i++) {
		CHECK(metrics_sums__add(sums, snapshot) == 0);
		metrics_cost__add(&cost, &snapshot->cost);
	}
	CHECK(sums->workers[0].steps == UINT64_MAX && sums->operators_ns == UINT64_MAX);
	CHECK(sums->workers[0].share.blocked_ns[0] == UINT64_MAX);
	CHECK(sums->operators[0].runtime_ns == UINT64_MAX);
	CHECK(cost.trap_ns == UINT64_MAX && cost.own_cpu_ns == UINT64_MAX);
	metrics_sums__free(sums);
	snapshot__free(snapshot);
}

/* Memory stays bounded; what has no room is counted, and its time is in the sum of all. */
static void test_bounds(void)
{
	size_t count = METRICS_OPERATORS_MAX + 10;
	struct snapshot *snapshot = fixture_snapshot(METRICS_WORKERS_MAX + 2, true);
	struct snapshot_worker *worker = &snapshot->workers[0];
	struct metrics_sums *sums = metrics_sums__new(20);

	free(worker->operators);
	worker->operators = calloc(count, sizeof(*worker->operators));
	worker->operator_count = count;
	for (size_t i = 0; i < count; i++)
		worker->operators[i] = (struct snapshot_operator){
			.id = fixture_path(1, 100 + (uint32_t)i, 0),
			.has_time = true,
			.runtime_ns = 1,
		};
	CHECK(metrics_sums__add(sums, snapshot) == 0);
	CHECK(sums->operator_count == METRICS_OPERATORS_MAX);
	CHECK(sums->worker_count == METRICS_WORKERS_MAX);
	/* Two workers, ten operators of the first, and those of the fixture of all the others. */
	CHECK(sums->left_out == 2 + 10 + (METRICS_WORKERS_MAX + 1) * 4);
	CHECK(sums->operators_ns == count);
	metrics_sums__free(sums);
	snapshot__free(snapshot);
}

static void test_two_processes(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct metrics_sums *sums[] = { metrics_sums__new(20), metrics_sums__new(20) };
	const struct metrics_sums *const both[] = { sums[0], sums[1] };
	struct metrics_cost cost = { 0 };
	struct fail fail = { 0 };
	char *text;

	CHECK(metrics_sums__add(sums[0], snapshot) == 0);
	CHECK(metrics_sums__add(sums[1], snapshot) == 0);
	CHECK(openmetrics__write(stderr, METRICS_OPENMETRICS, both, 2, &cost, NULL, &fail) ==
	      -EINVAL);
	CHECK(strstr(fail.text, "4321") != NULL);
	sums[1]->pid = 1;
	text = written(both, 2, METRICS_OPENMETRICS);
	check_part(text, "dbprof_windows_total{pid=\"4321\",exe=\"/opt/pipeline/dbsp-target\"} 1\n"
			 "dbprof_windows_total{pid=\"1\"");
	free(text);
	for (int i = 0; i < 2; i++)
		metrics_sums__free(sums[i]);
	metrics_sums__free(NULL);
	snapshot__free(snapshot);
}

static void test_full_disk(void)
{
	struct snapshot *snapshot = fixture_snapshot(64, false);
	struct metrics_sums *sums = metrics_sums__new(20);
	const struct metrics_sums *one = sums;
	struct metrics_cost cost = { 0 };
	struct fail fail = { 0 };
	FILE *full = fopen("/dev/full", "w");

	CHECK(metrics_sums__add(sums, snapshot) == 0);
	if (CHECK(full != NULL)) {
		CHECK(openmetrics__write(full, METRICS_PROMETHEUS, &one, 1, &cost, NULL, &fail) ==
		      -ENOSPC);
		fclose(full);
	}
	metrics_sums__free(sums);
	snapshot__free(snapshot);
}

int main(void)
{
	test_sums();
	test_operators_come_and_go();
	test_dialects();
	test_hostile_labels();
	test_overflow();
	test_bounds();
	test_two_processes();
	test_full_disk();
	return CHECK_RESULT();
}
