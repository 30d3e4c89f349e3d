// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a worker waits for: RuntimeIdle, src/profile/cpu.rs. */
#include <errno.h>
#include <unistd.h>

#include "engine/engine_internal.h"
#include "util/clock.h"

#define PAUSE_US 20 /* between tries; an unpark writes for well under a microsecond */

static const char *const reason_names[PARK_REASONS] = {
	"unattributed", "merge_backpressure", "peers",	      "operator_pending", "scheduler",
	"storage_read", "storage_write",      "storage_sync", "storage_metadata", "network",
};

const char *park_reason_name(unsigned int reason)
{
	return reason < PARK_REASONS ? reason_names[reason] : NULL;
}

/* The words that the Arcs share, as they are at one moment. */
struct words {
	uint64_t start; /* nanoseconds since the base, 0 when not parked */
	uint64_t total;
	uint64_t reason;
	uint64_t by_reason[PARK_REASONS];
};

static int read_words(struct memory *memory, const struct engine_idle *idle, struct words *words)
{
	struct gather_part parts[] = {
		{ .addr = idle->park_start, .len = 8, .to = &words->start },
		{ .addr = idle->total, .len = 8, .to = &words->total },
		{ .addr = idle->park_reason, .len = 8, .to = &words->reason },
		{ .addr = idle->by_reason,
		  .len = sizeof(words->by_reason),
		  .to = words->by_reason },
	};

	return gather__read(memory, parts, sizeof(parts) / sizeof(parts[0]));
}

/* The total is written before its share, so their sums tell whether the words belong together. */
static bool adds_up(const struct words *words)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PARK_REASONS; i++) {
		if (__builtin_add_overflow(sum, words->by_reason[i], &sum))
			return false;
	}
	return sum == words->total && words->reason < PARK_REASONS;
}

static int take_words(const struct engine_idle *idle, const struct words *words, uint64_t when_ns,
		      struct engine_park *ret_park)
{
	struct engine_park park = {
		.parked = words->start != 0,
		.when_ns = when_ns,
		.total_ns = words->total,
	};

	if (park.parked) {
		if (__builtin_add_overflow(idle->base_ns, words->start, &park.since_ns))
			return -EAGAIN;
		park.reason = (unsigned int)words->reason;
	}
	memcpy(park.by_reason_ns, words->by_reason, sizeof(park.by_reason_ns));
	*ret_park = park;
	return 0;
}

int engine_idle__read(struct memory *memory, const struct engine_idle *idle,
		      struct engine_park *ret_park)
{
	struct words before = { 0 }, after = { 0 };
	int err = read_words(memory, idle, &before);
	/* Between two equal reads nothing changed: no word ever takes a value again. */
	uint64_t when_ns = clock__now();

	if (!err)
		err = read_words(memory, idle, &after);
	if (err)
		return err;
	if (memcmp(&before, &after, sizeof(before)) || !adds_up(&before))
		return -EAGAIN;
	return take_words(idle, &before, when_ns, ret_park);
}

int engine_worker__park(struct target *target, const struct layout *layout,
			const struct engine_worker *worker, struct engine_park *ret_park)
{
	struct engine_root root;
	int err;

	if (!worker->handle)
		return -ENODATA;
	err = engine_root__read(target->memory, layout, worker->circuits[0].address, &root);
	if (err)
		return err;
	for (int i = 0; i < ENGINE_TRIES; i++) {
		if (i)
			usleep(PAUSE_US);
		err = engine_idle__read(target->memory, &worker->idle, ret_park);
		if (err != -EAGAIN)
			break;
	}
	return err == -EFAULT ? -EAGAIN : err;
}
