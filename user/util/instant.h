/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_UTIL_INSTANT_H
#define DBPROF_UTIL_INSTANT_H

#include <stdint.h>

#define INSTANT_TEXT_MAX 64

/* RFC 3339 in UTC, nanoseconds included. Returns @text, NULL for a year that cannot be written. */
const char *instant__format(int64_t unix_nanos, char text[INSTANT_TEXT_MAX]);

/*
 * Parses "now", "@SECONDS" since 1970, or a date and time of day: "2026-11-30T21:57:54.5+01:00",
 * with T or a space between them, seconds and zone left out or not; without a zone it is local
 * time. Returns 0 or -EINVAL.
 */
int instant__parse(const char *text, int64_t *ret_unix_nanos);

/* CLOCK_REALTIME, ns. */
int64_t instant__now(void);

#endif
