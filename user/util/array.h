/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_UTIL_ARRAY_H
#define DBPROF_UTIL_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Room for one more element of @size bytes in @array, which has @count of *@capacity. Returns the
 * array, which may have moved; NULL when memory is short, and then @array is still good.
 */
static inline void *array__reserve(void *array, size_t *capacity, size_t count, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 1;
	void *grown;

	if (count < *capacity)
		return array;
	grown = reallocarray(array, wanted, size);
	if (grown)
		*capacity = wanted;
	return grown;
}

#endif
