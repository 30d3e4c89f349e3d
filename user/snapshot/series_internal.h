/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the series share. */
#ifndef DBPROF_SNAPSHOT_SERIES_INTERNAL_H
#define DBPROF_SNAPSHOT_SERIES_INTERNAL_H

#include "snapshot/snapshot.h"

static inline uint64_t minus(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* Word by word. */
static inline void share__subtract(struct dbprof_kernel_share *from,
				   const struct dbprof_kernel_share *what)
{
	for (size_t i = 0; i < sizeof(*from) / sizeof(__u64); i++)
		((__u64 *)from)[i] = minus(((const __u64 *)from)[i], ((const __u64 *)what)[i]);
}

/*
 * @window's workers, which are from the begin on, without what @sum has of them. @last is the
 * snapshot that the last window ended with; both are NULL for the first window.
 */
void series__subtract_workers(struct snapshot *window, const struct snapshot *sum,
			      const struct snapshot *last);
/* Gives @whole, a copy of @until, the numbers that @sum and @window have together. */
void series__add_workers(struct snapshot *whole, const struct snapshot *sum,
			 const struct snapshot *window, const struct snapshot *until);

/* The same for threads. Those of @sum that are gone count as exited. */
void series__subtract_threads(struct snapshot *window, const struct snapshot *sum);
void series__add_threads(struct snapshot *whole, const struct snapshot *sum,
			 const struct snapshot *window);

#endif
