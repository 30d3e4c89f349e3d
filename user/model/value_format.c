// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/value_format.h"
#include "util/utf8.h"

#define NANOS_PER_SECOND 1000000000u
#define NANOS_PER_MILLI	 1000000u
#define NANOS_PER_MICRO	 1000u

__extension__ typedef unsigned __int128 uint128;

/* num_format's Locale::en: "18,446,744,073,709,551,615". */
static void format_count(uint64_t number, FILE *out)
{
	uint16_t groups[7]; /* of three digits, the lowest first */
	size_t count = 0;

	do {
		groups[count++] = (uint16_t)(number % 1000);
		number /= 1000;
	} while (number > 0);
	fprintf(out, "%u", groups[--count]);
	while (count > 0)
		fprintf(out, ",%03u", groups[--count]);
}

/* Rust and the C library both round the exact binary value, halves to the even digit. */
static void format_percent(const struct value_percent *value, FILE *out)
{
	double percent = value_percent__numerator(value) / (double)value->denominator * 100.0;

	if (isfinite(percent))
		fprintf(out, "%.2f%%", percent);
	else
		fputs("(undefined)", out);
}

void value__format_bytes(uint64_t bytes, FILE *out)
{
	static const char *const units[] = { "EiB", "PiB", "TiB", "GiB", "MiB", "KiB" };
	double unit = 1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++, unit /= 1024.0) {
		/* One unit exactly is still told in the smaller one: "1024 B". */
		if ((double)bytes / unit > 1.0) {
			fprintf(out, "%.2f %s", (double)bytes / unit, units[i]);
			return;
		}
	}
	fprintf(out, "%" PRIu64 " B", bytes);
}

/* @part has @digits digits behind the point; those that say nothing are left out. */
static void format_decimal(uint64_t integer, uint32_t part, int digits, const char *unit, FILE *out)
{
	for (; part > 0 && part % 10 == 0; digits--)
		part /= 10;
	if (part > 0)
		fprintf(out, "%" PRIu64 ".%0*u%s", integer, digits, part, unit);
	else
		fprintf(out, "%" PRIu64 "%s", integer, unit);
}

void value__format_duration(struct duration duration, FILE *out)
{
	uint32_t nanos = duration.nanos;

	if (duration.secs > 0)
		format_decimal(duration.secs, nanos, 9, "s", out);
	else if (nanos >= NANOS_PER_MILLI)
		format_decimal(nanos / NANOS_PER_MILLI, nanos % NANOS_PER_MILLI, 6, "ms", out);
	else if (nanos >= NANOS_PER_MICRO)
		format_decimal(nanos / NANOS_PER_MICRO, nanos % NANOS_PER_MICRO, 3, "\xc2\xb5s",
			       out);
	else
		format_decimal(nanos, 0, 0, "ns", out);
}

/* All digits of a number that may need more than 64 bits. */
static void format_uint128(uint128 number, FILE *out)
{
	char digits[40];
	size_t at = sizeof(digits);

	digits[--at] = '\0';
	do {
		digits[--at] = (char)('0' + (int)(number % 10));
		number /= 10;
	} while (number > 0);
	fputs(&digits[at], out);
}

static void format_cache_counts(const struct value_cache_counts *value, FILE *out)
{
	uint128 nanos = (uint128)value->elapsed.secs * NANOS_PER_SECOND + value->elapsed.nanos;

	if (value->count == 0) {
		fputs("none", out);
		return;
	}
	fprintf(out, "%" PRIu64 " (", value->count);
	value__format_bytes(value->bytes, out);
	/* Duration::as_secs_f64() */
	fprintf(out, ") over %.1f s (",
		(double)value->elapsed.secs + (double)value->elapsed.nanos / 1e9);
	format_uint128(nanos / value->count, out);
	fputs(" ns/op)", out);
}

/* U+0000 stands there as it is. */
static void format_string(const char *text, FILE *out)
{
	const char *nul;

	for (; (nul = strstr(text, UTF8_NUL)); text = nul + strlen(UTF8_NUL)) {
		fwrite(text, 1, (size_t)(nul - text), out);
		fputc('\0', out);
	}
	fputs(text, out);
}

static void format_array(const struct value_array *array, FILE *out)
{
	fputc('[', out);
	for (size_t i = 0; i < array->count; i++) {
		if (i > 0)
			fputs(", ", out);
		value__format(&array->items[i], out);
	}
	fputc(']', out);
}

static void format_map(const struct value_map *map, FILE *out)
{
	fputc('{', out);
	for (size_t i = 0; i < map->count; i++) {
		if (i > 0)
			fputs(", ", out);
		format_string(map->entries[i].key, out);
		fputs(": ", out);
		value__format(&map->entries[i].value, out);
	}
	fputc('}', out);
}

void value__format(const struct value *value, FILE *out)
{
	switch (value->kind) {
	case VALUE_INT:
	case VALUE_COUNT:
		format_count(value->number, out);
		break;
	case VALUE_PERCENT:
		format_percent(&value->percent, out);
		break;
	case VALUE_CACHE_COUNTS:
		format_cache_counts(&value->cache_counts, out);
		break;
	case VALUE_STRING:
		format_string(value->string, out);
		break;
	case VALUE_ARRAY:
		format_array(&value->array, out);
		break;
	case VALUE_MAP:
		format_map(&value->map, out);
		break;
	case VALUE_BYTES:
		value__format_bytes(value->number, out);
		break;
	case VALUE_DURATION:
		value__format_duration(value->duration, out);
		break;
	case VALUE_BOOL:
		fputs(value->boolean ? "true" : "false", out);
		break;
	}
}

char *value__text(const struct value *value)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	value__format(value, out);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
