// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"
#include "util/utf8.h"

#define NANOS_PER_SECOND 1000000000u

/* Three significant digits; what rounds to 1000 is left to the next unit by the caller. */
static void significant(double value, const char *unit, char text[TEXT_NUMBER_MAX])
{
	int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text, TEXT_NUMBER_MAX, "%.*f%s", digits, value, unit);
}

/* From two minutes on: the two largest units that apply, cut, not rounded. */
static void long_duration(uint64_t seconds, char text[TEXT_NUMBER_MAX])
{
	if (seconds < 2 * 3600)
		snprintf(text, TEXT_NUMBER_MAX, "%" PRIu64 " min %" PRIu64 " s", seconds / 60,
			 seconds % 60);
	else if (seconds < 2 * 86400)
		snprintf(text, TEXT_NUMBER_MAX, "%" PRIu64 " h %" PRIu64 " min", seconds / 3600,
			 seconds / 60 % 60);
	else
		snprintf(text, TEXT_NUMBER_MAX, "%" PRIu64 " d %" PRIu64 " h", seconds / 86400,
			 seconds / 3600 % 24);
}

void text__duration(uint64_t nanos, char text[TEXT_NUMBER_MAX])
{
	double value = (double)nanos;

	if (nanos == 0)
		snprintf(text, TEXT_NUMBER_MAX, "0 s");
	else if (nanos < 1000)
		snprintf(text, TEXT_NUMBER_MAX, "%" PRIu64 " ns", nanos);
	else if (value < 999.5e3)
		significant(value / 1e3, " us", text);
	else if (value < 999.5e6)
		significant(value / 1e6, " ms", text);
	else if (nanos < 120 * (uint64_t)NANOS_PER_SECOND)
		significant(value / 1e9, " s", text);
	else
		long_duration(nanos / NANOS_PER_SECOND, text);
}

void text__percent(uint64_t part, uint64_t whole, char text[TEXT_NUMBER_MAX])
{
	double value;

	if (whole == 0) {
		snprintf(text, TEXT_NUMBER_MAX, "-");
		return;
	}
	value = 100.0 * (double)part / (double)whole;
	if (part > 0 && value < 0.5)
		snprintf(text, TEXT_NUMBER_MAX, "<1 %%");
	else if (value < 1e6)
		snprintf(text, TEXT_NUMBER_MAX, "%.0f %%", value);
	else
		snprintf(text, TEXT_NUMBER_MAX, "%.0e %%", value);
}

void text__rate(uint64_t events, uint64_t nanos, char text[TEXT_NUMBER_MAX])
{
	double value;

	if (nanos == 0) {
		snprintf(text, TEXT_NUMBER_MAX, "-");
		return;
	}
	value = (double)events / ((double)nanos / 1e9);
	if (events == 0)
		snprintf(text, TEXT_NUMBER_MAX, "0/s");
	else if (value < 0.005)
		snprintf(text, TEXT_NUMBER_MAX, "%.0e/s", value);
	else if (value < 1e9)
		significant(value, "/s", text);
	else
		snprintf(text, TEXT_NUMBER_MAX, "%.2e/s", value);
}

void text__printable(const char *from, char *text, size_t size)
{
	size_t left, len, used = 0;
	const char *copy;
	uint32_t ch;

	if (size == 0)
		return;
	if (!from)
		from = "?";
	for (left = strlen(from); left > 0; left -= len, from += len) {
		size_t bytes;

		len = bytes = utf8__next(from, left, &ch);
		copy = from;
		if (ch == UTF8_INVALID) {
			copy = "\xef\xbf\xbd";
			bytes = 3;
		} else if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0)) {
			copy = "?";
			bytes = 1;
		}
		if (bytes >= size - used)
			break;
		memcpy(text + used, copy, bytes);
		used += bytes;
	}
	text[used] = '\0';
}

size_t text__columns(const char *text)
{
	size_t left = strlen(text);
	size_t columns = 0;
	uint32_t ch;

	while (left > 0) {
		size_t len = utf8__next(text, left, &ch);

		text += len;
		left -= len;
		columns++;
	}
	return columns;
}
