// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "check.h"
#include "util/string_pool.h"
#include "util/text.h"

static void check_duration(uint64_t nanos, const char *wanted)
{
	char text[TEXT_NUMBER_MAX];

	text__duration(nanos, text);
	CHECK_TEXT(text, wanted);
}

static void test_durations(void)
{
	check_duration(0, "0 s");
	check_duration(1, "1 ns");
	check_duration(999, "999 ns");
	check_duration(1000, "1.00 us");
	check_duration(9994, "9.99 us");
	check_duration(9996, "10.0 us");
	check_duration(999499, "999 us");
	check_duration(999501, "1.00 ms");
	check_duration(12345678, "12.3 ms");
	check_duration(999600000, "1.00 s");
	check_duration(119900000000, "120 s");
	check_duration(120000000000, "2 min 0 s");
	check_duration(7199999999999, "119 min 59 s");
	check_duration(7200000000000, "2 h 0 min");
	check_duration(172800000000000, "2 d 0 h");
	check_duration(UINT64_MAX, "213503 d 23 h");
}

static void check_percent(uint64_t part, uint64_t whole, const char *wanted)
{
	char text[TEXT_NUMBER_MAX];

	text__percent(part, whole, text);
	CHECK_TEXT(text, wanted);
}

static void check_rate(uint64_t events, uint64_t nanos, const char *wanted)
{
	char text[TEXT_NUMBER_MAX];

	text__rate(events, nanos, text);
	CHECK_TEXT(text, wanted);
}

static void test_ratios(void)
{
	check_percent(0, 0, "-");
	check_percent(1, 0, "-");
	check_percent(0, 7, "0 %");
	check_percent(1, 1000, "<1 %");
	check_percent(1, 2, "50 %");
	check_percent(3, 2, "150 %");
	check_percent(UINT64_MAX, UINT64_MAX, "100 %");
	check_percent(UINT64_MAX, 1, "2e+21 %");
	check_rate(5, 0, "-");
	check_rate(0, 1, "0/s");
	check_rate(760, 10000000000, "76.0/s");
	check_rate(1, 3600000000000, "3e-04/s");
	check_rate(123456, 1000000000, "123456/s");
	check_rate(UINT64_MAX, 1, "1.84e+28/s");
}

static void test_printable(void)
{
	char text[8];

	text__printable(NULL, text, sizeof(text));
	CHECK_TEXT(text, "?");
	text__printable("a\tb\x7f", text, sizeof(text));
	CHECK_TEXT(text, "a?b?");
	text__printable("abcdef\xc3\xa4", text, sizeof(text)); /* no half characters */
	CHECK_TEXT(text, "abcdef");
	text__printable("\xff\xff\xff", text, sizeof(text));
	CHECK_TEXT(text, "\xef\xbf\xbd\xef\xbf\xbd");
	text__printable("abc", text, 1);
	CHECK_TEXT(text, "");
	CHECK(text__columns("\xc3\xa4\xe2\x82\xac") == 2);
}

static void test_pool(void)
{
	struct string_pool pool = { 0 };
	const char *first = string_pool__add(&pool, "0");
	char text[16];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 1000; i++) {
			snprintf(text, sizeof(text), "%d", i);
			CHECK_TEXT(string_pool__add(&pool, text), text);
		}
	CHECK(pool.count == 1000);
	CHECK(string_pool__add(&pool, "0") == first);
	string_pool__clear(&pool);
	CHECK_TEXT(string_pool__add(&pool, ""), "");
	string_pool__clear(&pool);
}

int main(void)
{
	test_durations();
	test_ratios();
	test_printable();
	test_pool();
	return CHECK_RESULT();
}
