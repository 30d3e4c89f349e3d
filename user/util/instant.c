// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "util/instant.h"

#define NANOS_PER_SECOND 1000000000

const char *instant__format(int64_t unix_nanos, char text[INSTANT_TEXT_MAX])
{
	int64_t part = unix_nanos % NANOS_PER_SECOND;
	time_t seconds = unix_nanos / NANOS_PER_SECOND;
	char date[40];
	struct tm tm;

	if (part < 0) {
		part += NANOS_PER_SECOND;
		seconds--;
	}
	if (!gmtime_r(&seconds, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return NULL;
	snprintf(text, INSTANT_TEXT_MAX, "%s.%09" PRId64 "Z", date, part);
	return text;
}

int64_t instant__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NANOS_PER_SECOND + now.tv_nsec;
}
