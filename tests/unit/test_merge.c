// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The engine's rules of adding readings up, and what they stand on: order and lookup of nodes.
 */
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "model/merge.h"
#include "model/node_index.h"
#include "util/utf8.h"

static struct value bytes(uint64_t number)
{
	return (struct value){ .kind = VALUE_BYTES, .number = number };
}

static struct value text(const char *string)
{
	return (struct value){ .kind = VALUE_STRING, .string = string };
}

static struct value cache_counts(uint64_t count, uint64_t secs)
{
	return (struct value){ .kind = VALUE_CACHE_COUNTS,
			       .cache_counts = { count, 10 * count, { secs, 999999999 } } };
}

static void test_values(void)
{
	const struct value one = value__count(1), five = value__count(5);
	const struct value max = value__count(UINT64_MAX), two = bytes(2), plain = value__int(1);
	struct value sum = { 0 };

	CHECK(value__merge(&one, &five, &sum) && sum.kind == VALUE_COUNT && sum.number == 6);
	CHECK(value__merge(&two, &two, &sum) && sum.kind == VALUE_BYTES && sum.number == 4);
	/* As usize does in a release build. */
	CHECK(value__merge(&max, &five, &sum) && sum.number == 4);
	CHECK(!value__merge(&one, &two, &sum));
	CHECK(!value__merge(&plain, &plain, &sum));
}

static void test_compound_values(void)
{
	const struct value third = value__percent(1, 3), none = value__percent(0, UINT64_MAX);
	const struct value six = value__percent(6, 1);
	const struct value below = { .kind = VALUE_PERCENT, .percent = { (uint64_t)-5, 10, true } };
	const struct value long_time = value__duration((struct duration){ UINT64_MAX, 0 });
	const struct value short_time = value__duration((struct duration){ 1, 600000000 });
	const struct value few = cache_counts(3, 1), most = cache_counts(4, UINT64_MAX);
	struct value sum = { 0 };

	CHECK(value__merge(&third, &none, &sum) && sum.percent.numerator == 1 &&
	      sum.percent.denominator == 2);
	CHECK(value__merge(&third, &below, &sum) && sum.percent.negative &&
	      (int64_t)sum.percent.numerator == -4 && sum.percent.denominator == 13);
	CHECK(value__merge(&below, &six, &sum) && !sum.percent.negative &&
	      sum.percent.numerator == 1);
	CHECK(value__merge(&short_time, &short_time, &sum) && sum.duration.secs == 3 &&
	      sum.duration.nanos == 200000000);
	CHECK(value__merge(&long_time, &short_time, &sum) && sum.duration.secs == UINT64_MAX &&
	      sum.duration.nanos == 999999999);
	CHECK(value__merge(&few, &few, &sum) && sum.cache_counts.count == 6 &&
	      sum.cache_counts.bytes == 60 && sum.cache_counts.elapsed.secs == 3 &&
	      sum.cache_counts.elapsed.nanos == 999999998);
	CHECK(value__merge(&few, &most, &sum) && sum.cache_counts.elapsed.secs == UINT64_MAX);
}

static void test_mergeable(void)
{
	const struct value kinds[] = { value__count(1), bytes(1), cache_counts(1, 1),
				       value__percent(1, 1),
				       value__duration((struct duration){ 0 }) };
	const struct value others[] = { value__int(1),
					text("x"),
					{ .kind = VALUE_ARRAY },
					{ .kind = VALUE_MAP },
					{ .kind = VALUE_BOOL } };

	for (size_t i = 0; i < 5; i++) {
		CHECK(value__is_mergeable(&kinds[i]));
		CHECK(!value__is_mergeable(&others[i]));
	}
}

static void set(struct profile *profile, struct profile_node *node, const char *metric,
		const char *slot, struct value value)
{
	const struct profile_label label = { "slot", slot };

	CHECK(profile_node__set(profile, node, metric, &label, slot ? 1 : 0, value) == 0);
}

static const struct value *get(const struct profile_node *node, const char *metric,
			       const char *slot)
{
	const struct profile_label label = { "slot", slot };
	const struct profile_reading *reading =
		profile_node__find(node, metric, &label, slot ? 1 : 0);

	return reading ? &reading->value : NULL;
}

