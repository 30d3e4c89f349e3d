// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "session/calibrate.h"
#include "util/clock.h"

#define HITS	   48
#define COLD_BYTES (2 << 20) /* what a second-level cache holds, and more */
#define COST_MAX   20000     /* ns; more than that is an interruption, not a trap */

/* The first instruction is one that the kernel emulates, as at the probes of the engine. */
void dbprof_calibration_point(void);

#if defined(__x86_64__)
__asm__(".text\n"
	".type dbprof_calibration_point, @function\n"
	"dbprof_calibration_point:\n"
	"	push %rax\n"
	"	pop %rax\n"
	"	ret\n"
	".size dbprof_calibration_point, . - dbprof_calibration_point\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".type dbprof_calibration_point, %function\n"
	"dbprof_calibration_point:\n"
	"	nop\n"
	"	ret\n"
	".size dbprof_calibration_point, . - dbprof_calibration_point\n");
#endif

int64_t calibrate__offset(void)
{
	uint64_t start, end, offset, address = (uintptr_t)dbprof_calibration_point;
	FILE *maps = fopen("/proc/self/maps", "re");
	int64_t found = -ENOENT;
	char line[512];

	if (!maps)
		return -errno;
	while (found < 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end)
			found = (int64_t)(address - start + offset);
	fclose(maps);
	return found;
}

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static uint32_t cost(uint64_t from, uint64_t to)
{
	uint64_t ns = to > from ? to - from : 0;

	return ns > COST_MAX ? COST_MAX : (uint32_t)ns;
}

int calibrate__measure(const volatile __u64 clock[2], struct dbprof_trap *ret_trap)
{
	volatile char *cold = malloc(COLD_BYTES);
	uint32_t enter[HITS], leave[HITS];

	if (!cold)
		return -ENOMEM;
	for (size_t hit = 0; hit < HITS; hit++) {
		uint64_t before, after;

		for (size_t i = 0; i < COLD_BYTES; i += 64)
			cold[i]++;
		before = clock__now();
		dbprof_calibration_point();
		after = clock__now();
		enter[hit] = cost(before, clock[0]);
		leave[hit] = cost(clock[1], after);
	}
	free((void *)cold);
	qsort(enter, HITS, sizeof(enter[0]), compare);
	qsort(leave, HITS, sizeof(leave[0]), compare);
	/* The probe was not hit at all. */
	if (!clock[0])
		return -ENODATA;
	*ret_trap = (struct dbprof_trap){ enter[HITS / 2], leave[HITS / 2] };
	return 0;
}
