// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The metrics of one window, for a file that a collector picks up.
 */
#include <errno.h>

#include "export/export.h"
#include "export/openmetrics.h"
#include "export/snapshot_source.h"

static int write_window(struct profile_source *source, enum metrics_dialect dialect, FILE *out,
			struct fail *fail)
{
	const struct snapshot *snapshot = snapshot_source__snapshot(source);
	const struct metrics_sums *one;
	struct metrics_cost cost = { 0 };
	struct metrics_sums *sums;
	int err;

	/* What a profile in JSON does not tell cannot be made up. */
	if (!snapshot)
		return fail__set(fail, -EINVAL,
				 "metrics can only be made of a snapshot or while profiling: a "
				 "JSON profile lacks a part of what is in them");
	one = sums = metrics_sums__new(METRICS_OPERATORS_SHOWN);
	err = sums ? metrics_sums__add(sums, snapshot) : -ENOMEM;
	metrics_cost__add(&cost, &snapshot->cost);
	if (!err)
		err = openmetrics__write(out, dialect, &one, 1, &cost, NULL, fail);
	metrics_sums__free(sums);
	return err;
}

int export_openmetrics(struct profile_source *source, FILE *out, struct fail *fail)
{
	return write_window(source, METRICS_OPENMETRICS, out, fail);
}

int export_prometheus(struct profile_source *source, FILE *out, struct fail *fail)
{
	return write_window(source, METRICS_PROMETHEUS, out, fail);
}
