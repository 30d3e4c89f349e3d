// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "export/export.h"
#include "export/snapshot_source.h"
#include "snapshot/snapshot_file.h"

int export_snapshot(struct profile_source *source, FILE *out, struct fail *fail)
{
	const struct snapshot *snapshot = snapshot_source__snapshot(source);

	/* What a profile in JSON does not tell cannot be made up. */
	if (!snapshot)
		return fail__set(fail, -EINVAL,
				 "a snapshot can only be made of a snapshot or while profiling: a "
				 "JSON profile lacks a part of what is in it");
	return snapshot_file__write(snapshot, out);
}
