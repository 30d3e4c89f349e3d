/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of what struct dbprof_kernel_share tells apart, as labels and keys of the outputs.
 */
#ifndef DBPROF_MODEL_KERNEL_NAMES_H
#define DBPROF_MODEL_KERNEL_NAMES_H

#include "bpf/dbprof.h"

/* "futex", "epoll", "block_io"; "other" also for a number that is none. */
const char *cause_name(unsigned int cause);

/* "other_worker", "merger", "io_thread", "other_process", "kernel"; the last also for no number. */
const char *party_name(unsigned int party);

#endif