/* OperatorMeta::merge(). */
static void test_nodes(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	struct profile_node dst = { 0 }, src = { 0 };

	set(profile, &dst, "both", NULL, value__count(1));
	set(profile, &dst, "both", "0", value__count(10));
	set(profile, &dst, "kinds", NULL, text("a text in the way"));
	set(profile, &dst, "plain", NULL, value__int(7));
	set(profile, &src, "both", NULL, value__count(2));
	set(profile, &src, "both", "0", value__count(20));
	set(profile, &src, "both", "1", value__count(30));
	set(profile, &src, "kinds", NULL, bytes(5));
	set(profile, &src, "new", NULL, bytes(6));
	set(profile, &src, "plain", NULL, value__int(8));
	set(profile, &src, "text", NULL, text("not copied"));
	CHECK(profile_node__merge(profile, &dst, &src) == 0);

	CHECK(get(&dst, "both", NULL)->number == 3);
	CHECK(get(&dst, "both", "0")->number == 30);
	CHECK(get(&dst, "both", "1")->number == 30);
	CHECK(get(&dst, "new", NULL)->kind == VALUE_BYTES);
	CHECK(!get(&dst, "kinds", NULL));
	CHECK(get(&dst, "plain", NULL)->number == 7);
	CHECK(!get(&dst, "text", NULL));
	CHECK(dst.count == 5);
	profile_node__clear(&dst);
	profile_node__clear(&src);
	free(dst.readings);
	free(src.readings);
	profile__free(profile);
}

/* WorkerProfile::merge(): nodes that only the other one has stay out. */
static void test_workers(void)
{
	const struct node_path first = { 1, { 1 } }, second = { 1, { 2 } }, third = { 1, { 3 } };
	struct profile *profile = calloc(1, sizeof(*profile));
	struct profile_worker dst = { 0 }, src = { 0 };

	set(profile, profile_worker__node(&dst, &first), "x", NULL, value__count(1));
	set(profile, profile_worker__node(&dst, &third), "x", NULL, value__count(3));
	set(profile, profile_worker__node(&src, &second), "x", NULL, value__count(20));
	set(profile, profile_worker__node(&src, &third), "x", NULL, value__count(30));
	CHECK(profile_worker__merge(profile, &dst, &src) == 0);
	CHECK(dst.count == 2);
	CHECK(get(&dst.nodes[0], "x", NULL)->number == 1);
	CHECK(get(&dst.nodes[1], "x", NULL)->number == 33);
	profile_worker__clear(&dst);
	profile_worker__clear(&src);
	profile__free(profile);
}

static void test_text_order(void)
{
	CHECK(utf8__compare("", "") == 0);
	CHECK(utf8__compare("", UTF8_NUL) < 0);
	CHECK(utf8__compare(UTF8_NUL, "\x01") < 0);
	CHECK(utf8__compare("a" UTF8_NUL, "a") > 0);
	CHECK(utf8__compare("a" UTF8_NUL "b", "a" UTF8_NUL "c") < 0);
	CHECK(utf8__compare("\xc3\xa9", "z") > 0);
	CHECK(utf8__compare("\xf0\x9f\x98\x80", "\xef\xbf\xbd") > 0);
}

static void test_node_index(void)
{
	struct node_index index = { 0 };
	struct node_path id = { .depth = 2 };
	size_t number;

	CHECK(node_index__find(&index, &id) == SIZE_MAX);
	for (uint32_t i = 0; i < 5000; i++) {
		id.id[0] = i % 7;
		id.id[1] = i;
		CHECK(node_index__add(&index, &id, &number) == 0 && number == i);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		id.id[0] = i % 7;
		id.id[1] = i;
		CHECK(node_index__find(&index, &id) == i);
		CHECK(node_index__add(&index, &id, &number) == 0 && number == i);
	}
	id.depth = 1;
	CHECK(node_index__find(&index, &id) == SIZE_MAX);
	CHECK(index.count == 5000);
	node_index__clear(&index);
}

static void test_node_ids(void)
{
	static const char *const good[] = { "n",      "nn0",	      "nn4",
					    "nn4_n2", "nn4294967295", "nn1_n2_n3_n4_n5_n6_n7_n8" };
	static const char *const bad[] = { "",
					   "x",
					   "n4",
					   "nn",
					   "nn4_",
					   "nn04",
					   "nn4_2",
					   "nn4n2",
					   "nn-1",
					   "nn4 ",
					   "N",
					   "nnn4",
					   "nn4_nn2",
					   "nn4__n2",
					   "nn4_r0",
					   "nn4294967296",
					   "nn1_n2_n3_n4_n5_n6_n7_n8_n9" };
	char text[NODE_ID_TEXT_MAX];
	struct node_path path;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(node_path__parse(good[i], &path) == 0);
		node_path__format(&path, text);
		CHECK_TEXT(text, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(node_path__parse(bad[i], &path) == -EINVAL);
}

int main(void)
{
	test_values();
	test_compound_values();
	test_mergeable();
	test_nodes();
	test_workers();
	test_text_order();
	test_node_index();
	test_node_ids();
	return CHECK_RESULT();
}
