/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metrics of docs/metrics.md, which names each with its unit, labels and number of series.
 */
#ifndef DBPROF_EXPORT_OPENMETRICS_H
#define DBPROF_EXPORT_OPENMETRICS_H

#include <stddef.h>
#include <stdio.h>

#include "export/metrics_sums.h"
#include "export/metrics_text.h"
#include "util/fail.h"

/*
 * A sample of the profiler's own state, with one label or none (NULL). Samples of one family stand
 * together; a time, whose unit is "seconds", is in nanoseconds.
 */
struct metrics_number {
	const char *name; /* as metrics_text__family() takes it */
	enum metric_type type;
	const char *unit;
	const char *help;
	const char *label;
	const char *value;
	uint64_t number;
};

/* What a daemon tells of itself; of a single window there is nothing. */
struct metrics_own {
	const struct metrics_number *numbers;
	size_t count;
};

/*
 * Writes the metrics of @count processes and what profiling all of them took; @own may be NULL. No
 * two may have the same process id. Returns 0 or a negative errno, with a sentence in @fail when
 * there is more to say than that the output cannot be written.
 */
int openmetrics__write(FILE *out, enum metrics_dialect dialect,
		       const struct metrics_sums *const *processes, size_t count,
		       const struct metrics_cost *cost, const struct metrics_own *own,
		       struct fail *fail);

#endif
