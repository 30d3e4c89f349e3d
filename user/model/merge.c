// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "model/merge.h"

bool value__is_mergeable(const struct value *value)
{
	switch (value->kind) {
	case VALUE_COUNT:
	case VALUE_BYTES:
	case VALUE_CACHE_COUNTS:
	case VALUE_DURATION:
	case VALUE_PERCENT:
		return true;
	case VALUE_INT:
	case VALUE_STRING:
	case VALUE_ARRAY:
	case VALUE_MAP:
	case VALUE_BOOL:
		break;
	}
	return false;
}

bool value__merge(const struct value *a, const struct value *b, struct value *ret_sum)
{
	struct value sum = { .kind = a->kind };

	if (a->kind != b->kind || !value__is_mergeable(a))
		return false;
	if (a->kind == VALUE_DURATION) {
		sum.duration = duration__add(a->duration, b->duration);
	} else if (a->kind == VALUE_PERCENT) {
		sum.percent.numerator = a->percent.numerator + b->percent.numerator;
		/* The sum is an i64 as soon as one of the two can only be one. */
		sum.percent.negative = (a->percent.negative || b->percent.negative) &&
				       sum.percent.numerator > INT64_MAX;
		sum.percent.denominator = a->percent.denominator + b->percent.denominator;
	} else if (a->kind == VALUE_CACHE_COUNTS) {
		sum.cache_counts.count = a->cache_counts.count + b->cache_counts.count;
		sum.cache_counts.bytes = a->cache_counts.bytes + b->cache_counts.bytes;
		sum.cache_counts.elapsed =
			duration__add(a->cache_counts.elapsed, b->cache_counts.elapsed);
	} else {
		sum.number = a->number + b->number;
	}
	*ret_sum = sum;
	return true;
}

int profile_node__merge(struct profile *profile, struct profile_node *dst,
			const struct profile_node *src)
{
	int err = 0;

	for (size_t i = 0; i < src->count && !err; i++) {
		const struct profile_reading *from = &src->readings[i];
		struct profile_reading *to;
		struct value sum;

		if (!value__is_mergeable(&from->value))
			continue;
		to = profile_node__find(dst, from->metric, from->labels, from->label_count);
		if (!to)
			err = profile_node__set(profile, dst, from->metric, from->labels,
						from->label_count, from->value);
		else if (value__merge(&from->value, &to->value, &sum))
			to->value = sum;
		else
			profile_node__remove(dst, to);
	}
	return err;
}

/* Both are sorted by id. */
int profile_worker__merge(struct profile *profile, struct profile_worker *dst,
			  const struct profile_worker *src)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < dst->count && !err; i++) {
		const struct node_path *id = &dst->nodes[i].id;

		while (at < src->count && node_path__compare(&src->nodes[at].id, id) < 0)
			at++;
		if (at < src->count && node_path__compare(&src->nodes[at].id, id) == 0)
			err = profile_node__merge(profile, &dst->nodes[i], &src->nodes[at]);
	}
	return err;
}
