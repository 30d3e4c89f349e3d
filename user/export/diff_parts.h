/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of a comparison for people. */
#ifndef DBPROF_EXPORT_DIFF_PARTS_H
#define DBPROF_EXPORT_DIFF_PARTS_H

#include "export/diff.h"
#include "export/summary_parts.h"

#define DIFF_NAME_MIN 24 /* columns for names, for which others give way */

/* Where it goes, as the summary's parts want it. */
struct diff_writing {
	struct summary out;
	const struct diff *diff;
	const struct diff_show *show;
};

/* "12.3 us"; and of a change "+12.3 us", "-5 ns". */
void diff__put_duration(double nanos, char text[TEXT_NUMBER_MAX]);
void diff__put_change(double nanos, char *text);
/* Before, after, change and change in per cent, in the row's first four cells. */
void diff__put_times(struct table *table, size_t row, double before, double after);
/* A label cut to @room columns. */
void diff__put_name(struct table *table, size_t row, size_t column, size_t room, const char *label);

/* Returns 0 or -ENOMEM. */
int diff__write_changes(const struct diff_writing *to);

#endif
