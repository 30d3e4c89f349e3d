/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an engineer needs to know of a window, for a terminal.
 */
#ifndef DBPROF_EXPORT_SUMMARY_H
#define DBPROF_EXPORT_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "snapshot/snapshot.h"

/*
 * Writes the summary, @width columns wide (80 when not positive), with ANSI colours if asked.
 * Returns 0, -ENOMEM or the error of the stream.
 */
int summary__write(FILE *out, const struct snapshot *snapshot, bool colours, int width);

/*
 * One line for window number @window of a series, all workers together: steps, time a step, CPU
 * time and the longest wait as parts of all time; a heading before the first. @many: say of which
 * process it is.
 */
void summary__window_line(FILE *out, const struct snapshot *snapshot, unsigned int window,
			  bool many);

#endif
