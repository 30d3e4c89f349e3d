// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Our profile and the engine's as one.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/export.h"
#include "state/state_source.h"
#include "check.h"
#include "fixture.h"
#include "plain_source.h"

static const struct state_origin origin = { .from = "state.json" };

/* The fixture's circuit without any reading, with @workers workers. */
static struct profile *bare(size_t workers)
{
	struct snapshot *snapshot = fixture_snapshot(workers, true);
	struct profile *profile = NULL;

	CHECK(profile__from_snapshot(snapshot, &profile) == 0);
	snapshot__free(snapshot);
	for (size_t i = 0; i < profile->worker_count; i++)
		profile_worker__clear(&profile->workers[i]);
	return profile;
}

static void put(struct profile *profile, size_t worker, struct node_path id, const char *metric,
		const char *key, const char *text, struct value value)
{
	struct profile_node *node = profile_worker__node(&profile->workers[worker], &id);
	struct profile_label label = { key, text };

	CHECK(profile_node__set(profile, node, metric, &label, key ? 1 : 0, value) == 0);
}

static struct value bytes(uint64_t number)
{
	return (struct value){ .kind = VALUE_BYTES, .number = number };
}

#define ROOT  fixture_path(0, 0, 0)
#define JOIN  fixture_path(1, 0, 0)
#define CHILD fixture_path(1, 1, 0)
#define PLUS  fixture_path(1, 2, 0)

static struct plain_source *ours(size_t workers)
{
	struct profile *profile = bare(workers);

	for (size_t i = 0; i < workers; i++) {
		put(profile, i, ROOT, "steps_count", NULL, NULL, value__int(7 + i));
		put(profile, i, ROOT, "waits_seconds", "reason", "peers", value__int(1));
		put(profile, i, ROOT, "waits_seconds", "reason", "disk", value__int(2));
		put(profile, i, JOIN, "cpu_seconds", NULL, NULL, value__int(5));
		put(profile, i, PLUS, "steps_count", NULL, NULL, value__int(9));
	}
	return plain_source(profile);
}

static struct plain_source *engine(size_t workers)
{
	struct profile *profile = bare(workers);

	for (size_t i = 0; i < workers; i++) {
		put(profile, i, ROOT, "used_bytes", NULL, NULL, bytes(100 + i));
		put(profile, i, ROOT, "steps_count", NULL, NULL, value__count(70 + i));
		put(profile, i, ROOT, "waits_seconds", "reason", "peers", value__int(10));
		put(profile, i, CHILD, "used_bytes", NULL, NULL, bytes(3));
		put(profile, i, PLUS, "used_bytes", NULL, NULL, bytes(4));
	}
	return plain_source(profile);
}

/* The merged profile as JSON; free it. Both sources are taken. */
static char *merged(struct plain_source *mine, struct plain_source *theirs)
{
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(state_source__open(&mine->source, theirs ? &theirs->source : NULL, &origin, &source,
				 &fail) == 0);
	CHECK_TEXT(fail.text, "");
	if (source)
		CHECK(export_json(source, out, &fail) == 0);
	fclose(out);
	profile_source__close(source);
	return text;
}

static void check_part(const char *text, const char *part)
{
	if (!strstr(text, part)) {
		fprintf(stderr, "missing: %s\nin: %s\n", part, text);
		check_failures++;
	}
}

#define READING(metric, labels, type, number)                                 \
	"{\"metric_id\":\"" metric "\"," labels "\"value\":{\"type\":\"" type \
	"\",\"value\":" #number "}}"
#define LABEL(key, value) "[\"" key "\",\"" value "\"]"
#define LABELS(...)	  "\"labels\":[" __VA_ARGS__ "],"
#define OURS		  LABEL("source", "dbprof")

/* The engine's readings as they are, in order; ours with a label where both have the metric. */
static void test_merge(void)
{
	char *text = merged(ours(2), engine(2));

	check_part(text,
		   "{\"metadata\":{\"n\":[" READING("steps_count", "", "count", 70) "," READING(
			   "steps_count", LABELS(OURS), "int",
			   7) "," READING("used_bytes", "", "bytes",
					  100) "," READING("waits_seconds",
							   LABELS(LABEL("reason", "disk") "," OURS),
							   "int", 2) ",");
	check_part(text,
		   READING("waits_seconds", LABELS(LABEL("reason", "peers")), "int",
			   10) "," READING("waits_seconds",
					   LABELS(LABEL("reason", "peers") "," OURS), "int",
					   1) "],\"nn0\":[" READING("cpu_seconds", "", "int", 5));
	check_part(text, "],\"nn1\":[" READING("used_bytes", "", "bytes", 3) "],\"nn2\":[" READING(
				 "steps_count", LABELS(OURS), "int",
				 9) "," READING("used_bytes", "", "bytes", 4) "]}},");
	check_part(text, READING("steps_count", "", "count", 71));
	check_part(text, READING("used_bytes", "", "bytes", 101));
	check_part(text, "\"graph\":{\"nodes\":{\"id\":\"n\"");
	check_part(text, "\"engine_profile\":{\"from\":\"state.json\",\"error\":null,");
	check_part(text, "\"nodes_left_out\":0,\"readings_left_out\":0}}");
	free(text);
}

