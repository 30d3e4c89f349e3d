/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds names that an object of a JSON text has twice, of which parsers keep the last one.
 */
#ifndef DBPROF_LAYOUT_JSON_KEYS_H
#define DBPROF_LAYOUT_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether an object of @text, which must be valid JSON, has a name twice. *ret_key is such a
 * name, cut to @size bytes. Names are compared as written, so an escaped one counts as another.
 */
bool json_keys__duplicate(const char *text, size_t len, char *ret_key, size_t size);

#endif
