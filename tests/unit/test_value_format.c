// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "check.h"
#include "model/value_format.h"

static void check(struct value value, const char *wanted)
{
	char *text = value__text(&value);

	CHECK_TEXT(text, wanted);
	free(text);
}

static struct value bytes(uint64_t number)
{
	return (struct value){ .kind = VALUE_BYTES, .number = number };
}

static struct value duration(uint64_t secs, uint32_t nanos)
{
	return value__duration((struct duration){ secs, nanos });
}

static struct value cache_counts(uint64_t count, uint64_t bytes, struct duration elapsed)
{
	return (struct value){ .kind = VALUE_CACHE_COUNTS,
			       .cache_counts = { count, bytes, elapsed } };
}

static void test_numbers(void)
{
	check(value__int(0), "0");
	check(value__int(999), "999");
	check(value__count(1000), "1,000");
	check(value__count(1020003), "1,020,003");
	check(value__int(UINT64_MAX), "18,446,744,073,709,551,615");
	check((struct value){ .kind = VALUE_BOOL, .boolean = true }, "true");
	check((struct value){ .kind = VALUE_BOOL, .boolean = false }, "false");
}

/* Wanted texts are what Rust's format!("{percent:.02}%") gives. */
static void test_percents(void)
{
	check(value__percent(0, 0), "(undefined)");
	check(value__percent(1, 0), "(undefined)");
	check(value__percent(0, 1), "0.00%");
	check(value__percent(1, 3), "33.33%");
	check(value__percent(1, 800), "0.12%");
	check(value__percent(3, 800), "0.38%");
	check(value__percent(1, 20000), "0.01%");
	check(value__percent(12345, 100), "12345.00%");
	check(value__percent(UINT64_MAX, 1), "1844674407370955161600.00%");
	check(value__percent(UINT64_MAX, UINT64_MAX), "100.00%");
}

/* A unit is used for more than one of it, as size_of's human_bytes.rs has it. */
static void test_bytes(void)
{
	check(bytes(0), "0 B");
	check(bytes(1024), "1024 B");
	check(bytes(1025), "1.00 KiB");
	check(bytes(1536), "1.50 KiB");
	check(bytes(1 << 20), "1024.00 KiB");
	check(bytes(3u << 20), "3.00 MiB");
	check(bytes(3ull << 30), "3.00 GiB");
	check(bytes(3ull << 40), "3.00 TiB");
	check(bytes(3ull << 50), "3.00 PiB");
	check(bytes(UINT64_MAX), "16.00 EiB");
}

/* Wanted texts are what Rust's format!("{duration:#?}") gives. */
static void test_durations(void)
{
	check(duration(0, 0), "0ns");
	check(duration(0, 999), "999ns");
	check(duration(0, 1000), "1\xc2\xb5s");
	check(duration(0, 999999), "999.999\xc2\xb5s");
	check(duration(0, 20250000), "20.25ms");
	check(duration(0, 999999999), "999.999999ms");
	check(duration(1, 0), "1s");
	check(duration(5, 1), "5.000000001s");
	check(duration(3600, 120000000), "3600.12s");
	check(duration(UINT64_MAX, 999999999), "18446744073709551615.999999999s");
}

static void test_cache_counts(void)
{
	check(cache_counts(0, 5, (struct duration){ 1, 0 }), "none");
	check(cache_counts(1234, 2048, (struct duration){ 0, 50000000 }),
	      "1234 (2.00 KiB) over 0.1 s (40518 ns/op)");
	check(cache_counts(1, 0, (struct duration){ UINT64_MAX, 999999999 }),
	      "1 (0 B) over 18446744073709551616.0 s (18446744073709551615999999999 ns/op)");
}

static void test_nested(void)
{
	struct value pair[] = { value__count(1000), { .kind = VALUE_STRING, .string = "a, b" } };
	struct value_entry entries[] = {
		{ "batches", value__count(2) },
		{ "sizes", { .kind = VALUE_ARRAY, .array = { pair, 2 } } },
	};

	check((struct value){ .kind = VALUE_ARRAY, .array = { NULL, 0 } }, "[]");
	check((struct value){ .kind = VALUE_MAP, .map = { NULL, 0 } }, "{}");
	check((struct value){ .kind = VALUE_MAP, .map = { entries, 2 } },
	      "{batches: 2, sizes: [1,000, a, b]}");
}

int main(void)
{
	test_numbers();
	test_percents();
	test_bytes();
	test_durations();
	test_cache_counts();
	test_nested();
	return CHECK_RESULT();
}
