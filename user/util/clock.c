// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <time.h>

#include "util/clock.h"

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

uint64_t clock__now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock__date_offset(void)
{
	uint64_t date = read_clock(CLOCK_REALTIME);

	return (int64_t)(date - read_clock(CLOCK_MONOTONIC));
}

void clock__sleep_until(uint64_t when)
{
	struct timespec until = { (time_t)(when / 1000000000ULL), (long)(when % 1000000000ULL) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}
