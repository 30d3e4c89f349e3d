/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_SERVE_OWN_H
#define DBPROF_SERVE_OWN_H

#include "export/openmetrics.h"
#include "serve/serve_internal.h"

#define OWN_NUMBERS_MAX 64

struct own {
	struct metrics_number numbers[OWN_NUMBERS_MAX];
	size_t count;
};

/* How the daemon itself is now: docs/metrics.md. */
void own__read(const struct serve *serve, struct own *ret_own);

#endif
