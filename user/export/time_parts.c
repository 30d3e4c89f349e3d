// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "export/time_parts.h"

#define BLOCKED(cause) (PART_BLOCKED + DBPROF_CAUSE_##cause)

/*
 * How soon a part gives way. The engine's parks wait in a futex (or in epoll), so what else there
 * was is explained by operators first. CPU time, which two clocks agree on, goes last.
 */
static const unsigned int giving_way[PARTS] = {
	PART_NOT_OBSERVED, PART_OFF_CPU,   PART_PREEMPTED, PART_RUN_QUEUE, BLOCKED(PAGE_FAULT),
	BLOCKED(BLOCK_IO), BLOCKED(OTHER), BLOCKED(SLEEP), BLOCKED(PIPE),  BLOCKED(SOCKET),
	BLOCKED(EPOLL),	   BLOCKED(FUTEX), PART_COMPUTING,
};

/* What a declared wait consists of: the wait in the kernel, then that for a CPU. */
static const unsigned int waiting[PARTS] = {
	BLOCKED(FUTEX),	   BLOCKED(EPOLL),    PART_RUN_QUEUE, PART_OFF_CPU,   PART_PREEMPTED,
	BLOCKED(SOCKET),   BLOCKED(PIPE),     BLOCKED(SLEEP), BLOCKED(OTHER), BLOCKED(PAGE_FAULT),
	BLOCKED(BLOCK_IO), PART_NOT_OBSERVED, PART_COMPUTING,
};

const char *time_part__name(unsigned int part)
{
	static const char *const names[PARTS] = {
		[PART_COMPUTING] = "computing",
		[PART_RUN_QUEUE] = "run queue",
		[PART_PREEMPTED] = "preempted",
		[PART_NOT_OBSERVED] = "not observed",
		[PART_OFF_CPU] = "off CPU",
		[BLOCKED(FUTEX)] = "blocked: futex",
		[BLOCKED(EPOLL)] = "blocked: epoll",
		[BLOCKED(BLOCK_IO)] = "blocked: block_io",
		[BLOCKED(PAGE_FAULT)] = "blocked: page_fault",
		[BLOCKED(SOCKET)] = "blocked: socket",
		[BLOCKED(PIPE)] = "blocked: pipe",
		[BLOCKED(SLEEP)] = "blocked: sleep",
		[BLOCKED(OTHER)] = "blocked: other",
	};

	return names[part < PARTS ? part : PART_OFF_CPU];
}

uint64_t nanos__add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t nanos__minus(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

void time_parts__add(struct time_parts *to, const struct time_parts *what)
{
	for (unsigned int i = 0; i < PARTS; i++)
		to->ns[i] = nanos__add(to->ns[i], what->ns[i]);
}

uint64_t time_parts__wall(const struct time_parts *parts)
{
	uint64_t wall = 0;

	for (unsigned int i = 0; i < PARTS; i++)
		wall = nanos__add(wall, parts->ns[i]);
	return wall;
}

uint64_t time_parts__blocked(const struct time_parts *parts)
{
	uint64_t blocked = parts->ns[PART_OFF_CPU];

	for (unsigned int i = PART_BLOCKED; i < PARTS; i++)
		blocked = nanos__add(blocked, parts->ns[i]);
	return blocked;
}

void time_parts__fit(struct time_parts *parts, uint64_t wall, enum time_part rest)
{
	uint64_t left = wall;

	/* The last to give way has the first claim. */
	for (unsigned int i = PARTS; i-- > 0;) {
		uint64_t *part = &parts->ns[giving_way[i]];

		if (*part > left)
			*part = left;
		left -= *part;
	}
	parts->ns[rest] += left;
}

struct time_parts time_parts__minus(const struct time_parts *whole, const struct time_parts *what)
{
	uint64_t wall = nanos__minus(time_parts__wall(whole), time_parts__wall(what));
	struct time_parts result;

	for (unsigned int i = 0; i < PARTS; i++)
		result.ns[i] = nanos__minus(whole->ns[i], what->ns[i]);
	/* What is left of each part is never less than the difference of the sums. */
	time_parts__fit(&result, wall, PART_NOT_OBSERVED);
	return result;
}

uint64_t time_parts__take_wait(struct time_parts *from, uint64_t nanos)
{
	uint64_t taken = 0;

	for (unsigned int i = 0; i < PARTS; i++) {
		uint64_t *part = &from->ns[waiting[i]];

		taken = *part < nanos ? *part : nanos;
		*part -= taken;
		nanos -= taken;
	}
	return taken;
}
