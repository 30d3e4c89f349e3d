/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Data files that are part of the program: layouts and metric tables, put there by
 * tools/embed.sh.
 */
#ifndef DBPROF_UTIL_EMBEDDED_H
#define DBPROF_UTIL_EMBEDDED_H

#include <stddef.h>

struct embedded {
	const char *name; /* below user/: "layouts/..", "metrics/.." */
	const char *data; /* not ended by a NUL */
	size_t len;
};

/*
 * The file after @previous (NULL: the first one) whose name begins with @prefix, in the order in
 * which they were given to embed.sh; NULL after the last one.
 */
const struct embedded *embedded__next(const char *prefix, const struct embedded *previous);

#endif
