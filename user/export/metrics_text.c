// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "export/metrics_text.h"
#include "util/utf8.h"

#define NANOS_PER_SECOND 1000000000u

const char *metrics_dialect__content_type(enum metrics_dialect dialect)
{
	return dialect == METRICS_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

static void fail(struct metrics_text *text)
{
	if (!text->error)
		text->error = errno ? -errno : -EIO;
}

static void put(struct metrics_text *text, const char *bytes, size_t len)
{
	if (!text->error && fwrite(bytes, 1, len, text->out) != len)
		fail(text);
}

__attribute__((format(printf, 2, 3))) static void print(struct metrics_text *text,
							const char *format, ...)
{
	va_list list;

	if (text->error)
		return;
	va_start(list, format);
	if (vfprintf(text->out, format, list) < 0)
		fail(text);
	va_end(list);
}

void metrics_text__begin(struct metrics_text *text, FILE *out, enum metrics_dialect dialect)
{
	*text = (struct metrics_text){ .out = out, .dialect = dialect };
}

int metrics_text__end(struct metrics_text *text)
{
	if (text->dialect == METRICS_OPENMETRICS)
		print(text, "# EOF\n");
	return text->error;
}

static const char *suffix(const struct metrics_text *text)
{
	switch (text->type) {
	case METRIC_COUNTER:
		return "_total";
	case METRIC_INFO:
		return "_info";
	case METRIC_GAUGE:
	case METRIC_HISTOGRAM:
		break;
	}
	return "";
}

static const char *type_name(const struct metrics_text *text)
{
	if (text->type == METRIC_COUNTER)
		return "counter";
	if (text->type == METRIC_HISTOGRAM)
		return "histogram";
	return text->type == METRIC_INFO && text->dialect == METRICS_OPENMETRICS ? "info" : "gauge";
}

void metrics_text__family(struct metrics_text *text, const char *name, enum metric_type type,
			  const char *unit, const char *help)
{
	const char *end;

	text->name = name;
	text->type = type;
	end = text->dialect == METRICS_PROMETHEUS ? suffix(text) : "";
	print(text, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end,
	      type_name(text));
	if (unit && text->dialect == METRICS_OPENMETRICS)
		print(text, "# UNIT %s %s\n", name, unit);
}

void metrics_text__sample(struct metrics_text *text)
{
	text->labels = false;
	print(text, "%s%s", text->name, suffix(text));
}

void metrics_text__part(struct metrics_text *text, const char *part)
{
	text->labels = false;
	print(text, "%s%s", text->name, part);
}

static void value(struct metrics_text *text, const char *bytes)
{
	size_t left = strnlen(bytes, METRICS_LABEL_MAX + 1), room = METRICS_LABEL_MAX, len;
	uint32_t ch;

	for (; (len = utf8__next(bytes, left, &ch)) > 0 && len <= room; room -= len) {
		if (ch == UTF8_INVALID)
			put(text, "\xef\xbf\xbd", 3);
		else if (ch == '\n')
			put(text, "\\n", 2);
		else if (ch == '"' || ch == '\\')
			print(text, "\\%c", (int)ch);
		else
			put(text, bytes, len);
		bytes += len;
		left -= len;
	}
}

void metrics_text__label(struct metrics_text *text, const char *name, const char *bytes)
{
	if (!bytes || !*bytes)
		return;
	print(text, "%s%s=\"", text->labels ? "," : "{", name);
	value(text, bytes);
	print(text, "\"");
	text->labels = true;
}

void metrics_text__label_uint(struct metrics_text *text, const char *name, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	metrics_text__label(text, name, digits);
}

void metrics_text__uint(struct metrics_text *text, uint64_t number)
{
	print(text, "%s %" PRIu64 "\n", text->labels ? "}" : "", number);
}

void metrics_text__seconds(struct metrics_text *text, uint64_t nanos)
{
	print(text, "%s %" PRIu64 ".%09" PRIu64 "\n", text->labels ? "}" : "",
	      nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND);
}
