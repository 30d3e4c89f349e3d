/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Wall time split by what the worker's thread did in it.
 */
#ifndef DBPROF_EXPORT_TIME_PARTS_H
#define DBPROF_EXPORT_TIME_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/dbprof.h"

/* All but the first are off a CPU. */
enum time_part {
	PART_COMPUTING,
	PART_RUN_QUEUE,
	PART_PREEMPTED,
	PART_NOT_OBSERVED,
	PART_OFF_CPU,			      /* of which nobody has said why */
	PART_BLOCKED,			      /* and so on, by enum dbprof_cause */
	PARTS = PART_BLOCKED + DBPROF_CAUSES, /* how many there are */
};

/* Nanoseconds. */
struct time_parts {
	uint64_t ns[PARTS];
};

/* "computing", "run queue", "blocked: futex". */
const char *time_part__name(unsigned int part);

/* Sums and differences that stop at the largest number and at zero instead of wrapping. */
uint64_t nanos__add(uint64_t a, uint64_t b);
uint64_t nanos__minus(uint64_t from, uint64_t what);

void time_parts__add(struct time_parts *to, const struct time_parts *what);
uint64_t time_parts__wall(const struct time_parts *parts);
uint64_t time_parts__blocked(const struct time_parts *parts);

/*
 * Makes the parts add up to @wall: what is missing is put under @rest, what is too much is taken
 * away, first from what is known least.
 */
void time_parts__fit(struct time_parts *parts, uint64_t wall, enum time_part rest);

/*
 * @whole without @what. The result adds up to the difference of the two sums (zero when @what is
 * more); when some part of @what is more than that of @whole, others give way for it.
 */
struct time_parts time_parts__minus(const struct time_parts *whole, const struct time_parts *what);

/*
 * Takes @nanos for waits out of @from, from what a wait looks like to the kernel before anything
 * else. Returns how much of it was CPU time, the last that is taken; there must be enough.
 */
uint64_t time_parts__take_wait(struct time_parts *from, uint64_t nanos);

#endif
