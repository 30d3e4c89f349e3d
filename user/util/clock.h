/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The clock of all windows, which the kernel side reads as well.
 */
#ifndef DBPROF_UTIL_CLOCK_H
#define DBPROF_UTIL_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, ns. */
uint64_t clock__now(void);

/* Returns when that moment has come. */
void clock__sleep_until(uint64_t when);

/*
 * What has to be added to such a time for the date, CLOCK_REALTIME, ns. It changes when the clock
 * is set, and by as long as the machine is suspended.
 */
int64_t clock__date_offset(void);

#endif
