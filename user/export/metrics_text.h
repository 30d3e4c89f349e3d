/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics as text, in one of the two dialects that Prometheus and its relatives read.
 *
 * They differ in the names: OpenMetrics 1.0 describes the counter "x" and has samples "x_total",
 * Prometheus' older text format describes "x_total". What is valid as the one has no type and no
 * help in the other, so each is written for those who read it.
 */
#ifndef DBPROF_EXPORT_METRICS_TEXT_H
#define DBPROF_EXPORT_METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define METRICS_LABEL_MAX 256 /* bytes of a label's value before escapes; what is longer is cut */

enum metrics_dialect {
	METRICS_OPENMETRICS, /* what Prometheus asks a server for */
	METRICS_PROMETHEUS,  /* version 0.0.4: node_exporter's textfile collector, promtool */
};

/* The value of the HTTP header Content-Type. */
const char *metrics_dialect__content_type(enum metrics_dialect dialect);

enum metric_type {
	METRIC_COUNTER,
	METRIC_GAUGE,
	METRIC_INFO, /* a gauge that is always 1, whose labels are what it tells */
	METRIC_HISTOGRAM,
};

struct metrics_text {
	FILE *out;
	enum metrics_dialect dialect;
	int error; /* negative errno of the first failed write, which makes the rest a no-op */
	const char *name;
	enum metric_type type;
	bool labels; /* the open sample has one */
};

void metrics_text__begin(struct metrics_text *text, FILE *out, enum metrics_dialect dialect);
/* Returns 0 or the first error. Does not flush. */
int metrics_text__end(struct metrics_text *text);

/*
 * Begins a family, whose samples follow. @name is without "_total" and "_info" and ends with
 * "_@unit" when there is a unit, else @unit is NULL. @help is plain text of one line.
 */
void metrics_text__family(struct metrics_text *text, const char *name, enum metric_type type,
			  const char *unit, const char *help);

/* A sample: begin, labels, and one value, which ends it. */
void metrics_text__sample(struct metrics_text *text);
/* The same of a histogram: "_bucket", "_sum" or "_count". */
void metrics_text__part(struct metrics_text *text, const char *part);
/* Bytes that are not UTF-8 become U+FFFD; NULL is left out, as an empty label would be. */
void metrics_text__label(struct metrics_text *text, const char *name, const char *value);
void metrics_text__label_uint(struct metrics_text *text, const char *name, uint64_t value);
void metrics_text__uint(struct metrics_text *text, uint64_t value);
/* Nanoseconds as seconds, with all digits. */
void metrics_text__seconds(struct metrics_text *text, uint64_t nanos);

#endif
