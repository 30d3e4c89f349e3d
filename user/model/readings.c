// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/readings.h"

static void set(struct readings *to, const char *metric, const struct profile_label *label,
		struct value value)
{
	if (!to->err)
		to->err = profile_node__set(to->profile, to->node, metric, label, label ? 1 : 0,
					    value);
}

void readings__int(struct readings *to, const char *metric, uint64_t number)
{
	set(to, metric, NULL, value__int(number));
}

void readings__count(struct readings *to, const char *metric, uint64_t count)
{
	set(to, metric, NULL, value__count(count));
}

void readings__duration(struct readings *to, const char *metric, struct duration duration)
{
	set(to, metric, NULL, value__duration(duration));
}

void readings__nanos(struct readings *to, const char *metric, uint64_t nanos)
{
	readings__duration(to, metric, duration__from_nanos(nanos));
}

void readings__labelled(struct readings *to, const char *metric, const char *key, const char *value,
			uint64_t nanos)
{
	struct profile_label label = { key, value };

	set(to, metric, &label, value__duration(duration__from_nanos(nanos)));
}

void readings__percent(struct readings *to, const char *metric, uint64_t numerator,
		       uint64_t denominator)
{
	set(to, metric, NULL, value__percent(numerator, denominator));
}
