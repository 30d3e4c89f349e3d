/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The value of a metric: DBSP's MetaItem (src/circuit/metadata.rs).
 */
#ifndef DBPROF_MODEL_VALUE_H
#define DBPROF_MODEL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind {
	VALUE_INT,
	VALUE_COUNT,
	VALUE_PERCENT,
	VALUE_CACHE_COUNTS,
	VALUE_STRING,
	VALUE_ARRAY,
	VALUE_MAP,
	VALUE_BYTES,
	VALUE_DURATION,
	VALUE_BOOL,
};

/* Rust's Duration. */
struct duration {
	uint64_t secs;
	uint32_t nanos; /* below 1,000,000,000 */
};

/* The numerator is an u64 in older crates, an i64 from some release up to 0.375.0 on. */
struct value_percent {
	uint64_t numerator;
	uint64_t denominator;
	bool negative; /* the numerator is below zero, in two's complement */
};

/* CacheCounts of src/storage/buffer_cache/cache.rs. */
struct value_cache_counts {
	uint64_t count; /* blocks */
	uint64_t bytes;
	struct duration elapsed;
};

struct value_array {
	struct value *items;
	size_t count;
};

struct value_map {
	struct value_entry *entries; /* sorted by key, as a BTreeMap */
	size_t count;
};

struct value {
	enum value_kind kind;
	union {
		uint64_t number; /* int, count, bytes */
		struct value_percent percent;
		struct value_cache_counts cache_counts;
		const char *string; /* of the profile's pool, not owned */
		struct value_array array;
		struct value_map map;
		struct duration duration;
		bool boolean;
	};
};

struct value_entry {
	const char *key; /* of the profile's pool, not owned */
	struct value value;
};

struct value value__int(uint64_t number);
struct value value__count(uint64_t number);
struct value value__percent(uint64_t numerator, uint64_t denominator);
struct value value__duration(struct duration duration);

/* The numerator with its sign. */
static inline double value_percent__numerator(const struct value_percent *value)
{
	return value->negative ? (double)(int64_t)value->numerator : (double)value->numerator;
}

struct duration duration__from_nanos(uint64_t nanos);
/* Saturates at the longest Duration, as Rust's saturating_add(). */
struct duration duration__add(struct duration a, struct duration b);

/* Frees what an array or a map holds. */
void value__clear(struct value *value);

#endif
