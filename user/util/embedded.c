// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <string.h>

#include "util/embedded.h"

/* Written by tools/embed.sh: a table of struct embedded and its length. */
extern const struct embedded embedded_files[];
extern const uint64_t embedded_count;

_Static_assert(sizeof(struct embedded) == 24, "embed.sh writes three 64-bit words a file");

const struct embedded *embedded__next(const char *prefix, const struct embedded *previous)
{
	size_t i = previous ? (size_t)(previous - embedded_files) + 1 : 0;

	for (; i < embedded_count; i++) {
		if (strncmp(embedded_files[i].name, prefix, strlen(prefix)) == 0)
			return &embedded_files[i];
	}
	return NULL;
}