/* It can be told again with the same result, and ends early with the error of who listens. */
static int count_nodes(void *context, size_t worker, const struct profile_node *node)
{
	size_t *left = context;

	(void)worker;
	(void)node;
	return --*left ? 0 : -ECANCELED;
}

static void test_replay(void)
{
	static const struct profile_visitor visitor = { .node = count_nodes };
	struct plain_source *mine = ours(3), *theirs = engine(3);
	struct profile_source *source = NULL;
	size_t told;

	CHECK(state_source__open(&mine->source, &theirs->source, &origin, &source, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		size_t left = 1000;

		CHECK(profile_source__visit(source, &visitor, &left, NULL) == 0);
		CHECK(left == 1000 - 3 * 4);
		left = 6;
		CHECK(profile_source__visit(source, &visitor, &left, NULL) == -ECANCELED);
	}
	told = theirs->told;
	CHECK(told < 3 * 7);
	profile_source__close(source);
}

static void test_none(void)
{
	struct plain_source *mine = ours(1);
	struct state_origin missing = { .from = "http://h",
					.error = "no answer",
					.asked_unix_ns = -5 };
	struct profile_source *source = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	mine->members = "yes";
	CHECK(state_source__open(&mine->source, NULL, &missing, &source, NULL) == 0);
	CHECK(export_json(source, out, NULL) == 0);
	fclose(out);
	profile_source__close(source);
	check_part(text, "\"n\":[" READING("steps_count", "", "int", 7));
	check_part(text, "\"more\":\"yes\",\"engine_profile\":{\"from\":\"http://h\",\"error\":"
			 "\"no answer\",\"asked\":\"1969-12-31T23:59:59.999999995Z\",");
	free(text);
}

/* Both lists, each metric once, the engine's description of it. */
static void test_metric_list(void)
{
	struct plain_source *mine = ours(1), *theirs = engine(1);
	char *text;

	mine->metrics = "{\"name\":\"a\",\"description\":\"ours\"},{\"name\":\"c/d\"}";
	theirs->metrics = "{\"name\":\"b\"},{\"name\":\"a\",\"description\":\"\xc3\xa9\"}";
	text = merged(mine, theirs);
	check_part(text, "{\"metrics\":[{\"name\":\"b\"},{\"name\":\"a\",\"description\":\"\xc3\xa9"
			 "\"},{\"name\":\"c/d\"}],\"worker");
	free(text);
}

/* No viewer opens a profile with a node that the graph lacks, or with two kinds of one metric. */
static void test_left_out(void)
{
	struct plain_source *mine = ours(1), *theirs = engine(1);
	char *text;

	put(theirs->profile, 0, fixture_path(1, 77, 0), "used_bytes", NULL, NULL, bytes(1));
	put(theirs->profile, 0, ROOT, "cpu_seconds", NULL, NULL, value__percent(1, 2));
	text = merged(mine, theirs);
	CHECK(!strstr(text, "nn77"));
	CHECK(!strstr(text, READING("cpu_seconds", LABELS(OURS), "int", 5)));
	check_part(text, "\"nodes_left_out\":1,\"readings_left_out\":1}}");
	free(text);
}

/* What cannot be merged is refused with a sentence, and the sources stay the caller's. */
static void refused(struct plain_source *mine, struct plain_source *theirs, int wanted,
		    const char *sentence)
{
	struct profile_source *source = NULL;
	bool closed = false;
	struct fail fail = { 0 };

	mine->closed = theirs->closed = &closed;
	CHECK(state_source__open(&mine->source, &theirs->source, &origin, &source, &fail) ==
	      wanted);
	CHECK_TEXT(fail.text, sentence);
	CHECK(!source && !closed);
	profile_source__close(&mine->source);
	profile_source__close(&theirs->source);
}

static void test_is_merged(void)
{
	struct plain_source *mine = ours(1), *theirs = engine(1);
	struct profile_source *source = NULL;
	bool merged = true;

	CHECK(state_source__is_merged(&mine->source, &merged, NULL) == 0 && !merged);
	CHECK(state_source__open(&mine->source, &theirs->source, &origin, &source, NULL) == 0);
	CHECK(state_source__is_merged(source, &merged, NULL) == 0 && merged);
	mine->fail_at = 1;
	CHECK(state_source__is_merged(source, &merged, NULL) == -EPROTO);
	profile_source__close(source);
}

static void test_other_circuit(void)
{
	struct plain_source *theirs = engine(2);

	refused(ours(1), theirs, -EXDEV, "it is of 2 workers, the process has 1");
	theirs = engine(1);
	theirs->source.graph = NULL;
	refused(ours(1), theirs, -EXDEV, "it has no graph by which it could be told");
	theirs = engine(1);
	theirs->profile->graph.node_count--;
	refused(ours(1), theirs, -EXDEV, "it has 6 nodes, the process's circuit has 7");
	theirs = engine(1);
	theirs->profile->graph.nodes[theirs->profile->graph.node_count - 1].label = "Minus";
	refused(ours(1), theirs, -EXDEV,
		"its node nn0 is 'Minus', the process's is "
		"'JoinTrace @ s/o/join.rs:722:21'");
	theirs = engine(1);
	theirs->profile->graph.edges[0].to = "n";
	refused(ours(1), theirs, -EXDEV, "it has an edge from nn0 to n, the process has not");
	theirs = engine(1);
	theirs->profile->graph.edge_count = 0;
	refused(ours(1), theirs, -EXDEV, "it has 0 edges, the process's circuit has 3");
}

static void test_damaged(void)
{
	struct plain_source *theirs = engine(2);

	theirs->fail_at = 2;
	refused(ours(2), theirs, -EPROTO, "worker 1 is damaged");
	theirs = engine(1);
	theirs->source.worker_count = 2;
	refused(ours(2), theirs, -EXDEV, "it holds 1 workers and says that it has 2");
	theirs = engine(1);
	put(theirs->profile, 0, PLUS, "used_bytes", "a", "b", value__percent(1, 2));
	refused(ours(1), theirs, -EXDEV, "its readings of used_bytes are of two kinds");
	theirs = engine(1);
	put(theirs->profile, 0, PLUS, "used_bytes", "source", "dbprof", bytes(1));
	refused(ours(1), theirs, -EXDEV,
		"dbprof-bpf has written it; give the pipeline's own profile");
	theirs = engine(1);
	put(theirs->profile, 0, ROOT, "circuit_edge_idle_seconds", NULL, NULL, value__int(1));
	refused(ours(1), theirs, -EXDEV,
		"dbprof-bpf has written it; give the pipeline's own profile");
}

/* One that breaks only while it is told ends the telling with its sentence. */
static void test_late_damage(void)
{
	static const struct profile_visitor visitor = { 0 };
	struct plain_source *mine = ours(2), *theirs = engine(2);
	struct profile_source *source = NULL;
	struct fail fail = { 0 };

	CHECK(state_source__open(&mine->source, &theirs->source, &origin, &source, NULL) == 0);
	theirs->fail_at = 2;
	CHECK(profile_source__visit(source, &visitor, NULL, &fail) == -EPROTO);
	CHECK_TEXT(fail.text, "worker 1 is damaged");
	fail__clear(&fail);
	theirs->fail_at = 0;
	theirs->profile->worker_count = 1;
	CHECK(profile_source__visit(source, &visitor, NULL, &fail) == -ENODATA);
	theirs->profile->worker_count = 2;
	profile_source__close(source);
}

/* Maps and strings are copied whole, and what is too deep is no crash. */
static struct value nest(struct profile *profile, unsigned int depth)
{
	struct value value = { .kind = VALUE_STRING,
			       .string = string_pool__add(&profile->strings, "deep") };

	for (; depth > 0; depth--) {
		struct value outer = { .kind = depth % 2 ? VALUE_MAP : VALUE_ARRAY };

		if (outer.kind == VALUE_MAP) {
			outer.map.entries = calloc(1, sizeof(struct value_entry));
			outer.map.entries[0] =
				(struct value_entry){ string_pool__add(&profile->strings, "key"),
						      value };
			outer.map.count = 1;
		} else {
			outer.array.items = calloc(1, sizeof(struct value));
			outer.array.items[0] = value;
			outer.array.count = 1;
		}
		value = outer;
	}
	return value;
}

static void test_values(void)
{
	static const struct profile_visitor visitor = { 0 };
	struct plain_source *mine = ours(1), *theirs = engine(1);
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	char *text;

	put(theirs->profile, 0, PLUS, "batches_stats", NULL, NULL, nest(theirs->profile, 3));
	text = merged(mine, theirs);
	check_part(text, "\"batches_stats\",\"value\":{\"key\":[{\"key\":{\"type\":\"string\","
			 "\"value\":\"deep\"}}]}}");
	free(text);
	mine = ours(1);
	theirs = engine(1);
	put(theirs->profile, 0, PLUS, "batches_stats", NULL, NULL, nest(theirs->profile, 40));
	CHECK(state_source__open(&mine->source, &theirs->source, &origin, &source, NULL) == 0);
	CHECK(profile_source__visit(source, &visitor, NULL, &fail) == -EFBIG);
	CHECK_TEXT(fail.text, "its readings of node nn2 are too many or too deep");
	profile_source__close(source);
}

int main(void)
{
	test_merge();
	test_replay();
	test_none();
	test_metric_list();
	test_left_out();
	test_is_merged();
	test_other_circuit();
	test_damaged();
	test_late_damage();
	test_values();
	return CHECK_RESULT();
}
