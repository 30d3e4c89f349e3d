/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parser of /proc/PID/maps.
 */
#ifndef DBPROF_TARGET_MAPS_H
#define DBPROF_TARGET_MAPS_H

#include <stddef.h>

#include "target/memory.h"

/*
 * Reads the maps of the process whose /proc directory is @dir, by way of another thread when the
 * main one has exited. Returns 0, -ESRCH when it has no memory (any more), another negative errno.
 */
int maps__read(int dir, struct mapping **ret_mappings, size_t *ret_count);
void maps__free(struct mapping *mappings, size_t count);

#endif
