/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks up readings in a profile, and checks what they say.
 */
#ifndef DBPROF_TESTS_CHECK_READINGS_H
#define DBPROF_TESTS_CHECK_READINGS_H

#include "model/model.h"
#include "check.h"

/* The reading without labels, or with one label of the value @label. */
static inline const struct profile_reading *find_reading(const struct profile_worker *worker,
							 struct node_path id, const char *metric,
							 const char *label)
{
	for (size_t i = 0; i < worker->count; i++) {
		const struct profile_node *node = &worker->nodes[i];

		if (node_path__compare(&node->id, &id) != 0)
			continue;
		for (size_t j = 0; j < node->count; j++) {
			const struct profile_reading *reading = &node->readings[j];

			if (strcmp(reading->metric, metric) == 0 &&
			    (label ? reading->label_count == 1 &&
					     strcmp(reading->labels[0].value, label) == 0
				   : reading->label_count == 0))
				return reading;
		}
	}
	return NULL;
}

static inline void check_seconds(const struct profile_worker *worker, struct node_path id,
				 const char *metric, const char *label, uint64_t secs,
				 uint32_t nanos)
{
	const struct profile_reading *reading = find_reading(worker, id, metric, label);

	if (!CHECK(reading != NULL) || !CHECK(reading->value.kind == VALUE_DURATION) ||
	    !CHECK(reading->value.duration.secs == secs) ||
	    !CHECK(reading->value.duration.nanos == nanos))
		fprintf(stderr, "  metric %s\n", metric);
}

static inline void check_percent(const struct profile_worker *worker, struct node_path id,
				 const char *metric, uint64_t numerator, uint64_t denominator)
{
	const struct profile_reading *reading = find_reading(worker, id, metric, NULL);

	if (!CHECK(reading != NULL) || !CHECK(reading->value.kind == VALUE_PERCENT) ||
	    !CHECK(reading->value.percent.numerator == numerator) ||
	    !CHECK(reading->value.percent.denominator == denominator))
		fprintf(stderr, "  metric %s\n", metric);
}

#endif
