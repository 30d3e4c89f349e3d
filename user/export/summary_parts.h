/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of the terminal summary, in the order in which they are written.
 */
#ifndef DBPROF_EXPORT_SUMMARY_PARTS_H
#define DBPROF_EXPORT_SUMMARY_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "export/operator_ranking.h"
#include "export/table.h"
#include "snapshot/snapshot.h"

#define SUMMARY_ROWS 8 /* workers, open steps and circuits that are shown one by one */

enum summary_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_FAINT,
	STYLE_ALARM,
	STYLE_WARNING,
};

struct summary {
	FILE *out;
	const struct snapshot *snapshot;
	bool colours;
	size_t width; /* columns */
	const struct operator_ranking *ranking;
};

void summary__style(const struct summary *summary, enum summary_style style);

/*
 * A sentence, broken between words at the width; a number stays with its unit. Further lines are
 * indented.
 */
void summary__say(const struct summary *summary, enum summary_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The first @header_rows stand back; of them, empty ones are left out. */
void summary__table(const struct summary *summary, const struct table *table, size_t header_rows);

/* The worker's root circuit, NULL when its circuits are unknown. */
const struct snapshot_circuit *summary__root(const struct snapshot_worker *worker);
/* Sums that stop at the largest number instead of wrapping. */
uint64_t summary__add(uint64_t a, uint64_t b);
uint64_t summary__waits(const struct snapshot_circuit *circuit);
uint64_t summary__preempted(const struct dbprof_kernel_share *share);
/* Time in steps without waits for other workers: the worker that has most holds the others up. */
uint64_t summary__own_time(const struct snapshot_worker *worker);

/* Each that can fail returns 0 or -ENOMEM. */
void summary__findings(const struct summary *summary);
int summary__workers(const struct summary *summary);
int summary__open_steps(const struct summary *summary);
int summary__operators(const struct summary *summary);
int summary__reasons(const struct summary *summary);
int summary__nested(const struct summary *summary);
void summary__losses(const struct summary *summary);
void summary__cost(const struct summary *summary);

#endif
