/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a tick of the sampler costs on this machine: far more in a virtual machine, where setting a
 * timer leaves it, than on bare metal.
 */
#ifndef DBPROF_SESSION_TICK_H
#define DBPROF_SESSION_TICK_H

#include <stdint.h>

/* Slows a busy loop down by ticks and looks by how much. Returns nanoseconds a tick; takes 10 ms.
 */
uint64_t tick__cost_ns(void);

/*
 * The highest rate of a list of primes at which ticks cost no more than the @share of a CPU:
 * primes, so that they do not march in step with the kernel's own tick.
 */
uint32_t tick__frequency(uint64_t cost_ns, double share);

#endif
