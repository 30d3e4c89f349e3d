/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names and source locations of nodes and regions, all read together.
 */
#ifndef DBPROF_ENGINE_LABELS_H
#define DBPROF_ENGINE_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/fields.h"
#include "engine/graph.h"
#include "layout/layout.h"
#include "target/memory.h"
#include "util/fail.h"

struct label {
	struct extent name;
	uint64_t location; /* address of a core::panic::Location, 0 for None */
	char **ret_name;
	struct source_location *ret_location;
};

/*
 * Reads the texts of @labels into what they point at, which the caller frees, also after an
 * error. Returns 0, -EPROTO for what is no UTF-8 text, -ENOMEM, or as memory__read().
 */
int labels__read(struct memory *memory, const struct layout *layout, const struct label *labels,
		 size_t count, struct fail *fail);

#endif
