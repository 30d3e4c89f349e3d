// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The summary's table of operators.
 */
#include <stdlib.h>

#include "export/operator_ranking.h"
#include "check.h"
#include "check_summary.h"
#include "fixture.h"

static void test_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	char *text = render(snapshot, false, 80);

	/* nested circuits are left out; two intervals of 0.2 s make one of 0.28 s */
	check_part(text,
		   "\noperators, all workers together, of 6.00 s in operators:\n"
		   "                             pre-    run  block-\n"
		   "  wall   +-  share    CPU  empted  queue      ed  node    operator\n"
		   "4.00 s  7 %   67 %   75 %    10 %    5 %     8 %  nn0     JoinTrace\n"
		   "1.00 s  7 %   17 %  100 %     0 %    0 %     0 %  nn1_n1  Z^-1\n"
		   "600 ms  7 %   10 %  100 %     0 %    0 %     0 %  nn1_n0  Z^-1 (output)\n",
		   true);
	free(text);
	text = render(snapshot, false, 120);
	check_shape(text, 120);
	check_part(text, "  nn0     JoinTrace @ s/o/join.rs:722:21\n", true);
	free(text);
	check_rendered(snapshot, 87, "  nn0     JoinTrace @ join.rs:722:21\n");
	check_rendered(snapshot, 82, "  nn0     JoinTrace @ join.rs:722\n");
	check_rendered(snapshot, 40,
		       "\n  wall  share  node    operator\n4.00 s   67 %  nn0     JoinTrace\n");
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < snapshot->workers[i].operator_count; j++)
			snapshot->workers[i].operators[j].interval_ns = 0;
	snapshot->workers[0].operators[0].unobserved_ns = 1000000000;
	text = render(snapshot, false, 80);
	check_part(text, "  wall  share    CPU  empted  queue      ed  seen  node ", true);
	check_part(text, "95 %", false);
	free(text);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < snapshot->workers[i].operator_count; j++)
			snapshot->workers[i].operators[j].has_time = false;
	text = render(snapshot, false, 80);
	check_part(text, "in operators", false);
	check_part(text, "wall", false);
	free(text);
	snapshot__free(snapshot);
}

/* Workers that know different operators; the ten worst of many, equal ones in order of their ids.
 */
static void test_many_operators(void)
{
	struct snapshot *snapshot = fixture_snapshot(3, false);
	char *text, *at;

	for (size_t i = 0; i < 3; i++) {
		struct snapshot_worker *worker = &snapshot->workers[i];

		free(worker->operators);
		worker->operators = calloc(5000, sizeof(*worker->operators));
		worker->operator_count = 5000 - i;
		for (uint32_t j = 0; j < worker->operator_count; j++) {
			worker->operators[j].id = fixture_path(1, 1000 + j + (uint32_t)i, 0);
			worker->operators[j].has_time = true;
			worker->operators[j].runtime_ns = j % 500 == 7 ? 2000000 + j / 500 : 1000;
		}
	}
	graph__free(snapshot->workers[0].graph);
	snapshot->workers[0].graph = NULL;
	text = render(snapshot, false, 80);
	check_shape(text, 80);
	check_part(text, "the worst 10 of 5000 operators, all workers together, of 75.0 ms in",
		   true);
	at = strstr(text, "nn5507");
	CHECK(at && strstr(at, "nn5007")); /* longer, so before */
	free(text);
	for (uint32_t j = 0; j < 4998; j++)
		snapshot->workers[2].operators[j].id = fixture_path(1, 9999 - j, 0); /* unsorted */
	text = render(snapshot, false, 80);
	check_shape(text, 80);
	free(text);
	snapshot__free(snapshot);
}

static void test_operator_names(void)
{
	struct graph_node node = { .name = (char *)"StreamJoin",
				   .location = { (char *)"/a/b/src/x.rs", 12, 3 } };
	struct operator_total total = { .node = &node };
	static const struct {
		size_t columns;
		const char *wanted;
	} cases[] = { { 80, "StreamJoin @ a/b/s/x.rs:12:3" },
		      { 27, "StreamJoin @ x.rs:12:3" },
		      { 22, "StreamJoin @ x.rs:12:3" },
		      { 21, "StreamJoin @ x.rs:12" },
		      { 19, "StreamJoin" },
		      { 10, "StreamJoin" },
		      { 9, "StreamJ.." },
		      { 2, ".." } };
	char text[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(operator_total__name(&total, cases[i].columns, text, sizeof(text)) == 0);
		CHECK_TEXT(text, cases[i].wanted);
	}
	node.location.file = NULL;
	node.kind = NODE_STRICT_OUTPUT;
	node.name = (char *)"\xc3\xa4\xff\xff\xe2\x82\xac Z";
	CHECK(operator_total__name(&total, 6, text, sizeof(text)) == 0);
	CHECK_TEXT(text, "\xc3\xa4\xff\xff\xe2\x82\xac..");
	node.name = NULL;
	CHECK(operator_total__name(&total, 80, text, sizeof(text)) == 0);
	CHECK_TEXT(text, " (output)");
	total.node = NULL;
	CHECK(operator_total__name(&total, 80, text, sizeof(text)) == 0);
	CHECK_TEXT(text, "");
}

int main(void)
{
	test_operators();
	test_many_operators();
	test_operator_names();
	return CHECK_RESULT();
}
