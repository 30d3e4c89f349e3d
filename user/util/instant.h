/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_UTIL_INSTANT_H
#define DBPROF_UTIL_INSTANT_H

#include <stdint.h>

#define INSTANT_TEXT_MAX 64

/* RFC 3339 in UTC, nanoseconds included. Returns @text, NULL for a year that cannot be written. */
const char *instant__format(int64_t unix_nanos, char text[INSTANT_TEXT_MAX]);

/* CLOCK_REALTIME, ns. */
int64_t instant__now(void);

#endif
