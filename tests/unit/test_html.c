// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What goes into the HTML page: the sums, the data, and what keeps it inside its element.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/export.h"
#include "export/html_data.h"
#include "export/html_sums.h"
#include "export/snapshot_source.h"
#include "util/name_index.h"
#include "util/sha256.h"
#include "check.h"
#include "fixture.h"

static void check_part(const char *text, const char *part)
{
	if (text && strstr(text, part))
		return;
	fprintf(stderr, "missing: %s\nin: %s\n", part, text ? text : "nothing");
	check_failures++;
}

/* The examples of FIPS 180-4, and a length that leaves no room for itself in its block. */
static void test_digest(void)
{
	static const struct {
		const char *text;
		const char *digest;
	} cases[] = {
		{ "", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" },
		{ "abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=" },
	};
	char digest[SHA256_BASE64_SIZE];
	struct sha256 sha;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sha256__begin(&sha);
		sha256__add(&sha, cases[i].text, strlen(cases[i].text));
		sha256__base64(&sha, digest);
		CHECK_TEXT(digest, cases[i].digest);
	}
}

static void test_names(void)
{
	struct name_index index = { 0 };
	char name[32];

	CHECK(name_index__find(&index, "0") == NAME_NONE);
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		CHECK(name_index__add(&index, name) == i);
		CHECK(name_index__add(&index, name) == i);
	}
	CHECK(name_index__find(&index, "999") == 999);
	CHECK(name_index__find(&index, "1000") == NAME_NONE);
	CHECK_TEXT(index.names[7], "7");
	CHECK(index.count == 1000);
	name_index__clear(&index);
}

static struct profile_reading reading_of(const char *metric, struct value value)
{
	return (struct profile_reading){ .metric = metric, .value = value };
}

/* Sums stop at the largest number; averages and extremes are not added up. */
static void test_sums(void)
{
	struct value_entry entries[] = {
		{ "avg_records_count", value__count(5) },
		{ "batches_count", value__count(2) },
		{ "min_records_count", value__count(3) },
	};
	struct value map = { .kind = VALUE_MAP, .map = { entries, 3 } };
	struct value flag = { .kind = VALUE_BOOL, .boolean = true };
	struct value text = { .kind = VALUE_STRING, .string = "none" };
	struct duration longest = { UINT64_MAX, 999999999 };
	struct profile_reading readings[] = {
		reading_of("batches_stats", map),
		reading_of("long_seconds", value__duration(longest)),
		reading_of("share_percent", value__percent(1, 4)),
		reading_of("some_bool", flag),
		reading_of("state", text),
	};
	struct html_keys keys = { 0 };
	struct html_row row = { 0 };

	for (int worker = 0; worker < 2; worker++) {
		for (size_t i = 0; i < 5; i++)
			CHECK(html_row__add(&row, &keys, &readings[i]) == 0);
		entries[0].value.number = entries[2].value.number = 4;
	}
	CHECK(row.count == 6 && keys.names.count == 6 && keys.left_out == 0);
	CHECK(row.sums[0].number == 5);
	CHECK(row.sums[1].number == 4);
	CHECK(row.sums[2].number == 3);
	CHECK(row.sums[3].number == UINT64_MAX && keys.keys[3].unit == HTML_NANOS);
	CHECK(row.sums[4].number == 2 && row.sums[4].whole == 8);
	CHECK(row.sums[5].number == 2 && keys.keys[5].unit == HTML_WORKERS);
	html_row__clear(&row);
	html_keys__clear(&keys);
}

/* A file with ever new metrics or endless labels costs no more than the limit. */
static void test_limits(void)
{
	struct html_keys keys = { 0 };
	struct html_row row = { 0 };
	char name[32], endless[5000];
	struct profile_label label = { "slot", endless };
	struct profile_reading labelled = reading_of("m", value__count(1));

	for (int i = 0; i < 3 * HTML_KEYS_MAX; i++) {
		struct profile_reading reading = reading_of(name, value__count(1));

		snprintf(name, sizeof(name), "metric_%d", i);
		CHECK(html_row__add(&row, &keys, &reading) == 0);
	}
	CHECK(row.count == HTML_KEYS_MAX && keys.left_out == 2 * HTML_KEYS_MAX);
	memset(endless, 'x', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	labelled.labels = &label;
	labelled.label_count = 1;
	CHECK(html_row__add(&row, &keys, &labelled) == 0);
	CHECK(keys.left_out == 2 * HTML_KEYS_MAX + 1);
	html_row__clear(&row);
	html_keys__clear(&keys);
}

static char *export_text(struct snapshot *snapshot)
{
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	CHECK(export_html(source, out, &fail) == 0);
	CHECK_TEXT(fail.text, "");
	fclose(out);
	profile_source__close(source);
	return text;
}

static void test_page(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	char *text, *data;

	free(snapshot->workers[0].graph->nodes[1].name);
	snapshot->workers[0].graph->nodes[1].name = strdup("</script><b>");
	text = export_text(snapshot);
	data = text ? strstr(text, "id=\"profile\">") : NULL;
	check_part(text, "<!doctype html>\n");
	check_part(text, "default-src 'none'; script-src 'sha256-");
	check_part(data, "\"first_worker\":0,\"dbsp\":\"0.354.0\"");
	/* nn0: wall, CPU, evaluations, run queue, preempted, blocked, not observed. */
	check_part(data, ",2000000000,1500000000,100,100000000,200000000,150000000,50000000]");
	check_part(data, "[\"blocked_seconds\",\"\",\"cause=futex\",\"ns\",\"sum\"]");
	check_part(data, "[\"nn0\",\"\\u003c/script>\\u003cb>");
	check_part(data, "\"members\":{\"threads\":[{\"tid\":2000");
	CHECK(text && !strstr(text, "{{"));
	free(text);
	snapshot__free(snapshot);
}

/* A full disk is an error, wherever it happens. */
static void test_full(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	FILE *out = fopen("/dev/full", "w");

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	if (CHECK(out)) {
		CHECK(export_html(source, out, &fail) < 0);
		fclose(out);
	}
	profile_source__close(source);
	snapshot__free(snapshot);
}

/* Numbers as large as they get, and workers that made no step. */
static void test_extremes(void)
{
	struct snapshot *snapshot = fixture_snapshot(3, false);
	char *text;

	for (size_t i = 0; i < snapshot->worker_count; i++)
		fixture_largest(&snapshot->workers[i]);
	text = export_text(snapshot);
	check_part(text, "18446744073709551615");
	free(text);
	snapshot__free(snapshot);
	snapshot = fixture_snapshot(2, true);
	text = export_text(snapshot);
	check_part(text, "\"workers\":[{\"rows\":[],\"root\":[");
	free(text);
	snapshot__free(snapshot);
}

int main(void)
{
	test_digest();
	test_names();
	test_sums();
	test_limits();
	test_page();
	test_full();
	test_extremes();
	return CHECK_RESULT();
}
