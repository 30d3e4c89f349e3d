// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/html_sums.h"
#include "util/array.h"

#define KEY_TEXT_MAX	 512
#define NANOS_PER_SECOND 1000000000u

/* A number on its way into a row. */
struct number {
	const struct profile_reading *reading;
	const char *part;
	enum html_unit unit;
	uint64_t number;
	uint64_t whole;
};

uint64_t html__add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t html__nanos(struct duration duration)
{
	uint64_t nanos;

	if (__builtin_mul_overflow(duration.secs, NANOS_PER_SECOND, &nanos))
		return UINT64_MAX;
	return html__add(nanos, duration.nanos);
}

/* "cause=futex"; false when it does not fit. */
static bool format_labels(const struct profile_reading *reading, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < reading->label_count; i++) {
		int more = snprintf(text + len, size - len, "%s%s=%s", i ? ", " : "",
				    reading->labels[i].key, reading->labels[i].value);

		if (more < 0 || (size_t)more >= size - len)
			return false;
		len += (size_t)more;
	}
	return true;
}

/* The averages and extremes that a value holds beside its counts cannot be added up. */
static enum html_fold fold_of(const char *part)
{
	if (strncmp(part, "min", 3) == 0)
		return HTML_LEAST;
	if (strncmp(part, "max", 3) == 0 || strncmp(part, "avg", 3) == 0)
		return HTML_MOST;
	return HTML_ADD;
}

static int new_key(struct html_keys *keys, const struct number *from, const char *labels)
{
	/* The name is in the index already: its place is that of the key. */
	struct html_key *to, *array = array__reserve(keys->keys, &keys->capacity,
						     keys->names.count - 1, sizeof(*array));

	if (!array)
		return -ENOMEM;
	keys->keys = array;
	to = &array[keys->names.count - 1];
	*to = (struct html_key){
		.metric = strdup(from->reading->metric),
		.part = strdup(from->part),
		.labels = strdup(labels),
		.unit = from->unit,
		.fold = fold_of(from->part),
	};
	return to->metric && to->part && to->labels ? 0 : -ENOMEM;
}

/* *@ret_key is NAME_NONE for a number that is left out. */
static int key_of(struct html_keys *keys, const struct number *from, uint32_t *ret_key)
{
	char labels[KEY_TEXT_MAX / 2], text[KEY_TEXT_MAX];
	size_t before = keys->names.count;
	int len;

	*ret_key = NAME_NONE;
	if (!format_labels(from->reading, labels, sizeof(labels)))
		return 0;
	len = snprintf(text, sizeof(text), "%s\n%s\n%s\n%d", from->reading->metric, from->part,
		       labels, from->unit);
	if (len < 0 || (size_t)len >= sizeof(text))
		return 0;
	*ret_key = name_index__find(&keys->names, text);
	if (*ret_key != NAME_NONE || before >= HTML_KEYS_MAX)
		return 0;
	*ret_key = name_index__add(&keys->names, text);
	return *ret_key == NAME_NONE ? -ENOMEM : new_key(keys, from, labels);
}

/* The sum of @key. All workers have about the same readings in the same order. */
static struct html_sum *sum_of(struct html_row *row, uint32_t key)
{
	struct html_sum *sums;

	for (size_t i = 0; i < row->count; i++) {
		size_t at = (row->next + i) % row->count;

		if (row->sums[at].key == key) {
			row->next = at + 1;
			return &row->sums[at];
		}
	}
	sums = array__reserve(row->sums, &row->capacity, row->count, sizeof(*sums));
	if (!sums)
		return NULL;
	row->sums = sums;
	sums[row->count] = (struct html_sum){ .key = key };
	return &sums[row->count++];
}

static int add(struct html_row *row, struct html_keys *keys, const struct number *from)
{
	size_t before = row->count;
	struct html_sum *sum;
	enum html_fold fold;
	uint32_t key;
	int err = key_of(keys, from, &key);

	if (err)
		return err;
	if (key == NAME_NONE) {
		keys->left_out++;
		return 0;
	}
	sum = sum_of(row, key);
	if (!sum)
		return -ENOMEM;
	fold = keys->keys[key].fold;
	if (row->count > before || fold == HTML_ADD) {
		sum->number = html__add(sum->number, from->number);
		sum->whole = html__add(sum->whole, from->whole);
	} else if ((fold == HTML_MOST) == (from->number > sum->number)) {
		sum->number = from->number;
		sum->whole = from->whole;
	}
	return 0;
}

/* One number; false when @value is none. */
static bool scalar(const struct value *value, struct number *ret_number)
{
	switch (value->kind) {
	case VALUE_INT:
	case VALUE_COUNT:
		ret_number->unit = HTML_COUNT;
		ret_number->number = value->number;
		return true;
	case VALUE_BYTES:
		ret_number->unit = HTML_BYTES;
		ret_number->number = value->number;
		return true;
	case VALUE_DURATION:
		ret_number->unit = HTML_NANOS;
		ret_number->number = html__nanos(value->duration);
		return true;
	case VALUE_PERCENT:
		/* The page has no numbers below zero. */
		if (value->percent.negative)
			return false;
		ret_number->unit = HTML_PERCENT;
		ret_number->number = value->percent.numerator;
		ret_number->whole = value->percent.denominator;
		return true;
	case VALUE_BOOL:
		ret_number->unit = HTML_WORKERS;
		ret_number->number = value->boolean;
		return true;
	default:
		return false;
	}
}

static int add_cache_counts(struct html_row *row, struct html_keys *keys,
			    const struct profile_reading *reading)
{
	const struct value_cache_counts *counts = &reading->value.cache_counts;
	const struct number numbers[] = {
		{ reading, "count", HTML_COUNT, counts->count, 0 },
		{ reading, "bytes", HTML_BYTES, counts->bytes, 0 },
		{ reading, "elapsed", HTML_NANOS, html__nanos(counts->elapsed), 0 },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !err; i++)
		err = add(row, keys, &numbers[i]);
	return err;
}

int html_row__add(struct html_row *row, struct html_keys *keys,
		  const struct profile_reading *reading)
{
	const struct value *value = &reading->value;
	struct number number = { .reading = reading, .part = "" };
	int err = 0;

	if (value->kind == VALUE_CACHE_COUNTS)
		return add_cache_counts(row, keys, reading);
	if (scalar(value, &number))
		return add(row, keys, &number);
	if (value->kind != VALUE_MAP)
		return 0;
	for (size_t i = 0; i < value->map.count && !err; i++) {
		number = (struct number){ .reading = reading, .part = value->map.entries[i].key };
		if (scalar(&value->map.entries[i].value, &number))
			err = add(row, keys, &number);
	}
	return err;
}

void html_row__clear(struct html_row *row)
{
	free(row->sums);
	*row = (struct html_row){ 0 };
}

void html_keys__clear(struct html_keys *keys)
{
	for (size_t i = 0; i < keys->names.count && i < keys->capacity; i++) {
		free(keys->keys[i].metric);
		free(keys->keys[i].part);
		free(keys->keys[i].labels);
	}
	free(keys->keys);
	name_index__clear(&keys->names);
	*keys = (struct html_keys){ 0 };
}
