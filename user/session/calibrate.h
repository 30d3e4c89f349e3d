/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a probe's trap costs on this machine: measured by probing ourselves.
 */
#ifndef DBPROF_SESSION_CALIBRATE_H
#define DBPROF_SESSION_CALIBRATE_H

#include <stdint.h>

#include "bpf/dbprof.h"

/* An emulated instruction of our own executable, to be probed. Returns its file offset or < 0. */
int64_t calibrate__offset(void);

/*
 * Hits the probe at that instruction again and again with cold caches, as the probes of a pipeline
 * are hit, and takes the medians. @clock is where the program leaves its two readings.
 */
int calibrate__measure(const volatile __u64 clock[2], struct dbprof_trap *ret_trap);

#endif
