/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_EXPORT_DIFF_SIDE_H
#define DBPROF_EXPORT_DIFF_SIDE_H

#include "export/diff.h"

/* Adds a profile up over its workers, or takes one of them. As diff__make(). */
int diff_side__read(struct profile_source *source, size_t worker, struct diff_side *side,
		    struct fail *fail);
void diff_side__clear(struct diff_side *side);

#endif
