/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_EXPORT_OVERVIEW_H
#define DBPROF_EXPORT_OVERVIEW_H

#include <stdio.h>

#include "model/source.h"

/*
 * What a profile says, whoever wrote it, on a page for people: the circuits with their times, what
 * they waited for, and the operators that took most of the time; all workers together, or only the
 * one at *@worker when it is not NULL. Its memory grows with the nodes of the graph. Returns 0, or
 * a negative errno, with its sentence in @fail when there is more to say than that the output
 * cannot be written.
 */
int overview__write(struct profile_source *source, const size_t *worker, FILE *out,
		    struct fail *fail);

#endif
