// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/tick.h"
#include "util/clock.h"

#define LOOP_NS	      1000000ULL /* of one busy loop */
#define PAIRS	      5
#define FREQUENCY     20000 /* ticks a second while it is measured */
#define COST_MIN_NS   500   /* no timer interrupt is cheaper */
#define COST_GUESS_NS 5000  /* in a virtual machine, when it cannot be measured */

static uint64_t spin(uint64_t rounds)
{
	uint64_t start = clock__now(), state = 1;

	for (uint64_t i = 0; i < rounds; i++) {
		state = state * 6364136223846793005ULL + 1;
		__asm__ volatile("" : "+r"(state));
	}
	return clock__now() - start;
}

/* Rounds of the loop that take about LOOP_NS. */
static uint64_t rounds_of_a_loop(void)
{
	uint64_t rounds = 10000, took = spin(rounds);

	took = took ? took : 1;
	return rounds * LOOP_NS / took + 1;
}

static int open_ticks(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = FREQUENCY,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The quickest of several loops, without ticks and with them: what else disturbs only adds. */
static uint64_t measure(int fd, uint64_t rounds)
{
	uint64_t plain = UINT64_MAX, ticked = UINT64_MAX, ticks;

	for (int pair = 0; pair < PAIRS; pair++) {
		uint64_t took = spin(rounds);

		plain = took < plain ? took : plain;
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		took = spin(rounds);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ticked = took < ticked ? took : ticked;
	}
	if (ticked <= plain)
		return COST_MIN_NS;
	ticks = ticked * FREQUENCY / 1000000000ULL;
	ticks = ticks ? ticks : 1;
	return (ticked - plain) / ticks < COST_MIN_NS ? COST_MIN_NS : (ticked - plain) / ticks;
}

uint64_t tick__cost_ns(void)
{
	cpu_set_t before, one;
	uint64_t cost = COST_GUESS_NS;
	int cpu = sched_getcpu(), fd;

	if (cpu < 0 || sched_getaffinity(0, sizeof(before), &before))
		return cost;
	/* Ticks of one CPU are measured, so that the loop has to stay there. */
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return cost;
	fd = open_ticks(cpu);
	if (fd >= 0) {
		cost = measure(fd, rounds_of_a_loop());
		close(fd);
	}
	sched_setaffinity(0, sizeof(before), &before);
	return cost;
}

uint32_t tick__frequency(uint64_t cost_ns, double share)
{
	static const uint32_t primes[] = { 997, 751, 499, 397, 293, 199, 149, 97, 61, 47, 29 };

	for (size_t i = 0; i < sizeof(primes) / sizeof(primes[0]); i++)
		if ((double)primes[i] * (double)cost_ns / 1e9 <= share)
			return primes[i];
	return 19;
}
