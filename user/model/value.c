// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "model/value.h"

#define NANOS_PER_SECOND 1000000000u

struct value value__int(uint64_t number)
{
	return (struct value){ .kind = VALUE_INT, .number = number };
}

struct value value__count(uint64_t number)
{
	return (struct value){ .kind = VALUE_COUNT, .number = number };
}

struct value value__percent(uint64_t numerator, uint64_t denominator)
{
	return (struct value){ .kind = VALUE_PERCENT,
			       .percent = { numerator, denominator, false } };
}

struct value value__duration(struct duration duration)
{
	return (struct value){ .kind = VALUE_DURATION, .duration = duration };
}

struct duration duration__from_nanos(uint64_t nanos)
{
	return (struct duration){ nanos / NANOS_PER_SECOND, (uint32_t)(nanos % NANOS_PER_SECOND) };
}

struct duration duration__add(struct duration a, struct duration b)
{
	struct duration sum = { 0, a.nanos + b.nanos };
	uint64_t carry = 0;

	if (sum.nanos >= NANOS_PER_SECOND) {
		sum.nanos -= NANOS_PER_SECOND;
		carry = 1;
	}
	if (__builtin_add_overflow(a.secs, b.secs, &sum.secs) ||
	    __builtin_add_overflow(sum.secs, carry, &sum.secs))
		return (struct duration){ UINT64_MAX, NANOS_PER_SECOND - 1 };
	return sum;
}

void value__clear(struct value *value)
{
	if (value->kind == VALUE_ARRAY) {
		for (size_t i = 0; i < value->array.count; i++)
			value__clear(&value->array.items[i]);
		free(value->array.items);
	} else if (value->kind == VALUE_MAP) {
		for (size_t i = 0; i < value->map.count; i++)
			value__clear(&value->map.entries[i].value);
		free(value->map.entries);
	}
	*value = (struct value){ .kind = VALUE_BOOL };
}
