/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a profile measures: the names of its metrics and what their values are for the viewer, which
 * throws when one metric has values of two kinds.
 */
#ifndef DBPROF_STATE_MEASURED_H
#define DBPROF_STATE_MEASURED_H

#include "model/source.h"

struct measured_metric {
	const char *name; /* of the pool */
	enum value_kind kind;
};

struct measured {
	struct string_pool strings;
	struct measured_metric *metrics; /* sorted by name */
	size_t count;
	size_t capacity;
};

/*
 * Reads the whole profile once, so that one that breaks off is known before anything is written.
 * Returns 0, -ENOMEM, the reader's error, or -EXDEV for one that cannot be the engine's: it has
 * kinds mixed, or readings that we have labelled. Clear @ret_measured in every case.
 */
int measured__scan(struct profile_source *source, struct measured *ret_measured, struct fail *fail);
void measured__clear(struct measured *measured);

/* NULL when it is not measured. */
const struct measured_metric *measured__find(const struct measured *measured, const char *name);

/* Whether the viewer takes both for the same kind: it adds up all plain numbers. */
bool measured__same_kind(enum value_kind a, enum value_kind b);

#endif
