/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_MODEL_SOURCE_LABEL_H
#define DBPROF_MODEL_SOURCE_LABEL_H

#include "engine/graph.h"

/*
 * "Map @ s/main.rs:59:40": a name with its source location, as label() of
 * src/monitor/circuit_graph.rs writes it; just the name when the location is unknown. @suffix
 * follows. Free it; NULL when memory is short.
 */
char *source_label(const char *name, const struct source_location *location, const char *suffix);

#endif
