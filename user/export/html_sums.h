/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers of a profile by node and metric, all workers together, for the HTML page.
 */
#ifndef DBPROF_EXPORT_HTML_SUMS_H
#define DBPROF_EXPORT_HTML_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "util/name_index.h"

/* More kinds of readings than any engine has; what a broken file has beyond them is left out. */
#define HTML_KEYS_MAX 1024

enum html_unit {
	HTML_COUNT,
	HTML_NANOS,
	HTML_BYTES,
	HTML_PERCENT, /* two numbers: the part and the whole */
	HTML_WORKERS, /* a bool: for how many workers it is true */
};

enum html_fold {
	HTML_ADD,
	HTML_MOST,
	HTML_LEAST,
};

/* A kind of reading: the metric, its labels, and which number of it. */
struct html_key {
	char *metric;
	char *part;   /* of a value that holds several numbers; "" */
	char *labels; /* "cause=futex"; "" */
	enum html_unit unit;
	enum html_fold fold;
};

struct html_sum {
	uint32_t key;
	uint64_t number;
	uint64_t whole; /* of a percentage */
};

/* Numbers by key, in the order in which they came. */
struct html_row {
	struct html_sum *sums;
	size_t count;
	size_t capacity;
	size_t next; /* where the next number is expected */
};

struct html_keys {
	struct name_index names;
	struct html_key *keys;
	size_t capacity;
	uint64_t left_out; /* numbers */
};

/*
 * Adds the numbers of @reading to @row; sums stop at the largest number instead of wrapping. Text
 * and lists have no number. Returns 0 or -ENOMEM.
 */
int html_row__add(struct html_row *row, struct html_keys *keys,
		  const struct profile_reading *reading);
void html_row__clear(struct html_row *row);
void html_keys__clear(struct html_keys *keys);

/* Saturating. */
uint64_t html__add(uint64_t a, uint64_t b);
uint64_t html__nanos(struct duration duration);

#endif
